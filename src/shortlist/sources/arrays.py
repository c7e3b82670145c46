"""Arrays, dense or sparse, as a source of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from shortlist._protocols import DataError, Floats, Ids, Ints, RowBlock, ShortlistError
from shortlist.sources._labels import (
    NUMBER_KINDS,
    check_choice,
    check_weights,
    encode_labels,
)
from shortlist.sources._names import ColumnNames

_MAX_CELLS = 1 << 22  # of a dense block, however wide the array


class ArraySource:
    """Rows of a dense or sparse array.

    Zeros, explicit ones too, are left out of the rows. A feature's id is the number of
    its column. Rows are counted from 0 in messages.

    Parameters
    ----------
    X : array-like or sparse array of shape (n_rows, n_features)
        Any real dtype, memory-mapped or not; any format of ``scipy.sparse``. What is
        not CSR is converted to it once.
    y : array-like of shape (n_rows,), default=None
        Labels. Numbers are kept, others become codes into ``label_names``.
    sample_weight : array-like of shape (n_rows,), default=None
        Importance of each row; None means 1 for all.
    feature_names : sequence of str, default=None
        Names of the columns; None means "x0", "x1" and so on.
    block_rows : int, default=4096
        Rows in a block; wide dense arrays come in fewer.
    missing : {"error", "zero"}, default="error"
        Whether NaN is an error or counts as zero. Infinite values are errors.
    name : str, default="array"
        What messages call the array.
    may_lack_labels : bool, default=False
        Whether rows may lack a label (None, NaN): learners then leave them out and count.

    Examples
    --------
    >>> import numpy as np
    >>> source = ArraySource(np.array([[0.0, 2.0], [3.0, 0.0]]), [1, -1])
    >>> block = next(source.blocks())
    >>> block.ids, source.names(block.ids)
    (array([1, 0], dtype=uint64), ['x1', 'x0'])
    """

    unit = "rows"
    reiterable = True
    features_are = "columns of arrays"

    def __init__(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        feature_names: Sequence[str] | None = None,
        block_rows: int = 4096,
        missing: str = "error",
        name: str = "array",
        may_lack_labels: bool = False,
    ):
        check_choice("missing", missing, ("error", "zero"))
        if block_rows < 1:
            raise ShortlistError(f"block_rows: expected 1 or more, got {block_rows}")
        self.name = name
        self.missing = missing
        self._sparse = hasattr(X, "tocsr")
        self._X = check_matrix(X.tocsr() if self._sparse else np.asarray(X), name)
        self._n_rows, n_features = map(int, self._X.shape)
        self.size: int | None = self._n_rows
        self.n_features: int | None = n_features
        self.block_rows = block_rows
        if not self._sparse:
            widest = max(1, _MAX_CELLS // max(1, n_features))
            self.block_rows = min(block_rows, widest)
        self.label_names: Sequence[str] | None
        self.may_lack_labels = may_lack_labels
        self._y, self.label_names = encode_labels(
            y, self._n_rows, f"{name}: y", may_lack=may_lack_labels
        )
        self._weight = check_weights(
            sample_weight, self._n_rows, f"{name}: sample_weight"
        )
        self._columns = ColumnNames(feature_names, n_features, name)

    @property
    def matrix(self) -> Any:
        """The array itself, or CSR matrix; nothing has been checked about its values."""
        return self._X

    @property
    def all_labels(self) -> Floats:
        """Labels of all rows, as in blocks: what they are is not judged by the first."""
        return self._y

    @property
    def weights(self) -> Floats:
        """Importance of all rows."""
        return self._weight

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the rows in order, ``block_rows`` at a time."""
        read = self._sparse_part if self._sparse else self._dense_part
        for start in range(0, self._n_rows, self.block_rows):
            stop = min(start + self.block_rows, self._n_rows)
            rows, ids, values = read(start, stop)
            finite = np.isfinite(values)
            if not finite.all():
                self._check_values(start, rows, ids, values)
                rows, ids, values = rows[finite], ids[finite], values[finite]
            indptr = np.zeros(stop - start + 1, np.int64)
            np.cumsum(np.bincount(rows, minlength=stop - start), out=indptr[1:])
            yield RowBlock(
                indptr,
                ids,
                values,
                self._y[start:stop].copy(),
                self._weight[start:stop].copy(),
                first_row=start,
                position=stop,
            )

    def names(self, ids: Ids) -> list[str]:
        """Names of the columns with these numbers."""
        return [self._columns.name(column) for column in ids.tolist()]

    def ids(self, names: Sequence[str]) -> Ids:
        """Numbers of the columns with these names."""
        return np.array([self._columns.column(name) for name in names], np.uint64)

    def _dense_part(self, start: int, stop: int) -> tuple[Ints, Ids, Floats]:
        part = np.asarray(self._X[start:stop], np.float64, order="C")
        rows, columns = np.nonzero(part)
        return rows, columns.astype(np.uint64), part[rows, columns]

    def _sparse_part(self, start: int, stop: int) -> tuple[Ints, Ids, Floats]:
        indptr = self._X.indptr[start : stop + 1].astype(np.int64)
        part = slice(int(indptr[0]), int(indptr[-1]))
        rows = np.repeat(np.arange(stop - start), np.diff(indptr))
        values = self._X.data[part].astype(np.float64)
        stored = values != 0
        ids = self._X.indices[part].astype(np.uint64)
        return rows[stored], ids[stored], values[stored]

    def _check_values(self, start: int, rows: Ints, ids: Ids, values: Floats) -> None:
        bad = np.isinf(values) if self.missing == "zero" else ~np.isfinite(values)
        if not bad.any():
            return
        i = int(np.argmax(bad))
        hint = "; missing='zero' counts it as 0" if np.isnan(values[i]) else ""
        row, column = start + int(rows[i]), self._columns.name(int(ids[i]))
        raise DataError(
            f"{self.name}: row {row}, column {column!r}: "
            f"expected a finite number, got {values[i]}{hint}"
        )


def check_matrix(X: Any, name: str) -> Any:
    """Return an array with rows and columns of numbers; others raise."""
    if X.ndim != 2:
        raise DataError(f"{name}: expected rows and columns, got shape {X.shape}")
    if X.dtype.kind == "O":
        try:
            X = X.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"{name}: expected numbers, got: {error}") from None
    if X.dtype.kind not in NUMBER_KINDS:
        raise DataError(f"{name}: expected real numbers, got {X.dtype}")
    return X
