"""Setting rows of a source aside for testing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import (
    DataError,
    Ids,
    RowBlock,
    RowSource,
    ShortlistError,
    place_of,
)
from shortlist.kernels.csr import draw_rows, nth_drawn, take_rows


def split_holdout(
    source: RowSource, fraction: float, seed: int, *, max_rows: int = 10_000
) -> tuple[RowSource, RowSource]:
    """Split a source into rows to learn from and rows to test on.

    Row i is held out if a 64-bit hash of the seed and i is below ``fraction`` * 2^64:
    this does not depend on blocks, and both views can be read in any order.

    A source that can be read only once is read by the first of the two: meanwhile the
    first ``max_rows`` of the rows held out are kept in memory, and the second then
    yields these, as often as wanted. The rows to learn from are the same in both cases.

    Parameters
    ----------
    source : RowSource
    fraction : float
        Share of the rows to hold out, above 0 and below 1.
    seed : int
    max_rows : int, default=10000
        Rows to keep of a source that can be read only once; not used for others.

    Returns
    -------
    train, test : RowSource
        Views of the source; their rows are numbered from 0, and ``position`` is that
        of the source.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.sources import ArraySource
    >>> train, test = split_holdout(ArraySource(np.ones((1000, 2))), 0.1, seed=0)
    >>> sum(block.n_rows for view in (train, test) for block in view.blocks())
    1000
    """
    if not 0 < fraction < 1:
        raise ShortlistError(f"fraction: expected above 0 and below 1, got {fraction}")
    return _split(source, _ByNumber(seed, fraction), max_rows)


def split_rows(
    source: RowSource, drawn: NDArray[np.bool_], *, max_rows: int = 10_000
) -> tuple[RowSource, RowSource]:
    """Split a source as ``split_holdout`` does, by what somebody says of each row.

    Parameters
    ----------
    source : RowSource
    drawn : ndarray of bool of shape (n_rows,)
        Whether each row is held out.
    max_rows : int, default=10000

    Returns
    -------
    train, test : RowSource
    """
    return _split(source, _AsSaid(np.asarray(drawn, np.bool_), source.name), max_rows)


class _Lot(Protocol):
    """Which rows are held out."""

    def drawn(self, first_row: int, n_rows: int) -> NDArray[np.bool_]:
        """Say it of some rows of the source."""
        ...

    def nth(self, row: int, wants_drawn: bool) -> int:
        """Number, in the source, of a row that is drawn, or of one that is not."""
        ...


class _ByNumber:
    """A hash of the number of a row decides."""

    def __init__(self, seed: int, fraction: float):
        self.seed, self.fraction = seed, fraction

    def drawn(self, first_row: int, n_rows: int) -> NDArray[np.bool_]:
        return draw_rows(first_row, n_rows, self.seed, self.fraction)

    def nth(self, row: int, wants_drawn: bool) -> int:
        return nth_drawn(row, self.seed, self.fraction, wants_drawn)


class _AsSaid:
    """Somebody has said it of every row."""

    def __init__(self, said: NDArray[np.bool_], name: str):
        self.said, self.name = said, name

    def drawn(self, first_row: int, n_rows: int) -> NDArray[np.bool_]:
        own = self.said[first_row : first_row + n_rows]
        if len(own) < n_rows:
            raise ShortlistError(
                f"{self.name}: expected {len(self.said)} rows to split, got more"
            )
        return own

    def nth(self, row: int, wants_drawn: bool) -> int:
        return int(np.flatnonzero(self.said == wants_drawn)[row])


def _split(source: RowSource, lot: _Lot, max_rows: int) -> tuple[RowSource, RowSource]:
    if max_rows < 0:
        raise ShortlistError(f"max_rows: expected 0 or more, got {max_rows}")
    if source.reiterable:
        train = _Rows(source, lot, wants_drawn=False)
        return train, _Rows(source, lot, wants_drawn=True)
    keeping = _KeepingRows(source, lot, max_rows)
    return keeping, _KeptRows(keeping)


class _View:
    """A source whose rows are some of another's."""

    size: int | None
    n_features: int | None
    label_names: Sequence[str] | None

    def __init__(self, base: RowSource):
        self.base = base
        self.name = base.name
        self.reiterable = base.reiterable
        self.unit = base.unit

    def __getattr__(self, attribute: str) -> Any:
        # the base is not there yet while a copy is being made; its groups are of all rows
        if attribute in ("base", "apart"):
            raise AttributeError(attribute)
        return getattr(self.base, attribute)

    def names(self, ids: Ids) -> list[str]:
        return self.base.names(ids)

    def ids(self, names: Sequence[str]) -> Ids:
        return self.base.ids(names)

    def locate(self, row: int) -> str:
        """Where in the input a row of this view stands."""
        return place_of(self.base, self._row_of_base(row))

    def _row_of_base(self, row: int) -> int:
        raise NotImplementedError


class _Rows(_View):
    """Rows that are drawn, or those that are not."""

    def __init__(self, base: RowSource, lot: _Lot, *, wants_drawn: bool):
        super().__init__(base)
        self.lot = lot
        self.wants_drawn = wants_drawn

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the rows in order; blocks without rows are passed over."""
        blocks = self.base.blocks()
        return _renumber(self._part(block, self.wants_drawn) for block in blocks)

    def _row_of_base(self, row: int) -> int:
        return self.lot.nth(row, self.wants_drawn)

    def _part(self, block: RowBlock, wants_drawn: bool) -> RowBlock:
        drawn = self.lot.drawn(block.first_row, block.n_rows)
        return take_rows(block, np.flatnonzero(drawn == wants_drawn))


class _KeepingRows(_Rows):
    """Rows not drawn of a source that passes by once; keeps some of those drawn."""

    def __init__(self, base: RowSource, lot: _Lot, max_rows: int):
        super().__init__(base, lot, wants_drawn=False)
        self.max_rows = max_rows
        self.kept: list[RowBlock] | None = None  # None: not begun

    def blocks(self) -> Iterator[RowBlock]:
        blocks = self.base.blocks()
        self.kept = []
        return _renumber(self._part_keeping_rest(block) for block in blocks)

    def _part_keeping_rest(self, block: RowBlock) -> RowBlock:
        assert self.kept is not None
        room = self.max_rows - sum(kept.n_rows for kept in self.kept)
        if room > 0:
            rest = self._part(block, True)
            if rest.n_rows:
                self.kept.append(take_rows(rest, np.arange(min(room, rest.n_rows))))
        return self._part(block, False)


class _KeptRows(_View):
    """Rows that another view has kept."""

    def __init__(self, keeper: _KeepingRows):
        super().__init__(keeper.base)
        self.keeper = keeper
        self.reiterable = True

    def _row_of_base(self, row: int) -> int:
        return self.keeper.lot.nth(row, True)

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the rows in order."""
        if self.keeper.kept is None:
            raise DataError(
                f"{self.name}: can be read only once, so the rows held out are known "
                "only after the rows to learn from have been read"
            )
        return _renumber(block._replace() for block in self.keeper.kept)


def _renumber(blocks: Iterator[RowBlock]) -> Iterator[RowBlock]:
    """Number rows from 0 on; leave out blocks without rows."""
    first_row = 0
    for block in blocks:
        if block.n_rows:
            yield block._replace(first_row=first_row)
            first_row += block.n_rows
