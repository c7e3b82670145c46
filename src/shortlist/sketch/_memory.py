"""How large a sketch may be: from what a user writes to cells in a row."""

from __future__ import annotations

import re

from shortlist._protocols import ShortlistError

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

    Examples
    --------
    >>> parse_bytes("16MB")
    16000000
    >>> parse_bytes("512 KiB")
    524288
    """
    match = re.fullmatch(
        r"\s*([0-9.]+)\s*([kmg]i?)?b?\s*", text, re.IGNORECASE | re.ASCII
    )
    try:
        if match is None:
            raise ValueError
        return int(float(match[1]) * _UNITS[(match[2] or "").lower()])
    except (ValueError, OverflowError):
        raise ShortlistError(
            f'memory should be a size like "16MB" or a number of cells, got {text!r}'
        ) from None


def cells_in_row(
    memory: str | int, rows: int, n_margins: int, candidate_slots: int
) -> int:
    """Width of a sketch that, with its sets of candidates, stays within ``memory``.

    Parameters
    ----------
    memory : str or int
        A size in bytes as text, or a number of cells in all.
    rows : int
        Rows of cells, the one for information included.
    n_margins : int
        Numbers in a cell.
    candidate_slots : int
        Slots of the sets of candidates, over all margins.
    """
    if isinstance(memory, str):
        left = parse_bytes(memory) - candidate_slots * _SLOT_BYTES
        width = left // (_CELL_BYTES * rows * n_margins)
    else:
        width = memory // (rows * n_margins)
    if width < 8:
        needed = candidate_slots * _SLOT_BYTES + 1024 * _CELL_BYTES * rows * n_margins
        raise ShortlistError(
            f"memory={memory!r} is too small for this k; at least "
            f"{-(-needed // 10**5) / 10}MB would do"
        )
    return min(int(width), 2**32 - 1)
