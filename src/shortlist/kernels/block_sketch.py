"""Count-Sketch whose cells of one id share a block, so that one fetch brings them all.

As in ``kernels.count_sketch`` each row adds a number, with a sign, to one of its cells, and
the median over the rows estimates it. But here an id is hashed to a block first, which has
``CELLS`` cells of every row, and then to a cell of each row within it. With three rows and
one more plane a block of single numbers is 64 bytes, as much as a processor loads at once.

The error of a row is that of a Count-Sketch with as many cells. What is lost is that rows
err independently: two ids that share a block (one pair in ``n_blocks``) collide in two rows
of three with probability 5/32. Beside weights a block may hold, for every cell, information
(one number a margin, without a sign) and a scale (one number, the largest it was given).

Information has a row of cells of its own, or one beside each row of weights (``stacked``).
Then rows hold not weights but weights times information, which add up over all that was
learned anywhere: w = sum / (information + ridge), in each row, and the median of these.

If all ids are known to be smaller than the cells of a row, each gets cells of its own, and
nothing ever collides.

A *place* is where the block of an id begins, in the upper half, and how to go on in the
lower: three bits a plane, of which two choose a cell and the third is the sign.
"""

from typing import NamedTuple

import numpy as np

from shortlist.kernels._jit import kernel
from shortlist.kernels.count_sketch import MAX_ROWS, MAX_SIZE, signed
from shortlist.kernels.hashing import cell_of, hash_keys, mix
from shortlist.kernels.prefetch import prefetch

#: Cells of a row in a block.
CELLS = 4
_LINE = 16  #: numbers that a processor loads at once
_LARGE_PAGE = 1 << 19  #: numbers in 2 MB

# Nothing here allocates, and counting references to what is passed would take as long as
# the work. Inlined, so that a number of margins that the compiler knows is known here, too.
_inlined = kernel(_nrt=False, forceinline=True)
_plain = kernel(_nrt=False)

_U0, _U2, _U3, _U29, _U32 = (np.uint64(n) for n in (0, 2, 3, 29, 32))
_LOW_HALF = np.uint64(2**32 - 1)
#: The same cell in every plane, with a plus.
_EVERY_PLANE = np.uint64(0b001001001001001001001001001001001)


class BlockSketch(NamedTuple):
    """The blocks, and what places an id in them."""

    cells: np.ndarray  #: float32, n_blocks times ``stride`` numbers
    keys: np.ndarray  #: uint64, shape (2,): odd multipliers
    n_blocks: int
    stride: int  #: numbers in a block
    rows: int
    n_margins: int
    is_direct: bool  #: ids are places themselves
    informed: bool  #: blocks hold information
    stacked: bool  #: a row of it for each row of weights
    scaled: bool  #: blocks hold scales


def block_size(rows, n_margins, *, informed, scaled, stacked=False):
    """Numbers in a block."""
    return CELLS * ((rows + n_informed(rows, informed, stacked)) * n_margins + scaled)


@_inlined
def n_informed(rows, informed, stacked):
    """Rows of cells that hold information."""
    return rows if stacked else int(informed)


def block_sketch(
    rows,
    n_blocks,
    n_margins=1,
    seed=0,
    *,
    n_ids=None,
    informed=False,
    scaled=False,
    stacked=False,
):
    """Make an empty sketch.

    Parameters
    ----------
    rows : int
        Odd, at most 9.
    n_blocks : int
        Blocks, each with ``CELLS`` cells of every row.
    n_ids : int, default=None
        A number that all ids are smaller than, if there is one.
    informed, scaled : bool, default=False
        Whether to keep information, scales.
    stacked : bool, default=False
        Whether each row has information of its own.
    """
    if rows not in range(1, MAX_ROWS + 1, 2):
        raise ValueError(f"rows should be odd and at most {MAX_ROWS}, got {rows}")
    if n_blocks < 1:
        raise ValueError(f"n_blocks should be at least 1, got {n_blocks}")
    stride = block_size(
        rows, n_margins, informed=informed, scaled=scaled, stacked=stacked
    )
    if n_blocks * stride >= MAX_SIZE:
        raise ValueError("a sketch should have fewer than 2^31 numbers (8 GB)")
    is_direct = n_ids is not None and n_ids <= n_blocks * CELLS
    return BlockSketch(
        _aligned(n_blocks * stride),
        hash_keys(seed, 2),
        int(n_blocks),
        int(stride),
        int(rows),
        int(n_margins),
        bool(is_direct),
        bool(informed),
        bool(stacked),
        bool(scaled),
    )


