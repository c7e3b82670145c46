"""One call that makes a source of columns of whatever holds them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from shortlist._protocols import ColumnSource, DataError
from shortlist.sources._arrow_files import open_arrow
from shortlist.sources._files import find_files
from shortlist.sources._tables import is_table
from shortlist.sources.column_arrays import ArrayColumns
from shortlist.sources.column_files import NpyColumns
from shortlist.sources.column_parquet import ParquetColumns
from shortlist.sources.column_stream import StreamColumns
from shortlist.sources.column_tables import FrameColumns

TABLES = (".parquet", ".pq", ".arrow", ".feather")


def open_columns(data: Any, **options: Any) -> ColumnSource:
    """Make a source of whatever holds the columns.

    Parameters
    ----------
    data : path, array, table, iterable, callable or ColumnSource
        A path is a directory of ``.npy`` files, an array in one ``.npy`` file (which
        stays on disk), or a file that ends in ``.parquet``, ``.pq``, ``.arrow`` or
        ``.feather``. An iterable yields pairs of a name and a column; so does what a
        callable returns; a dictionary has columns by their names. A source is returned
        as it is.
    **options
        Keyword options of the source that fits the data, such as ``missing="mean"``.

    Returns
    -------
    ColumnSource

    Examples
    --------
    >>> open_columns([("a", [1.0, 2.0]), ("b", [0.0, 3.0])]).take(["b"]).values
    array([[0., 3.]])
    """
    if isinstance(data, ColumnSource):
        if options:
            raise DataError(
                f"expected no options for a source, got {', '.join(options)}"
            )
        return data
    if isinstance(data, (str, os.PathLike)):
        return _open_path(Path(data), options)
    if is_table(data):
        return FrameColumns(data, **options)
    if hasattr(data, "column_names") and hasattr(data, "to_pandas"):
        return FrameColumns(data.to_pandas(), **options)
    _refuse_target(getattr(data, "name", type(data).__name__), options)
    if hasattr(data, "shape"):
        return ArrayColumns(data, **options)
    if isinstance(data, Mapping):
        return StreamColumns(data.items(), **options)
    if callable(data) or isinstance(data, Iterable):
        return StreamColumns(data, **options)
    raise DataError(
        "expected a path, an array, a table, pairs of name and column, or a source, got "
        f"{type(data).__name__}"
    )


def _open_path(path: Path, options: dict[str, Any]) -> ColumnSource:
    if path.is_dir():
        return NpyColumns(path, **options)
    if path.suffix.lower() == ".npy":
        try:
            table = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise DataError(
                f"{path}: expected a sound .npy file, got: {error}"
            ) from None
        _refuse_target(str(path), options)
        return ArrayColumns(table, name=str(path), **options)
    if path.suffix.lower() in TABLES:
        return ParquetColumns(path, **options)
    raise DataError(
        f"{path}: expected a directory of .npy files, or a file that ends in .npy, "
        f"{', '.join(TABLES)}"
    )


def names_of_columns(path: Path) -> list[str]:
    """All columns of a directory of .npy files, or of a table: text and labels as well."""
    if path.is_dir():
        return sorted(file.stem for file in path.glob("*.npy"))
    (file,) = find_files(path)
    names: list[str] = open_arrow(file).schema.names
    return names


def _refuse_target(name: str, options: dict[str, Any]) -> None:
    """Refuse a target by name of what has no names, or none before they come."""
    if options.get("target") is not None:
        raise DataError(
            f"{name}: expected labels apart from the columns, got target="
            f"{options['target']!r}; tables, Parquet files and directories of .npy files "
            "have columns with names to choose it from"
        )
