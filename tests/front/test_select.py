"""One call for data of all forms; what is picked and found is said."""

import logging

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import coo_array

from shortlist import (
    DataError,
    FoBa,
    LeakWarning,
    ShortlistError,
    open_columns,
    open_source,
    select,
)
from shortlist.front import Choice, _select
from shortlist.front._facts import facts_of_rows
from shortlist.sources import ArraySource


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(240, 12))


@pytest.fixture(scope="module")
def y(X):
    noise = 0.3 * np.random.default_rng(1).normal(size=len(X))
    return np.where(2 * X[:, 3] - X[:, 8] + noise > 0, "yes", "no")


@pytest.fixture(scope="module")
def frame(X, y):
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(12)])
    return table.assign(user=np.repeat(np.arange(40), 6), y=y)


def test_all_forms_of_a_table_give_the_same_features(X, y, frame, tmp_path):
    table = frame.drop(columns="user")
    table.to_csv(tmp_path / "a.csv", index=False)
    table.to_parquet(tmp_path / "a.parquet")
    rows = table.to_dict("records")
    forms = [
        (X, y),
        (X.tolist(), y.tolist()),
        (coo_array(X), y),
        (table, "y"),
        (table.drop(columns="y"), y),
        (pl.from_pandas(table), "y"),
        (pa.Table.from_pandas(table, preserve_index=False), "y"),
        (tmp_path / "a.csv", "y"),
        (str(tmp_path / "*.parquet"), "y"),
        ([tmp_path / "a.csv"], "y"),
        (rows, "y"),
        (open_source((X, y)), None),
        ((X, y), None),
    ]
    for data, target in forms:
        chosen = select(data, target, 2)
        assert chosen.names == ("x3", "x8"), type(data)
        assert chosen.method == "foba"
        assert chosen.params["picked"]["room"] == "table"


def test_an_array_is_chosen_from_as_the_estimator_does(X, y):
    ours, theirs = select(X, y, 3, "foba"), FoBa(k=3).fit(X, y).shortlist_
    assert ours.names == theirs.names
    np.testing.assert_allclose(ours.weights, theirs.weights, rtol=1e-6)
    whole = select((100 * X).astype(int), y, 2)
    assert set(whole.names) == {"x3", "x8"}


def test_columns_come_one_by_one(X, frame, tmp_path):
    target = 2 * X[:, 3] - X[:, 8]
    table = frame.drop(columns=["user", "y"]).assign(y=target)
    table.to_parquet(tmp_path / "a.parquet")
    pairs = [(f"x{j}", X[:, j]) for j in range(12)]
    forms = [
        (pairs, target, {}),
        (iter(pairs), target, {}),
        (lambda: iter(pairs), target, {}),
        (open_columns(pairs), target, {}),
        (X, target, {"columns": True}),
        (table, "y", {"columns": True}),
        (table.drop(columns="y"), target, {"columns": True}),
        (tmp_path / "a.parquet", "y", {"columns": True}),
        (X, target, {"method": "online_substitution"}),
    ]
    for data, labels, how in forms:
        chosen = select(data, labels, 2, **how)
        assert chosen.method == "online_substitution"
        assert set(chosen.names) == {"x3", "x8"}
    found = select(pairs, target, "auto", budgets=(1, 2, 4))
    assert found.k == 2
    assert found.trace["budget_k"].tolist() == [1, 2, 4]


def test_ids_without_end_are_streamed():
    rng = np.random.default_rng(0)
    rows = [
        ({f"user {i}": 1.0, "age": age, "city": "Bonn" if i % 2 else "Oslo"}, age > 0.2)
        for i, age in enumerate(rng.normal(size=1500).round(3).tolist())
    ]
    with pytest.warns(LeakWarning, match="'age'"):
        chosen = select(iter(rows), k=1)
    assert (chosen.method, chosen.room, chosen.names) == ("mission", "sketch", ("age",))
    assert any(note.startswith("leak? 'age'") for note in chosen.notes)
    found = select(iter(rows), k="auto", budgets=(1, 3))
    assert (found.k, found.names) == (1, ("age",))
    assert any("fit of 3 features" in note for note in found.notes)


def test_sequences_go_to_the_sensor_selector():
    rng = np.random.default_rng(0)
    activity = np.tile(np.repeat(["sleep", "cook"], 10), 6)
    S = rng.random((120, 4)) < 0.1
    S[:, 1] |= activity == "cook"
    day = np.repeat(np.arange(6), 20)
    chosen = select(S, activity, 1, sequence=day, feature_names=list("abcd"))
    assert (chosen.method, chosen.names[0]) == ("sensors", "b")
    with pytest.raises(ShortlistError, match="foba does not look at the order of rows"):
        select(S, activity, 1, "foba", sequence=day)


