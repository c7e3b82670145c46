"""Sets and indices of 64-bit ids: open addressing with linear probing.

``keys`` has a power-of-two number of slots plus one. ``EMPTY`` marks a free slot; the
one id that equals ``EMPTY`` lives in the extra last slot, which holds 0 once it is in.
"""

from typing import NamedTuple

import numpy as np

from shortlist.kernels._jit import kernel
from shortlist.kernels.hashing import mix

EMPTY = np.uint64(2**64 - 1)
_ZERO = np.uint64(0)


class IdIndex(NamedTuple):
    """From an id to its position in an array of distinct ids."""

    keys: np.ndarray  #: uint64, see the module
    places: np.ndarray  #: int32, as long as keys


def n_slots(n_ids):
    """Slots that keep n ids at most half full, the extra one included."""
    return (1 << max(3, int(2 * n_ids - 1).bit_length())) + 1


@kernel
def slot_of(keys, number):
    """Slot that holds the id, or the free one where it would go."""
    last = keys.shape[0] - 1
    if number == EMPTY:
        return last
    mask = np.uint64(last - 1)
    slot = np.int64(mix(number) & mask)
    while keys[slot] != EMPTY and keys[slot] != number:
        slot += 1
        if slot == last:
            slot = 0
    return slot


@kernel(_nrt=False, forceinline=True)
def is_at_home(keys, number):
    """Whether the id is where it is looked for first; if not it may still be in."""
    home = keys[np.int64(mix(number) & np.uint64(keys.shape[0] - 2))]
    return home == number and number != EMPTY


@kernel
def put(keys, number):
    """Put an id in; return 1 if it is new, else 0. The caller keeps the set half empty."""
    slot = slot_of(keys, number)
    if keys[slot] != EMPTY:
        return 0
    keys[slot] = _ZERO if number == EMPTY else number
    return 1


@kernel
def members(keys, out):
    """Write the ids of a set into out, in slot order; return how many."""
    last = keys.shape[0] - 1
    n = 0
    for slot in range(last):
        if keys[slot] != EMPTY:
            out[n] = keys[slot]
            n += 1
    if keys[last] != EMPTY:
        out[n] = EMPTY
        n += 1
    return n


@kernel
def _fill(keys, places, ids):
    for i in range(ids.shape[0]):
        slot = slot_of(keys, ids[i])
        keys[slot] = _ZERO if ids[i] == EMPTY else ids[i]
        places[slot] = i


def index_ids(ids):
    """Index an array of distinct uint64 ids."""
    slots = n_slots(len(ids))
    index = IdIndex(np.full(slots, EMPTY), np.full(slots, -1, np.int32))
    _fill(index.keys, index.places, np.ascontiguousarray(ids, np.uint64))
    return index


@kernel
def place_of(index, number):
    """Position of the id in the indexed array, or -1."""
    return index.places[slot_of(index.keys, number)]
