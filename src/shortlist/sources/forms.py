"""Whatever a user has as data, opened as a source of rows or of columns."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from shortlist._protocols import (
    ColumnBlock,
    ColumnSource,
    DataError,
    Ints,
    RowSource,
    ShortlistError,
)
from shortlist.sources import is_table, open_columns, open_source
from shortlist.sources._columns import check_column
from shortlist.sources._tables import columns_of, holds_text
from shortlist.sources.columns import TABLES, names_of_columns
from shortlist.sources.mappings import MappingSource

Opened = RowSource | ColumnSource


class TargetedColumns:
    """A source of columns together with what is to be predicted, or some rows of it."""

    def __init__(self, base: ColumnSource, y: Any, rows: Ints | None = None) -> None:
        self.base, self._rows = base, rows
        self.name, self.reiterable = base.name, base.reiterable
        self.y = np.asarray(y) if rows is None else np.asarray(y)[rows]
        self.n_rows: int | None = len(self.y)
        self.n_columns = base.n_columns
        if rows is None and base.n_rows not in (None, len(self.y)):
            raise DataError(
                f"{base.name}: expected {base.n_rows} labels (target=), got {len(self.y)}"
            )

    def blocks(self) -> Iterator[ColumnBlock]:
        """Yield the columns in order."""
        return map(self._part, self.base.blocks())

    def take(self, columns: Sequence[str | int]) -> ColumnBlock:
        """Return chosen columns."""
        return self._part(self.base.take(columns))

    def _part(self, block: ColumnBlock) -> ColumnBlock:
        if block.values.shape[1] != len(self.y) and self._rows is None:
            raise DataError(
                f"{self.name}: expected columns of {len(self.y)} rows, one a label, got "
                f"{block.values.shape[1]}"
            )
        if self._rows is None:
            return block
        return block._replace(values=np.ascontiguousarray(block.values[:, self._rows]))

    def __getattr__(self, attribute: str) -> Any:
        """What only some sources have: ``is_numbered``."""
        if attribute == "base":  # not there yet: a copy is being made
            raise AttributeError(attribute)
        return getattr(self.base, attribute)


def open_data(
    data: Any,
    target: Any = None,
    *,
    columns: bool = False,
    feature_names: Sequence[str] | None = None,
    sample_weight: Any = None,
    read: Mapping[str, Any] | None = None,
) -> Opened:
    """Open data of any form.

    Parameters
    ----------
    data, target, sample_weight
        As for ``select``.
    columns : bool, default=False
        Whether to go through features one by one.
    feature_names : sequence of str, default=None
        Of the columns of an array.
    read : mapping, default=None
        Options of the source that fits the data.
    """
    data = as_frame(data)
    read = dict(read or {})
    if sample_weight is not None:
        read[_weight_option(data, columns)] = sample_weight
    if isinstance(data, ColumnSource):
        return _targeted(data, target)
    if isinstance(data, RowSource):
        if target is not None:
            raise ShortlistError(
                "target: a source knows its own labels, got another one"
            )
        if columns:
            raise ShortlistError(
                f"{data.name}: a source of rows has no columns to read"
            )
        return data
    if isinstance(data, tuple) and len(data) == 2 and target is None and _is_pair(data):
        data, target = data
    if are_paths(data):
        return _from_files(data, target, columns, read)
    if is_table(data):
        return _from_frame(data, target, columns, read)
    if hasattr(data, "shape") or _is_list_of_rows(data):
        if target is None:
            raise ShortlistError("target: an array needs its labels, got none")
        if columns:
            names = {} if feature_names is None else {"names": feature_names}
            data = data if hasattr(data, "shape") else np.asarray(data)
            return _targeted(open_columns(data, **names, **read), target)
        read = {"may_lack_labels": True, "feature_names": feature_names, **read}
        return open_source((data, target), **read)
    if callable(data) or isinstance(data, Iterable):
        return _from_iterable(data, target, read)
    raise DataError(
        "expected an array, a table, a path, rows as dictionaries, pairs of name and "
        f"column, or a source, got {type(data).__name__}"
    )


def as_frame(data: Any) -> Any:
    """A table of pyarrow as one of pandas or polars; anything else as it is."""
    kind = type(data)
    if kind.__name__ != "Table" or kind.__module__.partition(".")[0] != "pyarrow":
        return data
    try:
        return data.to_pandas()
    except ImportError:  # no pandas
        import polars as pl

        return pl.from_arrow(data)


def _weight_option(data: Any, columns: bool) -> str:
    """What the source of such data calls the weights of rows."""
    if columns or isinstance(data, ColumnSource):
        raise ShortlistError(
            "sample_weight: where columns come one by one all rows weigh the same; leave "
            "the weights out, or have the table read by rows (columns=False)"
        )
    if isinstance(data, RowSource):
        raise ShortlistError(
            "sample_weight: a source of rows has the weights it was opened with; give "
            "them there"
        )
    if are_paths(data) or is_table(data):
        return "weight"
    if hasattr(data, "shape") or _is_list_of_rows(data) or isinstance(data, tuple):
        return "sample_weight"
    raise ShortlistError("sample_weight: rows that are dictionaries have no weights")


def take_out(table: Any, column: str, what: str) -> tuple[Any, np.ndarray]:
    """A table without one of its columns, and that column."""
    if column not in list(map(str, table.columns)):
        raise ShortlistError(f"{what}: no column is called {column!r}")
    rest = [name for name in table.columns if str(name) != column]
    return table[rest], np.asarray(table[column])


def open_with_groups(
    data: Any, target: str | None, column: str, read: Mapping[str, Any] | None = None
) -> tuple[ColumnSource, np.ndarray]:
    """Open a file by columns, without one that has the group of each row; return both."""
    path = Path(data) if isinstance(data, (str, os.PathLike)) else None
    if path is None or not (path.is_dir() or path.suffix.lower() in TABLES):
        raise ShortlistError(
            "groups: of columns without names it is an array, a group for each row, got "
            f"{column!r}"
        )
    given = dict(read or {}) if target is None else {**(read or {}), "target": target}
    target, known = given.get("target"), names_of_columns(path)
    if target is not None:
        check_column(str(path), "target", target, known)
    check_column(str(path), "groups of rows", column, known)
    if column == target:
        raise ShortlistError(
            f"groups of rows: expected a column of their own, got {column!r}, which is the "
            "target"
        )
    unread = list(given.get("leave_out", ()))
    others = [] if target is None else [target]
    told = {**given, "target": column, "leave_out": [*unread, *others]}
    groups = np.asarray(open_columns(path, **told).y)  # type: ignore[attr-defined]
    source = open_columns(path, **{**given, "leave_out": [*unread, column]})
    return _targeted(source, None), groups


def only_rows(data: Any) -> bool:
    """Whether data are read by rows and not by columns: text, in files or in a table."""
    if is_table(data):
        return any(map(holds_text, columns_of(data, "table").values()))
    if not isinstance(data, (str, os.PathLike)):
        return isinstance(data, RowSource) or are_paths(data)
    path = Path(data)
    return not path.is_dir() and path.suffix.lower() not in (".npy", *TABLES)


def _from_files(data: Any, target: Any, columns: bool, read: dict[str, Any]) -> Opened:
    if target is not None and not isinstance(target, str):
        raise ShortlistError(
            f"target: of files it is the name of a column, got {type(target).__name__}"
        )
    given = read if target is None else {"target": target, **read}
    if not columns:
        return open_source(data, **given)
    if not isinstance(data, (str, os.PathLike)):
        raise ShortlistError(f"columns are read from one file, got {len(data)}")
    return _targeted(open_columns(data, **given), None)


def _from_frame(data: Any, target: Any, columns: bool, read: dict[str, Any]) -> Opened:
    if target is None:
        raise ShortlistError(
            "target: a table needs the name of the column to predict, or labels, got none"
        )
    if not columns:
        return open_source((data, target), **{"may_lack_labels": True, **read})
    if isinstance(target, str):
        return open_columns(data, target=target, **read)
    return _targeted(open_columns(data, **read), target)


def _from_iterable(data: Any, target: Any, read: dict[str, Any]) -> Opened:
    """Dictionaries are rows, pairs of a name and an array columns."""
    again = callable(data) or not isinstance(data, Iterator)
    items = iter(data() if callable(data) else data)
    first = next(items, None)
    if first is None:
        raise DataError("data: expected rows or columns, got nothing")
    whole = data if again else chain([first], items)
    if isinstance(first, Mapping) or (_is_two(first) and isinstance(first[0], Mapping)):
        if target is not None and not isinstance(target, str):
            raise ShortlistError(
                "target: of rows that are dictionaries it is the name of a key, got "
                f"{type(target).__name__}"
            )
        return MappingSource(whole, target, **read)
    if _is_two(first) and isinstance(first[0], str):
        return _targeted(open_columns(whole, **read), target)
    hint = "; pandas.DataFrame(data) makes a table" if isinstance(data, Mapping) else ""
    raise DataError(
        "data: expected rows as dictionaries, or pairs of a name and a column, got "
        f"{type(data if hint else first).__name__}{hint}"
    )


def _targeted(source: ColumnSource, target: Any) -> ColumnSource:
    """A source of columns that knows what is to be predicted."""
    if target is not None:
        return TargetedColumns(source, target)
    if getattr(source, "y", None) is None:
        raise ShortlistError(f"{source.name}: expected a target (target=), got none")
    return source


def are_paths(data: Any) -> bool:
    """Whether this is a path, a pattern, or a list of them."""
    if isinstance(data, (str, os.PathLike)):
        return True
    listed = isinstance(data, (list, tuple)) and len(data) > 0
    return listed and all(isinstance(one, (str, os.PathLike)) for one in data)


def _is_pair(data: tuple[Any, Any]) -> bool:
    """Whether this is (X, y)."""
    return hasattr(data[0], "shape") or is_table(data[0]) or _is_list_of_rows(data[0])


def _is_list_of_rows(data: Any) -> bool:
    listed = isinstance(data, (list, tuple)) and len(data) > 0
    return (
        listed
        and isinstance(data[0], (list, tuple, np.ndarray))
        and not (_is_two(data[0]) and isinstance(data[0][0], (str, Mapping)))
    )


def _is_two(item: Any) -> bool:
    return isinstance(item, tuple) and len(item) == 2
