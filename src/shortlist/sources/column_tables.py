"""Tables of pandas and polars as a source of columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from shortlist._protocols import Floats
from shortlist.sources._column_blocks import NumberedColumns, not_numbers
from shortlist.sources._columns import check_column
from shortlist.sources._tables import columns_of, floats_of, holds_numbers


class FrameColumns(NumberedColumns):
    """Columns of numbers of a pandas or polars table, known by their names.

    Parameters
    ----------
    frame : pandas.DataFrame or polars.DataFrame
    target : str, default=None
        Column of what is to be predicted, which is no feature.
    columns : iterable of str, default=None
        Columns to read; None: all but the target.
    missing : {"error", "mean", "zero"}, default="error"
        Whether a missing value is an error, or stands for the mean of its column, or
        for 0. Infinite values are errors.
    block_columns : int, default=None
        Columns in a block; None: from 64 to 512, of 32 MB if possible.

    Attributes
    ----------
    y : ndarray or None
        The target.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [31, 47], "height": [1.7, 1.6], "y": [0, 1]})
    >>> source = FrameColumns(table, "y")
    >>> next(source.blocks()).names, source.y
    (['age', 'height'], array([0, 1]))
    """

    def __init__(
        self,
        frame: Any,
        target: str | None = None,
        *,
        columns: Iterable[str] | None = None,
        missing: str = "error",
        block_columns: int | None = None,
    ):
        series = columns_of(frame, "table")
        self.y = None
        if target is not None:
            check_column("table", "target", target, series)
            self.y = series.pop(target).to_numpy()
        if columns is not None:
            wanted = list(columns)
            for column in wanted:
                check_column("table", "columns", column, series)
            series = {column: series[column] for column in wanted}
        for column, values in series.items():
            if not holds_numbers(values):
                raise not_numbers("table", column, str(values.dtype))
        self._series = list(series.values())
        super().__init__(
            "table",
            list(series),
            (len(frame), len(series)),
            missing=missing,
            block_columns=block_columns,
        )

    def _read(self, numbers: Sequence[int], out: Floats) -> None:
        for row, number in zip(out, numbers, strict=True):
            row[...] = floats_of(self._series[number])
