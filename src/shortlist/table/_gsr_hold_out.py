"""Rows that GSR holds out of its own, to choose an exponent by.

Rows are put in order along a fixed random direction, within classes if there are any, and
every third is held out, but for rows that are the only ones of their class. Copies of a row
go together, and neither the order of rows nor whether one is repeated or weighted makes a
difference.

Where groups of rows are known (patients, users), whole groups are held out. They are gone
through from the largest to the smallest, those of a size in the order of their places, and
each goes to the side that brings what is held out of every class closer to a third of what
has been met so far: of groups that are alike that is every third. The last group that has
rows of a class stays. What a group holds are its different rows and no others count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import Floats, Ints
from shortlist.table._gsr_problem import SAME_ROW, GsrProblem

Flags = NDArray[np.bool_]

#: With fewer distinct rows nothing is held out.
_FEWEST_ROWS = 12


class HoldOut(NamedTuple):
    """Rows to learn from and to hold out, and how many of the latter say something new."""

    train: Ints
    test: Ints
    n_distinct: int  #: rows that differ; groups, if these are fewer


def hold_out_rows(problem: GsrProblem, level: Floats | None) -> HoldOut:
    """Divide the rows; see the module.

    ``level``: what was taken off Y, whose signs, or largest outputs, are classes; None: Y
    holds numbers.
    """
    n, along = len(problem.weight), problem.places
    kind = np.zeros(n, np.int64) if level is None else classes_of(problem.Y + level)
    order = np.lexsort((along, kind))
    gap = np.diff(along[order]) > SAME_ROW * np.ptp(along)
    number = np.concatenate([[0], np.cumsum(gap | (np.diff(kind[order]) != 0))])
    if number[-1] + 1 < _FEWEST_ROWS:
        return HoldOut(np.arange(n), np.empty(0, np.int64), 0)
    first = np.flatnonzero(np.diff(number, prepend=-1))  # of the copies of each row
    held, most = np.empty(n, bool), n
    if problem.groups is None:
        of_class = np.bincount(kind[order][first])
        held[order] = (number % 3 == 1) & (of_class[kind[order]] > 1)
    else:
        group = np.unique(problem.groups[order], return_inverse=True)[1]
        out = _groups_out(group, number, kind[order], along[order[first]][number])
        held[order], most = out[group], int(np.count_nonzero(out))
    n_distinct = min(len(np.unique(number[held[order]])), most)
    return HoldOut(np.flatnonzero(~held), np.flatnonzero(held), n_distinct)


def _groups_out(group: Ints, number: Ints, kind: Ints, place: Floats) -> Flags:
    """Which groups are held out; rows of one number are copies of each other."""
    once = np.unique(group * (number[-1] + 1) + number, return_index=True)[1]
    group, kind, place = group[once], kind[once], place[once]
    sizes = np.bincount(group)
    by_size = np.lexsort((np.bincount(group, place) / sizes, -sizes))
    of_class = np.bincount(kind)
    parts, counts = np.unique(group * len(of_class) + kind, return_counts=True)
    ends = np.searchsorted(parts // len(of_class), np.arange(len(sizes) + 1)).tolist()
    kinds, numbers = (parts % len(of_class)).tolist(), counts.tolist()
    total, met, held = of_class.tolist(), [0] * len(of_class), [0] * len(of_class)
    out = np.zeros(len(sizes), bool)
    for g in by_size.tolist():
        here = range(ends[g], ends[g + 1])
        own = [(kinds[i], numbers[i]) for i in here]
        # by how much the squared distance of held from a third of met would grow
        growth = sum(c * (6 * held[k] + c - 2 * met[k]) / total[k] ** 2 for k, c in own)
        out[g] = growth < 0.0 and all(held[k] + c < total[k] for k, c in own)
        for k, c in own:
            met[k] += c
            held[k] += c * bool(out[g])
    return out


def classes_of(margins: Floats) -> Ints:
    """Number of the class that margins point at."""
    if margins.shape[1] == 1:
        return np.asarray(margins[:, 0] > 0, np.int64)
    return np.asarray(np.argmax(margins, axis=1))
