"""How many features are enough."""

import numpy as np
import pytest

from shortlist import ShortlistError
from shortlist.evaluate._choose_k import _curve, choose_k, judge_chosen, usual_budgets


def test_the_smallest_within_one_standard_error_of_the_best():
    by_k = [[0.5, 0.6, 0.7], [0.78, 0.8, 0.82], [0.7, 0.8, 0.93]]
    assert _curve([1, 2, 3], by_k, "accuracy").k == 2
    exact = [[0.5, 0.5], [0.6, 0.6], [0.7, 0.7]]
    assert _curve([1, 2, 3], exact, "accuracy").k == 3
    assert "k = 3 of 1, 2, 3" in _curve([1, 2, 3], exact, "accuracy").line()


def test_rows_to_judge_by_are_never_chosen_from():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 400)), rng.permutation(np.arange(60) % 2)

    def most_correlated(X_part, y_part, ks, seed, weight, groups):
        order = np.argsort(-np.abs((y_part - 0.5) @ X_part))
        return {k: order[:k] for k in ks}

    curve = choose_k(most_correlated, X, y, classes=True, budgets=(1, 5, 20))
    assert curve.scores.max() < 0.7
    assert curve.ks.tolist() == [1, 5, 20]


def test_a_choice_is_judged_by_rows_of_its_own():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = X[:, 4] + X[:, 1] + 0.1 * rng.normal(size=300)
    chosen = {1: np.array([4]), 2: np.array([4, 1]), 4: np.array([4, 1, 0, 2])}
    groups = np.repeat(np.arange(30), 10)
    for rows in (None, groups):
        curve = judge_chosen(X, y, chosen, classes=False, groups=rows)
        assert (curve.k, curve.metric) == (2, "r2")


def test_budgets_and_folds_that_cannot_be_are_refused():
    assert usual_budgets((10, 3, 3, 50), 20) == [3, 10]
    with pytest.raises(ShortlistError, match="number of features \\(2\\)"):
        usual_budgets((3, 4), 2)
    with pytest.raises(ShortlistError, match="more than one row of some class"):
        choose_k(None, np.ones((5, 3)), np.array([0, 0, 0, 0, 1]), classes=True)
