"""Comparisons are honest: nothing that is judged by was chosen by."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.model_selection import GroupKFold

from shortlist import CompareDisplay, FoBa, Mission, ShortlistError, compare
from shortlist.evaluate import _compare
from shortlist.evaluate._contestants import USUAL, contestant, why_not
from shortlist.evaluate._examples import Examples
from shortlist.evaluate._judge import judge
from shortlist.evaluate._splits import folds
from shortlist.table import MRMR

matplotlib.use("agg")


@pytest.fixture(scope="module")
def table():
    """Two classes that the columns 3 and 8 tell apart."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 25))
    y = np.where(2 * X[:, 3] - X[:, 8] + 0.3 * rng.normal(size=160) > 0, "yes", "no")
    return X, y


@pytest.fixture(scope="module")
def display(table):
    return compare(*table, ks=(1, 2, 5), methods=["foba", "mission", "mrmr"], cv=4)


def test_all_methods_and_yardsticks_are_judged_at_every_budget_and_fold(display):
    frame = display.frame
    assert len(frame) == 5 * 3 * 4
    assert set(frame["method"]) == {"foba", "mission", "mrmr", "l1", "random"}
    assert (frame["features"] == frame["k"]).all()
    assert set(display.metrics) == {"accuracy", "auc", "log_loss"}
    table = display.summary().set_index(["k", "method"])
    assert table.loc[(2, "foba"), "accuracy"] > 0.85
    assert table.loc[(2, "foba"), "overlap"] == 1.0
    assert table.loc[(2, "random"), "accuracy"] < 0.75
    first = display.summary().groupby("k")["accuracy"].first()
    assert (first >= display.summary().groupby("k")["accuracy"].max()).all()


def test_smaller_budgets_of_one_fit_are_those_of_fits_of_their_own(table):
    X, y = table
    for estimator in (FoBa(), MRMR(), Mission()):
        chosen = contestant(estimator, classes=True)(X, y, (1, 3, 6), 0)
        for k, columns in chosen.items():
            alone = contestant(estimator, classes=True)(X, y, (k,), 0)[k]
            assert set(columns) == set(alone)


def test_overlaps_are_jaccard_indices(display):
    table = display.overlaps(2)
    assert (np.diag(table) == 1.0).all()
    assert (table.to_numpy() == table.to_numpy().T).all()
    assert table.loc["foba", "mrmr"] > table.loc["foba", "random"]
    with pytest.raises(ShortlistError, match="one of the budgets compared, got 3"):
        display.overlaps(3)