def test_it_says_what_it_picked_and_why(X, y, caplog, capsys):
    with caplog.at_level(logging.INFO, "shortlist"):
        chosen = select(X, y, 2, verbose=True)
    (line,) = caplog.messages
    assert line == capsys.readouterr().err.strip()
    assert "240 rows, 12 features" in line
    assert f"picked {line}" in chosen.notes
    assert not any("picked" in note for note in select(X, y, 2, "foba").notes)


def test_the_smallest_budget_that_is_as_good_as_the_best(X, y, frame):
    chosen = select(X, y, "auto", "foba", budgets=(1, 2, 5, 12, 99))
    trace = chosen.trace
    assert chosen.k == 2
    assert trace["budget_k"].tolist() == [1, 2, 5, 12]
    best = trace["budget_score"].argmax()
    enough = trace["budget_score"][best] - trace["budget_error"][best]
    assert trace["budget_score"][1] >= enough > trace["budget_score"][0]
    by_name = select(frame, "y", "auto", "foba", budgets=(1, 2, 5), groups="user")
    assert by_name.names == chosen.names
    assert "user" not in by_name.names


def test_groups_are_never_on_both_sides_of_a_split(X, y, frame, tmp_path, monkeypatch):
    from shortlist.evaluate import _choose_k

    seen, real = [], _choose_k.folds

    def spying(*words, **options):
        pairs = real(*words, **options)
        seen.append((words[2], pairs))
        return pairs

    monkeypatch.setattr(_choose_k, "folds", spying)
    path = tmp_path / "visits.csv"
    frame.assign(user=[f"u{u}" for u in frame["user"]]).to_csv(path, index=False)
    user = frame["user"].to_numpy()
    select(X, y, "auto", "mrmr", budgets=(1, 2), groups=user, cv=4)
    chosen = select(path, "y", "auto", "mrmr", budgets=(1, 2), groups="user", cv=4)
    assert not any(name.startswith("user") for name in chosen.names)
    assert len(seen) == 2
    for groups, pairs in seen:
        assert len(np.unique(groups)) == 40
        for train, test in pairs:
            assert not set(np.asarray(groups)[train]) & set(np.asarray(groups)[test])


@pytest.mark.parametrize("form", [list, iter])
def test_the_call_says_columns_where_columns_came(X, y, form):
    pairs = form([(f"c{j}", column) for j, column in enumerate(X.T)])
    chosen = select(pairs, y, k=2)
    assert chosen.room == "columns"
    assert chosen.params["call"].endswith("chosen = select(columns, y, k=2)")
    rows = ({"a": v, "y": float(j % 7)} for j, v in enumerate(X[:, 0].tolist()))
    assert "select(rows, 'y', k=1)" in select(rows, "y", k=1).params["call"]


@pytest.mark.parametrize("method", ["auto", "foba"])
def test_several_outputs_are_refused_with_a_word_on_who_takes_them(X, y, method):
    with pytest.raises(ShortlistError, match="FoBa and GSR take several outputs"):
        select(X, X[:, :2], 2, method)


def test_dates_are_values_of_a_column(frame):
    days = pd.to_datetime(frame["y"].map({"yes": "2020-01-01", "no": "2020-01-02"}))
    with pytest.warns(LeakWarning):
        chosen = select(frame.assign(day=days), "y", 1, "foba")
    assert chosen.names[0].startswith("day=2020-01-0")


def test_a_leak_is_named(frame):
    leaking = frame.assign(bought=(frame["y"] == "yes").astype(float))
    with pytest.warns(LeakWarning, match="'bought' alone") as caught:
        chosen = select(leaking, "y", 2, "foba")
    assert any("'bought'" in note for note in chosen.notes)
    assert caught[0].filename == __file__  # where a user can do something about it
    clean = select(frame.drop(columns="user"), "y", 2, "foba")
    assert not any("leak" in note for note in clean.notes)


@pytest.mark.parametrize("method", ["foba", "mission", "auto"])
@pytest.mark.parametrize("form", ["frame", "csv", "dicts"])
def test_a_column_of_text_that_tells_all_is_named(frame, method, form, tmp_path):
    status = {"yes": ["paid", "shipped"], "no": ["open", "cancelled"]}
    words = [status[y][i % 2] for i, y in enumerate(frame["y"])]
    data = frame.drop(columns="user").assign(status=words)
    if form == "csv":
        data.to_csv(tmp_path / "orders.csv", index=False)
        data = tmp_path / "orders.csv"
    elif form == "dicts":
        data = data.to_dict("records")
    with pytest.warns(LeakWarning, match="column 'status' alone"):
        select(data, "y", 6, method)


