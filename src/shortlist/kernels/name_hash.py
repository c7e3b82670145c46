"""Feature names to 64-bit ids: the same name gives the same id in every table.

A name is its UTF-8 bytes, eight to a word; each word is mixed into the hash, so every
bit of a name changes about half of the bits of its id. The length goes in first: names
that differ only in trailing zero bytes differ too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels._jit import kernel
from shortlist.kernels.hashing import mix

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_U0, _U1 = np.uint64(0), np.uint64(1)


@kernel
def hash_name(name, seed):
    """Hash an array of bytes; seed is a uint64, and so is the result."""
    hashed = mix(seed + GOLDEN * (np.uint64(len(name)) + _U1))
    word = _U0
    for i in range(len(name)):
        word |= np.uint64(name[i]) << np.uint64(8 * (i & 7))
        if i & 7 == 7:
            hashed = mix(hashed ^ word) + GOLDEN
            word = _U0
    return mix(hashed ^ word)


@kernel
def _hash_each(text, ends, seed, out):
    start = 0
    for i in range(len(ends)):
        out[i] = hash_name(text[start : ends[i]], seed)
        start = ends[i]


def hash_names(names: Iterable[str], seed: int = 0) -> NDArray[np.uint64]:
    """Hash names to 64-bit ids.

    Parameters
    ----------
    names : iterable of str
    seed : int, default=0
        Another seed gives unrelated ids.

    Returns
    -------
    ndarray of uint64, one a name

    Examples
    --------
    >>> ids = hash_names(["age", "city=Bonn"])
    >>> bool(ids[0] == hash_names(["age"])[0]), bool(ids[0] == ids[1])
    (True, False)
    """
    # lone surrogates are legal in Python strings and hence in column names
    return hash_bytes([name.encode("utf-8", "surrogatepass") for name in names], seed)


def hash_bytes(names: Sequence[bytes], seed: int = 0) -> NDArray[np.uint64]:
    """Hash names that are bytes already."""
    text = np.frombuffer(b"".join(names), np.uint8)
    ends = np.cumsum([len(name) for name in names], dtype=np.int64)
    out = np.empty(len(names), np.uint64)
    _hash_each(text, ends, np.uint64(seed % 2**64), out)
    return out
