"""From any 64-bit ids to numbers 0, 1, 2, ... in the order in which they came.

Arrays by such numbers, *slots*, are as long as there are different ids, whatever the ids
are; those that come often come early and so lie close together. While ids are small an
array leads from an id to its slot; beyond ``MOST_DIRECT`` a table does (see ``id_table``),
as for names that were hashed to 64 bits.
"""

from typing import NamedTuple

import numpy as np

from shortlist.kernels._jit import kernel
from shortlist.kernels.id_table import EMPTY, n_slots, slot_of
from shortlist.kernels.prefetch import prefetch

#: Ids below this are looked up in an array, of 4 bytes each at most.
MOST_DIRECT = 1 << 26
_FEWEST = 1 << 10
#: How far ahead of their turn places are fetched from memory.
_AHEAD = 16
_ZERO = np.uint64(0)


class Slots(NamedTuple):
    """Ids that came, and how to find them."""

    direct: np.ndarray  #: int32, slot + 1 by id, 0 where there is none; empty: a table
    keys: np.ndarray  #: uint64, see ``id_table``; empty while ``direct`` is not
    places: np.ndarray  #: int32, slot by place in ``keys``
    ids: np.ndarray  #: uint64, by slot; room for more than there are
    last: np.ndarray  #: int32, by slot: where in the rows last settled it was written
    count: np.ndarray  #: int64, (1,): how many there are


def no_slots(n_ids=None):
    """Slots of nobody yet, for ids below ``n_ids`` if that is known."""
    small = n_ids is not None and n_ids <= MOST_DIRECT
    table = n_ids is not None and not small
    keys = n_slots(_FEWEST) if table else 0
    return Slots(
        np.zeros(n_ids if small else 0 if table else _FEWEST, np.int32),
        np.full(keys, EMPTY),
        np.zeros(keys, np.int32),
        np.zeros(_FEWEST, np.uint64),
        np.zeros(_FEWEST, np.int32),
        np.zeros(1, np.int64),
    )


def is_direct(slots):
    """Whether slots are found in an array."""
    return len(slots.keys) == 0


def with_room(slots, ids):
    """Slots that can take in these ids; the same ones if there is room already."""
    if not len(ids):
        return slots
    if is_direct(slots) and (largest := int(ids.max())) >= len(slots.direct):
        if largest < MOST_DIRECT:
            wider = np.zeros(min(MOST_DIRECT, 2 * (largest + 1)), np.int32)
            wider[: len(slots.direct)] = slots.direct
            slots = slots._replace(direct=wider)
        else:
            slots = _hashed(slots._replace(direct=np.zeros(0, np.int32)), len(ids))
    wanted = int(slots.count[0]) + len(ids)
    if not is_direct(slots) and n_slots(wanted) > len(slots.keys):
        slots = _hashed(slots, len(ids))
    if wanted > len(slots.ids):
        room = 2 * wanted
        slots = slots._replace(ids=grown(slots.ids, room), last=grown(slots.last, room))
    return slots


def grown(array, length):
    """The same array followed by zeros."""
    longer = np.zeros(length, array.dtype)
    longer[: len(array)] = array
    return longer


def _hashed(slots, n_more):
    """Slots found in a table with room for more."""
    n = n_slots(2 * (int(slots.count[0]) + n_more))
    keys, places = np.full(n, EMPTY), np.zeros(n, np.int32)
    _fill(keys, places, slots.ids[: slots.count[0]])
    return slots._replace(keys=keys, places=places)


@kernel
def _fill(keys, places, ids):
    for i in range(ids.shape[0]):
        at = slot_of(keys, ids[i])
        keys[at] = _ZERO if ids[i] == EMPTY else ids[i]
        places[at] = i


@kernel
def are_increasing(indptr, ids):
    """Whether ids increase within all rows, so that none is repeated."""
    for i in range(indptr.shape[0] - 1):
        for t in range(indptr[i] + 1, indptr[i + 1]):
            if ids[t] <= ids[t - 1]:
                return False
    return True


@kernel
def settle(slots, block, indptr, numbers, values):
    """Write the rows of a block by slot, each feature of a row once; there is room.

    What a row repeats is added up: squares of gradients need it. Where ``values`` is
    empty no row repeats anything: then only ``numbers`` are written, as the rest is as
    it was.
    """
    direct, keys, places = slots.direct, slots.keys, slots.places
    ids, last, count = slots.ids, slots.last, slots.count[0]
    is_table, may_repeat = keys.shape[0] > 0, values.shape[0] > 0
    n = 0
    for i in range(block.y.shape[0]):
        begin = n
        for t in range(block.indptr[i], block.indptr[i + 1]):
            number = block.ids[t]
            if is_table:
                at = slot_of(keys, number)
                slot = np.int64(places[at]) if keys[at] != EMPTY else -1
                if slot < 0:
                    keys[at] = _ZERO if number == EMPTY else number
                    places[at] = count
            else:
                if t + _AHEAD < block.ids.shape[0]:
                    prefetch(direct, np.int64(block.ids[t + _AHEAD]))
                slot = np.int64(direct[number]) - 1
                if slot < 0:
                    direct[number] = count + 1
            if slot < 0:
                slot, ids[count] = count, number
                count += 1
            if may_repeat:
                # whatever ``last`` says is checked, so nobody has to clear it
                before = last[slot]
                if begin <= before < n and numbers[before] == slot:
                    values[before] += block.values[t]
                    continue
                last[slot], values[n] = n, block.values[t]
            numbers[n] = slot
            n += 1
        if may_repeat:
            indptr[i + 1] = n
    slots.count[0] = count


@kernel
def look_up(slots, ids, out):
    """Write the slots of ids, -1 for those that never came."""
    for i in range(ids.shape[0]):
        if slots.keys.shape[0] == 0:
            out[i] = -1
            if ids[i] < np.uint64(slots.direct.shape[0]):
                out[i] = slots.direct[ids[i]] - 1
        else:
            at = slot_of(slots.keys, ids[i])
            out[i] = slots.places[at] if slots.keys[at] != EMPTY else -1


def found(slots, ids):
    """Slots of ids, -1 for those that never came."""
    out = np.empty(len(ids), np.int64)
    look_up(slots, np.ascontiguousarray(ids, np.uint64), out)
    return out
