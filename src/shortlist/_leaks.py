"""Columns that alone predict nearly perfectly: often the answer in other words.

Nothing is fitted for two classes and for numbers: a column is judged by ranks (area under
the curve, squared rank correlation), which no monotone change of it alters. Of more
classes, rows go to the class whose median, in half of the rows, is nearest; hits are
counted in the other half.

A column of text is several features, one for each of its values, of which none may say much
by itself. Those that were chosen are judged together: half of the rows say what each value
stands for, and the other half judges that. So a column of ids, which never come twice,
predicts nothing.

Chosen columns are the best of many, so chance could do it where rows are few. A column is
named only if it is this good and if chance would make any of all the features so with a
probability of less than one in a thousand (Bonferroni over the number of features, or of
choices of as many values from all of them).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import Floats, Ints

Flags: TypeAlias = NDArray[np.bool_]

#: How good a column has to be to be suspected.
NEARLY_PERFECT = 0.99
#: Probability that chance makes any feature so good, below which it is not chance.
UNLIKELY = 1e-3
#: Note of a choice that Ctrl-C has left unexamined.
UNSEARCHED = "interrupted before leaks were looked for"


class LeakWarning(UserWarning):
    """A chosen column predicts nearly perfectly on its own: is it known beforehand?"""


def leaks(
    A: Floats,
    y: Floats,
    names: Sequence[str],
    n_features: int,
    *,
    n_classes: int,
    columns: Mapping[str, Sequence[int]] | None = None,
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
    columns : mapping of str to sequence of int, default=None
        Columns of text, and which of the features are values of each.

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
    n_all = max(n_features, len(names))
    judged = [_judged(column, y, n_classes) for column in A.T]
    alone = [_is_suspect(one, n_all, 1) for one in judged]
    found = [
        _line(repr(name), one)
        for name, one, is_one in zip(names, judged, alone, strict=True)
        if is_one
    ]
    for column, values in (columns or {}).items():
        if len(values) > 1 and not any(alone[j] for j in values):
            one = _judged_together(A[:, values] != 0.0, y, n_classes)
            if _is_suspect(one, n_all, len(values)):
                found.append(_line(f"column {column!r}", one))
    return found


def _line(what: str, judged: _Judged) -> str:
    return (
        f"leak? {what} alone predicts nearly perfectly ({judged.metric} "
        f"{judged.value:.3f}): is it known beforehand?"
    )


def _is_suspect(judged: _Judged, n_all: int, n_values: int) -> bool:
    """Whether values, chosen from all features, are too good to be chance."""
    n_choices = (
        math.lgamma(n_all + 1)
        - math.lgamma(n_values + 1)
        - math.lgamma(n_all - n_values + 1)
    )
    chance = math.log(judged.chance) if judged.chance > 0.0 else -math.inf
    return judged.value >= NEARLY_PERFECT and chance + n_choices < math.log(UNLIKELY)


class _Judged(NamedTuple):
    """How good a column is alone, and how likely chance would make it so good."""

    metric: str
    value: float
    chance: float


def _judged(column: Floats, y: Floats, n_classes: int) -> _Judged:
    if n_classes == 0:
        value = _correlation(_ranks(column), _ranks(y)) ** 2
        bound = math.sqrt(value * max(0, len(y) - 1))
        return _Judged("squared rank correlation", value, _tail(bound))
    if n_classes == 2:
        positive = y == y.max()
        m, n = int(positive.sum()), int((~positive).sum())
        if not (m and n):
            return _Judged("AUC", 0.5, 1.0)
        ranks = _ranks(column)
        area = (ranks[positive].sum() - m * (m + 1) / 2) / (m * n)
        spread = math.sqrt((m + n + 1) / (12.0 * m * n))
        area = max(area, 1.0 - area)
        return _Judged("AUC", float(area), _tail((area - 0.5) / spread))
    learn = _half(len(y))
    known = np.unique(y[learn])
    middles = np.array([np.median(column[learn][y[learn] == c]) for c in known])
    nearest = np.abs(column[~learn, None] - middles).argmin(axis=1)
    return _accuracy(known[nearest] == y[~learn], y)


def _judged_together(has: Flags, y: Floats, n_classes: int) -> _Judged:
    """How good the values of a column are: half of the rows say what each stands for."""
    learn = _half(len(y))
    if not learn.any():
        return _Judged("accuracy", 0.0, 1.0)
    level = np.unique(has, axis=0, return_inverse=True)[1].ravel()
    met, judging, came = level[learn], level[~learn], y[~learn]
    if n_classes == 0:
        means = _by_level(met, y[learn], level.max() + 1)
        # not by ranks, as rows of one value differ in theirs however little y differs
        square = max(0.0, _correlation(means[judging], came)) ** 2
        return _Judged("R2", square, _tail(math.sqrt(square * max(0, len(came) - 1))))
    shares = np.column_stack(
        [
            _by_level(met, (y[learn] == code).astype(np.float64), level.max() + 1)
            for code in range(n_classes)
        ]
    )
    hits = _accuracy(shares.argmax(axis=1)[judging] == came, y)
    if n_classes > 2:
        return hits
    # two classes may be of very different size, which the area does not mind
    area = _judged(shares[judging, 1], came, 2)
    return area._replace(chance=hits.chance)


def _by_level(level: Ints, values: Floats, n_levels: int) -> Floats:
    """Mean of the values at each level; that of all where there are none."""
    counts = np.bincount(level, minlength=n_levels)
    sums = np.bincount(level, values, n_levels)
    return np.where(counts > 0, sums / np.maximum(counts, 1), values.mean())


def _half(n: int) -> Flags:
    """Rows to learn from, drawn: classes may take turns in a file."""
    return np.random.default_rng(0).permutation(n) < n // 2


def _accuracy(hits: Flags, y: Floats) -> _Judged:
    """Share of hits; chance hits as often as the commonest class comes (Chernoff)."""
    if not len(hits):
        return _Judged("accuracy", 0.0, 1.0)
    share = float(hits.mean())
    usual = float(np.bincount(y.astype(np.int64)).max() / len(y))
    if share <= usual:
        return _Judged("accuracy", share, 1.0)
    apart = share * math.log(share / usual)
    if share < 1.0:
        apart += (1.0 - share) * math.log((1.0 - share) / (1.0 - usual))
    return _Judged("accuracy", share, math.exp(-len(hits) * apart))


def _tail(z: float) -> float:
    """Probability that a normal number is at least this far from 0."""
    return math.erfc(z / math.sqrt(2.0))


def _correlation(x: Floats, y: Floats) -> float:
    x, y = x - x.mean(), y - y.mean()
    size = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / size if size > 0.0 else 0.0


def _ranks(values: Floats) -> Floats:
    """Ranks from 1, means of them where values are equal."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2.0)[place.ravel()], np.float64)
