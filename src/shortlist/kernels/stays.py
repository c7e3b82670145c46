"""Who was a member from when to when, in memory that does not grow.

When there is no room for another stay the longer half of them is kept: what came and went
in a moment is forgotten first, and counted.
"""

from typing import NamedTuple

import numpy as np

from shortlist.kernels._jit import kernel
from shortlist.kernels.ranking import bring_best

#: Stays that are kept, unless told otherwise.
ROOM = 1 << 13

#: Columns of spans: the margin, the example after which somebody was in, and the one after
#: which he was not.
MARGIN, ENTERED, LEFT = range(3)


class Stays(NamedTuple):
    """Stays that have ended."""

    ids: np.ndarray  #: uint64
    spans: np.ndarray  #: int64, (room, 3), see above
    count: np.ndarray  #: int64, (2,): how many there are, how many were forgotten


def no_stays(room=ROOM):
    """Nobody has left yet."""
    spans = np.zeros((room, 3), np.int64)
    return Stays(np.zeros(room, np.uint64), spans, np.zeros(2, np.int64))


@kernel
def _forget_short(stays):
    room, spans = stays.ids.shape[0], stays.spans
    order, length = np.arange(room), np.empty(room)
    for i in range(room):
        length[i] = spans[i, LEFT] - spans[i, ENTERED]
    keep = room // 2
    # of equally long ones those that ended first stay, as they were written first
    bring_best(order, keep, length, np.arange(room))
    is_kept = np.zeros(room, np.bool_)
    for i in range(keep):
        is_kept[order[i]] = True
    n = 0
    for i in range(room):
        if is_kept[i]:
            stays.ids[n] = stays.ids[i]
            for column in range(3):
                spans[n, column] = spans[i, column]
            n += 1
    stays.count[0] = n
    stays.count[1] += room - n


@kernel
def end_stay(stays, number, margin, entered, left):
    """Note that a member has left."""
    if stays.count[0] == stays.ids.shape[0]:
        _forget_short(stays)
    n = stays.count[0]
    stays.ids[n], stays.spans[n, MARGIN] = number, margin
    stays.spans[n, ENTERED], stays.spans[n, LEFT] = entered, left
    stays.count[0] = n + 1
