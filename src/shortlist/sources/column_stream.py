"""Any Python iterable of (name, column) as a source of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from shortlist._protocols import ColumnBlock, DataError, Floats, ShortlistError
from shortlist.sources._column_blocks import (
    MISSING_POLICIES,
    as_numbers,
    check_block_columns,
    fill_missing,
    hashed,
    usual_columns,
)
from shortlist.sources._columns import unique_columns
from shortlist.sources._labels import check_choice

Pairs = Iterable[tuple[str, Any]]


class StreamColumns:
    """Columns that come one by one, each with its name.

    Names are not remembered: whoever draws a block has those of its columns. That they
    differ is checked within a block only.

    Parameters
    ----------
    pairs : iterable of (str, array-like), or callable that returns one
        A list or a function can be read again and again; a generator is read once, and
        a second pass, or ``take``, raises.
    missing : {"error", "mean", "zero"}, default="error"
        Whether a NaN is an error, or stands for the mean of its column, or for 0.
        Infinite values are errors.
    block_columns : int, default=None
        Columns in a block; None: from 64 to 512, of 32 MB if possible.
    name : str, default="columns"
        What messages call the source.

    Examples
    --------
    >>> source = StreamColumns((f"c{j}", [j, 1.0]) for j in range(3))
    >>> source.reiterable, next(source.blocks()).names
    (False, ['c0', 'c1', 'c2'])
    """

    n_columns: int | None = None

    def __init__(
        self,
        pairs: Pairs | Callable[[], Pairs],
        *,
        missing: str = "error",
        block_columns: int | None = None,
        name: str = "columns",
    ):
        check_choice("missing", missing, MISSING_POLICIES)
        check_block_columns(block_columns)
        self.name, self.missing = name, missing
        self.block_columns = block_columns
        self.n_rows: int | None = None
        self._pairs = pairs
        self.reiterable = callable(pairs) or not isinstance(pairs, Iterator)
        self._spent = False

    def blocks(self) -> Iterator[ColumnBlock]:
        """Yield the columns in order, ``block_columns`` at a time."""
        if self._spent and not self.reiterable:
            raise ShortlistError(
                f"{self.name}: an iterator gives its columns once; a list of them, or a "
                "function that returns one, can be read again"
            )
        self._spent = True
        return self._all_blocks()

    def take(self, columns: Sequence[str | int]) -> ColumnBlock:
        """Return chosen columns, by name or by their number, reading all up to them."""
        place: dict[str | int, int] = {c: i for i, c in enumerate(columns)}
        names = [""] * len(columns)
        values: Floats | None = None
        for block in self.blocks():
            if values is None:
                values = np.empty((len(columns), block.values.shape[1]))
            first = block.position - len(block.names)
            for i, name in enumerate(block.names):
                for known_as in (name, first + i):
                    if known_as in place:
                        wanted = place.pop(known_as)
                        names[wanted], values[wanted] = name, block.values[i]
            if not place:
                return ColumnBlock(values, hashed(names), names, block.position)
        missing = next(iter(place), None)
        raise DataError(f"{self.name}: expected a column, got none called {missing!r}")

    def _all_blocks(self) -> Iterator[ColumnBlock]:
        pairs = self._named(self._pairs() if callable(self._pairs) else self._pairs)
        position = 0
        for name, column in pairs:
            head = self._checked(name, column)
            width = self.block_columns or usual_columns(len(head))
            # straight to where they belong: a list of them would be as large again
            values, names = np.empty((width, len(head))), [name]
            values[0] = head
            for other, more in islice(pairs, width - 1):
                values[len(names)] = self._checked(other, more)
                names.append(other)
            position += len(names)
            values = values[: len(names)]
            unique_columns(self.name, names)
            fill_missing(values, names, self.missing, self.name)
            yield ColumnBlock(values, hashed(names), names, position)
            del values  # whoever took it should be the last to hold it

    def _named(self, pairs: Pairs) -> Iterator[tuple[str, Any]]:
        for number, pair in enumerate(pairs):
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise DataError(
                    f"{self.name}: column {number}: expected a pair of a name and a "
                    f"column, got {type(pair).__name__}"
                )
            name, column = pair
            yield str(name), column

    def _checked(self, name: str, column: Any) -> np.ndarray[Any, Any]:
        array = as_numbers(column, name, self.name)
        if self.n_rows is None:
            self.n_rows = len(array)
        if len(array) != self.n_rows:
            raise DataError(
                f"{self.name}: column {name!r}: expected {self.n_rows} rows, got "
                f"{len(array)}"
            )
        return array