def _aligned(size):
    """Zeros that begin where the processor's lines do, or large pages of memory do.

    Cells are visited in no order. In pages of 4 kB, finding out where a page lies often
    takes longer than the visit; NumPy asks for large pages, which only whole ones can be.
    """
    step = _LARGE_PAGE if size >= 2 * _LARGE_PAGE else _LINE
    room = np.zeros(size + 2 * step, np.float32)
    first = -room.ctypes.data % (4 * step) // 4
    return room[first : first + size]


@_plain
def locate(sketch, ids, places):
    """Write where each id lives to places[i]."""
    n_blocks, stride = np.uint64(sketch.n_blocks), np.uint64(sketch.stride)
    to_block, to_cells = sketch.keys[0], sketch.keys[1]
    if sketch.is_direct:
        for i in range(ids.shape[0]):
            choice = (ids[i] & _U3) * _EVERY_PLANE
            places[i] = (((ids[i] >> _U2) * stride) << _U32) | (choice & _LOW_HALF)
        return
    for i in range(ids.shape[0]):
        mixed = mix(ids[i])
        block = cell_of(mixed * to_block, n_blocks)
        places[i] = ((block * stride) << _U32) | ((mixed * to_cells) >> _U32)


@_inlined
def cell_in(place, plane, margins):
    """Index of the cell that an id has in a plane: rows first, then information."""
    chosen = (place >> np.uint64(3 * plane)) & _U3
    offset = (np.uint64(CELLS * plane) + chosen) * np.uint64(margins)
    return (place >> _U32) + offset


@_inlined
def scale_cell(place, plane, margins):
    """Index of the cell of an id's scale, in the plane after all others."""
    chosen = (place >> np.uint64(3 * plane)) & _U3
    return (place >> _U32) + np.uint64(CELLS * plane * margins) + chosen


@_inlined
def with_sign(number, place, row):
    """Give a number the sign that an id has in a row."""
    return signed(number, np.uint32(place << (_U29 - np.uint64(3 * row))))


@_inlined
def _stack(sketch, margins):
    """How far behind its weight a cell's information lies, if each row has its own."""
    return np.uint64(CELLS * sketch.rows * margins)


@_inlined
def _scale_plane(sketch):
    return sketch.rows + n_informed(sketch.rows, sketch.informed, sketch.stacked)


@_plain
def fetch(sketch, places):
    """Begin to load the blocks of located ids."""
    cells, margins = sketch.cells, sketch.n_margins
    if sketch.stride <= 2 * _LINE:
        last = np.uint64(sketch.stride - 1)
        for i in range(places.shape[0]):
            prefetch(cells, places[i] >> _U32)
        if sketch.stride != _LINE:  # blocks may go on in another line
            for i in range(places.shape[0]):
                prefetch(cells, (places[i] >> _U32) + last)
        return
    for i in range(places.shape[0]):
        for plane in range(sketch.rows + (sketch.informed and not sketch.stacked)):
            first = cell_in(places[i], plane, margins)
            for c in range(0, margins, _LINE):
                prefetch(cells, first + np.uint64(c))
                if sketch.stacked:
                    prefetch(cells, first + _stack(sketch, margins) + np.uint64(c))
        if sketch.scaled:
            prefetch(cells, scale_cell(places[i], _scale_plane(sketch), margins))


