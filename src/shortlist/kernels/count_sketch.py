"""Count-Sketch: signed numbers by id in a fixed number of cells.

Each of ``rows`` rows adds a number, with a sign, to one cell; the median over the rows
of sign times cell estimates it. With width cells a row the error of a row is below
sqrt(3 / width) times the l2 norm of everything stored, in two cases of three; the median
of the rows makes a miss exponentially rare.

A cell holds ``n_margins`` numbers side by side (the classes of a softmax), so that a
feature is hashed once for all of them.

Where an id lives in a row, and with which sign, is a *place*: the index of its cell in the
flat table, and the sign in the highest bit. Places depend on ids only, so they can be found
long before anybody comes to learn from them.
"""

import math
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from shortlist.kernels._jit import kernel
from shortlist.kernels.hashing import cell_of, hash_keys, mix, sign_bit

MAX_ROWS = 9
#: A sketch has fewer numbers, so that a place fits in 32 bits.
MAX_SIZE = 2**31

_CELL = np.uint32(0x7FFFFFFF)
_U0, _U31 = np.uint64(0), np.uint64(31)


class CountSketch(NamedTuple):
    """The cells, and what places an id in them."""

    table: np.ndarray  #: float32, shape (rows, width, n_margins)
    keys: np.ndarray  #: uint64, shape (rows,): odd multipliers


def count_sketch(rows, width, n_margins=1, seed=0):
    """Make an empty sketch.

    Parameters
    ----------
    rows : int
        Odd, at most 9.
    width : int
        Cells in a row, below 2^32.
    """
    if rows not in range(1, MAX_ROWS + 1, 2):
        raise ValueError(f"rows should be odd and at most {MAX_ROWS}, got {rows}")
    if not 0 < width < 2**32:
        raise ValueError(f"width should be from 1 to 2^32 - 1, got {width}")
    if rows * width * n_margins >= MAX_SIZE:
        raise ValueError("a sketch should have fewer than 2^31 numbers (8 GB)")
    table = np.zeros((rows, width, n_margins), np.float32)
    return CountSketch(table, hash_keys(seed, rows))


def size_for_error(error, failure=0.01):
    """Rows and width that bound the error of an estimate.

    Each estimate is off by more than ``error`` times the l2 norm of what is stored with
    probability at most ``failure``. Rows are added first, as long as each may fail one
    time in three, up to 9; width does the rest.
    """
    rows = 1
    while rows < MAX_ROWS and _median_fails(rows, 1 / 3) > failure:
        rows += 2
    return rows, width_for_error(rows, error, failure)


def width_for_error(rows, error, failure=0.01, *, independent=True):
    """Width that bounds the error of an estimate, given the rows.

    A row of width 1 / (share * error^2) fails with probability ``share`` at most
    (Chebyshev), and the median only if more than half of the rows do; if they do not
    fail independently, of that is only known that it is no more often than their mean
    number allows (Markov).
    """
    if not 0 < error < 1 or not 0 < failure < 1:
        raise ValueError("error and failure should lie between 0 and 1")
    if not independent:
        share = min(1 / 3, failure * (rows + 1) / (2 * rows))
        return math.ceil(1 / (share * error * error))
    low, high = 1e-12, 1 / 3  # a row's own failure rate that the median can bear
    if _median_fails(rows, high) > failure:
        for _ in range(60):
            middle = math.sqrt(low * high)
            low, high = (
                (middle, high)
                if _median_fails(rows, middle) <= failure
                else (low, middle)
            )
        high = low
    return math.ceil(1 / (high * error * error))


