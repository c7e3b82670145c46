"""Text in a frame of which numbers are wanted: which column has it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from shortlist._protocols import DataError
from shortlist.sources._tables import columns_of, is_table

AS_CATEGORIES = "give it the type category, or name it in categorical_features="
TO_ENCODE = "encode it first, a column for each value"
ELSEWHERE = f"select() takes it as it is; or {TO_ENCODE}"


@contextmanager
def naming_text_columns(X: Any, what_to_do: str) -> Iterator[None]:
    """Name the column where an array cannot be made of a frame because of text.

    Nothing is looked at before something has failed: objects may well be numbers.
    """
    try:
        yield
    except ValueError as error:
        found = _first_text(X) if is_table(X) else None
        if found is None:
            raise
        column, value = found
        raise DataError(
            f"X: expected numbers, column {column!r} holds text such as {value!r}; "
            f"{what_to_do}"
        ) from error


def _first_text(X: Any) -> tuple[str, str] | None:
    for column, series in columns_of(X, "X").items():
        for value in series.to_list():
            if isinstance(value, str) and not _is_number(value):
                return column, value
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
