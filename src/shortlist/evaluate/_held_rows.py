"""Rows of a source in memory, all or some of them, so that it is read once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from shortlist._protocols import (
    Floats,
    Ids,
    Ints,
    RowBlock,
    RowSource,
    ShortlistError,
    place_of,
)
from shortlist.kernels.csr import take_rows


class HeldRows:
    """Rows that have been read, as a source that knows the names of another.

    Parameters
    ----------
    base : RowSource
        Where they came from.
    blocks : sequence of RowBlock
        Its blocks, in order.
    rows : ndarray of int, default=None
        Numbers of the rows to give, increasing; None: all.
    left_out : ndarray of uint64, default=None
        Features of the base that these rows no longer have.
    """

    reiterable = True
    unit = "rows"

    def __init__(
        self,
        base: RowSource,
        blocks: Sequence[RowBlock],
        rows: Ints | None = None,
        left_out: Ids | None = None,
    ) -> None:
        self.base, self.name = base, base.name
        self.n_features, self.label_names = base.n_features, base.label_names
        self.rows = rows
        self.left_out = np.empty(0, np.uint64) if left_out is None else left_out
        self._blocks = list(blocks) if rows is None else list(_some(blocks, rows))
        self.size: int | None = sum(block.n_rows for block in self._blocks)

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the rows in order."""
        return (block._replace() for block in self._blocks)

    @property
    def all_labels(self) -> Floats:
        """Labels of these rows, if they came from memory: all are known to be meant.

        An odd label late in a file is rather a mistake than one more class.
        """
        if getattr(self.base, "all_labels", None) is None:
            raise AttributeError("all_labels")
        return np.concatenate([block.y for block in self._blocks])

    def names(self, ids: Ids) -> list[str]:
        """Name the features with these ids."""
        return self.base.names(ids)

    def ids(self, names: Sequence[str]) -> Ids:
        """Ids of the features with these names."""
        return self.base.ids(names)

    def locate(self, row: int) -> str:
        """Where in the input a row stands."""
        return place_of(self.base, row if self.rows is None else int(self.rows[row]))

    def part(self, rows: Ints) -> HeldRows:
        """Some of the rows, by their numbers here."""
        own = rows if self.rows is None else self.rows[rows]
        parts = list(_some(self._blocks, rows))
        held = HeldRows(self.base, parts, left_out=self.left_out)
        held.rows = own
        return held

    def __getattr__(self, attribute: str) -> Any:
        """What only some sources have: ``on_error``, ``target``."""
        if attribute in ("base", "crowded", "retain", "part", "apart", "all_labels"):
            raise AttributeError(attribute)
        return getattr(self.base, attribute)


def held(source: RowSource) -> HeldRows:
    """All rows of a source."""
    found = HeldRows(source, _numbered(source.blocks()))
    if not found.size:
        raise ShortlistError(f"{source.name}: expected rows to learn from, got none")
    return found


def _numbered(blocks: Iterator[RowBlock]) -> list[RowBlock]:
    """Blocks whose positions count rows, as those of memory do."""
    found, n = [], 0
    for block in blocks:
        n += block.n_rows
        found.append(block._replace(first_row=n - block.n_rows, position=n))
    return found


def _some(blocks: Sequence[RowBlock], rows: Ints) -> Iterator[RowBlock]:
    first = n = 0
    for block in blocks:
        here = rows[(rows >= first) & (rows < first + block.n_rows)] - first
        first += block.n_rows
        if len(here):
            part = take_rows(block, here)
            n += len(here)
            yield part._replace(first_row=n - len(here), position=n)
