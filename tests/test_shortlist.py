"""The result is frozen, keeps its budget, and survives every form it is put in."""

import copy
import csv
import dataclasses
import io
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from shortlist import storage
from shortlist._protocols import DataError, ShortlistError
from shortlist._shortlist import Shortlist
from shortlist_samples import make, single

quick = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

any_text = st.text(st.characters(exclude_categories=()), max_size=12)
finite = st.floats(allow_nan=False, allow_infinity=False)
big_ids = st.integers(0, 2**64 - 1)


@st.composite
def shortlists(draw):
    n_margins = draw(st.integers(1, 3))
    entries = draw(
        st.lists(
            st.tuples(big_ids, st.integers(0, n_margins - 1)), unique=True, max_size=5
        )
    )
    n = len(entries)
    names = {i: draw(any_text) for i, _ in entries}
    column = st.lists(finite, min_size=n, max_size=n)
    n_classes = n_margins if n_margins > 1 else 2
    label = draw(st.sampled_from([any_text, st.integers(), st.booleans() | any_text]))
    return Shortlist(
        method=draw(any_text),
        room=draw(any_text),
        loss=draw(any_text),
        k=max(n, 1),
        budget=draw(st.sampled_from(["shared", "per_class"])),
        ids=np.array([i for i, _ in entries], dtype=np.uint64),
        names=tuple(names[i] for i, _ in entries),
        margin=np.array([m for _, m in entries], dtype=np.int64),
        weights=draw(st.none() | column),
        scores=draw(column),
        errors=draw(st.none() | st.lists(st.floats(), min_size=n, max_size=n)),
        intercept=draw(st.lists(finite, min_size=n_margins, max_size=n_margins)),
        classes=draw(
            st.none()
            | st.lists(label, min_size=n_classes, max_size=n_classes, unique=True)
        ),
        n_examples=draw(st.integers(0, 10**12)),
        n_features=draw(st.none() | big_ids),
        params=draw(st.dictionaries(any_text, st.floats() | any_text, max_size=2)),
        trace=draw(
            st.dictionaries(
                any_text,
                hnp.arrays(np.float64, st.integers(0, 3)),
                max_size=2,
            )
        ),
        notes=tuple(draw(st.lists(any_text, max_size=2))),
    )


@quick
@given(chosen=shortlists())
def test_load_gives_back_an_equal_shortlist(tmp_path, chosen):
    chosen.save(tmp_path / "one")
    back = Shortlist.load(tmp_path / "one")
    assert back == chosen
    assert hash(back) == hash(chosen)
    assert back.names == chosen.names
    back.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert pickle.loads(pickle.dumps(chosen)) == chosen


@quick
@given(chosen=shortlists())
def test_every_shortlist_prints_and_exports(chosen):
    for text in (repr(chosen), chosen._repr_html_()):
        text.encode("utf-8")
        assert all(line.isprintable() for line in text.split("\n"))
    assert str(chosen) == repr(chosen)
    assert len(chosen.to_frame("pandas")) == len(chosen)
    assert chosen.to_frame("polars").height == len(chosen)
    json.dumps(chosen.to_dict(), allow_nan=False)
    # newline="" keeps a carriage return in a name as it is
    rows = list(csv.DictReader(io.StringIO(chosen.to_csv_text(), newline="")))
    assert tuple(row["name"] for row in rows) == chosen.names
    assert [int(row["id"]) for row in rows] == chosen.ids.tolist()
    assert [float(row["score"]) for row in rows] == chosen.scores.tolist()


@quick
@given(chosen=shortlists(), n=st.integers(1, 6))
def test_top_keeps_the_best_within_the_lower_budget(chosen, n):
    best = chosen.top(n)
    assert best.k == min(n, chosen.k)
    assert best.n_margins == chosen.n_margins
    if chosen.budget == "shared":
        assert best.n_selected == min(n, chosen.n_selected)
    for m in range(chosen.n_margins):
        kept, before = best.ids[best.margin == m], chosen.ids[chosen.margin == m]
        if chosen.budget == "per_class" or chosen.n_margins == 1:
            assert np.array_equal(kept, before[:n])
        else:
            assert np.array_equal(kept, before[np.isin(before, best.support)])


@quick
@given(chosen=shortlists(), n=st.integers(1, 6), data=st.data())
def test_top_keeps_what_is_always_in_before_all_others(chosen, n, data):
    always = data.draw(st.lists(st.sampled_from([0, *chosen.ids.tolist()]), max_size=n))
    best, entitled = chosen.top(n, always), np.isin(chosen.ids, always)
    assert best.k == min(n, chosen.k)
    if chosen.budget == "shared":
        assert np.isin(chosen.ids[entitled], best.ids).all()
        assert best.n_selected == min(n, chosen.n_selected)
    for m in range(chosen.n_margins) if chosen.budget == "per_class" else ():
        own = chosen.margin == m
        assert np.sum(best.margin == m) == min(n, np.sum(own))
        assert np.isin(chosen.ids[own & entitled], best.ids[best.margin == m]).all()


