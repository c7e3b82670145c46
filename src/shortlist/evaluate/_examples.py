"""Rows to choose from and to judge by, with all that belongs to each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import Floats, Ints, ShortlistError
from shortlist._splits import cv_among


class Examples(NamedTuple):
    """Rows of a table."""

    X: Any  #: dense or CSR, (n_rows, n_features)
    y: np.ndarray
    weight: Floats | None = None  #: how often each row counts; None: once
    groups: Ints | None = None

    def part(self, rows: Ints) -> Examples:
        """Some of the rows, by their numbers."""
        weight, groups = self.weight, self.groups
        return Examples(
            self.X[rows],
            self.y[rows],
            None if weight is None else weight[rows],
            None if groups is None else groups[rows],
        )

    def that_count(self, cv: Any) -> tuple[Examples, Any]:
        """Rows with a weight above 0, as if there were no others, and how to split them."""
        if self.weight is None:
            return self, cv
        counts = self.weight > 0
        if not counts.any():
            raise ShortlistError("weights of rows: expected one above 0, got none")
        if counts.all():
            return self, cv
        return self.part(np.flatnonzero(counts)), cv_among(cv, counts)


def weights_that_differ(weight: Floats) -> Floats | None:
    """Weights of rows, or None if each counts once."""
    return None if (weight == 1.0).all() else weight


def spread(y: np.ndarray, weight: Floats | None) -> float:
    """Variance of numbers."""
    if weight is None:
        return float(np.var(y))
    mean = np.average(y, weights=weight)
    return float(np.average((y - mean) ** 2, weights=weight))


def shared_spread(
    examples: Examples, splits: Sequence[tuple[Ints, Ints]], *, classes: bool
) -> float | None:
    """Variance that R2 of all folds has to go by, if the rows of one have none.

    So the mean over folds of one row each is the R2 of all of them.
    """
    if classes:
        return None
    tests = [examples.part(test) for _, test in splits]
    if all(spread(test.y, test.weight) > 0.0 for test in tests):
        return None
    judged = examples.part(np.unique(np.concatenate([test for _, test in splits])))
    found = spread(judged.y, judged.weight)
    if found == 0.0:
        raise ShortlistError(
            "no R2 can be given, as all rows to judge by have the same target; say k and "
            "the method, which need no such rows"
        )
    return found
