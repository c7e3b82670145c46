"""select(sequence=): what may be asked of sensors, and what their columns are called."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from shortlist import SensorSelector, ShortlistError, select
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
        ({"missing": "zero"}, "missing does not go with sequence="),
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
