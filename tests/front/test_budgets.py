"""Budgets and trials count what k counts, and leave room for what is always in."""

import numpy as np
import pandas as pd
import pytest

from shortlist import ShortlistError, select
from shortlist._registry import selector
from shortlist.evaluate import compare
from shortlist.evaluate._contestants import contestant
from shortlist.front import _budgets, _order
from shortlist.front._order import Order, chooser

NAMES = [f"f{j}" for j in range(30)]
GROUPS = {name: f"g{j // 3}" for j, name in enumerate(NAMES)}


@pytest.fixture(scope="module")
def table():
    """Thirty columns in threes; the first three decide a number."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 30))
    return X, X[:, :3].sum(axis=1) + 0.5 * rng.normal(size=240)


@pytest.mark.parametrize("method", ["foba", "gsr", "mtfs", "iti", "auto"])
def test_one_group_is_enough_where_one_decides(table, method):
    X, z = table
    asked = {"k": "auto", "feature_names": NAMES, "feature_groups": GROUPS}
    found = select(X, z, method=method, **asked)
    assert set(found.names) == {"f0", "f1", "f2"}
    assert found.trace["budget_k"].tolist() == [1, 2, 3, 5, 7, 10]  # of ten groups


def test_rows_that_come_once_are_held_by_a_method_that_needs_them_all(table):
    X, z = table
    rows = (
        {**dict(zip(NAMES, row, strict=True)), "z": value}
        for row, value in zip(X.tolist(), z.tolist(), strict=True)
    )
    asked = {"k": "auto", "method": "foba", "feature_groups": GROUPS, "stability": 2}
    found = select(rows, "z", **asked)
    assert set(found.names) == {"f0", "f1", "f2"}
    assert found.params["stability"]["pairs"] == 2


def test_columns_with_few_groups_or_a_rare_class_have_a_budget_too(table):
    """No part of the rows can be judged by itself: each fold chooses anew, as by rows."""
    X, z = table
    asked = {"k": "auto", "method": "online_substitution", "columns": True}
    people = np.repeat([0, 1, 2], 80)
    rare = np.where(np.arange(240) < 3, "rare", np.where(z > 0, "high", "low"))
    for y, groups, cv in (
        (z, people, 3),
        (z, np.repeat(range(5), 48), 5),
        (rare, None, 3),
    ):
        found = select(X, y, groups=groups, **asked)
        same = select(X, y, groups=groups, cv=cv, **asked)
        for part in ("budget_k", "budget_score", "budget_error"):
            np.testing.assert_array_equal(found.trace[part], same.trace[part])
    few = {"groups": np.zeros(240), **asked}
    with pytest.raises(
        ShortlistError, match="needs more than one group of rows; say k"
    ):
        select(X, z, **few)


def test_a_trial_lets_every_method_choose_whole_groups(table, monkeypatch):
    X, z = table
    sizes = []
    make = _order.chooser

    def listening(order, names):
        choose = make(order, names)

        def chosen(*asked):
            found = choose(*asked)
            sizes.extend(len(columns) for columns in found.values())
            return found

        return chosen

    monkeypatch.setattr("shortlist.front._trial.chooser", listening)
    select(X, z, k=2, feature_names=NAMES, feature_groups=GROUPS)
    assert set(sizes) == {6}


@pytest.mark.parametrize(
    ("form", "grouped"),
    [
        ("array", False),
        ("array", True),
        ("rows", False),
        ("rows", True),
        ("columns", False),
    ],
)
def test_no_budget_is_too_small_for_what_is_always_in(table, form, grouped):
    X, z = table
    asked = {"k": "auto", "budgets": (1, 2, 3, 5), "always": ["f7", "f20"]}
    if grouped:
        asked |= {"feature_groups": GROUPS, "always": ["f6", "f7", "f20"]}
    data, target = X, z
    if form == "rows":
        pairs = zip(X.tolist(), z.tolist(), strict=True)
        data = [(dict(zip(NAMES, row, strict=True)), value) for row, value in pairs]
        target = None
    else:
        asked["feature_names"] = NAMES
    if form == "columns":
        asked["columns"] = True
    else:
        asked["method"] = "foba"
    found = select(data, target, **asked)
    assert found.trace["budget_k"].tolist() == [2, 3, 5]
    assert {"f7", "f20"} <= set(found.names)
    if grouped:
        assert {"f6", "f8", "f18"} <= set(found.names)


def test_a_stream_leaves_room_too():
    rng = np.random.default_rng(0)
    rows = [
        ({"a": a, "b": b, "c": c}, a > 0)
        for a, b, c in rng.normal(size=(800, 3)).tolist()
    ]
    asked = {"k": "auto", "always": ["b", "c"], "budgets": (1, 2, 3)}
    found = select(iter(rows), method="mission", **asked)
    assert found.trace["budget_k"].tolist() == [2, 3]
    # what is always in is judged first: two of three tell nothing
    assert found.trace["budget_score"][0] < 0.7
    assert found.k == 3


def test_budgets_that_leave_no_room_are_refused(table):
    X, z = table
    with pytest.raises(ShortlistError, match="one from 2 to the number of features"):
        select(X, z, "auto", "foba", always=["x1", "x2"], budgets=(1,))
    asked = {"feature_names": NAMES, "feature_groups": GROUPS}
    with pytest.raises(ShortlistError, match=r"to the number of groups \(10\)"):
        select(X, z, "auto", "foba", budgets=(11, 30), **asked)


def test_a_path_answers_all_budgets_at_once_as_in_a_comparison(table, monkeypatch):
    X, z = table
    fits = []
    run = _order.run_order
    monkeypatch.setattr(
        _order, "run_order", lambda *asked: fits.append(asked[1]) or run(*asked)
    )
    ks = [1, 2, 3, 5, 7, 10, 15]
    for y in (z, np.where(z > 0, "a", "b"), np.digitize(z, [-1, 1]).astype(str)):
        fits.clear()
        ours = chooser(Order(selector("foba")), NAMES)(X, y, ks, 0)
        assert fits == [15]
        theirs = contestant("foba", classes=y is not z)(X, y, ks, 0)
        assert [set(ours[k].tolist()) for k in ks] == [
            set(theirs[k].tolist()) for k in ks
        ]


def test_an_estimator_that_counts_groups_is_not_cut_to_columns(table):
    from shortlist import GSR

    X, z = table
    display = compare(
        X, z, ks=1, methods={"gsr": GSR(feature_groups=np.arange(30) // 3)}, cv=3
    )
    assert display.chosen("gsr", 1) == {"x0": 3, "x1": 3, "x2": 3}


@pytest.mark.parametrize("of_numbers", [False, True])
def test_a_column_of_groups_of_rows_is_not_counted_as_a_feature(tmp_path, of_numbers):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 15))
    data = pd.DataFrame(X, columns=[f"c{j}" for j in range(15)])
    users = np.arange(600) // 2
    data["u"] = users if of_numbers else [f"user {user}" for user in users]
    data["y"] = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.7])]
    data.to_csv(tmp_path / "a.csv", index=False)
    data.to_parquet(tmp_path / "a.parquet")
    forms = [data, tmp_path / "a.csv", tmp_path / "a.parquet", data.to_dict("records")]
    told = []
    for form in forms:
        found = select(form, "y", k=3, groups="u", trial=False)
        why = found.params["picked"]["why"]
        assert why == "more rows than features (600 rows, 15 features)"
        told.append((found.method, set(found.names), found.k))
    assert all(one == told[0] for one in told)


@pytest.mark.parametrize("method", ["barda", "bamd", "l1arda", "adafobos", "mission"])
def test_what_is_always_in_stays_in_the_best_of_a_stream(table, method):
    X, z = table
    rows = (
        {**dict(zip(NAMES, row, strict=True)), "z": value}
        for row, value in zip(X.tolist(), z.tolist(), strict=True)
    )
    found = select(rows, "z", k="auto", method=method, always=["f29"], trial=False)
    assert "f29" in found.names
    assert len(found) <= found.k < 30


@pytest.mark.parametrize("budget", ["per_class", "shared"])
def test_what_is_published_of_a_stream_is_what_was_judged(table, monkeypatch, budget):
    X, z = table
    y = np.digitize(z, [-1.0, 1.0])
    judged = {}
    judge = _budgets.judge_chosen

    def listening(A, y, chosen, **asked):
        judged.update({k: A[:, columns].shape[1] for k, columns in chosen.items()})
        return judge(A, y, chosen, **asked)

    monkeypatch.setattr(_budgets, "judge_chosen", listening)
    rows = (
        {**dict(zip(NAMES, row, strict=True)), "y": f"class {label}"}
        for row, label in zip(X.tolist(), y.tolist(), strict=True)
    )
    found = select(rows, "y", k="auto", method="mission", budget=budget)
    assert len(set(found.names)) == judged[found.k]
    if budget == "shared":
        assert judged[found.k] == found.k
    assert judged[2] >= 2
