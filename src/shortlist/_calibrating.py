"""How far to trust weights that were learned from a stream, by rows set apart for it.

Of thousands of weights in a sparse stream many are noise. A weight whose Wald score, its
size over its error, is small is more often so than not, and predictions get better if it
is made smaller. Where features go together they do not: each weight is uncertain, their
sum is not. No formula knows which case it is, so one row in sixteen, beyond those that an
exact refit could hold, is never learned from until the end. Then these rows
say which doubt predicts best: none, or up to a score of 3, 4 or 5.

Where groups of rows are known (patients, users), whole groups are set apart, drawn by their
numbers, with about as many rows in all; and it is groups, not rows, whose changes of loss
have to agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import Floats, Ids, Ints, RowBlock
from shortlist._refit import EXACT_ROWS, Refit, losses_into
from shortlist._splits import check_all_came, groups_of
from shortlist._targets import Kept
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
Groups = NDArray[np.int32]
Rows = TypeVar("Rows", RowBlock, MaskedRows)

# Numbers of rows times this one, modulo 2^64, are spread evenly and follow no period.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass
class GroupsApart:
    """Which rows are set apart where groups of rows are known.

    In the first pass rows that are yet to come are there by their numbers in the source;
    those that came and are learned from have taken the first places.
    """

    group: Groups  #: of each row, -1 unless it is set apart
    n_met: int = 0  #: rows of the source that have come in the first pass

    def meet(self, n_learned: int, n_rows: int, kept: Kept) -> None:
        """Take note of rows that come after those learned from, of which some are kept."""
        own = groups_of(self.group, self.n_met, n_rows)
        own = own if kept is None else own[kept]
        self.group[n_learned : n_learned + len(own)] = own
        self.n_met += n_rows

    def all_met(self, n_learned: int) -> None:
        """Close the first pass."""
        check_all_came(self.group, self.n_met)
        self.group = self.group[:n_learned]
        if n_learned <= FIRST:  # so many had no label that a refit can hold the others
            self.group[:] = -1

    def rows(self) -> Ints:
        """Number of the group of each row that is set apart, in their order, from 0."""
        own = self.group[self.group >= 0]
        return np.asarray(np.unique(own, return_inverse=True)[1], np.int64)


def apart(first: int, n_rows: int, groups: GroupsApart | None = None) -> Apart:
    """Which rows of a pass, from number ``first`` on, are set apart; None: none of them.

    By their numbers alone, or by their groups: each pass sets the same rows apart.
    """
    if groups is not None:
        return groups.group[first : first + n_rows] >= 0
    end = FIRST + _ONE_IN * _MOST_APART
    if first + n_rows <= FIRST or first >= end:
        return None
    numbers = np.arange(first, first + n_rows, dtype=np.uint64)
    drawn = _mixed(numbers) >> np.uint64(60) == 0  # four bits: one in sixteen
    chosen: Apart = drawn & (numbers >= FIRST) & (numbers < end)
    return chosen


def groups_apart(groups: Ints) -> GroupsApart:
    """Draw groups, numbered from 0, that are set apart with all their rows.

    Also with their first ones: nothing that is learned from may know a group. They have
    about as many rows as would be set apart one by one, so that groups which have more
    than that stay, and few large groups may leave nothing to set apart.
    """
    group: Groups = np.full(len(groups), -1, np.int32)
    most = min((len(groups) - FIRST) // _ONE_IN, _MOST_APART)
    if most >= 1:
        sizes = np.bincount(groups)
        order = np.argsort(_mixed(np.arange(len(sizes), dtype=np.uint64)))
        order = order[(sizes[order] > 0) & (sizes[order] <= most)]
        drawn = np.zeros(len(sizes), bool)
        drawn[order[np.cumsum(sizes[order]) <= most]] = True
        where = drawn[groups]
        group[where] = groups[where]
    return GroupsApart(group)


def _mixed(numbers: Ids) -> Ids:
    return numbers * _GOLDEN


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


def calibrate(refit: Refit, score: Floats, groups: GroupsApart | None = None) -> None:
    """Let the rows that were set apart choose the doubt, then learn from them too."""
    if not refit.apart:
        return
    rows = join(refit.apart)
    refit.apart.clear()
    own = None if groups is None else groups.rows()
    plain, least = _losses(refit, score, 0.0, rows), 0.0
    for doubt in _DOUBTS:
        change = _losses(refit, score, doubt, rows) - plain
        if own is not None:
            change = np.bincount(own, change).astype(np.float64)
        if change.sum() < min(least, -_CLEARLY * np.sqrt((change**2).sum())):
            refit.doubt, least = doubt, change.sum()
    refit.learn(rows)


def _losses(refit: Refit, score: Floats, doubt: float, rows: MaskedRows) -> Floats:
    shrunk = refit.weighing(refit.chosen.weight * trusted(score, doubt))
    losses = np.empty(len(rows.y))
    losses_into(refit.target.loss, shrunk, rows, losses)
    return losses