def test_top_of_a_shared_budget_counts_features_not_entries():
    best = make().top(1)  # 7 has the best score of all; 3 is the best of class "a"
    assert best.support.tolist() == [7]
    assert best.margin.tolist() == [1]
    assert make(budget="per_class").top(1).ids.tolist() == [3, 7]
    assert make().top(9) == make()
    with pytest.raises(ShortlistError, match="n should be at least 1, got 0"):
        make().top(0)


def test_entries_are_ordered_by_margin_score_and_id():
    chosen = make(scores=np.array([2.0, 2.0, 1.0]))
    assert chosen.margin.tolist() == [0, 1, 1]
    assert chosen.ids.tolist() == [3, 3, 7]
    assert chosen.names == ("price", "price", "size")
    assert chosen.weights.tolist() == [1.25, -0.5, 2.0]


def test_properties_say_what_was_chosen():
    chosen = make()
    assert chosen.support.dtype == np.uint64
    assert chosen.support.tolist() == [3, 7]
    assert (len(chosen), chosen.n_selected, chosen.n_margins) == (3, 2, 3)
    assert chosen.is_classifier
    assert chosen.margin_labels == ("a", "b", "c")
    assert chosen.names_by_id() == {3: "price", 7: "size"}
    assert single(("x",), classes=(0, 1)).margin_labels == (1,)
    assert not single(("x",)).is_classifier
    assert single(()), "an empty result is a result"


OTHER = {
    "method": "sgd",
    "room": "rows",
    "loss": "hinge",
    "k": 4,
    "budget": "per_class",
    "ids": np.array([3, 8, 3]),
    "names": ("price", "Size", "price"),
    "margin": np.array([1, 2, 0]),
    "weights": np.array([-0.5, 2.0, np.nextafter(1.25, 2)]),
    "scores": np.array([0.5, 2.5, 1.25]),
    "errors": np.array([0.1, 0.2, 0.3]),
    "intercept": np.array([-0.0, 1.0, -1.0]),
    "classes": ("a", "b", "d"),
    "n_examples": 20_001,
    "n_features": None,
    "params": {"step": 0.5, "inner": {"sizes": [1, 2.0]}},
    "trace": {"loss": np.array([1.0, 0.5, np.nan], dtype=np.float32)},
    "notes": (),
    "version": "0.0.2",
}


@pytest.mark.parametrize("name", [part.name for part in dataclasses.fields(Shortlist)])
def test_equality_sees_every_field(name):
    assert make() == make()
    assert hash(make()) == hash(make())
    assert make() != make(**{name: OTHER[name]})


def test_equality_tells_none_types_and_names_of_traces_apart():
    assert make() != make(weights=None)
    assert make(errors=None) != make()
    trace = {"Loss": np.array([1.0, 0.5, np.nan])}
    assert make() != make(trace=trace)
    assert single(("x",), classes=(0, 1)) != single(("x",), classes=(False, True))
    assert make() != "mission"


