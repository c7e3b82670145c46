"""Rows that may be split: those of one group stay together, whoever splits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from shortlist._protocols import Ints, RowBlock, RowSource, ShortlistError, rows_apart
from shortlist._splits import group_numbers
from shortlist.evaluate._held_rows import HeldRows, held
from shortlist.evaluate._row_groups import Again, without_groups
from shortlist.sources import ArraySource


class ToSplit(NamedTuple):
    """Rows that may be split, the group of each, and how."""

    rows: RowSource
    groups: Ints | None = None
    cv: Any = None  #: as ``check_cv`` returns it


def settled(
    source: RowSource,
    groups: Any,
    *,
    in_memory: bool,
    split_too: bool = False,
    again: Again | None = None,
) -> tuple[RowSource, ToSplit]:
    """Rows to choose from, without a column of groups, and rows to split.

    The two differ only for a source whose rows have parts in common (``rows_apart``).

    Parameters
    ----------
    source : RowSource
    groups : array-like, str or None
        As for ``select``.
    in_memory : bool
        Whether rows to split are to be in memory: they are then read once.
    split_too : bool, default=False
        Whether rows to choose from are to be split, too, as stability does.
    again : callable, default=None
        As of ``without_groups``.
    """
    if isinstance(groups, str):
        rest, own = without_groups(held(source), groups, again)
        return rest, ToSplit(rest, own)
    if groups is not None:
        rows = in_hand(source) if in_memory else source
        n_rows = rows.size if rows.unit == "rows" else None
        numbers = group_numbers(groups, n_rows)
        assert numbers is not None
        if n_rows is None:
            rows = _Counted(rows, len(numbers))
        return rows, ToSplit(rows, numbers)
    apart, numbers = rows_apart(source)
    to_split = in_hand(apart) if in_memory else apart
    whole = source if numbers is not None and not split_too else to_split
    return whole, ToSplit(to_split, numbers)


def in_hand(rows: RowSource) -> RowSource:
    """The same rows in memory."""
    return rows if isinstance(rows, (ArraySource, HeldRows)) else held(rows)


class _Counted:
    """A source that has to have a certain number of rows: as many as there are groups."""

    def __init__(self, base: RowSource, n_rows: int) -> None:
        self.base, self._n_rows = base, n_rows

    def __getattr__(self, attribute: str) -> Any:
        if attribute == "base":  # not there yet: a copy is being made
            raise AttributeError(attribute)
        return getattr(self.base, attribute)

    def blocks(self) -> Iterator[RowBlock]:
        n = 0
        for block in self.base.blocks():
            n += block.n_rows
            if n > self._n_rows:
                break
            yield block
        if n != self._n_rows:
            more = "more" if n > self._n_rows else n
            raise ShortlistError(
                f"groups should have one entry a row, got {self._n_rows} for {more}: "
                f"{self.base.name}"
            )
