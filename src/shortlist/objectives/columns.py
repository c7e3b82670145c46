"""Columns of a table, gathered for a fit: few of them, as float64, whatever X is.

The table itself is never copied whole. A fit on a support sees ``Columns``: the chosen
features as a small dense array, or as compressed sparse rows if X is sparse. Dense
columns are centred, because the copy is ours to change and an intercept is easier to
find when it does not correlate with the features. So are sparse columns that no row lacks:
only these can lie far from zero for their spread. Others stay as they are, and their
``center`` is zero.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import DataError, Floats, Ints
from shortlist.kernels._jit import kernel

# Values converted or scaled at a time: 1 MB of float64 stays within a core's cache.
_BLOCK = 1 << 17

# A centred column this small beside its mean is rounding error of a constant.
_CONSTANT = 64 * np.finfo(np.float64).eps


class Columns(Protocol):
    """The features of a support; A below is X[:, features] - center."""

    center: Floats  #: shape (n_columns,), what was subtracted from each column

    def times(self, W: Floats) -> Floats:
        """A W, of shape (n_samples, C)."""
        ...

    def transposed_times(self, G: Floats) -> Floats:
        """A' G, of shape (n_columns, C)."""
        ...

    def gram(self, h: Floats, left: Ints, right: Ints) -> Floats:
        """A[:, left]' diag(h) A[:, right]."""
        ...

    def squares(self, H: Floats) -> Floats:
        """Sum of H[i, c] A[i, j]^2 over i, of shape (n_columns, C)."""
        ...

    def rows(self, start: int, stop: int) -> Floats:
        """Rows of A as a dense array of their own."""
        ...


def gather(X: Any, features: Ints, weight: Floats, *, center: bool) -> Columns:
    """Gather features of a table.

    Parameters
    ----------
    X : ndarray, or sparse matrix or array in CSR or CSC form, (n_samples, n_features)
    features : ndarray of shape (n_columns,)
        Increasing column numbers.
    weight : ndarray of shape (n_samples,)
        Rows of weight 0 come out as zeros: what they hold must not matter.
    center : bool
        Subtract the weighted mean from each column; of a sparse X from those that every
        row has.
    """
    kind = SparseColumns if hasattr(X, "tocsr") else DenseColumns
    return kind(X, features, weight, center=center)


