"""How far to trust weights that were learned from a stream, by rows set apart for it.

Of thousands of weights in a sparse stream many are noise. A weight whose Wald score, its
size over its error, is small is more often so than not, and predictions get better if it
is made smaller. Where features go together they do not: each weight is uncertain, their
sum is not. No formula knows which case it is, so one row in sixteen, beyond those that an
exact refit could hold, is never learned from until the end. Then these rows
say which doubt predicts best: none, or up to a score of 3, 4 or 5.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import Floats, RowBlock
from shortlist._refit import EXACT_ROWS, Refit, losses_into
from shortlist.kernels.masking import MaskedRows, join, some_rows

#: Number of the first row that may be set apart: with fewer a refit can be exact.
FIRST = EXACT_ROWS
_ONE_IN = 16
#: Rows that may be set apart: enough to tell, few enough to hold.
_MOST_APART = 1 << 14
#: Scores from which on a weight is trusted in full.
_DOUBTS = (3.0, 4.0, 5.0)
#: Standard errors that the loss has to fall by before a doubt is worth having.
_CLEARLY = 2.0
Apart = NDArray[np.bool_] | None
Rows = TypeVar("Rows", RowBlock, MaskedRows)

# Numbers of rows times this one, modulo 2^64, are spread evenly and follow no period.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def apart(first: int, n_rows: int) -> Apart:
    """Which rows of a pass, from number ``first`` on, are set apart; None: none of them.

    By their numbers alone: each pass sets the same rows apart.
    """
    end = FIRST + _ONE_IN * _MOST_APART
    if first + n_rows <= FIRST or first >= end:
        return None
    numbers = np.arange(first, first + n_rows, dtype=np.uint64)
    drawn = (numbers * _GOLDEN) >> np.uint64(60) == 0  # four bits: one in sixteen
    chosen: Apart = drawn & (numbers >= FIRST) & (numbers < end)
    return chosen


def without(rows: Rows, which: Apart) -> Rows:
    """The rows, some of which count for nothing."""
    if which is None:
        return rows
    return rows._replace(weight=np.where(which, 0.0, rows.weight))


def trusted(score: Floats, doubt: float) -> Floats:
    """Share of a weight that is left: half at half the doubt, all of it from there on."""
    if doubt == 0.0:
        return np.ones_like(score)
    share = np.minimum(score / doubt, 1.0)
    trust: Floats = share * share * (3.0 - 2.0 * share)
    return trust


def set_apart(refit: Refit, rows: MaskedRows, which: Apart) -> None:
    """Keep some of restricted rows for ``calibrate``."""
    if which is not None and which.any():
        refit.apart.append(some_rows(rows, which))


def calibrate(refit: Refit, score: Floats) -> None:
    """Let the rows that were set apart choose the doubt, then learn from them too."""
    if not refit.apart:
        return
    rows = join(refit.apart)
    refit.apart.clear()
    plain, least = _losses(refit, score, 0.0, rows), 0.0
    for doubt in _DOUBTS:
        change = _losses(refit, score, doubt, rows) - plain
        if change.sum() < min(least, -_CLEARLY * np.sqrt((change**2).sum())):
            refit.doubt, least = doubt, change.sum()
    refit.learn(rows)


def _losses(refit: Refit, score: Floats, doubt: float, rows: MaskedRows) -> Floats:
    shrunk = refit.weighing(refit.chosen.weight * trusted(score, doubt))
    losses = np.empty(len(rows.y))
    losses_into(refit.target.loss, shrunk, rows, losses)
    return losses
