"""Whether the first row of delimited text names the columns, or is data already.

Names of columns that somebody knows decide, if the row has them. Else it is data only if
it looks like the rows below it: numbers where they have numbers. A row of text tells
nothing, and is taken for names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from shortlist.sources._cells import is_missing, is_number
from shortlist.sources._columns import heads_of

AUTO = "auto"
_MADE_UP = re.compile(r"x(0|[1-9][0-9]*)")  # what columns without names are called


def names_in(columns: Iterable[str | None], features: Iterable[str] | None) -> set[str]:
    """Names that columns may have, given those that are known and features of a model."""
    known = {column for column in columns if column is not None}
    for name in features or ():
        known |= {name, *heads_of(name)}
    return known


def is_header(
    cells: Sequence[bytes], below: Sequence[Sequence[bytes]], known: Collection[str]
) -> bool:
    """Whether a row names columns.

    Parameters
    ----------
    cells : sequence of bytes
        The row.
    below : sequence of sequences of bytes
        Some rows that follow it; none if nobody may look at them.
    known : collection of str
        Names that columns may have.
    """
    if any(cell.decode("utf-8", "surrogateescape") in known for cell in cells):
        return True
    if not any(map(is_number, cells)):
        return True
    if not below:
        return not (known and all(map(_is_made_up, known)))
    columns = list(zip(*(row for row in below if len(row) == len(cells)), strict=True))
    alike = [_is_like(*pair) for pair in zip(cells, columns, strict=False)]
    if False in alike or True not in alike:
        return True
    return not known and _are_consecutive(cells)


def _is_made_up(name: str) -> bool:
    return any(_MADE_UP.fullmatch(part) for part in (name, *heads_of(name)))


def _is_like(cell: bytes, column: Sequence[bytes]) -> bool | None:
    """Whether a cell is a number above numbers; None if nothing can be said."""
    there = [other for other in column if not is_missing(other)]
    if is_missing(cell) or not there or not all(map(is_number, there)):
        return None
    return is_number(cell)


def _are_consecutive(cells: Sequence[bytes]) -> bool:
    """Whether numbers in a row count on, as made-up names and years do: 0, 1, 2."""
    numbers = [cell.strip() for cell in cells if is_number(cell)]
    if len(numbers) < 2 or not all(number.isdigit() for number in numbers):
        return False
    first = int(numbers[0])
    return [int(number) for number in numbers] == list(
        range(first, first + len(numbers))
    )
