"""Products of two features of a row, as features of their own.

Where only pairs of some kinds are wanted, the lowest bits of an id say of which kind its
feature is; a square array says which kinds make pairs. An empty one: all do.
"""

import numpy as np

from shortlist.kernels._jit import kernel
from shortlist.kernels.hashing import mix
from shortlist.kernels.id_table import place_of

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)

#: Kinds that ids can tell apart; kind 0 is that of all others.
N_KINDS = 64
_KIND, _NOT_KIND = np.uint64(N_KINDS - 1), np.uint64(2**64 - N_KINDS)


@kernel(_nrt=False, forceinline=True)
def of_kind(number, kind):
    """An id that says of which kind its feature is."""
    return (number & _NOT_KIND) | kind


@kernel(_nrt=False, forceinline=True)
def _make_pair(wanted, a, b):
    """Whether the product of two features is a feature."""
    if a == b:
        return False
    return wanted.shape[0] == 0 or wanted[a & _KIND, b & _KIND]


@kernel
def pair_id(a, b):
    """Id of the product of two features; their order does not matter."""
    low, high = min(a, b), max(a, b)
    return mix(mix(low) + _GOLDEN) ^ mix(high * _GOLDEN + np.uint64(1))


@kernel
def with_pairs(wanted, indptr, ids, values, out_indptr, out_ids, out_values):
    """Copy rows with products of two nonzeros behind the nonzeros themselves.

    Two nonzeros of the same feature make no pair.
    """
    n = 0
    for i in range(indptr.shape[0] - 1):
        first, last = indptr[i], indptr[i + 1]
        for t in range(first, last):
            out_ids[n], out_values[n] = ids[t], values[t]
            n += 1
        for s in range(first, last):
            for t in range(s + 1, last):
                if _make_pair(wanted, ids[s], ids[t]):
                    out_ids[n] = pair_id(ids[s], ids[t])
                    out_values[n] = values[s] * values[t]
                    n += 1
        out_indptr[i + 1] = n
    return n


@kernel
def find_pairs(wanted, index, indptr, ids, first_of, second_of):
    """Note which two features make the pairs that are indexed, if they occur here.

    Features stay where they were noted first; what is not found is left as it is.
    Returns how many are new.
    """
    n_new = 0
    for i in range(indptr.shape[0] - 1):
        for s in range(indptr[i], indptr[i + 1]):
            for t in range(s + 1, indptr[i + 1]):
                if not _make_pair(wanted, ids[s], ids[t]):
                    continue
                place = place_of(index, pair_id(ids[s], ids[t]))
                if place >= 0 and first_of[place] == second_of[place]:
                    first_of[place] = min(ids[s], ids[t])
                    second_of[place] = max(ids[s], ids[t])
                    n_new += 1
    return n_new
