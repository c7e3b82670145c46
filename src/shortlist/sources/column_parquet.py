"""Parquet and Arrow files as a source of columns."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import Any

import numpy as np

from shortlist._protocols import DataError, Floats
from shortlist.sources._arrow_files import open_arrow
from shortlist.sources._batches import NUMBER, floats_of, kind_of
from shortlist.sources._column_blocks import NumberedColumns, not_numbers
from shortlist.sources._columns import check_column, unique_columns
from shortlist.sources._files import find_files

_BATCH_ROWS = 1 << 16


class ParquetColumns(NumberedColumns):
    """Columns of numbers of a Parquet or Arrow (Feather) file.

    The columns of a block are read, batch by batch of rows, and nothing else is.

    Parameters
    ----------
    path : path
    target : str, default=None
        Column of what is to be predicted, which is no feature.
    columns : iterable of str, default=None
        Columns to read; None: all but the target.
    leave_out : iterable of str, default=()
        Columns not to read, such as one of text.
    missing : {"error", "mean", "zero"}, default="error"
        Whether a missing value is an error, or stands for the mean of its column, or
        for 0. Infinite values are errors.
    block_columns : int, default=None
        Columns in a block; None: from 64 to 512, of 32 MB if possible.

    Attributes
    ----------
    y : ndarray or None
        The target.

    Notes
    -----
    Needs pyarrow.

    Examples
    --------
    >>> import pandas as pd, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.parquet"
    >>> people = {"age": [31, 47], "height": [1.7, 1.6], "city": ["Bonn", "Oslo"]}
    >>> pd.DataFrame(people).to_parquet(path)
    >>> source = ParquetColumns(path, "city")
    >>> next(source.blocks()).names, source.y.tolist()
    (['age', 'height'], ['Bonn', 'Oslo'])
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        target: str | None = None,
        *,
        columns: Iterable[str] | None = None,
        leave_out: Iterable[str] = (),
        missing: str = "error",
        block_columns: int | None = None,
    ):
        files = find_files(path)
        if len(files) != 1:
            raise DataError(f"{path}: expected one file of columns, got {len(files)}")
        self._file = open_arrow(files[0], keeps_open=True)
        name, schema = self._file.name, self._file.schema
        unique_columns(name, schema.names)
        known = dict.fromkeys(schema.names)
        features = list(known if columns is None else columns)
        for column in features:
            check_column(name, "columns", column, known)
        for column in (unread := list(leave_out)):
            check_column(name, "leave_out", column, known)
        features = [column for column in features if column not in unread]
        if target is not None:
            check_column(name, "target", target, known)
            features = [column for column in features if column != target]
        if not features:
            raise DataError(f"{name}: expected columns to choose from, got none")
        for column in features:
            if kind_of(kind := schema.field(column).type) != NUMBER:
                raise not_numbers(name, column, str(kind))
        # Threads that work on different columns take turns at the file.
        self._turn = Lock()
        self.y = None
        if target is not None:
            self.y = self._target(target, kind_of(schema.field(target).type) == NUMBER)
        super().__init__(
            name,
            features,
            (self._count_rows(features[0]), len(features)),
            missing=missing,
            block_columns=block_columns,
        )

    def __getstate__(self) -> dict[str, Any]:
        """All but the turn, which is of this process."""
        return {k: v for k, v in self.__dict__.items() if k != "_turn"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= {**state, "_turn": Lock()}

    def _target(self, column: str, is_number: bool) -> np.ndarray[Any, Any]:
        batches = self._file.batches([column], _BATCH_ROWS)
        parts = [batch.column(column) for batch, _ in batches]
        if is_number:
            return np.concatenate([np.empty(0), *map(floats_of, parts)])
        return np.array([value for part in parts for value in part.to_pylist()])

    def _count_rows(self, column: str) -> int:
        batches = self._file.batches([column], _BATCH_ROWS)
        return sum(batch.num_rows for batch, _ in batches)

    def _read(self, numbers: Sequence[int], out: Floats) -> None:
        columns = [self._names.name(number) for number in numbers]
        with self._turn:
            first = 0
            once = list(dict.fromkeys(columns))
            for batch, _ in self._file.batches(once, _BATCH_ROWS):
                for row, column in zip(out, columns, strict=True):
                    row[first : first + batch.num_rows] = floats_of(
                        batch.column(column)
                    )
                first += batch.num_rows
