"""A trial takes the preferred method unless another's features predict clearly better."""

import numpy as np
import pandas as pd
import pytest

from shortlist import (
    ArraySource,
    OnlineSubstitution,
    ShortlistError,
    open_source,
    select,
)
from shortlist.engines import run
from shortlist.evaluate._examples import Examples
from shortlist.front import Choice, _trial
from shortlist.front._choice import TRIAL_ROWS
from shortlist.front._columns_of_rows import by_columns
from shortlist.front._trial import Standings, after_trial, try_methods


def columns(*chosen):
    return lambda X, y, ks, seed, *of_rows: {k: np.array(chosen[:k]) for k in ks}


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(300, 6))


@pytest.fixture(scope="module")
def y(X):
    return np.where(X[:, 2] + X[:, 4] > 0, "a", "b")


def test_the_best_wins_and_of_equals_the_first(X, y):
    contestants = {"poor": columns(0, 1), "good": columns(2, 4), "same": columns(4, 2)}
    standings = try_methods(contestants, Examples(X, y), [2], classes=True)
    assert standings.best == "good"
    assert standings.metric == "accuracy"
    assert standings.scores["good"].shape == (3, 1)
    assert standings.means()["poor"] < 0.6 < 0.9 < standings.means()["good"]
    assert "good" not in standings.line()
    assert "same" in standings.line()
    # by the mean over budgets: the first column of "good" alone is as good as any
    sums = Examples(X, X[:, 2] + X[:, 4])
    numbers = try_methods(contestants, sums, [1, 2], classes=False)
    assert numbers.metric == "r2"
    assert numbers.best in ("good", "same")


def test_the_preferred_method_stays_unless_it_is_beaten_by_more_than_luck():
    first = np.array([[0.80], [0.70], [0.60]])

    def best(*gains):
        other = first + np.array(gains)[:, None]
        poor = first - 0.1
        scores = {"first": first, "poor": poor, "other": other}
        return Standings("accuracy", scores).best

    assert best(0.02, 0.02, 0.02) == "other"  # always better, though folds differ by .1
    assert best(0.06, -0.03, 0.01) == "first"  # on average better, by luck
    assert best(0.06, 0.0, 0.03) == "other"
    assert best(0.0, 0.0, 0.0) == "first"
    assert best(0.004, 0.004, 0.004) == "first"  # not worth another method
    assert best(0.006, 0.006, 0.006) == "other"
    assert best(-0.02, -0.02, -0.02) == "first"


def test_the_line_says_how_all_did_whoever_won():
    scores = {"first": [0.8, 0.7, 0.6], "other": [0.86, 0.67, 0.61]}
    standings = Standings("r2", {n: np.array(s)[:, None] for n, s in scores.items()})
    assert standings.line() == "r2 0.700 in a trial with other 0.713"


def test_whoever_cannot_do_it_is_out(X, y):
    def fails(X, y, ks, seed, *of_rows):
        raise ShortlistError("no")

    contestants = {"fails": fails, "good": columns(2, 4), "poor": columns(0, 1)}
    examples, watched = Examples(X, y), []
    standings = try_methods(
        contestants,
        examples,
        [2],
        classes=True,
        watch=lambda *told: watched.append(told),
    )
    assert set(standings.scores) == {"good", "poor"}
    assert [done for _, done, _ in watched] == list(range(9))
    two = {"fails": fails, "x": columns(2)}
    assert try_methods(two, examples, [1], classes=True) is None


def test_too_few_rows_tell_nothing(X, y):
    contestants = {"good": columns(2, 4), "poor": columns(0, 1)}
    assert try_methods(contestants, Examples(X[:8], y[:8]), [2], classes=True) is None
    rare = y.copy()
    rare[:3] = "c"  # too few for each part to have some: these rows are left out
    standings = try_methods(contestants, Examples(X, rare), [2], classes=True)
    assert standings.best == "good"
    two = np.arange(300) % 2
    assert (
        try_methods(contestants, Examples(X, y, groups=two), [2], classes=True) is None
    )


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
    try_methods(contestants, Examples(X, y), [1], classes=True)
    try_methods(contestants, Examples(X, y, groups=users), [1], classes=True)
    (free, _, _), (n, groups, pairs) = seen
    assert free == n == TRIAL_ROWS
    assert (np.unique(groups, return_counts=True)[1] == 10).all()
    for train, test in pairs:
        assert not set(groups[train]) & set(groups[test])