def _median_fails(rows, share):
    """Probability that at least half of the rows fail, each with probability share."""
    return sum(
        math.comb(rows, j) * share**j * (1 - share) ** (rows - j)
        for j in range((rows + 1) // 2, rows + 1)
    )


@intrinsic
def signed(_context, number, place):
    """Give a 32-bit number the sign that a place asks for: one exclusive or."""

    def build(_context, builder, _signature, arguments):
        word = ir.IntType(32)
        sign = builder.and_(arguments[1], ir.Constant(word, 1 << 31))
        flipped = builder.xor(builder.bitcast(arguments[0], word), sign)
        return builder.bitcast(flipped, ir.FloatType())

    return types.float32(types.float32, types.uint32), build


@kernel
def cell_at(place):
    """Index of a place's cell in the flat table; margin c is c further on."""
    return np.uint64(place & _CELL)


@kernel
def number_at(flat, place, c):
    """What the cell of a place holds for margin c, a uint64, with the place's sign."""
    return signed(flat[cell_at(place) + c], place)


@kernel
def locate(sketch, ids, places):
    """Write the place of each id in each row to places[i, r]."""
    keys = sketch.keys
    rows, n_cells, n_margins = sketch.table.shape
    width, margins = np.uint64(n_cells), np.uint64(n_margins)
    for i in range(ids.shape[0]):
        mixed = mix(ids[i])
        first = _U0
        for r in range(rows):
            hashed = mixed * keys[r]
            cell = (first + cell_of(hashed, width)) * margins
            places[i, r] = np.uint32(cell | (sign_bit(hashed) << _U31))
            first += width


@kernel
def medians(flat, places, out):
    """Write the estimates of the located ids to out[i, c]: medians over the rows."""
    for i in range(out.shape[0]):
        for margin in range(out.shape[1]):
            c = np.uint64(margin)
            if places.shape[1] == 3:
                x = number_at(flat, places[i, 0], c)
                y = number_at(flat, places[i, 1], c)
                z = number_at(flat, places[i, 2], c)
                out[i, margin] = max(min(x, y), min(max(x, y), z))
            else:
                out[i, margin] = _median(flat, places[i], c)


@kernel
def _median(flat, places, c):
    """Median of any odd number of rows: the one that half of the others do not exceed."""
    rows = places.shape[0]
    for r in range(rows):
        number = number_at(flat, places[r], c)
        below = equal = 0
        for q in range(rows):
            other = number_at(flat, places[q], c)
            below += other < number
            equal += other == number
        if below <= rows // 2 < below + equal:
            return number
    return np.float32(np.nan)  # reached only if a cell is not a number


@kernel
def add_located(flat, places, margin, numbers):
    """Add numbers[i] to the i-th located id, at one margin."""
    c = np.uint64(margin)
    for i in range(numbers.shape[0]):
        number = np.float32(numbers[i])
        for r in range(places.shape[1]):
            place = places[i, r]
            flat[cell_at(place) + c] += signed(number, place)


@kernel
def add(sketch, ids, numbers):
    """Add numbers[i, c] to id i, margin c."""
    rows, _, margins = sketch.table.shape
    flat = sketch.table.reshape(-1)
    places = np.empty((ids.shape[0], rows), np.uint32)
    locate(sketch, ids, places)
    for c in range(margins):
        add_located(flat, places, c, numbers[:, c].copy())


@kernel
def estimate(sketch, ids, out, spread):
    """Write estimates to out[i, c] and half the range of the rows to spread[i, c]."""
    rows, _, margins = sketch.table.shape
    flat = sketch.table.reshape(-1)
    places = np.empty((ids.shape[0], rows), np.uint32)
    locate(sketch, ids, places)
    medians(flat, places, out)
    for i in range(ids.shape[0]):
        for margin in range(margins):
            c = np.uint64(margin)
            low = high = number_at(flat, places[i, 0], c)
            for r in range(1, rows):
                number = number_at(flat, places[i, r], c)
                low, high = min(low, number), max(high, number)
            spread[i, margin] = 0.5 * (high - low)


def merge(sketches):
    """Sum of sketches of the same shape and seed: the sketch of all they have seen."""
    first = sketches[0]
    for other in sketches[1:]:
        if other.table.shape != first.table.shape:
            raise ValueError(
                f"sketches of shapes {first.table.shape} and {other.table.shape} "
                "cannot be merged"
            )
        if (other.keys != first.keys).any():
            raise ValueError("sketches with different seeds cannot be merged")
    return first._replace(table=sum(s.table for s in sketches))
