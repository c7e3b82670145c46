"""Rows count as often as their weights say: to choose by, and to judge by."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import LeaveOneOut

from shortlist import ShortlistError, compare
from shortlist._registry import selector
from shortlist.evaluate._choose_k import choose_k, judge_chosen
from shortlist.evaluate._contestants import contestant
from shortlist.evaluate._examples import Examples, shared_spread, spread
from shortlist.evaluate._judge import judge
from shortlist.front._order import Order, chooser


def table(seed, n=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    z = X[:, 1] - X[:, 3] + 0.7 * rng.normal(size=n)
    return X, z, rng.integers(0, 4, n)


def repeated(X, y, times):
    rows = np.repeat(np.arange(len(y)), times)
    return Examples(X[rows], y[rows], None, rows)


@pytest.mark.parametrize("classes", [True, False])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_a_weight_is_as_good_as_so_many_rows(classes, seed):
    X, z, times = table(seed)
    y = np.where(z > 0, "yes", "no") if classes else z
    one_ridge = {"among": None if classes else spread(z, None), "classes": classes}
    known, new = slice(0, 40), slice(40, None)
    for of_class in (z > 0, z <= 0):  # both are on both sides
        for part in (known, new):
            times[part][np.argmax(of_class[part])] = 1
    weighted, _ = Examples(X, y, times.astype(float)).that_count(None)
    n_known = int((times[known] > 0).sum())
    weighted = [
        weighted.part(np.arange(n_known)),
        weighted.part(np.arange(n_known, len(weighted.y))),
    ]
    again = [repeated(X[part], y[part], times[part]) for part in (known, new)]
    # a single group: the ridge is chosen by the rows themselves, whatever their number
    one = [e._replace(groups=np.zeros(len(e.y), int)) for e in (*weighted, *again)]
    found = [judge(*pair, **one_ridge) for pair in (one[:2], one[2:])]
    for name, value in found[1].items():
        assert found[0][name] == pytest.approx(value, rel=1e-3, abs=1e-3), name


@pytest.mark.parametrize("method", ["foba", "mrmr", "l1", "online_substitution"])
@pytest.mark.parametrize("classes", [True, False])
def test_methods_choose_by_weighted_rows_as_by_repeated_ones(method, classes):
    X, z, times = table(3, n=200)
    z = np.where(times == 3, X[:, 0] + X[:, 4], z)  # rows that count more say otherwise
    times = np.where(times == 3, 30, times)
    y = np.where(z > 0, 1.0, 0.0) if classes else z
    again = repeated(X, y, times)
    choose = contestant(method, classes=classes)
    weight = times.astype(float)
    counted, plain = choose(X, y, [2], 0, weight), choose(again.X, again.y, [2], 0)
    assert set(counted[2]) == set(plain[2]) != set(choose(X, y, [2], 0)[2])
    if method != "l1":
        by_order = chooser(Order(selector(method)), list("abcde"))
        assert set(by_order(X, y, [2], 0, weight)[2]) == set(counted[2])


def test_a_row_of_weight_0_is_as_good_as_none():
    X, z, _ = table(1, n=80)
    y = np.where(z > 0, "yes", "no")
    rng = np.random.default_rng(5)
    place = np.sort(rng.permutation(100)[:80])
    more_X, more_y = rng.normal(size=(100, 5)), np.full(100, "maybe", object)
    more_X[place], more_y[place] = X, y
    weight = np.zeros(100)
    weight[place] = rng.integers(1, 3, 80)
    asked = {"ks": [2], "methods": ["foba"], "cv": 3}
    alone = compare(X, y, sample_weight=weight[place], **asked).frame
    among = compare(more_X, more_y.astype(str), sample_weight=weight, **asked).frame
    columns = ["method", "fold", "accuracy", "log_loss"]
    assert alone[columns].equals(among[columns])
    unweighted = compare(X, y, **asked).frame
    assert not alone[columns].equals(unweighted[columns])
    pairs = [(place[:50], place[50:]), (np.arange(50), np.arange(50, 100))]
    pairs_alone = [(np.arange(50), np.arange(50, 80)), *_split_of(place)]
    asked["cv"] = pairs
    one = compare(more_X, more_y.astype(str), sample_weight=weight, **asked)
    asked["cv"] = pairs_alone
    other = compare(X, y, sample_weight=weight[place], **asked)
    assert one.frame[columns].equals(other.frame[columns])


def _split_of(place):
    return [(np.flatnonzero(place < 50), np.flatnonzero(place >= 50))]


def test_methods_that_know_no_weights_are_left_out_of_a_comparison():
    X, z, times = table(2)
    display = compare(X, z, ks=[1], cv=2, sample_weight=times + 1.0)
    assert display.left_out["relieff"] == "takes no weights of rows"
    with pytest.raises(ShortlistError, match="ReliefF takes no weights of rows"):
        compare(X, z, ks=[1], methods=["relieff"], cv=2, sample_weight=times + 1.0)
    compare(X, z, ks=[1], methods=["relieff"], cv=2, sample_weight=np.ones(60))
    with pytest.raises(ShortlistError, match="a weight above 0, got none"):
        compare(X, z, ks=[1], cv=2, sample_weight=np.zeros(60))


def test_r2_of_single_rows_is_that_of_all_of_them():
    X, z, _ = table(0, n=30)
    display = compare(X, z, ks=[2], methods=["foba"], cv=LeaveOneOut())
    part = display.frame[display.frame["method"] == "foba"]
    assert part["r2"].mean() == pytest.approx(1 - (part["rmse"] ** 2).mean() / z.var())
    assert display.summary()["r2"].notna().all()
    # where every fold has some spread, R2 is its own
    examples = Examples(X, z)
    assert shared_spread(examples, [(None, np.arange(5))], classes=False) is None


def test_targets_that_are_all_the_same_have_no_r2():
    X, _, _ = table(0, n=30)
    y = np.full(30, 0.5)
    y[0] = 1.5
    with pytest.raises(
        ShortlistError, match="all rows to judge by have the same target"
    ):
        choose_k(
            lambda X, y, ks, seed, *of_rows: {k: np.arange(k) for k in ks},
            X,
            y,
            classes=False,
            cv=[(np.arange(20), np.arange(20, 30))],
            budgets=[1],
        )


@pytest.mark.parametrize("n", [2, 3, 5, 7])
def test_few_rows_of_numbers_have_a_curve(n):
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, 4)), rng.normal(size=n)
    chosen = {1: np.arange(1), 2: np.arange(2)}
    curve = judge_chosen(X, y, chosen, classes=False)
    assert np.isfinite(curve.scores).all()
    with pytest.raises(ShortlistError, match="needs more than one row; say k"):
        judge_chosen(X[:1], y[:1], chosen, classes=False)


def test_groups_of_one_class_each_are_no_trouble():
    """Two groups: whatever is left to learn the ridge from has a single class."""
    rng = np.random.default_rng(0)
    A, y = rng.normal(size=(20, 2)), np.repeat(["a", "b"], 10)
    found = judge(
        Examples(A, y, None, np.repeat([0, 1], 10)), Examples(A, y), classes=True
    )
    assert 0.0 <= found["accuracy"] <= 1.0
