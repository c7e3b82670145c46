"""Entries of a row that come in several parts: finding them, and adding them up."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np

from shortlist.kernels._jit import kernel

_U1, _U64 = np.uint64(1), np.uint64(64)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)

Block = TypeVar("Block")  # a tuple with indptr, ids, values


@kernel
def has_repeats(indptr, indices, n_places):  # type: ignore[no-untyped-def]
    """Whether a row (of CSR; a column of CSC) names one of its n_places twice.

    Rows need not be sorted: each leaves its number where it has been.
    """
    seen = np.full(n_places, -1)
    for i in range(len(indptr) - 1):
        for t in range(indptr[i], indptr[i + 1]):
            if seen[indices[t]] == i:
                return True
            seen[indices[t]] = i
    return False


class Counter(NamedTuple):
    """A table of ids, emptied by counting on ``stamps`` instead of by clearing."""

    keys: np.ndarray  #: uint64, a power of two, at least twice the ids of a row
    slots: np.ndarray  #: int64, where the id of a key was put
    stamps: np.ndarray  #: int64, row that wrote a slot; 0 for none
    last: np.ndarray  #: int64, (1,): the last stamp given


def counter_for(n: int) -> Counter:
    """Make a counter for rows of up to n ids."""
    size = 1 << max(4, (2 * n - 1).bit_length())
    return Counter(
        np.empty(size, np.uint64),
        np.empty(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(1, np.int64),
    )


@kernel
def add_up(indptr, ids, values, counter):  # type: ignore[no-untyped-def]
    """Have each id once a row, in place, with its sum; return how many are left.

    The order is that in which ids first came.
    """
    keys, slots, stamps = counter.keys, counter.slots, counter.stamps
    mask = np.uint64(len(keys) - 1)
    shift = _U64
    size = len(keys)
    while size > 1:
        shift -= _U1
        size >>= 1
    stamp = counter.last[0]
    n = read = 0
    for i in range(len(indptr) - 1):
        stamp += 1
        for t in range(read, indptr[i + 1]):
            own = ids[t]
            slot = (own * _GOLDEN) >> shift
            while stamps[slot] == stamp and keys[slot] != own:
                slot = (slot + _U1) & mask
            if stamps[slot] == stamp:
                values[slots[slot]] += values[t]
            else:
                stamps[slot], keys[slot], slots[slot] = stamp, own, n
                ids[n], values[n] = own, values[t]
                n += 1
        read = indptr[i + 1]
        indptr[i + 1] = n
    counter.last[0] = stamp
    return n


@kernel
def all_increase(indptr, ids):  # type: ignore[no-untyped-def]
    """Whether the ids of every row increase, as most text has them: none comes twice."""
    n_falls = n_between = 0
    for t in range(1, len(ids)):  # all at once, in vector registers: hardly any time
        n_falls += ids[t] <= ids[t - 1]
    for i in range(1, len(indptr) - 1):
        t = indptr[i]
        if 0 < t < indptr[i + 1]:
            n_between += ids[t] <= ids[t - 1]
    return n_falls == n_between


def added_up(block: Block) -> Block:
    """A block in which no row has an id twice: the block itself, if that is how it is."""
    own: Any = block
    if all_increase(own.indptr, own.ids):
        return block
    longest = int(np.diff(own.indptr).max())
    indptr, ids, values = own.indptr.copy(), own.ids.copy(), own.values.copy()
    n = add_up(indptr, ids, values, counter_for(longest))
    if n == len(ids):
        return block
    merged: Block = own._replace(
        indptr=indptr, ids=ids[:n].copy(), values=values[:n].copy()
    )
    return merged
