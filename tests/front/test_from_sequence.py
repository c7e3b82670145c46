"""select(sequence=): what may be asked of sensors, and what their columns are called."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from shortlist import DataError, SensorSelector, ShortlistError, select
from shortlist.sources import open_source


@pytest.fixture(scope="module")
def house():
    """Six days; columns a and b tell the activity, b a little better."""
    rng = np.random.default_rng(0)
    activity = np.tile(np.repeat(["sleep", "cook"], 10), 6)
    fires = rng.random((120, 4)) < 0.1
    fires[:, 1] |= activity == "cook"
    fires[:, 0] |= (activity == "cook") & (rng.random(120) < 0.8)
    frame = pd.DataFrame(fires.astype(float), columns=list("abcd"))
    return frame, activity, np.repeat(np.arange(6), 20)


def test_what_is_never_to_be_chosen_is_not(house):
    frame, activity, day = house
    assert select(frame, activity, 1, sequence=day).names[0] == "b"
    for data in (frame, frame.assign(what=activity, day=day)):
        named = "what" in data.columns
        asked = ("what", "day") if named else (activity, day)
        chosen = select(data, asked[0], 1, sequence=asked[1], never=["b"])
        assert chosen.names[0] == "a"
        assert chosen.n_features == 3
    array = frame.to_numpy()
    assert select(array, activity, 1, sequence=day, never=["x1"]).names[0] == "x0"


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_columns_of_arrays_have_the_names_they_are_given(house, form):
    frame, activity, day = house
    told = {"sequence": day, "feature_names": list("abcd")}
    chosen = select(form(frame.to_numpy()), activity, 3, **told)
    ours = SensorSelector(k=3).fit(frame, activity, sequence=day).shortlist_
    assert chosen.names == ours.names
    np.testing.assert_allclose(chosen.weights, ours.weights, rtol=1e-6)
    left = {"left_names"} & set(chosen.trace)
    assert all(set(chosen.trace[name]) <= set("abcd") for name in left)
    without = select(form(frame.to_numpy()), activity, 1, never=["b"], **told)
    assert without.names[0] == "a"


def test_columns_of_a_table_have_the_ids_that_its_rows_have_elsewhere(house):
    frame, activity, day = house
    chosen = select(frame, activity, 2, sequence=day)
    source = open_source(frame.assign(y=activity), target="y")
    np.testing.assert_array_equal(chosen.ids, source.ids(chosen.names))
    assert set(chosen.trace["path_ids"]) <= set(source.ids(list("abcd")).tolist())


def test_a_method_that_is_named_was_not_picked(house):
    frame, activity, day = house
    picked = select(frame, activity, 1, sequence=day)
    assert picked.params["picked"]["method"] == "sensors"
    assert any("leaving out sequence= asks for" in note for note in picked.notes)
    named = select(frame, activity, 1, "sensors", sequence=day)
    assert named.names == picked.names
    assert "picked" not in named.params


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"always": ["a"]}, "always does not go with sequence="),
        ({"sample_weight": np.ones(120)}, "sample_weight does not go with sequence="),
        ({"loss": "logistic"}, "loss does not go with sequence="),
        ({"classes": ["cook", "sleep"]}, "classes does not go with sequence="),
        ({"budgets": [1, 2]}, "budgets does not go with sequence="),
        ({"trial": False}, "trial does not go with sequence="),
        ({"substitutes": 2}, "substitutes does not go with sequence="),
        ({"columns": True}, "columns does not go with sequence="),
        ({"feature_groups": {"a": "g"}}, "feature_groups does not go with sequence="),
        ({"k": "auto"}, "k='auto' does not go with sequence="),
        ({"never": ["z"]}, "never: no column is called 'z'"),
        ({"feature_names": ["a"]}, "one name for each of 4 columns, got 1"),
        ({"eta": 1}, "sensors has no setting 'eta'"),
    ],
)
def test_what_sequences_have_not_is_refused(house, asked, message):
    frame, activity, day = house
    with pytest.raises(ShortlistError, match=message):
        select(frame, activity, **{"k": 1, "sequence": day, **asked})


def gaps_in(frame, form):
    """Two cells without a value; the same table in another form."""
    holes = frame.copy()
    holes.iloc[7, 2] = np.nan
    holes.iloc[40, 0] = np.nan
    return form(holes)


FORMS = {
    "pandas": lambda frame: frame,
    "nullable": lambda frame: frame.convert_dtypes(),
    "objects": lambda frame: frame.astype(object),
    "polars": lambda frame: pl.DataFrame({c: frame[c].to_numpy() for c in frame}),
    "array": lambda frame: frame.to_numpy(),
    "csr": lambda frame: sparse.csr_array(frame.to_numpy()),
    "csc": lambda frame: sparse.csc_array(frame.to_numpy()),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_missing_values_are_zero_if_asked_and_named_if_not(house, form):
    frame, activity, day = house
    table = gaps_in(frame, form)
    told = {"k": 2, "sequence": day}
    filled = select(table, activity, missing="zero", **told)
    ours = select(form(gaps_in(frame, lambda holes: holes.fillna(0))), activity, **told)
    assert filled.names == ours.names
    np.testing.assert_array_equal(filled.weights, ours.weights)
    name = "c" if hasattr(table, "columns") else "x2"
    with pytest.raises(DataError) as refused:
        select(table, activity, **told)
    complaint = str(refused.value)
    assert f"row 7, column '{name}': expected a finite number, got nan" in complaint
    assert "missing='zero'" in complaint
    assert "\n" not in complaint


def test_infinite_values_are_named_and_other_policies_refused(house):
    frame, activity, day = house
    odd = frame.copy()
    odd.iloc[5, 3] = np.inf
    with pytest.raises(DataError, match=r"row 5, column 'd': expected .* got inf$"):
        select(odd, activity, 1, sequence=day, missing="zero")
    without = select(odd, activity, 1, sequence=day, never="d")
    assert without.names[0] == "b"
    with pytest.raises(ShortlistError, match="expected 'error' or 'zero', got 'mean'"):
        select(frame, activity, 1, sequence=day, missing="mean")


def test_text_is_named_also_where_values_are_missing(house):
    frame, activity, day = house
    lamp = gaps_in(frame, lambda holes: holes.assign(lamp="on"))
    with pytest.raises(DataError, match="column 'lamp' holds text such as 'on'"):
        select(lamp, activity, 1, sequence=day, missing="zero")


@pytest.mark.parametrize("settings", [{}, {"sensors": {"s": ["a", "b"]}}])
def test_an_observer_and_a_report_hear_how_far_it_is(house, settings):
    frame, activity, day = house
    seen, steps = [], []
    told = {"sequence": day, "observe": seen.append, "report": steps.append}
    select(frame, activity, 2, **told, **settings)
    assert len(seen) == len(steps) > 0
    assert (seen[-1].stage, seen[-1].position, seen[-1].size) == ("sensors", 2, 2)
    assert seen[-1].loss == steps[-1].objective
