"""Rows of blocks: choosing some of them, by their numbers or by lot."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels._jit import kernel
from shortlist.kernels.hashing import mix

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_U1 = np.uint64(1)

Block = TypeVar("Block")  # a tuple with indptr, ids, values, y, weight


@kernel
def _add_lengths(indptr, rows, taken):
    for i in range(len(rows)):
        taken[i + 1] = taken[i] + indptr[rows[i] + 1] - indptr[rows[i]]


@kernel
def _copy_rows(indptr, ids, values, rows, ids_out, values_out):
    place = 0
    for row in rows:
        for j in range(indptr[row], indptr[row + 1]):
            ids_out[place] = ids[j]
            values_out[place] = values[j]
            place += 1


@kernel
def _draw(first_row, seed, threshold, drawn):
    start = mix(seed)
    row = first_row
    for i in range(len(drawn)):
        drawn[i] = mix(start + _GOLDEN * (row + _U1)) < threshold
        row += _U1


def row_slice(block: Block, begin: int, end: int) -> Block:
    """Rows begin ... end - 1 of a block, without copying nonzeros."""
    own: Any = block
    if begin == 0 and end == len(own.y):
        return block
    first, last = int(own.indptr[begin]), int(own.indptr[end])
    part: Block = own._replace(
        indptr=own.indptr[begin : end + 1] - first,
        ids=own.ids[first:last],
        values=own.values[first:last],
        y=own.y[begin:end],
        weight=own.weight[begin:end],
        first_row=own.first_row + begin,
    )
    return part


def take_rows(block: Block, rows: NDArray[np.integer]) -> Block:
    """Copy rows out of a block.

    Parameters
    ----------
    block : RowBlock
    rows : ndarray of int
        Numbers of rows within the block, in the order wanted.

    Returns
    -------
    RowBlock
        With arrays of its own; ``first_row`` and ``position`` are the block's.
    """
    rows = np.ascontiguousarray(rows, np.int64)
    indptr = np.zeros(len(rows) + 1, np.int64)
    _add_lengths(block.indptr, rows, indptr)
    ids = np.empty(indptr[-1], np.uint64)
    values = np.empty(indptr[-1], np.float64)
    _copy_rows(block.indptr, block.ids, block.values, rows, ids, values)
    y, weight = block.y[rows], block.weight[rows]
    return block._replace(indptr=indptr, ids=ids, values=values, y=y, weight=weight)


def draw_rows(
    first_row: int, n_rows: int, seed: int, fraction: float
) -> NDArray[np.bool_]:
    """Draw each row with a probability, by a hash of its number.

    Whether a row is drawn depends on its number and the seed only: not on the block it
    arrived in, nor on the rows before it.

    Parameters
    ----------
    first_row : int
        Number of the first row.
    n_rows : int
    seed : int
    fraction : float
        Probability, at least 0 and below 1.

    Returns
    -------
    ndarray of bool, one a row
    """
    drawn = np.empty(n_rows, np.bool_)
    threshold = np.uint64(int(fraction * 2**64))
    _draw(np.uint64(first_row), np.uint64(seed % 2**64), threshold, drawn)
    return drawn


def nth_drawn(n: int, seed: int, fraction: float, wants_drawn: bool) -> int:
    """Number of the n-th row, from 0, that ``draw_rows`` draws, or that it does not."""
    first = 0
    while True:
        drawn = draw_rows(first, 4096, seed, fraction)
        rows = np.flatnonzero(drawn == wants_drawn)
        if n < len(rows):
            return first + int(rows[n])
        n -= len(rows)
        first += len(drawn)