@_inlined
def medians(sketch, margins, places, out):
    """Write the estimates of the located ids to out[c, i]: medians over the rows.

    ``margins`` are those of the sketch, perhaps known to the compiler.
    """
    cells = sketch.cells
    for i in range(places.shape[0]):
        place = places[i]
        if sketch.rows == 3:
            a, b, d = (
                cell_in(place, 0, margins),
                cell_in(place, 1, margins),
                cell_in(place, 2, margins),
            )
            for margin in range(margins):
                c = np.uint64(margin)
                x = with_sign(cells[a + c], place, 0)
                y = with_sign(cells[b + c], place, 1)
                z = with_sign(cells[d + c], place, 2)
                out[margin, i] = max(min(x, y), min(max(x, y), z))
        else:
            for margin in range(margins):
                c = np.uint64(margin)
                out[margin, i] = _median(cells, sketch.rows, margins, place, c)


@_inlined
def medians_and_information(sketch, margins, places, weights, known):
    """Write estimates and information of all margins, as the two above and below do.

    Most often there are three rows and one margin: then each block is visited once.
    """
    if sketch.rows == 3 and margins == 1:
        cells = sketch.cells
        for i in range(places.shape[0]):
            place = places[i]
            x = with_sign(cells[cell_in(place, 0, margins)], place, 0)
            y = with_sign(cells[cell_in(place, 1, margins)], place, 1)
            z = with_sign(cells[cell_in(place, 2, margins)], place, 2)
            known[0, i] = cells[cell_in(place, 3, margins)]
            weights[0, i] = max(min(x, y), min(max(x, y), z))
        return
    medians(sketch, margins, places, weights)
    for margin in range(margins):
        information_at(sketch, margins, places, margin, known[margin])


@_inlined
def ratios(sketch, margins, places, ridges, out):
    """Write estimates sum / (information + ridges[i]) to out[c, i], likewise."""
    cells, up = sketch.cells, _stack(sketch, margins)
    for i in range(places.shape[0]):
        place = places[i]
        for margin in range(margins):
            c = np.uint64(margin)
            if sketch.rows == 3:
                x = _ratio(cells, place, 0, margins, c, up, ridges[i])
                y = _ratio(cells, place, 1, margins, c, up, ridges[i])
                z = _ratio(cells, place, 2, margins, c, up, ridges[i])
                out[margin, i] = max(min(x, y), min(max(x, y), z))
            else:
                out[margin, i] = _median_ratio(sketch, place, margins, c, ridges[i])


@_inlined
def _ratio(cells, place, row, margins, c, up, ridge):
    cell = cell_in(place, row, margins) + c
    return with_sign(cells[cell], place, row) / (cells[cell + up] + ridge)


@_plain
def _median_ratio(sketch, place, margins, c, ridge):
    """Median of any odd number of ratios, as ``_median``."""
    cells, up, rows = sketch.cells, _stack(sketch, margins), sketch.rows
    for r in range(rows):
        number = _ratio(cells, place, r, margins, c, up, ridge)
        below = equal = 0
        for q in range(rows):
            other = _ratio(cells, place, q, margins, c, up, ridge)
            below += other < number
            equal += other == number
        if below <= rows // 2 < below + equal:
            return number
    return np.float32(np.nan)  # reached only if a cell is not a number


@_plain
def _median(cells, rows, margins, place, c):
    """Median of any odd number of rows: the one that half of the others do not exceed."""
    for r in range(rows):
        number = with_sign(cells[cell_in(place, r, margins) + c], place, r)
        below = equal = 0
        for q in range(rows):
            other = with_sign(cells[cell_in(place, q, margins) + c], place, q)
            below += other < number
            equal += other == number
        if below <= rows // 2 < below + equal:
            return number
    return np.float32(np.nan)  # reached only if a cell is not a number