def test_methods_see_only_rows_to_learn_from(table, monkeypatch):
    X, y = table
    seen = []

    def spying(method, *, classes):
        def choose(X_part, y_part, ks, seed, weight):
            seen.append(X_part)
            return {k: np.arange(k) for k in ks}

        return choose

    monkeypatch.setattr(_compare, "contestant", spying)
    groups = np.repeat(np.arange(40), 4)
    display = compare(X, y, ks=(2,), methods=["foba"], cv=5, groups=groups)
    splits = folds(y, 5, groups, classes=True)
    for place, part in enumerate(seen):
        train, test = splits[place // 3]  # foba and two yardsticks a fold
        np.testing.assert_array_equal(part, X[train])
        assert not set(groups[train]) & set(groups[test])
    assert display.n_folds == 5


def test_noise_is_judged_to_be_noise():
    """Choosing by all rows before splitting would look much better than chance."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 800)), rng.permutation(np.arange(60) % 2)
    display = compare(X, y, ks=(10,), methods=["foba"], cv=5)
    table = display.summary().set_index("method")
    assert abs(table.loc["foba", "accuracy"] - 0.5) < 0.2


def test_numbers_are_judged_by_r2_and_sparse_tables_are_fine():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 15)) * (rng.random((120, 15)) < 0.5)
    y = 3 * X[:, 2] + rng.normal(size=120)
    sparse = csr_array(X)
    sparse.indices, sparse.indptr = (
        a.astype(np.int64) for a in (sparse.indices, sparse.indptr)
    )
    display = compare(sparse, y, ks=(1, 99), methods=["foba"], cv=3)
    assert display.main_metric == "r2"
    table = display.summary().set_index("method")
    assert table.loc["foba", "r2"] > 0.6 > table.loc["random", "r2"]
    assert set(display.frame["k"]) == {1}


def test_several_classes_and_names_of_columns():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150, 6)), columns=list("abcdef"))
    y = np.digitize(X["b"], [-0.5, 0.5])
    display = compare(X, y, ks=(1,), methods=["mrmr"], cv=3)
    assert display.names == tuple("abcdef")
    assert set(display.metrics) == {"accuracy", "log_loss"}
    assert all(r.chosen.tolist() == [1] for r in display.results if r.method == "mrmr")


def test_estimators_with_settings_of_their_own(table):
    X, y = table
    display = CompareDisplay.from_estimators(
        [FoBa(overshoot=0.0), FoBa(backward=False)], X, y, ks=[2], cv=3
    )
    methods = {r.method for r in display.results}
    assert methods == {"FoBa 0", "FoBa 1", "l1", "random"}
    with pytest.raises(ShortlistError, match="should have a parameter k"):
        CompareDisplay.from_estimators({"svc": GroupKFoldLike()}, X, y)


class GroupKFoldLike:
    """Something that is no selector."""

    def get_params(self):
        return {}


def test_a_picture_has_a_line_for_each_method(display):
    drawn = display.plot()
    assert len(drawn.ax_.get_legend().get_texts()) == 5
    assert drawn.ax_.get_ylabel() == "accuracy, mean of 4 folds"
    assert display.plot("auc", ax=drawn.ax_) is display
    with pytest.raises(ShortlistError, match="one of accuracy, auc, log_loss, got 'x'"):
        display.plot("x")


def test_progress_is_told(table):
    told = []
    X, y = table
    compare(X, y, ks=[1], methods=["mrmr"], cv=2, watch=lambda *what: told.append(what))
    assert told[0] == ("mrmr, fold 1 of 2", 0, 6)
    assert told[-1] == ("random, fold 2 of 2", 5, 6)


class Shape:
    """As much of a table as costs depend on."""

    def __init__(self, *shape):
        self.shape = shape


def test_what_would_take_too_long_is_left_out_and_said_so():
    few = {m: why_not(m, Shape(62, 2000), 2, 100) for m in USUAL}
    assert set(few.values()) == {None}
    many = {m: why_not(m, Shape(15_000, 26_000), 20, 100) for m in USUAL}
    assert "minutes" in many["gsr"]
    assert "minutes" in many["relieff"]
    assert many["mission"] is None
    assert many["barda"] is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ks": [0, 26]}, "budget from 1 to the number of features"),
        ({"methods": "foba"}, "'auto' or a list, got 'foba'"),
        ({"methods": ["nobody"]}, "method should be one of"),
        ({"cv": 1}, "from 2 to the number of rows"),
        ({"cv": 200}, "from 2 to the number of rows"),
        ({"cv": "five"}, "a number of folds, a splitter or pairs"),
        ({"cv": []}, "at least one split"),
        ({"groups": [1, 2]}, "one entry a row"),
    ],
)
def test_requests_that_make_no_sense_are_refused(table, settings, message):
    with pytest.raises(ShortlistError, match=message):
        compare(*table, **{"ks": [1], "methods": ["mrmr"], **settings})


def test_splitters_and_pairs_of_rows_are_taken_as_they_are():
    y, groups = np.arange(12) % 2, np.arange(12) // 3
    for train, test in folds(y, GroupKFold(2), groups, classes=True):
        assert not set(groups[train]) & set(groups[test])
    pairs = [(np.arange(6), np.arange(6, 12))]
    np.testing.assert_array_equal(folds(y, pairs, classes=True), pairs)


def test_the_judge_copes_with_nothing_chosen_and_classes_it_never_saw():
    y, y_new = np.array(list("aabb") * 5), np.array(list("abc"))
    none, none_new = Examples(np.zeros((20, 0)), y), Examples(np.zeros((3, 0)), y_new)
    found = judge(none, none_new, classes=True)
    assert found["accuracy"] == pytest.approx(1 / 3)
    A = np.where(y == "a", 1.0, -1.0)[:, np.newaxis]
    new = Examples(np.array([[1.0], [-1.0], [0.0]]), y_new)
    found = judge(Examples(A, y), new, classes=True)
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert found["log_loss"] > 10  # a class of which it was sure that there is none
