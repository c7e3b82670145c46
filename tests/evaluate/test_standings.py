"""Who is best, and who is as good: by hand-made results."""

import numpy as np
import pytest

from shortlist.evaluate._standings import Result, Standings


def standings(scores, metrics=None, metric="accuracy"):
    """Scores of each method and budget, fold by fold."""
    metrics = metrics or {"accuracy": True}
    results = [
        Result(method, k, fold, np.arange(k), 1.0, 0.0, {metric: score})
        for (method, k), folds in scores.items()
        for fold, score in enumerate(folds)
    ]
    return Standings(results, metrics, metric)


def test_errors_are_those_of_differences_in_the_same_folds():
    """Folds differ much more than methods do; b is behind in each, c by luck only."""
    found = standings(
        {
            ("a", 5): [0.90, 0.70, 0.50, 0.80],
            ("b", 5): [0.88, 0.68, 0.48, 0.77],
            ("c", 5): [0.80, 0.80, 0.45, 0.80],
        }
    )
    assert found.error("a", 5) > 0.05
    assert found.best() == ("a", 5)
    assert found.as_good() == {"c": 5}
    assert found.verdict() == (
        "best: a with 5 features, accuracy 0.725 +- 0.085; within one standard error of "
        "it, paired by fold: c with 5"
    )


def test_of_equals_the_smallest_budget_is_named():
    found = standings(
        {
            ("a", 1): [0.4, 0.5],
            ("b", 1): [0.1, 0.2],
            ("a", 5): [0.8, 0.9],
            ("b", 5): [0.7, 0.9],
            ("a", 9): [0.9, 0.8],
            ("b", 9): [0.7, 0.95],
        }
    )
    assert found.best() == ("a", 5)
    assert found.as_good() == {"b": 5}


def test_a_smaller_budget_of_the_best_may_be_as_good():
    scores = {("a", 1): [0.8, 0.9], ("b", 1): [0.0, 0.0], ("a", 5): [0.86, 0.85]}
    found = standings({**scores, ("b", 5): [0.0, 0.1]})
    assert found.best() == ("a", 5)
    assert found.verdict().endswith("paired by fold: a with 1")
    found = standings({**scores, ("a", 1): [0.0, 0.1], ("b", 5): [0.0, 0.1]})
    assert found.verdict().endswith(
        "all others are behind by more than one standard error, paired by fold"
    )


def test_less_may_be_better_and_folds_may_have_no_number():
    found = standings(
        {("a", 2): [0.5, np.nan, 0.4], ("b", 2): [0.6, 0.1, 0.5]},
        {"log_loss": False},
        "log_loss",
    )
    assert found.best() == ("b", 2)  # 0.4 on average, though a is better where it is
    assert found.mean("a", 2) == pytest.approx(0.45)
    assert found.ranked(2) == ["b", "a"]


def test_a_single_fold_has_no_error():
    said = standings({("a", 1): [0.9], ("b", 1): [0.8]}).verdict()
    assert said == (
        "best: a with 1 feature, accuracy 0.900; a single fold says nothing about errors"
    )