def test_nothing_in_it_can_be_changed():
    theirs = np.array([0.5, 2.0, 1.25])
    params = {"inner": {"sizes": [1, 2]}}
    chosen = make(weights=theirs, params=params)
    theirs[:] = 0.0
    params["inner"]["sizes"].append(3)
    assert chosen.weights.tolist() == [1.25, 2.0, 0.5]
    assert chosen.params["inner"]["sizes"] == (1, 2)
    for name in ("ids", "margin", "weights", "scores", "errors", "intercept"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(chosen, name)[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        chosen.trace["loss"][0] = 1
    for mapping in (chosen.params, chosen.params["inner"], chosen.trace):
        with pytest.raises(TypeError):
            mapping["x"] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        chosen.k = 100


@pytest.mark.parametrize(
    "again", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))]
)
def test_copies_are_equal_and_frozen_too(again):
    chosen = again(make())
    assert chosen == make()
    assert not chosen.weights.flags.writeable
    assert not chosen.trace["loss"].flags.writeable


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"k": 1}, "shared budget of k = 1 allows 1 distinct features, got 2"),
        ({"k": 1, "budget": "per_class"}, "k = 1 allows 1 entries a margin, got 2"),
        ({"k": 0}, "k should be at least 1, got 0"),
        ({"k": 2.5}, "k should be an integer, got 2.5"),
        ({"budget": "both"}, "budget should be 'shared' or 'per_class', got 'both'"),
        (
            {"ids": np.array([3, 7])},
            "ids should have a value for each of 3 names, got 2",
        ),
        ({"ids": np.array([-3, 7, -3])}, "ids should fit uint64"),
        ({"ids": np.array([3.0, 7.5, 3.0])}, "ids should be integers, got float64"),
        ({"ids": np.array([[3, 7, 3]])}, r"ids should be one row, got shape \(1, 3\)"),
        ({"ids": np.array([3, 3, 3])}, "a feature should have one entry a margin"),
        ({"names": ("a", "b", "c")}, "an id should have one name, got several"),
        ({"names": ("a", "b", 3)}, "each of names should be text, got 3"),
        ({"names": "abc"}, "names should be a sequence of texts, got 'abc'"),
        ({"margin": np.array([1, 3, 0])}, "margin should lie between 0 and 2"),
        ({"margin": np.array([1, -1, 0])}, "margin should lie between 0 and 2"),
        ({"weights": np.array([1.0, np.inf, 0])}, "weights should be finite"),
        ({"weights": np.zeros(4)}, "weights should have a value for each of 3 names"),
        ({"weights": ["x", 1, 2]}, "weights should be numbers"),
        ({"scores": np.array([1.0, np.nan, 0])}, "scores should be numbers, got NaN"),
        ({"errors": np.zeros(2)}, "errors should have a value for each of 3 names"),
        ({"intercept": np.zeros(0)}, "intercept should have a value a margin"),
        ({"intercept": np.array([0, np.nan, 0])}, "intercept should be finite"),
        ({"intercept": 1.0}, r"intercept should be one row, got shape \(\)"),
        ({"classes": ("a", "b")}, r"3 labels for 3 margin\(s\), got 2"),
        ({"classes": ("a", "b", "a")}, "classes should be distinct"),
        ({"classes": ("a", "b", None)}, "classes should be texts, numbers or bools"),
        ({"n_examples": -1}, "n_examples should be at least 0, got -1"),
        ({"n_features": "many"}, "n_features should be an integer, got 'many'"),
        ({"params": {"f": print}}, r"params: value\['f'\] should be a JSON value"),
        ({"params": None}, "params should be a mapping, got None"),
        ({"trace": {"a": np.array([None])}}, "array 'a' should hold bools, numbers"),
        ({"trace": {1: np.zeros(2)}}, "each of names of traces should be text, got 1"),
        ({"method": None}, "method should be text, got None"),
        ({"notes": "one pass"}, "notes should be a sequence of texts"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(changes, message):
    with pytest.raises(ShortlistError, match=message) as caught:
        make(**changes)
    assert "\n" not in str(caught.value)


def test_a_list_of_huge_ids_is_refused_not_rounded():
    with pytest.raises(ShortlistError, match="ids should be integers, got float64"):
        single(("a", "b"), ids=[0, 2**64 - 1])
    exact = single(("a", "b"), ids=np.array([0, 2**64 - 1], dtype=np.uint64))
    assert exact.support.tolist() == [0, 2**64 - 1]


def test_infinite_scores_rank_first():
    chosen = single(("a", "b"), scores=np.array([1.0, np.inf]))
    assert chosen.names == ("b", "a")


def test_a_file_of_another_kind_is_refused(tmp_path):
    storage.save(tmp_path / "c", kind="checkpoint", version=1, header={}, arrays={})
    with pytest.raises(DataError, match="a checkpoint, expected a shortlist"):
        Shortlist.load(tmp_path / "c")


def test_a_file_that_breaks_the_rules_is_refused(tmp_path):
    make().save(tmp_path / "s")
    header, arrays = storage.load(tmp_path / "s", kind="shortlist", version=1)
    for change in ({"k": 1}, {"trace": ["a", "b"]}, {"surprise": 1}, {"names": None}):
        storage.save(
            tmp_path / "s",
            kind="shortlist",
            version=1,
            header=header | change,
            arrays=arrays,
        )
        with pytest.raises(DataError, match="s: not a valid shortlist: "):
            Shortlist.load(tmp_path / "s")


def test_version_is_the_package_by_default():
    from importlib.metadata import version

    values = {
        part.name: getattr(make(), part.name)
        for part in dataclasses.fields(Shortlist)
        if part.name != "version"
    }
    assert Shortlist(**values).version == version("shortlist")


def test_importing_it_imports_no_heavy_library():
    code = (
        "import sys, shortlist._shortlist; "
        "print({'sklearn', 'pandas', 'polars', 'scipy', 'numba'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"
