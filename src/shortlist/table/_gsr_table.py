"""A table with centred and scaled columns, as GSR's weighted least squares sees it.

Dense tables are held as a scaled copy, columns first, in the precision of X. Sparse ones
keep their zeros: what is subtracted from each column is held apart and worked into the
products. These would cancel where a column is far from zero for its spread; such a column
has hardly a zero, so columns with few are centred as they are held. Sparse tables are held
in double precision: products of them take no longer in it.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import DataError, Floats, Ints

#: Sparse tables with a larger share of nonzeros are dense ones for our purposes.
_DENSE_FROM = 0.1
#: So are columns of them. What is subtracted from the others is below their spread.
_FULL_FROM = 0.5


class ScaledTable(Protocol):
    """A, of shape (n_samples, n_columns); ``center`` below is subtracted from its rows."""

    shape: tuple[int, int]
    dtype: Any

    def take(self, columns: Ints) -> ScaledTable:
        """Some of the columns, by their increasing numbers."""
        ...

    def of_rows(self, rows: Ints, center: Floats) -> ScaledTable:
        """Some of the rows of A - center, by their increasing numbers."""
        ...

    def in_double(self) -> ScaledTable:
        """The same in double precision."""
        ...

    def times(self, W: Floats) -> Floats:
        """A W."""
        ...

    def transposed_times(self, G: Floats) -> Floats:
        """A' G."""
        ...

    def gram(self, weight: Floats, center: Floats | None) -> Floats:
        """(A - center)' diag(weight) (A - center)."""
        ...

    def kernel(self, spread: Floats, center: Floats | None) -> Floats:
        """(A - center) diag(spread) (A - center)'."""
        ...


def scaled_table(
    X: Any, columns: Ints, rows: Ints, mean: Floats, scale: Floats
) -> ScaledTable:
    """Gather (X - mean) / scale for some columns and rows.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
    columns, rows : ndarray
        Increasing numbers.
    mean, scale : ndarray of shape (n_columns,)
    """
    dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    if hasattr(X, "tocsr"):
        thin = X.tocsr()[rows].tocsc()[:, columns].astype(np.float64)
        if thin.nnz <= _DENSE_FROM * max(1, thin.shape[0] * thin.shape[1]):
            thin.sum_duplicates()
            full = (np.diff(thin.indptr) >= _FULL_FROM * len(rows)) & (mean != 0.0)
            if full.any():
                thin = _centred(thin, full, mean)
            thin.data /= np.repeat(scale, np.diff(thin.indptr))
            return _checked(SparseTable(thin, np.where(full, 0.0, mean / scale)))
        A = thin.toarray(order="F")
    else:
        A = np.asfortranarray(X[np.ix_(rows, columns)], dtype=np.float64)
    A -= mean
    A /= scale
    return _checked(DenseTable(A.astype(dtype, order="F", copy=False)))


def _centred(S: Any, full: NDArray[np.bool_], mean: Floats) -> Any:
    """S with the mean taken off some columns, all of whose entries are then stored."""
    n, n_full = S.shape[0], int(full.sum())
    counts = np.diff(S.indptr)
    stays = ~np.repeat(full, counts)
    counts = np.where(full, n, counts)
    goes = np.repeat(full, counts)
    data, indices = np.empty(len(goes)), np.empty(len(goes), S.indices.dtype)
    data[~goes], indices[~goes] = S.data[stays], S.indices[stays]
    data[goes] = (S[:, np.flatnonzero(full)].toarray() - mean[full]).ravel(order="F")
    indices[goes] = np.tile(np.arange(n), n_full)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return type(S)((data, indices, indptr), shape=S.shape)


def _checked(table: DenseTable | SparseTable) -> ScaledTable:
    if not table.is_finite():
        raise DataError("X should be finite, it holds a NaN or an infinity")
    return table


class DenseTable:
    """A as an array."""

    def __init__(self, A: Floats) -> None:
        self._A = A
        self.shape: tuple[int, int] = (A.shape[0], A.shape[1])
        self.dtype = A.dtype

    def is_finite(self) -> bool:
        """Whether all entries are."""
        return bool(np.isfinite(self._A).all())

    def take(self, columns: Ints) -> DenseTable:
        """Some of the columns."""
        return DenseTable(self._A[:, columns])

    def of_rows(self, rows: Ints, center: Floats) -> DenseTable:
        """Some of the rows of A - center."""
        part = np.asfortranarray(self._A[rows])
        part -= center
        return DenseTable(part)

    def in_double(self) -> DenseTable:
        """The same in double precision."""
        return DenseTable(self._A.astype(np.float64))

    def times(self, W: Floats) -> Floats:
        """A W."""
        product: Floats = self._A @ W
        return product

    def transposed_times(self, G: Floats) -> Floats:
        """A' G."""
        product: Floats = self._A.T @ G
        return product

    def gram(self, weight: Floats, center: Floats | None) -> Floats:
        """(A - center)' diag(weight) (A - center); numpy computes one half of B'B."""
        root = np.sqrt(weight).astype(self.dtype)[:, np.newaxis]
        B = root * (self._A if center is None else self._A - center)
        product: Floats = B.T @ B
        return product

    def kernel(self, spread: Floats, center: Floats | None) -> Floats:
        """(A - center) diag(spread) (A - center)'."""
        root = np.sqrt(spread).astype(self.dtype)
        B = (self._A if center is None else self._A - center) * root
        product: Floats = B @ B.T
        return product


class SparseTable:
    """A = S - 1 mean', with S compressed by columns, in double precision."""

    def __init__(self, S: Any, mean: Floats) -> None:
        self._S, self._mean = S, mean
        self.shape: tuple[int, int] = S.shape
        self.dtype = S.dtype

    def is_finite(self) -> bool:
        """Whether all entries are."""
        return bool(np.isfinite(self._S.data).all())

    def take(self, columns: Ints) -> SparseTable:
        """Some of the columns."""
        return SparseTable(self._S[:, columns], self._mean[columns])

    def of_rows(self, rows: Ints, center: Floats) -> SparseTable:
        """Some of the rows of A - center."""
        return SparseTable(self._S.tocsr()[rows].tocsc(), self._mean + center)

    def in_double(self) -> SparseTable:
        """The same, as it is."""
        return self

    def times(self, W: Floats) -> Floats:
        """A W."""
        return np.asarray(self._S @ W - self._mean @ W)

    def transposed_times(self, G: Floats) -> Floats:
        """A' G."""
        return np.asarray(self._S.T @ G - np.outer(self._mean, G.sum(axis=0)))

    def gram(self, weight: Floats, center: Floats | None) -> Floats:
        """(A - center)' diag(weight) (A - center), by its four terms."""
        off = self._mean if center is None else self._mean + center
        sums = np.asarray(self._S.T @ weight)
        weighted = self._S.multiply(weight[:, np.newaxis]).tocsc()
        out = np.asarray((self._S.T @ weighted).toarray())
        out -= np.outer(sums, off)
        out += np.outer(off, weight.sum() * off - sums)
        return out

    def kernel(self, spread: Floats, center: Floats | None) -> Floats:
        """(A - center) diag(spread) (A - center)', by its four terms."""
        off = self._mean if center is None else self._mean + center
        sums = np.asarray(self._S @ (spread * off))
        weighted = self._S.multiply(spread).tocsc()
        out = np.asarray((weighted @ self._S.T).toarray())
        out -= sums[:, np.newaxis]
        out -= sums
        out += off @ (spread * off)
        return out
