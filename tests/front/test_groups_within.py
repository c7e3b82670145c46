"""Methods that set rows apart for themselves hear of groups, whoever runs them."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from shortlist import (
    GSR,
    MRMR,
    FoBa,
    FoBaCV,
    Mission,
    _calibrating,
    _online,
    _refit,
    compare,
    select,
    stability,
)
from shortlist._protocols import ShortlistError, knowing_groups
from shortlist._registry import selectors
from shortlist._splits import folds
from shortlist.cli import cli
from shortlist.evaluate._contestants import takes_groups
from shortlist.front._columns_of_rows import algorithm_for_rows
from shortlist.resampling._halves import complementary_halves
from shortlist.sources import ArraySource
from shortlist.table import _foba_cv, _gsr_exponent

N = 360
#: Each row has a label, and a value of the last column, that no other row has.
PATIENT = np.random.default_rng(7).permutation(N) // 6


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 8))
    return X, 2 * X[:, 3] - X[:, 5] + rng.normal(size=N)


@pytest.fixture
def held_out(monkeypatch):
    """Groups that GSR's hold-outs were told of, a list for each."""
    seen, real = [], _gsr_exponent.hold_out_rows

    def noted(problem, level):
        found = real(problem, level)
        own = problem.groups
        if own is not None and len(found.test):
            assert not set(own[found.train]) & set(own[found.test])
        seen.append(None if own is None else own.tolist())
        return found

    monkeypatch.setattr(_gsr_exponent, "hold_out_rows", noted)
    return seen


@pytest.fixture
def set_apart(monkeypatch):
    """Groups that streams draw from, a list for each run; two hundred rows are many."""
    for module, name in ((_calibrating, "FIRST"), (_refit, "EXACT_ROWS")):
        monkeypatch.setattr(module, name, 100)
    seen, real = [], _online.groups_apart
    monkeypatch.setattr(
        _online, "groups_apart", lambda own: seen.append(own.tolist()) or real(own)
    )
    return seen


@pytest.fixture(params=["gsr", "mission"])
def told(request, held_out, set_apart):
    """A method, and what it was told of groups."""
    return request.param, held_out if request.param == "gsr" else set_apart


def test_select_tells_of_groups(table, told):
    method, seen = told
    select(*table, k=2, method=method, groups=PATIENT)
    assert seen == [PATIENT.tolist()]
    seen.clear()
    select(*table, k=2, method=method)
    assert seen in ([], [None])


def test_every_fold_for_a_budget_is_told_of_its_own(table, told):
    method, seen = told
    asked = {"budgets": (1, 2), "cv": 3, "groups": PATIENT}
    select(*table, "auto", method, **asked)
    splits = folds(table[1], 3, PATIENT, classes=False)
    expected = [PATIENT[train].tolist() for train, _ in splits]
    for own in expected:
        assert own in seen
    assert seen[-1] == PATIENT.tolist()  # and the choice itself
    assert all(own in (*expected, PATIENT.tolist()) for own in seen)


def test_a_trial_tells_of_groups(table, held_out):
    select(*table, k=2, groups=PATIENT)
    splits = folds(table[1], 3, PATIENT, classes=False)
    for train, _ in splits:
        assert PATIENT[train].tolist() in held_out


def test_rows_without_a_label_take_their_groups_with_them(table, told):
    method, seen = told
    X, y = table
    lacking = np.arange(N) % 5 == 0
    frame = pd.DataFrame(X).add_prefix("x").assign(y=y, who=PATIENT)
    frame.loc[lacking, "y"] = np.nan
    chosen = select(frame, "y", k=2, method=method, groups="who")
    assert chosen.n_examples == N - lacking.sum()
    if method == "gsr":
        assert seen == [PATIENT[~lacking].tolist()]
    alone = select(frame[~lacking], "y", k=2, method=method, groups="who")
    assert alone.names == chosen.names


def test_rows_that_stream_by_tell_of_groups(table, set_apart):
    X, y = table
    named = [f"x{j}" for j in range(8)]
    rows = [
        (dict(zip(named, row, strict=True)), v)
        for row, v in zip(X.tolist(), y.tolist(), strict=True)
    ]
    asked = {"method": "mission", "groups": PATIENT, "recipe": "refit"}
    select(rows, None, "auto", budgets=(1, 2), **asked)
    assert set_apart
    assert all(set(own) <= set(PATIENT.tolist()) for own in set_apart)


