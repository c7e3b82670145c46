"""64-bit hashing with a seed: where a feature lives in a sketch, and with which sign.

An id is mixed once (a bijection of 64-bit integers, so different ids never become
equal), then each row of a sketch multiplies the mixed id by an odd number of its own
(multiply-shift): the upper 32 bits choose the cell, the next bit the sign.
"""

import numpy as np

from shortlist.kernels._jit import kernel

_MIX_A = np.uint64(0xFF51AFD7ED558CCD)
_MIX_B = np.uint64(0xC4CEB9FE1A85EC53)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_U32 = np.uint64(32)
_U33 = np.uint64(33)
_U31 = np.uint64(31)
_U1 = np.uint64(1)


@kernel
def mix(number):
    """Scramble a 64-bit integer; a bijection."""
    number ^= number >> _U33
    number *= _MIX_A
    number ^= number >> _U33
    number *= _MIX_B
    return number ^ (number >> _U33)


@kernel
def cell_of(hashed, width):
    """Cell in [0, width) from the upper 32 bits; width is a uint64 below 2^32."""
    return ((hashed >> _U32) * width) >> _U32


@kernel
def sign_bit(hashed):
    """Return 1 for a minus, 0 for a plus: a bit that the cell does not depend on."""
    return ((hashed >> _U31) & _U1) ^ _U1


@kernel
def _draw(seed, out):
    state = seed
    for i in range(out.shape[0]):
        state += _GOLDEN
        out[i] = mix(state)


def hash_keys(seed, n):
    """Draw n odd 64-bit multipliers from a seed (any Python integer)."""
    keys = np.empty(n, np.uint64)
    _draw(np.uint64(seed % 2**64), keys)
    return keys | np.uint64(1)
