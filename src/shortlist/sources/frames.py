"""Tables of pandas and polars as a source of rows."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import DataError, Floats, Ids, RowBlock, ShortlistError
from shortlist.sources._columns import (
    MISSING,
    POLICIES,
    FeatureColumns,
    NamesById,
    check_column,
)
from shortlist.sources._labels import check_choice, check_weights, encode_labels
from shortlist.sources._tables import (
    Series,
    columns_of,
    floats_of,
    holds_numbers,
    holds_text,
    part_of,
    texts_of,
)

_MAX_CELLS = 1 << 20  # of a block, however wide the table


class _Cells(NamedTuple):
    """One column of a block."""

    ids: Ids
    values: Floats
    present: NDArray[np.bool_]


class FrameSource:
    """Rows of a pandas or polars table; features are known by their names.

    A column of numbers or truth values is a feature named after it. Any other column
    (text, categories, objects, dates) makes a feature ``column=value`` of each of its
    values, which is 1 in the rows that have the value. A feature's id is a 64-bit hash of
    its name, so neither the order of columns nor values that only one of two tables has
    change the ids. Zeros are left out of the rows. Rows are counted from 0 in messages.

    Parameters
    ----------
    frame : pandas.DataFrame or polars.DataFrame
    target : str or array-like of shape (n_rows,), default=None
        Column of the labels, or the labels themselves. Numbers are kept, others become
        codes into ``label_names``.
    weight : str or array-like of shape (n_rows,), default=None
        Column of the importance of each row, or the numbers themselves.
    block_rows : int, default=4096
        Rows in a block; wide tables come in fewer.
    missing : {"error", "zero", "category"}, default="error"
        Whether a missing value is an error, leaves the feature out, or makes the
        feature ``column=missing``. Infinite values are errors.
    may_lack_labels : bool, default=False
        Whether rows may lack a label: learners then leave them out and count.

    Attributes
    ----------
    label_names : list of str or None
        What the codes in ``y`` stand for; None if labels are numbers.

    Notes
    -----
    The names of all features seen are kept in memory, as a hash cannot be undone.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [31, 47], "city": ["Bonn", "Oslo"], "y": [0, 1]})
    >>> source = FrameSource(table, "y")
    >>> block = next(source.blocks())
    >>> source.names(block.ids)
    ['age', 'city=Bonn', 'age', 'city=Oslo']
    """

    unit = "rows"
    reiterable = True
    n_features: int | None = None
    features_are = "columns of tables"

    def __init__(
        self,
        frame: Any,
        target: Any = None,
        *,
        weight: Any = None,
        block_rows: int = 4096,
        missing: str = "error",
        may_lack_labels: bool = False,
    ):
        check_choice("missing", missing, POLICIES)
        if block_rows < 1:
            raise ShortlistError(f"block_rows: expected 1 or more, got {block_rows}")
        self.name = "table"
        self.missing = missing
        self._columns = columns_of(frame, self.name)
        self._n_rows = len(frame)
        self.size: int | None = self._n_rows
        self.label_names: Sequence[str] | None
        y, what = self._take_out("target", target)
        self.may_lack_labels = may_lack_labels
        self._y, self.label_names = encode_labels(
            y, self._n_rows, what, may_lack=may_lack_labels
        )
        importance, what = self._take_out("weight", weight)
        self._weight = check_weights(importance, self._n_rows, what)
        widest = max(1, _MAX_CELLS // max(1, len(self._columns)))
        self.block_rows = min(block_rows, widest)
        self._text = {c for c, series in self._columns.items() if holds_text(series)}
        self._check_columns()
        numbers = [column for column in self._columns if column not in self._text]
        self._features = FeatureColumns(self.name, numbers, self._text, missing)
        self._seen = NamesById(self.name)
        self._id_of_value: dict[str, dict[str, int]] = {c: {} for c in self._text}
        self._id_of_number = dict(zip(numbers, self._remember(numbers), strict=True))

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the rows in order, ``block_rows`` at a time."""
        for start in range(0, self._n_rows, self.block_rows):
            stop = min(start + self.block_rows, self._n_rows)
            # columns side by side, then all that is present, row after row
            shape = (stop - start, len(self._columns))
            cells = _Cells(
                np.empty(shape, np.uint64), np.empty(shape), np.empty(shape, bool)
            )
            for i, (column, series) in enumerate(self._columns.items()):
                read = self._text_cells if column in self._text else self._number_cells
                part = read(column, part_of(series, start, stop), start)
                for whole, piece in zip(cells, part, strict=True):
                    whole[:, i] = piece
            indptr = np.zeros(stop - start + 1, np.int64)
            np.cumsum(cells.present.sum(axis=1), out=indptr[1:])
            yield RowBlock(
                indptr,
                cells.ids[cells.present],
                cells.values[cells.present],
                self._y[start:stop].copy(),
                self._weight[start:stop].copy(),
                first_row=start,
                position=stop,
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that make features."""
        return tuple(self._columns)

    @property
    def all_labels(self) -> Floats:
        """Labels of all rows, as in blocks: what they are is not judged by the first."""
        return self._y

    def names(self, ids: Ids) -> list[str]:
        """Names of features; of ``column=value`` only those seen so far."""
        for number in ids.tolist():
            if number not in self._seen:
                raise DataError(
                    f"{self.name}: expected ids of features seen so far, got {number}"
                )
        return [self._seen.get(number) for number in ids.tolist()]

    def ids(self, names: Sequence[str]) -> Ids:
        """Ids of features; of ``column=value`` also those not seen yet."""
        for name in names:
            self._features.check(name, self._seen)
        return np.array(self._remember(list(names)), np.uint64)

    def leaving_out(self, names: Iterable[str]) -> FrameSource:
        """Give the same source without the columns of text among these names."""
        other = copy.copy(self)
        out = [name for name in names if name in self._text]
        other._columns = {c: s for c, s in self._columns.items() if c not in out}
        other._text = self._text.difference(out)
        other._features = FeatureColumns(
            self.name,
            self._features.numbers,
            other._text,
            self.missing,
            left_out=(*self._features.left_out, *out),
        )
        return other

    def _take_out(self, parameter: str, given: Any) -> tuple[Any, str]:
        """Give labels or weights and their name; their column is no feature then."""
        if not isinstance(given, (str, int)):
            return given, f"{self.name}: {parameter}"
        column = str(given)
        check_column(self.name, parameter, column, list(self._columns))
        series = self._columns.pop(column)
        values = floats_of(series) if holds_numbers(series) else series
        return values, f"{self.name}: column {column!r}"

    def _check_columns(self) -> None:
        for column, series in self._columns.items():
            if not holds_text(series) and not holds_numbers(series):
                raise DataError(
                    f"{self.name}: column {column!r}: expected numbers or text, "
                    f"got {series.dtype}; convert it or leave it out"
                )

    def _remember(self, names: list[str]) -> list[int]:
        """Hash names, and make sure that no two have the same hash."""
        ids: list[int] = self._features.hashed(names).tolist()
        self._seen.add(ids, names)
        return ids

    def _number_cells(self, column: str, series: Series, start: int) -> _Cells:
        values = floats_of(series)
        missing = np.isnan(values)
        self._check_missing(column, missing, start)
        infinite = np.isinf(values)
        if infinite.any():
            row = int(np.argmax(infinite))
            raise DataError(
                f"{self.name}: row {start + row}, column {column!r}: "
                f"expected a finite number, got {values[row]}"
            )
        ids = np.full(len(values), self._id_of_number[column], np.uint64)
        return self._with_missing(column, _Cells(ids, values, values != 0), missing)

    def _text_cells(self, column: str, series: Series, start: int) -> _Cells:
        texts, missing = texts_of(series)
        self._check_missing(column, missing, start)
        known = self._id_of_value[column]
        present = [
            t for t, gone in zip(texts, missing.tolist(), strict=True) if not gone
        ]
        new = [text for text in dict.fromkeys(present) if text not in known]
        ids_of_new = self._remember([f"{column}={text}" for text in new])
        known.update(zip(new, ids_of_new, strict=True))
        ids = np.zeros(len(texts), np.uint64)
        ids[~missing] = np.fromiter(
            map(known.__getitem__, present), np.uint64, len(present)
        )
        return self._with_missing(
            column, _Cells(ids, np.ones(len(texts)), ~missing), missing
        )

    def _with_missing(
        self, column: str, cells: _Cells, missing: NDArray[np.bool_]
    ) -> _Cells:
        """Leave missing values out, or make a category of them."""
        if missing.any() and self.missing == "category":
            cells.ids[missing] = self._remember([f"{column}={MISSING}"])[0]
            # not in place: the values may still be those of the table
            values = np.where(missing, 1.0, cells.values)
            return cells._replace(values=values, present=cells.present | missing)
        return cells._replace(present=cells.present & ~missing)

    def _check_missing(
        self, column: str, missing: NDArray[np.bool_], start: int
    ) -> None:
        if self.missing == "error" and missing.any():
            row = start + int(np.argmax(missing))
            raise DataError(
                f"{self.name}: row {row}, column {column!r}: expected a value, got "
                "none; missing='zero' leaves it out, missing='category' counts it"
            )
