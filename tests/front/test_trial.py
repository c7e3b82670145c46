"""A trial takes the method whose features predict best, and nothing else."""

import numpy as np
import pytest

from shortlist import OnlineSubstitution, ShortlistError, open_source, select
from shortlist.front import Choice, _trial
from shortlist.front._choice import TRIAL_ROWS
from shortlist.front._trial import after_trial, try_methods


def columns(*chosen):
    return lambda X, y, ks, seed: {k: np.array(chosen[:k]) for k in ks}


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(300, 6))


@pytest.fixture(scope="module")
def y(X):
    return np.where(X[:, 2] + X[:, 4] > 0, "a", "b")


def test_the_best_wins_and_of_equals_the_first(X, y):
    contestants = {"poor": columns(0, 1), "good": columns(2, 4), "same": columns(4, 2)}
    standings = try_methods(contestants, X, y, [2], classes=True)
    assert standings.best == "good"
    assert standings.metric == "accuracy"
    assert standings.scores["good"].shape == (3, 1)
    assert standings.means()["poor"] < 0.6 < 0.9 < standings.means()["good"]
    assert "good" not in standings.line()
    assert "same" in standings.line()
    # by the mean over budgets: the first column of "good" alone is as good as any
    numbers = try_methods(contestants, X, X[:, 2] + X[:, 4], [1, 2], classes=False)
    assert numbers.metric == "r2"
    assert numbers.best in ("good", "same")


def test_whoever_cannot_do_it_is_out(X, y):
    def fails(X, y, ks, seed):
        raise ShortlistError("no")

    contestants = {"fails": fails, "good": columns(2, 4), "poor": columns(0, 1)}
    watched = []
    standings = try_methods(
        contestants, X, y, [2], classes=True, watch=lambda *told: watched.append(told)
    )
    assert set(standings.scores) == {"good", "poor"}
    assert [done for _, done, _ in watched] == list(range(9))
    assert (
        try_methods({"fails": fails, "x": columns(2)}, X, y, [1], classes=True) is None
    )


def test_too_few_rows_tell_nothing(X, y):
    contestants = {"good": columns(2, 4), "poor": columns(0, 1)}
    assert try_methods(contestants, X[:8], y[:8], [2], classes=True) is None
    rare = y.copy()
    rare[:3] = "c"  # too few for each part to have some: these rows are left out
    standings = try_methods(contestants, X, rare, [2], classes=True)
    assert standings.best == "good"
    two = np.arange(300) % 2
    assert try_methods(contestants, X, y, [2], classes=True, groups=two) is None


def test_groups_stay_together_and_rows_are_drawn(monkeypatch):
    seen, real = [], _trial.folds

    def spying(y, cv, groups=None, **options):
        pairs = real(y, cv, groups, **options)
        seen.append((len(y), groups, pairs))
        return pairs

    monkeypatch.setattr(_trial, "folds", spying)
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(9000, 2)), rng.integers(0, 2, 9000)
    users = np.repeat(np.arange(900), 10)
    contestants = {"a": columns(0), "b": columns(1)}
    try_methods(contestants, X, y, [1], classes=True)
    try_methods(contestants, X, y, [1], classes=True, groups=users)
    (free, _, _), (n, groups, pairs) = seen
    assert free == n == TRIAL_ROWS
    assert (np.unique(groups, return_counts=True)[1] == 10).all()
    for train, test in pairs:
        assert not set(groups[train]) & set(groups[test])


def test_a_choice_says_how_it_came_about(X, y):
    choice = Choice("foba", "table", "rows, as x is slow", "rows", ("foba", "mrmr"))
    assert after_trial(choice, None) is choice
    contestants = {"foba": columns(0, 1), "mrmr": columns(2, 4)}
    after = after_trial(choice, try_methods(contestants, X, y, [2], classes=True))
    assert (after.method, after.room) == ("mrmr", "table")
    assert after.why.startswith("rows, accuracy 0.9")
    assert "in a trial with foba 0." in after.why


def test_a_method_that_goes_through_columns_chooses_from_rows(X, y, tmp_path):
    chosen = select(open_source((X, y)), None, 3, "online_substitution")
    expected = OnlineSubstitution(3).fit(X, y).shortlist_
    assert chosen.names == expected.names
    np.testing.assert_allclose(chosen.weights, expected.weights, rtol=1e-10)
    path = tmp_path / "rows.svm"
    lines = (
        f"{int(label == 'b')} "
        + " ".join(f"{10 * j + 7}:{v!r}" for j, v in enumerate(row))
        for row, label in zip(X.tolist(), y, strict=True)
    )
    path.write_text("\n".join(lines))
    of_file = select(open_source(path), None, 3, "online_substitution")
    numbers = [10 * int(name[1:]) + 7 for name in chosen.names]
    assert of_file.ids.tolist() == numbers
    assert of_file.names == tuple(map(str, numbers))
    np.testing.assert_allclose(of_file.weights, expected.weights, rtol=1e-6)
    with pytest.raises(ShortlistError, match="grafting needs columns"):
        select(open_source((X, y)), None, 3, "grafting")
    kept = select(
        open_source((X, y)), None, 2, "online_substitution", always=["x0"], never=["x2"]
    )
    assert set(kept.names) == {"x0", "x4"}


def test_select_tries_unless_told_otherwise(X, y):
    line = select(X, y, 2).notes[-1]
    assert "in a trial with" in line
    assert "trial" not in select(X, y, 2, trial=False).notes[-1]
    streamed = select(({"a": float(i), "y": i > 20} for i in range(40)), "y", 1)
    assert "trial" not in streamed.notes[-1]
