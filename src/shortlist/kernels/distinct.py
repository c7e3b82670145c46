"""How many different ids have come by, from a few thousand bytes: HyperLogLog.

An id is scrambled; its first bits choose a register, which keeps the longest run of zeros
that the other bits of any id have begun with, plus one. Twice as many different ids make
all runs one longer, so their harmonic mean tells how many there were.

References
----------
Flajolet, Fusy, Gandouet, Meunier (2007). HyperLogLog: the analysis of a near-optimal
cardinality estimation algorithm. AofA.
"""

import math

import numpy as np

from shortlist.kernels._jit import kernel
from shortlist.kernels.hashing import mix

#: 4096 registers: a standard error of 1.04 / 64, that is 1.6 %.
PLACE_BITS = 12

_SHIFT = np.uint64(64 - PLACE_BITS)
_PLACE_BITS = np.uint64(PLACE_BITS)
_U0, _U1, _U64 = np.uint64(0), np.uint64(1), np.uint64(64)
_TOP = np.uint64(1 << 63)
_LONGEST = 64 - PLACE_BITS + 1


def registers():
    """Nothing has come by."""
    return np.zeros(1 << PLACE_BITS, np.uint8)


@kernel
def note_ids(seen, ids):
    """Note ids in the registers; those noted before change nothing."""
    for i in range(ids.shape[0]):
        mixed = mix(ids[i])
        place = mixed >> _SHIFT
        rest = mixed << _PLACE_BITS
        run = np.uint64(seen[place])
        # Almost always there is a one among as many bits: nothing to be counted.
        if run == _U0 or (rest >> (_U64 - run)) == _U0:
            length = 1
            while length < _LONGEST and rest < _TOP:
                rest <<= _U1
                length += 1
            seen[place] = max(seen[place], length)


def n_distinct(seen):
    """Estimate how many different ids were noted.

    Examples
    --------
    >>> seen = registers()
    >>> note_ids(seen, np.arange(100, dtype=np.uint64))
    >>> round(n_distinct(seen))
    101
    """
    m = len(seen)
    raw = 0.7213 / (1 + 1.079 / m) * m * m / float(np.sum(2.0 ** -seen.astype(float)))
    n_empty = int(np.count_nonzero(seen == 0))
    if raw <= 2.5 * m and n_empty:  # how many registers are empty tells more
        return m * math.log(m / n_empty)
    return raw