def product(X: Any, W: Floats) -> Floats:
    """X W for a whole table, in float64, converting no more than a block at a time."""
    if hasattr(X, "tocsr") or X.dtype == np.float64:
        return np.ascontiguousarray(X @ W)
    step = max(1, _BLOCK // max(1, X.shape[1]))
    out = np.empty((X.shape[0], W.shape[1]))
    for first in range(0, len(X), step):
        part = slice(first, first + step)
        out[part] = X[part].astype(np.float64) @ W
    return out


def transposed_product(X: Any, G: Floats) -> Floats:
    """X' G for a whole table, in float64, converting no more than a block at a time."""
    sparse = hasattr(X, "tocsr")
    direct = sparse or X.flags.c_contiguous or X.flags.f_contiguous
    if X.dtype == np.float64 and direct:
        if G.shape[1] == 1:  # one vector: scipy has a faster loop for it
            return np.asarray(X.T @ G[:, 0])[:, np.newaxis]
        return np.asarray(X.T @ G)
    out = np.zeros((X.shape[1], G.shape[1]))
    by_rows = X.format == "csr" if sparse else abs(X.strides[0]) >= abs(X.strides[1])
    major, minor = X.shape if by_rows else X.shape[::-1]
    width = max(1, X.nnz // max(1, major)) if sparse else minor
    step = max(1, _BLOCK // max(1, width))
    for first in range(0, major, step):
        part = slice(first, first + step)
        if by_rows:
            out += X[part].astype(np.float64).T @ G[part]
        else:
            out[part] = X[:, part].astype(np.float64).T @ G
    return out


class DenseColumns:
    """Columns held as a C-contiguous array."""

    def __init__(self, X: Any, features: Ints, weight: Floats, *, center: bool) -> None:
        ignored = np.flatnonzero(weight == 0.0)
        A = np.ascontiguousarray(X[:, features], dtype=np.float64)
        A[ignored] = 0.0
        # one sum is much cheaper than a mask, and finite numbers rarely overflow it
        with np.errstate(over="ignore", invalid="ignore"):
            suspicious = not np.isfinite(A.sum())
        if suspicious and not (finite := np.isfinite(A).all(axis=0)).all():
            raise DataError(_missing(features[~finite][0]))
        self.center = np.zeros(len(features))
        if center:
            for _ in range(2):  # the second mean is what rounding left of the first
                mean = weight @ A / weight.sum()
                A -= mean
                A[ignored] = 0.0
                self.center += mean
            largest = np.abs(A).max(axis=0, initial=0.0)
            A[:, largest <= _CONSTANT * np.abs(self.center)] = 0.0
        self._A = A

    def times(self, W: Floats) -> Floats:
        """A W."""
        return np.ascontiguousarray(self._A @ W)

    def transposed_times(self, G: Floats) -> Floats:
        """A' G."""
        product: Floats = self._A.T @ G
        return product

    def gram(self, h: Floats, left: Ints, right: Ints) -> Floats:
        """A[:, left]' diag(h) A[:, right]."""
        out = np.zeros((len(left), len(right)))
        sign = 1.0 if h.min(initial=0.0) >= 0.0 else -1.0
        if np.array_equal(left, right) and (sign * h).min(initial=0.0) >= 0.0:
            # symmetric: numpy computes one half of B'B only
            root = np.sqrt(sign * h)
            for part in self._parts():
                B = root[part, np.newaxis] * _take(self._A[part], left)
                out += B.T @ B
            return sign * out
        for part in self._parts():
            A = self._A[part]
            out += _take(A, left).T @ (h[part, np.newaxis] * _take(A, right))
        return out

    def squares(self, H: Floats) -> Floats:
        """Sum of H[i, c] A[i, j]^2 over i."""
        out = np.zeros((self._A.shape[1], H.shape[1]))
        for part in self._parts():
            out += np.square(self._A[part]).T @ H[part]
        return out

    def rows(self, start: int, stop: int) -> Floats:
        """Rows of A, copied."""
        return self._A[start:stop].copy()

    def _parts(self) -> list[slice]:
        n, m = self._A.shape
        step = max(64, _BLOCK // max(1, m))
        return [slice(first, first + step) for first in range(0, n, step)]


class SparseColumns:
    """Columns held as compressed sparse rows; only full ones are centred."""

    def __init__(self, X: Any, features: Ints, weight: Floats, *, center: bool) -> None:
        A = X[:, features].tocsr().astype(np.float64)
        A.sum_duplicates()  # squares() needs each entry once
        A.data[np.repeat(weight == 0.0, np.diff(A.indptr))] = 0.0
        if not np.isfinite(A.data).all():
            raise DataError(_missing(features[A.indices[~np.isfinite(A.data)][0]]))
        self._A = A
        self.center = np.zeros(len(features))
        full = np.bincount(A.indices, minlength=len(features)) == A.shape[0]
        if center and full.any():
            self._center(full, weight)

    def _center(self, full: NDArray[np.bool_], weight: Floats) -> None:
        """Subtract the means of columns that every row has."""
        A, m = self._A, len(full)
        places = np.flatnonzero(full[A.indices])
        column = A.indices[places]
        row_weight = np.repeat(weight, np.diff(A.indptr))[places]
        values = A.data[places]
        for _ in range(2):  # the second mean is what rounding left of the first
            mean = np.bincount(column, row_weight * values, m) / weight.sum()
            values -= mean[column]
            values[row_weight == 0.0] = 0.0
            self.center += mean
        largest = np.zeros(m)
        np.maximum.at(largest, column, np.abs(values))
        values[(largest <= _CONSTANT * np.abs(self.center))[column]] = 0.0
        A.data[places] = values

    def times(self, W: Floats) -> Floats:
        """A W."""
        return np.ascontiguousarray(self._A @ W)

    def transposed_times(self, G: Floats) -> Floats:
        """A' G."""
        return np.asarray(self._A.T @ G)

    def gram(self, h: Floats, left: Ints, right: Ints) -> Floats:
        """A[:, left]' diag(h) A[:, right]."""
        A, m = self._A, self._A.shape[1]
        row_of, column_of = np.full(m, -1), np.full(m, -1)
        row_of[left], column_of[right] = np.arange(len(left)), np.arange(len(right))
        out = np.zeros((len(left), len(right)))
        _sparse_gram(A.indptr, A.indices, A.data, h, row_of, column_of, out)
        return out

    def squares(self, H: Floats) -> Floats:
        """Sum of H[i, c] A[i, j]^2 over i."""
        squared = self._A.copy()
        squared.data **= 2
        return np.asarray(squared.T @ H)

    def rows(self, start: int, stop: int) -> Floats:
        """Rows of A, as a dense array."""
        return np.asarray(self._A[start:stop].toarray())


def _take(A: Floats, columns: Ints) -> Floats:
    """A[:, columns] for increasing columns, as a view where these are all of them."""
    return A if len(columns) == A.shape[1] else A[:, columns]


def _missing(feature: int) -> str:
    return f"X should be finite, column {feature} holds a NaN or an infinity"


@kernel
def _sparse_gram(indptr, indices, data, h, row_of, column_of, out):  # type: ignore[no-untyped-def]
    """Add h[i] times the outer product of each sparse row with itself to out."""
    for i in range(len(indptr) - 1):
        if h[i] == 0.0:
            continue
        for a in range(indptr[i], indptr[i + 1]):
            row = row_of[indices[a]]
            if row < 0:
                continue
            scaled = h[i] * data[a]
            for b in range(indptr[i], indptr[i + 1]):
                column = column_of[indices[b]]
                if column >= 0:
                    out[row, column] += scaled * data[b]
