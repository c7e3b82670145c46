"""Mutual information of sparse columns, without making them dense.

Zeros of a column share a bin, mostly the largest by far. Only values in other bins are kept
and counted, so that a column costs what it stores.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import Floats, Ints
from shortlist.kernels.contingency import sparse_information_into
from shortlist.table._bins import bins_of, cut


class SparseCodes(NamedTuple):
    """Codes of columns, but for the rows that have the code of a column's zeros."""

    first: Ints  #: (n_columns + 1,) where columns begin in what follows
    row: NDArray[np.int32]
    code: NDArray[np.int32]
    usual: NDArray[np.int32]  #: (n_columns,) code of all other rows
    levels: Ints  #: (n_columns,) how many codes there are


class SparselyBinned:
    """``Binned`` for a sparse table."""

    def __init__(
        self, X: Any, weight: Floats, bins: int, categorical: NDArray[np.bool_]
    ) -> None:
        self._weight, self._bins = weight, bins
        X = X.tocsc()
        if not X.has_canonical_format:  # entries that repeat add up
            X = X.copy()
            X.sum_duplicates()
        self._codes = _coded(X, weight, bins, categorical)

    def of_labels(self, y: Floats, *, classes: bool) -> Floats:
        """Mutual information; labels that are numbers are cut into bins, too."""
        return self._with(cut(y, self._weight, len(y) if classes else self._bins))

    def of_column(self, column: int) -> Floats:
        """Mutual information."""
        codes = self._codes
        inside = slice(codes.first[column], codes.first[column + 1])
        dense = np.full(len(self._weight), int(codes.usual[column]))
        dense[codes.row[inside]] = codes.code[inside]
        return self._with(dense)

    def _with(self, other: NDArray[np.int64]) -> Floats:
        out = np.empty(len(self._codes.levels))
        n_levels = int(other.max()) + 1
        sparse_information_into(self._codes, other, n_levels, self._weight, out)
        return np.maximum(out, 0.0)  # rounding may leave a little less


def _coded(
    X: Any, weight: Floats, bins: int, categorical: NDArray[np.bool_]
) -> SparseCodes:
    n_rows, n_columns = X.shape
    total, rows, codes = weight.sum(), [], []
    usual, levels = np.zeros(n_columns, np.int32), np.ones(n_columns, np.int64)
    for j in range(n_columns):
        inside = slice(int(X.indptr[j]), int(X.indptr[j + 1]))
        row, values = X.indices[inside], X.data[inside]
        row, values = row[values != 0.0], values[values != 0.0]
        zeros = len(row) < n_rows
        own = weight[row]
        if zeros:  # all of them as one more value, with their weight
            values, own = np.append(values, 0.0), np.append(own, total - own.sum())
        _, place = np.unique(values, return_inverse=True)
        most = n_rows if categorical[j] else bins
        code = bins_of(np.bincount(place, own).astype(np.float64), most)[place]
        levels[j] = code.max() + 1
        if zeros:
            usual[j], code = code[-1], code[:-1]
        kept = code != usual[j]
        rows.append(row[kept].astype(np.int32))
        codes.append(code[kept].astype(np.int32))
    first = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
    none = [np.empty(0, np.int32)]
    return SparseCodes(
        first,
        np.concatenate(rows or none),
        np.concatenate(codes or none),
        usual,
        levels,
    )