@_inlined
def add_located(sketch, margins, places, margin, numbers):
    """Add numbers[i], single, to the i-th located id, at one margin."""
    cells, c = sketch.cells, np.uint64(margin)
    if sketch.rows == 3:
        for i in range(places.shape[0]):
            place, number = places[i], numbers[i]
            cells[cell_in(place, 0, margins) + c] += with_sign(number, place, 0)
            cells[cell_in(place, 1, margins) + c] += with_sign(number, place, 1)
            cells[cell_in(place, 2, margins) + c] += with_sign(number, place, 2)
        return
    for i in range(places.shape[0]):
        for r in range(sketch.rows):
            cell = cell_in(places[i], r, margins) + c
            cells[cell] += with_sign(numbers[i], places[i], r)


@_inlined
def information_at(sketch, margins, places, margin, out):
    """Read the information about the located ids at one margin."""
    cells, plane, c = sketch.cells, sketch.rows, np.uint64(margin)
    if sketch.stacked:  # others can only have added to it: the least is the closest
        c += _stack(sketch, margins)
        for i in range(places.shape[0]):
            least = cells[cell_in(places[i], 0, margins) + c]
            for r in range(1, sketch.rows):
                least = min(least, cells[cell_in(places[i], r, margins) + c])
            out[i] = least
        return
    for i in range(places.shape[0]):
        out[i] = cells[cell_in(places[i], plane, margins) + c]


@_inlined
def inform(sketch, margins, places, margin, numbers):
    """Add numbers[i] to the information about the i-th located id, at one margin."""
    cells, plane, c = sketch.cells, sketch.rows, np.uint64(margin)
    if sketch.stacked:
        c += _stack(sketch, margins)
        for i in range(places.shape[0]):
            for r in range(sketch.rows):
                cells[cell_in(places[i], r, margins) + c] += numbers[i]
        return
    for i in range(places.shape[0]):
        cells[cell_in(places[i], plane, margins) + c] += numbers[i]


@_inlined
def add_and_inform(sketch, margins, places, margin, numbers, known):
    """Add numbers[i] to the i-th located id, known[i] to the information about it."""
    if sketch.rows == 3:
        cells, c = sketch.cells, np.uint64(margin)
        for i in range(places.shape[0]):
            place, number = places[i], numbers[i]
            cells[cell_in(place, 0, margins) + c] += with_sign(number, place, 0)
            cells[cell_in(place, 1, margins) + c] += with_sign(number, place, 1)
            cells[cell_in(place, 2, margins) + c] += with_sign(number, place, 2)
            cells[cell_in(place, 3, margins) + c] += known[i]
        return
    inform(sketch, margins, places, margin, known)
    add_located(sketch, margins, places, margin, numbers)


@_plain
def raise_scales(sketch, places, numbers):
    """Let the scales of located ids be at least |numbers[i]|."""
    cells, plane = sketch.cells, _scale_plane(sketch)
    margins = sketch.n_margins
    for i in range(places.shape[0]):
        cell = scale_cell(places[i], plane, margins)
        cells[cell] = max(cells[cell], abs(numbers[i]))


@_plain
def scales_at(sketch, places, out):
    """Read the scales of located ids."""
    cells, plane = sketch.cells, _scale_plane(sketch)
    margins = sketch.n_margins
    for i in range(places.shape[0]):
        out[i] = cells[scale_cell(places[i], plane, margins)]


@_plain
def spreads(sketch, places, margin, out):
    """Write half the range of the rows to out[i], at one margin."""
    cells, margins, c = sketch.cells, sketch.n_margins, np.uint64(margin)
    for i in range(places.shape[0]):
        place = places[i]
        low = high = with_sign(cells[cell_in(place, 0, margins) + c], place, 0)
        for r in range(1, sketch.rows):
            number = with_sign(cells[cell_in(place, r, margins) + c], place, r)
            low, high = min(low, number), max(high, number)
        out[i] = 0.5 * (high - low)
