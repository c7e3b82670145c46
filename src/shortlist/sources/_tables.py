"""What pandas and polars call differently; neither is imported here.

A ``Series`` below is a column of either library.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import DataError, Floats
from shortlist.sources._labels import NUMBER_KINDS

Series = Any
_POLARS_TEXT = ("String", "Categorical", "Enum", "Object", "Date", "Datetime", "Time")


def library_of(table: object) -> str | None:
    """Name the library of a table or column; None if it is neither of the two."""
    root = type(table).__module__.partition(".")[0]
    return root if root in ("pandas", "polars") else None


def is_table(data: object) -> bool:
    """Whether this is a table of pandas or polars."""
    return library_of(data) is not None and type(data).__name__ == "DataFrame"


def columns_of(table: Any, name: str) -> dict[str, Series]:
    """Columns of a table by their names, which must differ."""
    if not is_table(table):
        raise DataError(
            f"{name}: expected a DataFrame of pandas or polars, "
            f"got {type(table).__module__}.{type(table).__qualname__}"
        )
    columns: dict[str, Series] = {}
    for i, label in enumerate(table.columns):
        if str(label) in columns:
            raise DataError(
                f"{name}: expected different names of columns, got {str(label)!r} twice"
            )
        is_pandas = library_of(table) == "pandas"
        columns[str(label)] = table.iloc[:, i] if is_pandas else table[label]
    return columns


def part_of(series: Series, start: int, stop: int) -> Series:
    """Rows of a column, by their numbers."""
    rows = slice(start, stop)
    return series.iloc[rows] if library_of(series) == "pandas" else series[rows]


def holds_numbers(series: Series) -> bool:
    """Whether a column holds numbers or truth values (or nothing at all)."""
    if library_of(series) == "pandas":
        return series.dtype.kind in NUMBER_KINDS
    return series.dtype.is_numeric() or str(series.dtype) in ("Boolean", "Null")


def holds_text(series: Series) -> bool:
    """Whether a column holds text, categories, objects, or dates, which are text."""
    if library_of(series) == "pandas":
        return series.dtype.kind in "OUSM"
    return str(series.dtype).partition("(")[0] in _POLARS_TEXT


def floats_of(series: Series) -> Floats:
    """Numbers of a column; missing ones are NaN."""
    if library_of(series) == "pandas":
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        numbers = series.cast(float).to_numpy()
    return np.asarray(numbers, np.float64)


def texts_of(series: Series) -> tuple[list[str], NDArray[np.bool_]]:
    """Values of a column as text, and which of them are missing."""
    if library_of(series) == "pandas":
        missing = series.isna().to_numpy(dtype=np.bool_)
        if series.dtype.kind == "M":  # of Parquet no billionths of seconds are read
            series = series.dt.as_unit("us")
    else:
        missing = series.is_null().to_numpy()
    return list(map(str, series.to_list())), np.asarray(missing, np.bool_)
