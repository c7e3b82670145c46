"""The exponent of the loss of GSR, chosen on rows held out."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gsr_samples import numbers
from shortlist import GSR
from shortlist.table import _gsr_exponent, _gsr_select
from shortlist.table._gsr import Reweighted, reweight
from shortlist.table._gsr_exponent import Judge
from shortlist.table._gsr_hold_out import classes_of, hold_out_rows
from shortlist.table._gsr_problem import GsrProblem
from shortlist.table._gsr_table import scaled_table


def flipped(seed=0, n=400, share=0.1):
    X, Y, support = numbers(seed, n, 60, 12, outputs=4, noise=0.7)
    Y[: int(share * n)] *= -8
    return X, Y, support


def test_rows_that_are_wrong_matter_less_for_a_small_exponent():
    X, Y, support = flipped()
    found = {
        r: len(set(GSR(12, r=r).fit(X, Y).get_support(indices=True)) & set(support))
        for r in (2.0, 1.0)
    }
    assert found[1.0] == 12 > found[2.0]
    chosen = GSR(12).fit(X, Y)
    assert chosen.r_ < 2.0
    assert set(chosen.get_support(indices=True)) == set(support)
    assert any("held-out rows" in note for note in chosen.shortlist_.notes)
    assert chosen.shortlist_.params["r"] == chosen.r_


def problem_of(X, Y):
    n, p = X.shape
    table = scaled_table(X, np.arange(p), np.arange(n), np.zeros(p), np.ones(p))
    return GsrProblem(table, Y, np.ones(n), np.arange(p), np.zeros(p, bool))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(12, 80), c=st.sampled_from([1, 3]))
@example(seed=34, n=12, c=3)  # a class of one row
def test_rows_held_out_depend_on_what_they_hold_alone(seed, n, c):
    rng = np.random.default_rng(seed)
    X, code = rng.normal(size=(n, 5)), rng.integers(0, c + (c == 1), n)
    Y = np.where(code[:, None] == np.arange(1 - (c > 1), c + (c == 1)), 1.0, -1.0)
    rows = rng.permutation(np.concatenate([np.arange(n), rng.integers(0, n, n // 2)]))
    level = np.zeros(c)
    train, test, n_distinct = hold_out_rows(problem_of(X, Y), level)
    _, again, as_many = hold_out_rows(problem_of(X[rows], Y[rows]), level)
    assert n_distinct == as_many == len(test)
    assert set(rows[again]) == set(test)
    assert abs(len(test) - n / 3) <= 1 + len(np.unique(code))
    kinds = classes_of(Y)
    assert set(kinds[train]) == set(kinds)  # none is lost to the hold-out


def test_an_exponent_without_error_ends_the_search_for_one():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 8)), np.repeat(["a", "b", "c"], 30)
    X[np.arange(90), np.repeat([1, 4, 6], 30)] += 20.0
    (note,) = GSR(3).fit(X, y).shortlist_.notes
    assert note == "r = 2 by the error on held-out rows: 0 for 2"
    y[::7] = "a"  # now none is without error, and all are tried
    (note,) = GSR(3).fit(X, y).shortlist_.notes
    assert all(f" for {r}" in note for r in ("2", "1", "0.5"))


def weights_of(w):
    """A run that ended with this weight of the only column."""
    W = np.array([[w]])
    return Reweighted(np.arange(1), W, np.zeros(1), [], [], [], True, 1e-6)


def test_exponents_are_given_up_where_one_is_worse_and_not_by_chance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 1))
    rest = problem_of(X, X + 0.5 * rng.normal(size=(200, 1)))
    judge = Judge(rest, None, 200)
    for w, done in ((0.9, False), (0.89, False), (1.0, False), (0.0, True)):
        judge.tell(weights_of(w))
        assert judge.done == done
    assert judge.is_clearly_worse(weights_of(0.5))  # the best counts, not the last
    few = Judge(rest, None, 2)  # copies of two rows prove nothing
    few.tell(weights_of(1.0))
    assert not few.is_clearly_worse(weights_of(0.0))


def test_where_a_robust_loss_is_worse_a_more_robust_one_is_not_tried():
    rng = np.random.default_rng(0)  # rows of a class are outliers to the other eleven
    y = np.arange(600) % 12
    X = np.hstack([rng.normal(size=(12, 20))[y], np.zeros((600, 40))])
    X += 0.8 * rng.normal(size=X.shape)
    fitted = GSR(15).fit(X, y)
    (note,) = fitted.shortlist_.notes
    assert fitted.r_ == 2.0
    assert " for 1" in note
    assert " for 0.5" not in note


def test_few_rows_are_not_split():
    X, y, _ = numbers(0, n=10, p=3, s=1)
    fitted = GSR(1).fit(X, y)
    assert fitted.r_ == 2.0
    assert not any("held-out" in note for note in fitted.shortlist_.notes)


def test_an_exponent_is_chosen_for_the_penalty_that_is_given(monkeypatch):
    X, Y, _ = flipped()
    tried = []

    def noted(problem, settings, lam, **options):
        tried.append((settings.r, lam, problem.weight.sum()))
        return reweight(problem, settings, lam, **options)

    for module in (_gsr_exponent, _gsr_select):
        monkeypatch.setattr(module, "reweight", noted)
    fitted = GSR(12, lam=30.0).fit(X, Y)
    assert fitted.lam_ == pytest.approx(30.0)
    assert [r for r, _, _ in tried] == [2.0, 1.0, 0.5, fitted.r_]
    scale = np.sqrt(np.sum(Y.var(axis=0)))
    for r, lam, weight in tried:
        assert lam == pytest.approx(30.0 * weight / 400 * scale**0.5 / scale**r)
