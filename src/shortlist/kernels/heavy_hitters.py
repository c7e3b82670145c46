"""Heavy hitters by threshold crossing: who might be among the largest.

An id enters a margin's set when its score reaches the margin's threshold tau. When a
set holds ``2 * room`` ids all are scored again, the ``room`` best stay and tau becomes
the lowest score that stayed. Almost all examples then cost one comparison a feature
instead of a trip through a heap.
"""

from typing import NamedTuple

import numpy as np

from shortlist.kernels._jit import kernel
from shortlist.kernels.id_table import EMPTY, members, n_slots, put
from shortlist.kernels.topk import kth_largest


class Candidates(NamedTuple):
    """One set of ids a margin."""

    keys: np.ndarray  #: uint64, shape (n_margins, slots), see id_table
    count: np.ndarray  #: int64, shape (n_margins,)
    tau: np.ndarray  #: float64, shape (n_margins,): scores below it stay out
    room: int  #: how many stay when a full set is cut


def candidates(room, n_margins=1):
    """Make empty sets that keep the ``room`` best ids of each margin."""
    return Candidates(
        np.full((n_margins, n_slots(2 * room)), EMPTY),
        np.zeros(n_margins, np.int64),
        np.zeros(n_margins),
        int(room),
    )


@kernel
def listed(found, c):
    """Ids in the margin's set, in slot order."""
    out = np.empty(found.count[c], np.uint64)
    members(found.keys[c], out)
    return out


@kernel
def cut(found, c, ids, scores):
    """Keep the ``room`` best of the margin's ids, given the scores of all; raise tau.

    Of ids that tie at the threshold the first listed stay, so a set of equals still
    shrinks.
    """
    threshold = kth_largest(scores.copy(), found.room)
    ties = found.room
    for i in range(scores.shape[0]):
        if scores[i] > threshold:
            ties -= 1
    for slot in range(found.keys.shape[1]):
        found.keys[c, slot] = EMPTY
    found.count[c] = 0
    for i in range(ids.shape[0]):
        tied = scores[i] == threshold and ties > 0
        if tied:
            ties -= 1
        if tied or scores[i] > threshold:
            found.count[c] += put(found.keys[c], ids[i])
    found.tau[c] = threshold
