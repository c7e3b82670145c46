"""Comparisons are honest: nothing that is judged by was chosen by."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from scipy.sparse import csr_array
from sklearn.feature_selection import RFE, SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from shortlist import CompareDisplay, FoBa, Mission, ShortlistError, compare
from shortlist._splits import folds
from shortlist.engines import Interrupted
from shortlist.evaluate import _compare
from shortlist.evaluate._contestants import USUAL, contestant, why_not
from shortlist.evaluate._examples import Examples
from shortlist.evaluate._judge import judge
from shortlist.table import MRMR

matplotlib.use("agg")


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot.close("all")


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
    for metric in display.metrics:
        values = frame.query("k == 2 and method == 'foba'")[metric]
        assert table.loc[(2, "foba"), metric] == pytest.approx(values.mean())
        error = table.loc[(2, "foba"), f"{metric}_error"]
        assert error == pytest.approx(values.sem())
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
    with pytest.raises(ShortlistError, match=r"budgets compared \(1, 2, 5\), got 3"):
        display.overlaps(3)


def test_methods_see_only_rows_to_learn_from(table, monkeypatch):
    X, y = table
    seen = []

    def spying(method, *, classes):
        def choose(X_part, y_part, ks, seed, weight, own=None):
            if len(X_part) > 20:  # a few of the first fold are for warming up
                seen.append((X_part, own))
            return {k: np.arange(k) for k in ks}

        return choose

    monkeypatch.setattr(_compare, "contestant", spying)
    groups = np.repeat(np.arange(40), 4)
    display = compare(X, y, ks=(2,), methods=["foba"], cv=5, groups=groups)
    splits = folds(y, 5, groups, classes=True)
    assert len(seen) == 15
    for place, (part, own) in enumerate(seen):
        train, test = splits[place // 3]  # foba and two yardsticks a fold
        np.testing.assert_array_equal(part, X[train])
        np.testing.assert_array_equal(own, groups[train])
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
    assert set(display.names) == set("abcdef")
    assert set(display.metrics) == {"accuracy", "log_loss"}
    assert display.chosen("mrmr", 1) == {"b": 3}


def test_estimators_with_settings_of_their_own(table):
    X, y = table
    display = CompareDisplay.from_estimators(
        [FoBa(overshoot=0.0), FoBa(backward=False)], X, y, ks=[2], cv=3
    )
    methods = {r.method for r in display.results}
    assert methods == {"FoBa 0", "FoBa 1", "l1", "random"}
    alone = CompareDisplay.from_estimators(FoBa(), X, y, ks=2, cv=3)
    assert {r.method for r in alone.results} == {"FoBa", "l1", "random"}
    for none in (LogisticRegression(), object()):
        with pytest.raises(ShortlistError, match="parameter k or n_features_to_select"):
            CompareDisplay.from_estimators({"none": none}, X, y)
    with pytest.raises(ShortlistError, match="names or estimators, got int"):
        compare(X, y, methods=3)


def test_selectors_of_scikit_learn_take_part(table):
    X, y = table
    methods = {
        "f": SelectKBest(),
        "rfe": RFE(LogisticRegression()),
        "greedy": TakesAll(),
    }
    with pytest.raises(
        ShortlistError, match="TakesAll should choose 2 features at mos"
    ):
        CompareDisplay.from_estimators(methods, X, y, ks=[2], cv=3)
    del methods["greedy"]
    display = CompareDisplay.from_estimators(methods, X, y, ks=[1, 2], cv=3)
    assert display.chosen("rfe", 2) == display.chosen("f", 2) == {"x3": 3, "x8": 3}
    assert display.chosen("f", 1) == {"x3": 3}


class TakesAll(SelectKBest):
    """A selector that does not keep to its budget."""

    def _get_support_mask(self):
        return np.ones(self.n_features_in_, bool)


def test_a_picture_has_a_line_for_each_method(display):
    drawn = display.plot()
    assert len(drawn.ax_.get_legend().get_texts()) == 5
    assert [t.get_text() for t in drawn.ax_.get_xticklabels()] == ["1", "2", "5"]
    assert drawn.ax_.get_xticks(minor=True).size == 0
    lines = [container.lines[0].get_xdata() for container in drawn.ax_.containers]
    beside = np.array(lines)  # (methods, budgets)
    assert len(np.unique(beside[:, 1])) == 5
    assert (np.abs(beside / [1, 2, 5] - 1) < 0.15).all()
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
        ({"ks": [0, 26]}, "whole numbers from 1, as 5, 10, 20, got"),
        ({"ks": 2.5}, "whole numbers from 1, as 5, 10, 20, got 2.5"),
        ({"ks": "5,10"}, "whole numbers from 1, as 5, 10, 20, got '5,10'"),
        ({"ks": 26}, r"one from 1 to the number of features \(25\), got 26"),
        ({"metric": "r2"}, "metric should be one of accuracy, auc, log_loss for such"),
        ({"always": ["x1", "x2"]}, "room for the 2 features of always=, got 1"),
        ({"always": ["x1"], "never": ["x1"]}, "'x1' is named by always= and by never"),
        ({"never": ["z"]}, "never: expected the name of a feature, got 'z'"),
        ({"always": "x1"}, "always should be a list of features, got a str"),
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


def test_budgets_that_are_too_large_are_left_out_and_said_so(table):
    display = compare(*table, ks=(2, 26, 500), methods=["mrmr"], cv=2)
    assert set(display.frame["k"]) == {2}
    assert display.notes == ("left out: k = 26, 500, as there are 25 features",)


def test_folds_are_as_many_as_the_rarest_class_allows(table):
    X, y = table
    rare = np.where(np.arange(160) % 50 == 0, "maybe", y)  # four of them
    display = compare(X, rare, ks=1, methods=["mrmr"])
    assert display.n_folds == 4
    assert display.notes == (
        "4 folds instead of 5, as there are 4 rows of class maybe",
    )
    grouped = compare(X, y, ks=1, methods=["mrmr"], groups=np.arange(160) % 3)
    assert grouped.notes == ("3 folds instead of 5, as there are 3 groups",)
    once = np.where(np.arange(160) == 7, "once", y)
    with pytest.raises(ShortlistError, match="2 rows of class once at least, got 1"):
        compare(X, once, ks=1, methods=["mrmr"])
    with pytest.raises(ShortlistError, match=r"two classes, got 1 class \(a\)"):
        compare(X, np.full(160, "a"), ks=1)


def test_what_is_always_in_and_what_never_is(table):
    X, y = table
    methods = {"foba": FoBa(), "mission": Mission(), "mrmr": MRMR(), "f": SelectKBest()}
    display = compare(X, y, ks=(1, 3), methods=methods, cv=2, always=["x11"])
    for method in (*methods, "l1", "random"):
        assert display.chosen(method, 1) == {"x11": 2}, method
        found = display.chosen(method, 3)
        assert found["x11"] == 2
        assert sum(found.values()) == 6, method
    assert display.chosen("f", 3) == {"x3": 2, "x8": 2, "x11": 2}
    without = compare(X, y, ks=2, methods=["foba"], cv=2, never=["x3"], always=["x24"])
    assert without.n_features == 24
    assert set(without.chosen("foba", 2)) == {"x8", "x24"}


def test_methods_are_ranked_by_the_metric_asked_for(table):
    asked = {"ks": (1, 2), "methods": ["mrmr"], "cv": 3}
    display = compare(*table, metric="log_loss", **asked)
    assert display.main_metric == "log_loss"
    for frame, up in ((display.summary(), False), (display.summary("auc"), True)):
        metric = "auc" if up else "log_loss"
        for _, part in frame.groupby("k"):
            worth = part[metric] if up else -part[metric]
            assert worth.is_monotonic_decreasing
    assert display.as_text().split()[3] == "log"
    assert display.as_text("auc").split()[3] == "auc"
    assert display.plot().ax_.get_ylabel() == "log loss, mean of 3 folds"


def test_text_is_aligned_however_long_a_name_is(table):
    X, y = table
    methods = {"a name of quite some letters, this one": FoBa(), "mrmr": MRMR()}
    text = str(compare(X, y, ks=(1, 2), methods=methods, cv=2))
    tables = text.split("\n\n")
    assert len(tables) == 4
    for part in tables[:3]:
        assert len(set(map(len, part.splitlines()))) == 1, part
    assert tables[2].startswith("overlap at k = 2")
    assert tables[3].startswith("best: ")


def test_time_is_that_of_choosing(table, monkeypatch):
    """What a method does for the first time, as compiling, is done before it counts."""
    clock, met = [0.0], set()

    class Slow(SelectKBest):
        def fit(self, X, y):
            clock[0] += 1.0 if "Slow" in met else 100.0
            met.add("Slow")
            return super().fit(X, y)

    monkeypatch.setattr(_compare.time, "process_time", lambda: clock[0])
    display = compare(*table, ks=2, methods=[Slow()], cv=2)
    seconds = [r.seconds for r in display.results if r.method == "Slow"]
    assert seconds == [1.0, 1.0]


@pytest.mark.parametrize("fits", [1, 3, 7])
def test_ctrl_c_keeps_the_folds_that_are_done(table, fits):
    told = []

    def stop(*now):
        told.append(now)
        if len(told) > fits:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        compare(*table, ks=(1, 2), methods=["mrmr"], cv=4, watch=stop)
    found = stopped.value.result
    assert found.is_partial
    assert len(found.results) == 2 * fits  # nothing is lost
    assert found.n_folds == {1: 1, 3: 1, 7: 2}[fits]
    assert found.notes == (f"incomplete: {fits} of 12 fits were done",)
    # methods are ranked by folds that they all have
    assert len(found.standings().results) == {1: 2, 3: 6, 7: 12}[fits]
    assert found.verdict().startswith("best: ")
    assert "nan" not in str(found)


def test_before_the_first_fit_there_is_nothing_to_keep(table):
    def stop(*now):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        compare(*table, ks=1, methods=["mrmr"], watch=stop)
    assert not isinstance(stopped.value, Interrupted)
