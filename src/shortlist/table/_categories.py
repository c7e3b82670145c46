"""Which columns of a table are categories, and their values as codes."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import DataError, ShortlistError
from shortlist.sources import is_table
from shortlist.sources._tables import (
    Series,
    columns_of,
    holds_text,
    library_of,
    texts_of,
)


def code_categories(X: Any, asked: Any) -> tuple[Any, NDArray[np.bool_] | None]:
    """Replace text and categories of a frame by codes; say which columns they are.

    Parameters
    ----------
    X : array-like, sparse matrix or frame
    asked : "from_dtype", None, or a sequence of names, numbers or one bool a column
        "from_dtype": the columns of a frame whose type is a category.

    Returns
    -------
    X : the same kind as X
        Columns of numbers stay as they are, also where they are asked for.
    categorical : ndarray of shape (n_features,) or None
        None if there are none.
    """
    columns = columns_of(X, "X") if is_table(X) else None
    if asked is None or (isinstance(asked, str) and asked == "from_dtype"):
        if asked is None or columns is None:
            return X, None
        mask = np.array([_is_category(one) for one in columns.values()], bool)
    else:
        if isinstance(asked, str):
            raise ShortlistError(
                "categorical_features should be 'from_dtype', None or a list of "
                f"features, got {asked!r}"
            )
        width = len(columns) if columns is not None else np.shape(X)[-1]
        mask = _mask(list(asked), list(columns or ()), width)
    if columns is not None:
        for j in np.flatnonzero(mask).tolist():
            name, series = list(columns.items())[j]
            if _is_category(series) or holds_text(series):
                X = _with_codes(X, j, name, series)
    return X, mask if mask.any() else None


def _mask(asked: Sequence[Any], names: list[str], width: int) -> NDArray[np.bool_]:
    if asked and all(isinstance(one, bool | np.bool_) for one in asked):
        if len(asked) != width:
            raise ShortlistError(
                f"categorical_features should have a bool for each of {width} features, "
                f"got {len(asked)}"
            )
        return np.array(asked, bool)
    mask = np.zeros(width, bool)
    known = {name: j for j, name in enumerate(names or map("x{}".format, range(width)))}
    for one in asked:
        j = one if isinstance(one, Integral) else known.get(str(one), -1)
        if not 0 <= int(j) < width:
            raise ShortlistError(
                f"categorical_features should be names or numbers of {width} features, "
                f"got {one!r}"
            )
        mask[int(j)] = True
    return mask


def _is_category(series: Series) -> bool:
    kind = str(series.dtype).partition("(")[0]
    return kind in ("category", "Categorical", "Enum")


def _with_codes(X: Any, j: int, name: str, series: Series) -> Any:
    texts, missing = texts_of(series)
    if missing.any():
        raise DataError(
            f"X: expected a category in every row, column {name!r} has none in row "
            f"{int(np.argmax(missing))}"
        )
    codes = np.unique(np.array(texts), return_inverse=True)[1].astype(np.float64)
    if library_of(X) == "pandas":
        X = X.copy(deep=False)
        X.isetitem(j, codes)
        return X
    return X.with_columns(type(series)(series.name, codes))