def test_a_choice_says_how_it_came_about(X, y):
    choice = Choice("foba", "table", "rows, as x is slow", "rows", ("foba", "mrmr"))
    assert after_trial(choice, None) is choice
    contestants = {"foba": columns(0, 1), "mrmr": columns(2, 4)}
    after = after_trial(
        choice, try_methods(contestants, Examples(X, y), [2], classes=True)
    )
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
    rows = ({"a": float(i % 7), "y": i % 3 > 0} for i in range(40))
    assert "trial" not in select(rows, "y", 1).notes[-1]


def test_rows_that_weigh_nothing_or_have_no_label_have_no_part_in_a_trial(
    X, y, tmp_path
):
    noise = np.random.default_rng(9).normal(size=(300, 6))
    rows, labels = np.vstack([X, noise]), np.concatenate([y, y[::-1]])
    weights = np.repeat([1.0, 1.001, 0.0], [150, 150, 300])
    weighted = select(ArraySource(rows, labels, sample_weight=weights), None, 2)
    alone = select(ArraySource(X, y), None, 2)
    assert "in a trial" in weighted.notes[-1]
    assert "relieff" not in weighted.notes[-1]  # which knows no weights

    def score(chosen):
        return chosen.notes[-1].partition("accuracy ")[2].partition(" in a trial")[0]

    assert float(score(weighted)) == pytest.approx(float(score(alone)), abs=0.01)
    table = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    table.loc[[3, 40], "y"] = None
    table.to_csv(tmp_path / "gaps.csv", index=False)
    read = {"on_error": "skip"}
    chosen = select(tmp_path / "gaps.csv", "y", 2, read=read)
    assert "trial" in chosen.notes[-1]
    assert set(chosen.names) == {"c", "e"}
    chosen = select(tmp_path / "gaps.csv", "y", "auto", budgets=(1, 2), read=read)
    assert set(chosen.names) == {"c", "e"}


def test_a_method_of_columns_reads_rows_of_text_by_name(X, y, tmp_path):
    table = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    table.to_csv(tmp_path / "rows.csv", index=False)
    chosen = select(tmp_path / "rows.csv", "y", 2, "online_substitution")
    assert set(chosen.names) == {"c", "e"}


def test_groups_have_an_entry_a_row(X, y):
    for groups in (np.arange(200) % 5, np.arange(400) % 5):
        with pytest.raises(ShortlistError, match="groups should have one entry a row"):
            select(X, y, 2, groups=groups)


def test_columns_of_zeros_are_no_trouble(y):
    assert len(select(np.zeros((300, 3)), y, 2).names) == 0


def test_many_whole_numbers_are_numbers_in_every_part(X, monkeypatch):
    from shortlist.front import _trial

    seen, real = [], _trial.chooser

    def spying(order, names):
        seen.append(order.loss)
        return real(order, names)

    monkeypatch.setattr(_trial, "chooser", spying)
    numbers = np.arange(300) % 21
    chosen = select(X, numbers.astype(float), 2)
    assert chosen.loss == "squared"
    assert set(seen) == {"squared"}


def test_ctrl_c_in_a_trial_is_no_result(X, y, monkeypatch):
    from shortlist.engines import Interrupted
    from shortlist.front import _trial

    def interrupted(*words, **options):
        raise Interrupted("of a part of the rows")

    monkeypatch.setattr(_trial, "try_methods", interrupted)
    with pytest.raises(KeyboardInterrupt) as stop:
        select(X, y, 2)
    assert not isinstance(stop.value, Interrupted)


@pytest.mark.parametrize("keeps", [True, False])
def test_ctrl_c_while_a_table_is_solved_gives_what_there_is(X, y, monkeypatch, keeps):
    from shortlist.columns import _select
    from shortlist.engines import Interrupted

    real = _select.select_from_table

    def struck(*words, **options):
        found = real(*words, **options)
        raise Interrupted(found) if keeps else KeyboardInterrupt

    monkeypatch.setattr(_select, "select_from_table", struck)
    source = open_source((X, y))
    with pytest.raises(KeyboardInterrupt) as stop:
        run(by_columns(2), source)
    assert isinstance(stop.value, Interrupted) == keeps
    if keeps:
        assert set(stop.value.result.names) == {"x2", "x4"}
        assert set(stop.value.result.ids.tolist()) == {2, 4}
