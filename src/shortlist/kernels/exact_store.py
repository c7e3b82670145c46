"""Weights of ids without collisions: the cells of a one-row sketch, given out exactly.

An id's cell is its own number (``ARRAY``, for ids known to be small) or the slot that a
table gives it when it first comes (``TABLE``, see ``id_table``). Everything that reads or
adds to a located cell of a Count-Sketch then works on these cells as it is; ``SKETCH``
stands for hashed cells.
"""

from typing import NamedTuple

import numpy as np

from shortlist.kernels._jit import kernel
from shortlist.kernels.count_sketch import MAX_SIZE, CountSketch, locate
from shortlist.kernels.id_table import EMPTY, n_slots, slot_of

SKETCH, ARRAY, TABLE = 0, 1, 2
_ZERO = np.uint64(0)


class Addresses(NamedTuple):
    """How ids are led to cells."""

    kind: int  #: SKETCH, ARRAY or TABLE
    slots: np.ndarray  #: uint64, ids of a table by cell, see id_table; else empty
    order: np.ndarray  #: int64, cells of a table in the order in which ids came
    count: np.ndarray  #: int64, shape (1,): how many ids a table holds


def _addresses(kind, n_places, room):
    slots = np.full(n_places, EMPTY)
    return Addresses(kind, slots, np.empty(room, np.int64), np.zeros(1, np.int64))


def _one_row(width, n_margins):
    if width * n_margins >= MAX_SIZE:
        raise ValueError("exact weights should be fewer than 2^31 (8 GB)")
    # one row, whose multiplier nobody uses
    table = np.zeros((1, width, n_margins), np.float32)
    return CountSketch(table, np.ones(1, np.uint64))


def hashed():
    """Addresses of a Count-Sketch: its own."""
    return _addresses(SKETCH, 0, 0)


def exact_array(n_ids, n_margins=1):
    """Cells and addresses for the ids below n_ids."""
    return _one_row(n_ids, n_margins), _addresses(ARRAY, 0, 0)


def exact_table(room, n_margins=1):
    """Cells and addresses for ``room`` ids, whichever they are."""
    places = n_slots(room)
    return _one_row(places, n_margins), _addresses(TABLE, places, room)


@kernel
def settle_in(cells_of, addresses, ids, places):
    """Write where ids live, as ``locate`` does; those new to a table move in.

    Return False if a table has no room for one of them.
    """
    if addresses.kind == SKETCH:
        locate(cells_of, ids, places)
        return True
    margins = np.uint64(cells_of.table.shape[2])
    slots, order, count = addresses.slots, addresses.order, addresses.count
    for i in range(ids.shape[0]):
        if addresses.kind == ARRAY:
            places[i, 0] = np.uint32(ids[i] * margins)
            continue
        slot = slot_of(slots, ids[i])
        if slots[slot] == EMPTY:
            if count[0] == order.shape[0]:
                return False
            slots[slot] = _ZERO if ids[i] == EMPTY else ids[i]
            order[count[0]] = slot
            count[0] += 1
        places[i, 0] = np.uint32(np.uint64(slot) * margins)
    return True


@kernel
def id_at(addresses, slot):
    """Return the id that lives in a slot of a table."""
    return EMPTY if slot == addresses.slots.shape[0] - 1 else addresses.slots[slot]


def ids_in(addresses):
    """Ids of a table, in the order in which they came."""
    places = addresses.order[: addresses.count[0]]
    is_last = places == len(addresses.slots) - 1
    return np.where(is_last, EMPTY, addresses.slots[places])


@kernel
def clear(cells_of, addresses):
    """Empty a table, in time that grows with what is in it."""
    for i in range(addresses.count[0]):
        slot = addresses.order[i]
        addresses.slots[slot] = EMPTY
        for c in range(cells_of.table.shape[2]):
            cells_of.table[0, slot, c] = np.float32(0.0)
    addresses.count[0] = 0


@kernel
def read_exactly(cells_of, addresses, ids, out):
    """Write the weights of ids to out[i, c]; 0 for those not in a table."""
    for i in range(ids.shape[0]):
        slot = np.int64(ids[i])
        if addresses.kind == TABLE:
            slot = slot_of(addresses.slots, ids[i])
        # a free slot's cells are 0, so nobody needs to ask whether it is taken
        for c in range(out.shape[1]):
            out[i, c] = cells_of.table[0, slot, c]