@pytest.mark.parametrize("stable", [None, 3])
def test_halves_of_stability_are_told_of_their_own(table, told, stable):
    method, seen = told
    X, y = table
    if stable:  # along with a choice
        select(X, y, k=2, method=method, stability=stable, groups=PATIENT)
    else:
        estimator = {"gsr": GSR(2), "mission": Mission(2)}[method]
        stability(estimator, X, y, n_resamples=3, groups=PATIENT)
    whole, *halves = seen
    assert whole == PATIENT.tolist()
    assert len(halves) == 6
    if method == "gsr" or not stable:
        pairs = complementary_halves(N, 3, groups=PATIENT)
        expected = [PATIENT[rows] for pair in pairs for rows in pair]
        assert list(map(numbered, halves)) == list(map(numbered, expected))
        return
    for one, other in zip(halves[::2], halves[1::2], strict=True):  # by a coin
        assert not set(one) & set(other)
        assert sorted(one + other) == sorted(PATIENT.tolist())


def numbered(groups):
    """The same groups by numbers without gaps, as estimators see them."""
    return np.unique(groups, return_inverse=True)[1].tolist()


def test_a_comparison_tells_names_estimators_and_pipelines(
    table, held_out, monkeypatch
):
    budgets, real = [], _foba_cv.folds
    monkeypatch.setattr(
        _foba_cv,
        "folds",
        lambda *w, **o: budgets.append(w[2].tolist()) or real(*w, **o),
    )
    methods = {
        "by name": "gsr",
        "estimator": GSR(),
        "piped": make_pipeline(StandardScaler(), GSR()),
        "budget of its own": FoBaCV(cv=3),
        "without": FoBa(),
        "neither": MRMR(),
    }
    compare(*table, ks=2, methods=methods, cv=3, groups=PATIENT, always=["x3"])
    expected = [
        numbered(PATIENT[train])
        for train, _ in folds(table[1], 3, PATIENT, classes=False)
    ]
    long = [own for own in held_out if own is not None]
    assert sorted(long) == sorted(3 * expected)
    assert sorted(budgets) == sorted(expected)


@pytest.mark.parametrize("k", ["2", "auto"])
def test_the_command_line_tells_of_groups(table, told, tmp_path, k):
    method, seen = told
    X, y = table
    frame = pd.DataFrame(X).add_prefix("x").assign(y=y, who=PATIENT)
    frame.to_csv(tmp_path / "visits.csv", index=False)
    asked = ["--target", "y", "-k", k, "--method", method, "--sample-groups", "who"]
    words = ["select", str(tmp_path / "visits.csv"), *asked, "--cv", "3"]
    result = CliRunner().invoke(cli, words if k == "auto" else words[:-2])
    assert result.exit_code == 0, result.output
    assert len(seen) == 1 if k == "2" else len(seen) > 3
    learned = max(map(len, seen))
    assert 0.6 * N < learned < N  # a part is held out, by groups
    for own in seen:
        assert max(np.bincount(own)) <= 6
        assert set(np.bincount(own).tolist()) <= {0, 6}


def test_what_cannot_use_groups_is_not_asked_to():
    """Every selector that sets rows apart says so where it is fitted, and others do not."""
    listening = {
        name
        for name, found in selectors().items()
        if takes_groups(found.load("estimator")())
    }
    assert "gsr" in listening
    assert not {"foba", "mtfs", "rfs", "mrmr", "relieff"} & listening
    streaming = {
        n for n, found in selectors().items() if found.room in ("rows", "sketch")
    }
    assert streaming <= listening
    for name in listening:  # and so where it is run
        learner = algorithm_for_rows(selectors()[name])(2)
        assert knowing_groups(learner, PATIENT).row_groups is PATIENT


def test_groups_of_other_rows_are_refused(table):
    X, y = table
    make = algorithm_for_rows(selectors()["gsr"])
    for wrong, said in (
        (PATIENT[:-1], "for more rows"),
        (np.append(PATIENT, 0), "360"),
    ):
        learner = knowing_groups(make(2), wrong)
        with pytest.raises(ShortlistError, match=said):
            learner.choose_from(ArraySource(X, y))
