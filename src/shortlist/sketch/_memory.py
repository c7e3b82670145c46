"""How large a sketch may be: from what a user writes to cells in a row, or to ids."""

from __future__ import annotations

import re
from numbers import Integral

from shortlist._protocols import ShortlistError
from shortlist.kernels.block_sketch import CELLS
from shortlist.kernels.count_sketch import MAX_SIZE, width_for_error

_UNITS = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "ki": 2**10,
    "mi": 2**20,
    "gi": 2**30,
}
_CELL_BYTES = 4
_SLOT_BYTES = 8


def parse_bytes(text: str) -> int:
    """Bytes that a text such as "16MB", "512KiB" or "1.5GB" stands for.

    A unit has to be there: mere digits are cells.

    Examples
    --------
    >>> parse_bytes("16MB")
    16000000
    >>> parse_bytes("512 KiB")
    524288
    """
    match = re.fullmatch(
        r"\s*([0-9.]+)\s*(b|([kmg]i?)b?)\s*", text, re.IGNORECASE | re.ASCII
    )
    try:
        if match is None:
            raise ValueError
        return int(float(match[1]) * _UNITS[(match[3] or "").lower()])
    except (ValueError, OverflowError):
        raise ShortlistError(
            'memory should be a size like "16MB", a number of cells, or an error like '
            f'"1%", got {text!r}'
        ) from None


def cells_in_row(
    memory: str | int, rows: int, n_margins: int, candidate_slots: int
) -> int:
    """Width of a Count-Sketch that, with its sets of candidates, stays within ``memory``.

    Parameters
    ----------
    memory : str or int
        A size in bytes as text with a unit; a number of cells in all; or the error of
        an estimate that is exceeded one time in a hundred, as a percentage of the
        length of all weights together ("1%").
    rows : int
        Rows of the sketch.
    n_margins : int
        Numbers in a cell.
    candidate_slots : int
        Slots of the sets of candidates, over all margins.
    """
    memory = _size_or_cells(memory)
    if isinstance(memory, str) and memory.strip().endswith("%"):
        return _width(memory, width_for_error(rows, _share(memory)))
    width = _how_many(memory, rows * n_margins, 8, candidate_slots)
    return min(width, 2**32 - 1)


def blocks_within(
    memory: str | int, rows: int, numbers: int, candidate_slots: int
) -> int:
    """Blocks of a sketch of blocks that, with its candidates, stays within ``memory``.

    Parameters
    ----------
    memory : str or int
        As for ``cells_in_row``.
    rows : int
        Rows of the sketch.
    numbers : int
        Numbers in a block.
    candidate_slots : int
        Slots of the sets of candidates, over all margins.
    """
    memory = _size_or_cells(memory)
    if isinstance(memory, str) and memory.strip().endswith("%"):
        width = width_for_error(rows, _share(memory), independent=False)
        return -(-_width(memory, width) // CELLS)
    blocks = _how_many(memory, numbers, 2, candidate_slots)
    return min(blocks, (MAX_SIZE - 1) // numbers)


def _how_many(memory: str | int, numbers: int, least: int, slots: int) -> int:
    """How many units of so many numbers fit, beside the slots of candidates."""
    if isinstance(memory, str):
        n = (parse_bytes(memory) - slots * _SLOT_BYTES) // (_CELL_BYTES * numbers)
    else:
        n = memory // numbers
    if n < least:
        needed = slots * _SLOT_BYTES + 1024 * _CELL_BYTES * numbers
        raise ShortlistError(
            f"memory={memory!r} is too small for this k; at least "
            f"{-(-needed // 10**5) / 10}MB would do"
        )
    return n


def _size_or_cells(memory: str | int) -> str | int:
    """Text with a unit as it is, mere digits as a number."""
    if isinstance(memory, bool) or not isinstance(memory, str | Integral):
        raise ShortlistError(
            f'memory should be a size like "16MB" or a number of cells, got {memory!r}'
        )
    if isinstance(memory, str) and not re.fullmatch(r"\s*[0-9]+\s*", memory, re.ASCII):
        return memory
    return int(memory)


def exact_ids(
    memory: str | int, n_margins: int, other_slots: int, n_features: int | None
) -> int:
    """How many ids exact weights have room for within ``memory``.

    Exactly ``n_features`` if an array of all of them fits; otherwise what goes into a
    table, which takes two slots for an id.

    Parameters
    ----------
    memory : str or int
        A size in bytes as text with a unit, or a number of cells.
    n_margins : int
        Numbers in a cell.
    other_slots : int
        Slots of 8 bytes that something else takes of the memory.
    n_features : int or None
        How many ids there are, if that is known.
    """
    memory, cell = _size_or_cells(memory), _CELL_BYTES * n_margins
    if isinstance(memory, str) and memory.strip().endswith("%"):
        raise ShortlistError(
            f'memory of exact weights should be a size like "16MB", got {memory!r}'
        )
    if isinstance(memory, str):
        left = parse_bytes(memory) - other_slots * _SLOT_BYTES
    else:
        left = memory * _CELL_BYTES
    if n_features is not None and n_features * cell <= left:
        return n_features
    # an id has two slots, each with its cells, and a place in the order of arrival
    room = left // (2 * (cell + _SLOT_BYTES) + _SLOT_BYTES)
    if room < 8:
        raise ShortlistError(f"memory={memory!r} is too small for this k")
    return 1 << (int(room).bit_length() - 1)  # slots are a power of two


def _share(text: str) -> float:
    """What a percentage stands for."""
    try:
        share = float(text.strip().removesuffix("%")) / 100
    except ValueError:
        share = 0.0
    if not 0.0 < share < 1.0:
        raise ShortlistError(
            f'memory as an error should lie between 0 and 100%, as "1%", got {text!r}'
        )
    return share


def _width(text: str, width: int) -> int:
    if width >= 2**32:
        raise ShortlistError(f"memory={text!r} would take a sketch of {width:,} cells")
    return int(width)
