"""Columns that alone predict nearly perfectly: often the answer in other words.

Nothing is fitted for two classes and for numbers: a column is judged by ranks (area under
the curve, squared rank correlation), which no monotone change of it alters. Of more
classes, rows go to the class whose median, in half of the rows, is nearest; hits are
counted in the other half.

Chosen columns are the best of many, so chance could do it where rows are few. A column is
named only if it is this good and if chance would make any of all the features so with a
probability of less than one in a thousand (Bonferroni over the number of features).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from shortlist._protocols import Floats

#: How good a column has to be to be suspected.
NEARLY_PERFECT = 0.99
#: Probability that chance makes any feature so good, below which it is not chance.
UNLIKELY = 1e-3


def leaks(
    A: Floats, y: Floats, names: Sequence[str], n_features: int, *, n_classes: int
) -> list[str]:
    """Warnings, a line for each suspect.

    Parameters
    ----------
    A : ndarray of shape (n_rows, n_chosen)
    y : ndarray of shape (n_rows,)
        Codes of classes, or numbers.
    names : sequence of str
        Of the columns.
    n_features : int
        How many there were to choose from.
    n_classes : int
        0: numbers are predicted.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import numpy as np
    >>> y = np.arange(60.0) % 2
    >>> leaks(np.column_stack([y, np.arange(60.0)]), y, ["a", "b"], 500, n_classes=2)
    ["leak? 'a' alone predicts nearly perfectly (AUC 1.000): is it known beforehand?"]
    """
    found = []
    for column, name in zip(A.T, names, strict=True):
        metric, value, chance = _judged(column, y, n_classes)
        if value >= NEARLY_PERFECT and chance * max(n_features, len(names)) < UNLIKELY:
            found.append(
                f"leak? {name!r} alone predicts nearly perfectly ({metric} {value:.3f}): "
                "is it known beforehand?"
            )
    return found


def _judged(column: Floats, y: Floats, n_classes: int) -> tuple[str, float, float]:
    """How good a column is alone, and how likely chance would make it so good."""
    if n_classes == 0:
        value = _rank_correlation(column, y) ** 2
        bound = math.sqrt(value * max(0, len(y) - 1))
        return "squared rank correlation", value, _tail(bound)
    if n_classes == 2:
        positive = y == y.max()
        m, n = int(positive.sum()), int((~positive).sum())
        if not (m and n):
            return "AUC", 0.5, 1.0
        ranks = _ranks(column)
        area = (ranks[positive].sum() - m * (m + 1) / 2) / (m * n)
        spread = math.sqrt((m + n + 1) / (12.0 * m * n))
        area = max(area, 1.0 - area)
        return "AUC", float(area), _tail((area - 0.5) / spread)
    return _accuracy(column, y.astype(np.int64), n_classes)


def _accuracy(
    column: Floats, y: np.ndarray, n_classes: int
) -> tuple[str, float, float]:
    learn = np.arange(len(y)) % 2 == 0
    known = np.unique(y[learn])
    middles = np.array([np.median(column[learn][y[learn] == c]) for c in known])
    nearest = np.abs(column[~learn, None] - middles).argmin(axis=1)
    hits = known[nearest] == y[~learn]
    if not len(hits):
        return "accuracy", 0.0, 1.0
    usual = np.bincount(y, minlength=n_classes).max() / len(y)
    above = max(0.0, float(hits.mean()) - usual)
    return "accuracy", float(hits.mean()), math.exp(-2.0 * len(hits) * above**2)


def _tail(z: float) -> float:
    """Probability that a normal number is at least this far from 0."""
    return math.erfc(z / math.sqrt(2.0))


def _rank_correlation(a: Floats, b: Floats) -> float:
    x, y = _ranks(a), _ranks(b)
    x, y = x - x.mean(), y - y.mean()
    size = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / size if size > 0.0 else 0.0


def _ranks(values: Floats) -> Floats:
    """Ranks from 1, means of them where values are equal."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2.0)[place.ravel()], np.float64)
