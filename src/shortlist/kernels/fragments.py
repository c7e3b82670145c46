"""Fragments of records, drawn by lot: each by a hash of the seed and of its number."""

import numpy as np

from shortlist.kernels._jit import kernel
from shortlist.kernels.hashing import mix

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_U1, _U2, _U11 = np.uint64(1), np.uint64(2), np.uint64(11)
_TO_UNIT = 2.0**-53


@kernel
def _below(hashed, n):
    """An integer from 0 to n - 1 from a hash, for n far below 2^53."""
    return min(np.int64(np.float64(hashed >> _U11) * _TO_UNIT * n), n - 1)


@kernel
def draw_fragments(first_row, seed, length, firsts, ends, drawn):
    """Draw fragments of records with a chance in proportion to the record's length.

    Parameters
    ----------
    first_row, seed : uint64
        Number of the first fragment; what fragment i is depends on the seed and i only.
    length : int
        Letters of a fragment; a shorter record is a fragment as a whole.
    firsts, ends : ndarray of int64
        First letter of each record, and how many letters it and those before it have.
    drawn : ndarray of int64 of shape (3, n_rows)
        Written here: record, first letter, and the letter after the last.
    """
    start = mix(seed)
    row = first_row
    for i in range(drawn.shape[1]):
        which = mix(start + _GOLDEN * (_U2 * row + _U1))
        where = mix(start + _GOLDEN * (_U2 * row + _U2))
        letter = _below(which, ends[-1])
        low, high = 0, len(ends) - 1
        while low < high:  # the first record that ends after the letter
            middle = (low + high) // 2
            if ends[middle] > letter:
                high = middle
            else:
                low = middle + 1
        size = ends[low] - (ends[low - 1] if low > 0 else 0)
        taken = min(length, size)
        first = firsts[low] + _below(where, size - taken + 1)
        drawn[0, i], drawn[1, i], drawn[2, i] = low, first, first + taken
        row += _U1
