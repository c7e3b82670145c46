"""Columns under running numbers: ids as columns of one growing table have them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from shortlist._protocols import ColumnBlock, ColumnSource, DataError


class NumberedFrom:
    """A source whose first column has the id ``first``, the next one first + 1, ...

    Parameters
    ----------
    source : ColumnSource
    first : int
    names : sequence of str, "keep" or "number"
        Names of the columns; "keep" those that they have, which must not be ``taken``;
        "number" calls them "x5", "x6", ... after their ids.
    taken : collection of str, default=()
    """

    def __init__(
        self,
        source: ColumnSource,
        first: int,
        names: Sequence[str] | str,
        taken: Collection[str] = (),
    ) -> None:
        self._source, self._first, self._names = source, first, names
        self._taken = frozenset(taken)
        self.name, self.reiterable = source.name, source.reiterable
        self.n_rows, self.n_columns = source.n_rows, source.n_columns
        self.met: list[str] = []  #: names, in the order of ids

    def blocks(self) -> Iterator[ColumnBlock]:
        """Yield the features in order."""
        for block in self._source.blocks():
            first, stop = block.position - len(block.names), block.position
            renamed = self._renamed(block, list(range(first, stop)))
            self.met += (
                renamed.names[len(self.met) - first :] if stop > len(self.met) else []
            )
            yield renamed

    def take(self, columns: Sequence[str | int]) -> ColumnBlock:
        """Return chosen columns, by name or by their number from 0."""
        numbers = [self._number(column) for column in columns]
        return self._renamed(self._source.take(numbers), numbers)

    def _number(self, column: str | int) -> int:
        if not isinstance(column, str):
            return int(column)
        if isinstance(self._names, str):
            return int(self._source.take([column]).position) - 1
        if column not in self._names:
            raise DataError(
                f"{self.name}: expected the name of a column, got {column!r}"
            )
        return list(self._names).index(column)

    def _renamed(self, block: ColumnBlock, numbers: list[int]) -> ColumnBlock:
        if isinstance(self._names, str):
            names = list(block.names)
            if self._names == "number":
                names = [f"x{self._first + number}" for number in numbers]
        else:
            names = [self._names[number] for number in numbers]
        for name in names if self._taken else ():
            if name in self._taken:
                raise DataError(
                    f"{self.name}: expected columns with names of their own, got "
                    f"{name!r}, which had come before"
                )
        ids = np.array(numbers, np.uint64) + np.uint64(self._first)
        return block._replace(ids=ids, names=names)
