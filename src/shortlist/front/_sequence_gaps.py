"""Cells without a number in rows that follow each other in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from shortlist._protocols import DataError, Floats, ShortlistError
from shortlist.sources._tables import columns_of, floats_of, holds_numbers, is_table


def without_gaps(X: Any, names: Sequence[str], missing: str | None) -> Any:
    """Check that cells hold numbers; missing ones count as 0 if that is asked for.

    Parameters
    ----------
    X : array, table or sparse matrix, a column for each of names
    names : sequence of str
    missing : {"error", "zero"} or None
        None: an error.

    Returns
    -------
    array, table or sparse matrix
        X itself if nothing is missing, or if it holds text: whoever learns from it says
        which column does.

    Examples
    --------
    >>> without_gaps(np.array([[1.0, np.nan]]), ["door", "lamp"], "zero")
    array([[1., 0.]])
    """
    if missing not in (None, "error", "zero"):
        raise ShortlistError(
            f"missing: with sequence= expected 'error' or 'zero', got {missing!r}"
        )
    X = X.tocsr() if sparse.issparse(X) else X
    values = X.data if sparse.issparse(X) else _numbers(X)
    if values is None or np.isfinite(values).all():
        return X
    gaps = np.isnan(values)
    odd = np.isinf(values) if missing == "zero" else gaps | np.isinf(values)
    if odd.any():
        raise _odd_cell(X, values, odd, names)
    filled = np.where(gaps, 0.0, values)
    if sparse.issparse(X):
        other = X.copy()
        other.data = filled
        return other
    if is_table(X):
        return type(X)(dict(zip(X.columns, filled.T, strict=True)))
    return filled


def _numbers(X: Any) -> Floats | None:
    """Cells as numbers, what is missing as NaN; None if there is text."""
    if not is_table(X):
        return _floats(X)
    columns = [
        floats_of(column) if holds_numbers(column) else _floats(column.to_list())
        for column in columns_of(X, "table").values()
    ]
    if any(column is None for column in columns):
        return None
    return np.column_stack(columns)  # type: ignore[arg-type]


def _floats(values: Any) -> Floats | None:
    try:  # objects may well be numbers
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        return None


def _odd_cell(X: Any, values: Floats, odd: Any, names: Sequence[str]) -> DataError:
    """What is wrong with the first of the odd cells, and what to do."""
    if sparse.issparse(X):
        cells = X.tocoo()
        rows, columns = cells.row[odd], cells.col[odd]
        first = np.lexsort((columns, rows))[0]
        row, column, value = rows[first], columns[first], values[odd][first]
    else:
        row, column = np.argwhere(odd)[0]
        value = values[row, column]
    hint = "; missing='zero' counts it as 0" if np.isnan(value) else ""
    return DataError(
        f"{'table' if is_table(X) else 'array'}: row {row}, column {names[column]!r}: "
        f"expected a finite number, got {value}{hint}"
    )
