"""The k largest, exactly and at every moment: a heap of ids with their weights.

A member's *slot* is where its id and weight stay until it leaves; the heap is an order of
slots, the weakest first, and an index (open addressing with linear probing) leads from an
id to its slot. Weakest is the smallest |weight|, of equals the largest id.
"""

from typing import NamedTuple

import numpy as np

from shortlist.kernels._jit import kernel
from shortlist.kernels.hashing import mix


class TopSet(NamedTuple):
    """At most k members a margin; arrays have a row a margin."""

    ids: np.ndarray  #: uint64, by slot
    weights: np.ndarray  #: float64, by slot
    heap: np.ndarray  #: int64, slots
    place: np.ndarray  #: int64, where in the heap a slot is
    index: np.ndarray  #: int64, a power of two long: slots, or -1 where there is none
    count: np.ndarray  #: int64, one a margin


def top_set(k, n_margins=1):
    """Make empty sets."""
    n_places = 1 << max(3, int(2 * k - 1).bit_length())
    return TopSet(
        np.zeros((n_margins, k), np.uint64),
        np.zeros((n_margins, k)),
        np.zeros((n_margins, k), np.int64),
        np.zeros((n_margins, k), np.int64),
        np.full((n_margins, n_places), -1, np.int64),
        np.zeros(n_margins, np.int64),
    )


@kernel
def _position(top, c, number):
    """Place of the index that leads to an id, or the free one where it would go."""
    index, ids = top.index[c], top.ids[c]
    mask = index.shape[0] - 1
    at = np.int64(mix(number) & np.uint64(mask))
    while index[at] >= 0 and ids[index[at]] != number:
        at = (at + 1) & mask
    return at


@kernel
def weight_of(top, c, number):
    """Weight of an id; 0 if it is not a member."""
    slot = top.index[c, _position(top, c, number)]
    return top.weights[c, slot] if slot >= 0 else 0.0


@kernel
def is_member(top, c, number):
    """Whether an id is among the largest."""
    return top.index[c, _position(top, c, number)] >= 0


@kernel
def _forget(top, c, number):
    """Take an id out of the index, moving up those that had to go past it."""
    index, ids = top.index[c], top.ids[c]
    mask = index.shape[0] - 1
    hole = _position(top, c, number)
    at = hole
    while True:
        at = (at + 1) & mask
        if index[at] < 0:
            break
        home = np.int64(mix(ids[index[at]]) & np.uint64(mask))
        # it may move if its home is not between the hole and where it is now
        if ((at - home) & mask) >= ((at - hole) & mask):
            index[hole] = index[at]
            hole = at
    index[hole] = -1


@kernel
def _is_weaker(top, c, one, other):
    a, b = abs(top.weights[c, one]), abs(top.weights[c, other])
    return a < b or (a == b and top.ids[c, one] > top.ids[c, other])


@kernel
def _settle(top, c, at):
    """Move a slot up or down the heap until the weakest come first again."""
    heap, place, count = top.heap[c], top.place[c], top.count[c]
    while at > 0 and _is_weaker(top, c, heap[at], heap[(at - 1) // 2]):
        above = (at - 1) // 2
        heap[at], heap[above] = heap[above], heap[at]
        place[heap[at]], place[heap[above]] = at, above
        at = above
    while 2 * at + 1 < count:
        below = 2 * at + 1
        if below + 1 < count and _is_weaker(top, c, heap[below + 1], heap[below]):
            below += 1
        if not _is_weaker(top, c, heap[below], heap[at]):
            break
        heap[at], heap[below] = heap[below], heap[at]
        place[heap[at]], place[heap[below]] = at, below
        at = below


@kernel
def offer(top, c, number, weight):
    """Give an id its weight: a member changes it, another may replace the weakest."""
    at = _position(top, c, number)
    slot = top.index[c, at]
    if slot < 0:
        if weight == 0.0:
            return
        count = top.count[c]
        if count < top.ids.shape[1]:
            slot = count
            top.heap[c, count], top.place[c, slot] = slot, count
            top.count[c] = count + 1
        else:
            slot = top.heap[c, 0]
            weakest = abs(top.weights[c, slot])
            if abs(weight) < weakest or (
                abs(weight) == weakest and number > top.ids[c, slot]
            ):
                return
            _forget(top, c, top.ids[c, slot])
            at = _position(top, c, number)
        top.index[c, at], top.ids[c, slot] = slot, number
    top.weights[c, slot] = weight
    _settle(top, c, top.place[c, slot])