def test_features_are_kept_left_out_and_grouped(X, y):
    chosen = select(X, y, 2, "foba", always=["x0"], never=["x3"])
    assert set(chosen.names) == {"x0", "x8"}
    groups = {f"x{j}": "a" if j in (3, 8) else f"b{j}" for j in range(12)}
    whole = select(X, y, 1, "foba", feature_groups=groups)
    assert set(whole.names) == {"x3", "x8"}


@pytest.mark.parametrize("form", ["frame", "csv", "jsonl", "parquet", "dicts"])
def test_never_may_name_a_whole_column_of_text(X, y, frame, form, tmp_path):
    town = np.where(y == "yes", "Bonn", "Oslo")
    town[::4] = "Rome"
    data = frame.drop(columns="user").assign(town=town)
    with_town = select(data, "y", 2, "foba")
    assert any(name.startswith("town=") for name in with_town.names)
    path = tmp_path / f"people.{form}"
    if form == "csv":
        data.to_csv(path, index=False)
    elif form == "parquet":
        data.to_parquet(path)
    elif form == "jsonl":
        data.to_json(path, orient="records", lines=True)
    elif form == "dicts":
        path = data.to_dict("records")
    given = data if form == "frame" else path
    for method in ("foba", "mission"):
        assert set(select(given, "y", 2, method, never=["town"]).names) == {"x3", "x8"}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"k": 0}, "k should be a whole number from 1 or 'auto', got 0"),
        ({"method": "nobody"}, "method should be one of"),
        ({"method": "foba", "eta": 1}, "foba has no setting 'eta'; it has criterion"),
        ({"r": 1, "eta": 1}, "no method for more rows than features goes with"),
        ({"k": "auto", "budgets": []}, r"at least one, got \[\]"),
        ({"k": "auto", "budgets": 5}, "at least one, got 5"),
        ({"k": "auto", "budgets": [2, 0]}, "whole numbers from 1, at least one, got 0"),
        ({"target": None}, "an array needs its labels"),
        ({"data": 5}, "expected an array, a table, a path"),
        ({"data": [], "target": "y"}, "got nothing"),
        ({"data": iter([1, 2]), "target": "y"}, "expected rows as dictionaries"),
        ({"data": [("a", [1.0, 2.0])], "method": "foba"}, "foba needs rows"),
        ({"data": [("a", [1.0, 2.0])], "target": None}, "expected a target"),
        ({"data": [{"a": 1}], "target": [1]}, "it is the name of a key"),
        ({"data": "a.csv", "target": [1]}, "it is the name of a column"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(X, y, asked, message):
    words = {"data": X, "target": y} | asked
    with pytest.raises((ShortlistError, DataError), match=message) as caught:
        select(**words)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("method", ["auto", "foba", "mission", "barda"])
@pytest.mark.parametrize("form", ["array", "frame"])
def test_rows_in_memory_may_be_sorted_by_class(method, form):
    rng = np.random.default_rng(0)
    y = np.repeat([f"class {c}" for c in range(5)], 300)  # two in the first 1,000 rows
    X = np.where(rng.random((1500, 60)) < 0.03, 1.0, 0.0)
    for c in range(5):
        X[300 * c : 300 * (c + 1), c] = rng.random(300) < 0.8
    data = X if form == "array" else pd.DataFrame(X).add_prefix("x")
    chosen = select(data, y, k=5, method=method, trial=False)
    assert len(chosen.classes) == 5
    assert set(chosen.names) == {f"x{c}" for c in range(5)}


def test_facts_of_rows_in_memory_know_all_classes(X):
    source = ArraySource(np.tile(X, (8, 1)), np.repeat(range(8), len(X)))
    assert len(X) * 2 <= 1000  # the first thousand rows do not have all classes
    assert facts_of_rows(source).n_classes == 8


def test_tables_that_do_not_fit_are_streamed(X, y, monkeypatch):
    from shortlist.front import _facts

    monkeypatch.setattr(_facts, "free_memory", lambda: 10_000)
    chosen = select(X, y, 2)
    assert (chosen.method, set(chosen.names)) == ("mission", {"x3", "x8"})
    assert "more rows than should be held in memory" in chosen.notes[-1]
    assert isinstance(_select.choose(_facts.Facts("columns")), Choice)


def test_missing_values_are_named_with_the_way_out(frame):
    gaps = frame.drop(columns="user")
    gaps.loc[7, "x2"] = np.nan
    with pytest.raises(DataError, match=r"row 7, column 'x2'.*missing='zero'"):
        select(gaps, "y", 2)
    assert select(gaps, "y", 2, missing="zero").names == ("x3", "x8")


def test_rows_of_weight_zero_might_as_well_not_be_there(X, y, frame):
    kept = np.arange(len(y)) % 3 > 0
    wrong = np.where(kept, y, np.where(X[:, 0] > 0, "yes", "no"))
    there = select(X[kept], y[kept], 2, "foba")
    weighted = select(X, wrong, 2, "foba", sample_weight=kept.astype(float))
    np.testing.assert_allclose(weighted.weights, there.weights, rtol=1e-6)
    table = frame.drop(columns="user").assign(y=wrong, w=kept * 1.0)
    by_name = select(table, "y", 2, "foba", sample_weight="w")
    np.testing.assert_allclose(by_name.weights, there.weights, rtol=1e-6)
    assert "w" not in by_name.names
    rows = [{"a": 1.0, "y": 1}, {"a": 2.0, "y": 0}]
    with pytest.raises(ShortlistError, match="dictionaries have no weights"):
        select(rows, "y", sample_weight=[1.0, 1.0])


def test_methods_of_columns_take_tables_with_text_and_can_be_resampled(frame):
    table = frame.drop(columns="user").assign(town=np.where(frame["x3"] > 1, "A", "B"))
    named = select(table, "y", 2, "online_substitution")
    assert named.method == "online_substitution"
    assert named.names == ("x3", "x8")
    numbers = table.drop(columns="town")
    stable = select(numbers, "y", 2, "online_substitution", stability=2)
    assert stable.names == ("x3", "x8")
    assert stable.params["stability"]


WORKERS = {"k": 2, "n_workers": 2}


def test_workers_go_through_columns_whoever_named_the_method(X, y):
    named = select(X, y, method="online_substitution", **WORKERS)
    picked = select(X, y, columns=True, **WORKERS)
    assert picked.method == "online_substitution"
    assert named.params["n_workers"] == picked.params["n_workers"] == 2
    assert set(named.names) == set(picked.names) == {"x3", "x8"}


@pytest.mark.parametrize("way", ["stability", "text"])
def test_workers_are_refused_where_rows_are_gathered(X, y, frame, way):
    asked = {**WORKERS, "method": "online_substitution"}
    data = X if way == "stability" else frame.drop(columns=["user", "y"])
    if way == "text":
        data = data.assign(town="A")
    else:
        asked["stability"] = 2
    with pytest.raises(ShortlistError, match="n_workers goes with columns that come"):
        select(data, y, **asked)


def test_weights_go_by_rows_and_are_refused_where_columns_come(X, y):
    weight = np.where(np.arange(len(y)) < 120, 1.0, 0.0)
    asked = {"k": 2, "sample_weight": weight}
    by_rows = select(X, y, method="online_substitution", **asked)
    part = select(X[:120], y[:120], 2, "online_substitution")
    assert by_rows.names == part.names
    np.testing.assert_allclose(by_rows.weights, part.weights, rtol=1e-4)
    with pytest.raises(ShortlistError, match="all rows weigh the same; leave"):
        select(X, y, columns=True, **asked)
    with pytest.raises(ShortlistError, match="weights it was opened with"):
        select(open_source((X, y)), **asked)


def test_one_name_by_itself_is_one_name(X, y, frame):
    assert "x5" in select(X, y, 2, "foba", always="x5").names
    table = frame.drop(columns="user").assign(town=np.where(frame["x3"] > 1, "A", "B"))
    chosen = select(table, "y", 2, "foba", never="town")
    assert chosen.names == select(table, "y", 2, "foba", never=["town"]).names
    assert select(X, y, 1, "foba", never="x3").names == ("x8",)


def test_budgets_may_come_from_a_generator(X, y):
    asked = {"k": "auto", "method": "foba"}
    listed = select(X, y, budgets=[1, 2, 3], **asked)
    drawn = select(X, y, budgets=(k for k in (1, 2, 3)), **asked)
    assert drawn.k == listed.k
    np.testing.assert_array_equal(drawn.trace["budget_k"], [1, 2, 3])


def test_a_dictionary_of_columns_is_told_what_to_do(X, y):
    with pytest.raises(DataError, match=r"got dict; pandas\.DataFrame"):
        select({"a": X[:, 0]}, y)


def test_fewer_features_than_asked_for_are_explained(X):
    flat = X.copy()
    flat[:, 1:] = X[:, :1]
    noise = np.random.default_rng(2).normal(size=len(X))
    found = select(flat, X[:, 0] + noise, 3, "foba")
    assert found.n_selected == 1
    assert "1 of 3 features asked for: no other adds anything" in found.notes
