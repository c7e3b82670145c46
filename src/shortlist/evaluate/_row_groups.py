"""Groups of rows that a column of theirs tells: patients, users."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from shortlist._protocols import (
    ColumnSource,
    Ints,
    RowBlock,
    RowSource,
    ShortlistError,
    place_of,
)
from shortlist._splits import group_numbers
from shortlist.evaluate._held_rows import HeldRows
from shortlist.evaluate._whole_table import labels_of
from shortlist.sources._columns import MISSING
from shortlist.sources.forms import open_data

#: Opens the same rows once more, with the column of groups for a target.
Again = Callable[[], RowSource]


def without_groups(
    rows: HeldRows, column: str, again: Again | None = None
) -> tuple[HeldRows, Ints]:
    """Take a column of groups out of the features; return the group of each row.

    Parameters
    ----------
    rows : HeldRows
    column : str
    again : callable, default=None
        Rows do not tell a number that is missing from 0; whoever reads the column as a
        target does. None: nobody can.
    """
    from shortlist.table._gather import gather

    parts = list(rows.blocks())
    every = np.unique(np.concatenate([block.ids for block in parts]))
    names = np.array(rows.names(every), object)
    own = _columns_of_groups(names.tolist(), column, rows)
    inside = [np.isin(block.ids, every[own]) for block in parts]
    told = [_with(block, here) for block, here in zip(parts, inside, strict=True)]
    others = [_with(block, ~here) for block, here in zip(parts, inside, strict=True)]
    groups = _told(gather(told, None).X, names[own].tolist(), column, rows, again)
    return HeldRows(rows.base, others, left_out=every[own]), groups


def _columns_of_groups(names: Sequence[str], column: str, rows: HeldRows) -> np.ndarray:
    """Which features a column of groups makes: a number, or one of several words."""
    own = np.array([name.partition("=")[0] == column for name in names], bool)
    if not own.any():
        for role in ("target", "weight"):
            if getattr(rows, role, None) == column:
                raise ShortlistError(
                    f"groups of rows: expected a column of their own, got {column!r}, "
                    f"which is the {role}"
                )
        raise ShortlistError(f"groups of rows: no column is called {column!r}")
    return own


def _told(
    part: Any, names: Sequence[str], column: str, rows: RowSource, again: Again | None
) -> Ints:
    """Group of each row, by the features that tell it."""
    told = np.flatnonzero(np.diff(part.indptr))
    policy = getattr(rows, "missing", None)
    absent: float | None = None
    if column in names and len(told) < part.shape[0]:
        if again is not None and policy is not None:
            return _read_again(again(), column, rows)
        if policy in (None, "error"):  # then what is not there is 0
            absent = 0.0
    called = np.full(part.shape[0], absent, object)
    first = part.indptr[told]
    features, values = part.indices[first].tolist(), part.data[first].tolist()
    for row, feature, value in zip(told.tolist(), features, values, strict=True):
        # a column of words is a feature for each of them
        called[row] = value if names[feature] == column else names[feature]
    if policy == "category":
        called[called == f"{column}={MISSING}"] = None
    return _numbers(called, column, rows)


def _read_again(source: RowSource, column: str, rows: RowSource) -> Ints:
    """Groups that a source has for labels."""
    codes = np.concatenate([block.y for block in source.blocks()])
    if len(codes) != rows.size:
        raise ShortlistError(
            f"groups of rows: {source.name} has {len(codes)} rows with a sound {column!r}, "
            f"and {rows.size} with a sound label; mend or leave out the others"
        )
    known = np.isfinite(codes)
    called = np.full(len(codes), None, object)
    called[known] = labels_of(source, codes[known])
    return _numbers(called, column, rows)


def _numbers(called: np.ndarray, column: str, rows: RowSource) -> Ints:
    def place(row: int) -> str:
        return f"{place_of(rows, row)}, column {column!r}"

    found = group_numbers(called, len(called), place)
    assert found is not None
    return found


def _with(block: RowBlock, kept: np.ndarray) -> RowBlock:
    """A block with some of its entries."""
    ends = np.concatenate([[0], np.cumsum(kept)])[block.indptr]
    return block._replace(indptr=ends, ids=block.ids[kept], values=block.values[kept])


def reader_of_groups(
    data: Any, groups: Any, read: Mapping[str, Any] | None, source: RowSource
) -> Again | None:
    """What reads a column of groups as a target, if the data can be read again."""
    if not isinstance(groups, str) or isinstance(data, RowSource):
        return None
    if not source.reiterable or getattr(source, "on_error", "raise") == "skip":
        return None  # other rows might be left out
    left = {n: v for n, v in (read or {}).items() if n not in ("target", "labels")}

    def again() -> RowSource:
        opened = open_data(data, groups, read=left)
        assert not isinstance(opened, ColumnSource)
        return opened

    return again
