"""Mean and spread of every column of a table, without copying it.

Spreads are taken about the means, in a second pass: a mean of squares minus a squared mean
has no digits left where a column is far from zero for its spread, as times in seconds are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shortlist._protocols import DataError, Floats, Ints
from shortlist.kernels._jit import kernel
from shortlist.objectives.columns import transposed_product

# Values worked on at a time: 1 MB of float64 stays within a core's cache.
_BLOCK = 1 << 17

# A spread this small beside the mean is what rounding leaves of a constant.
_CONSTANT = 64 * np.finfo(np.float64).eps

#: A column this many spreads away from zero is centred before it is multiplied.
FAR = 1e5


def mean_and_spread(X: Any, share: Floats, *, center: bool) -> tuple[Floats, Floats]:
    """Weighted mean and standard deviation of each column; 0 for constant columns.

    Parameters
    ----------
    X : ndarray, or sparse matrix in CSR or CSC form, of shape (n_samples, n_features)
        Each entry of a sparse one once.
    share : ndarray of shape (n_samples,)
        Weights of the rows, which sum to 1.
    center : bool
        Without it means are taken to be 0, and spreads are about 0.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.zeros(X.shape[1])
        if center:
            mean = transposed_product(X, share[:, np.newaxis])[:, 0]
        moments = _sparse_moments if hasattr(X, "tocsr") else _dense_moments
        first, second = moments(X, share, mean)
        if center:  # the first moment is what rounding has left
            mean, second = mean + first, second - first**2
        spread = np.sqrt(np.maximum(second, 0.0))
    if not np.isfinite(spread).all():
        j = int(np.argmin(np.isfinite(spread)))
        raise DataError(
            f"X should hold numbers below 1e150, column {j} has larger ones"
        )
    spread[spread <= _CONSTANT * np.abs(mean)] = 0.0
    return mean, spread


def far_columns(mean: Floats, spread: Floats) -> Ints:
    """Columns whose products lose digits unless they are centred first."""
    return np.flatnonzero((spread > 0.0) & (np.abs(mean) > FAR * spread))


def centred_product(X: Any, columns: Ints, mean: Floats, V: Floats) -> Floats:
    """(X - mean)' V for some columns, a few of them at a time."""
    out = np.empty((len(columns), V.shape[1]))
    step = max(1, _BLOCK // X.shape[0])
    for first in range(0, len(columns), step):
        some = columns[first : first + step]
        part = X[:, some]
        part = part.toarray() if hasattr(part, "toarray") else part
        out[first : first + step] = (np.asarray(part, np.float64) - mean[some]).T @ V
    return out


def _dense_moments(X: Any, share: Floats, shift: Floats) -> tuple[Floats, Floats]:
    """Weighted mean of x - shift and of its square, for each column."""
    n_samples, n_features = X.shape
    first, second = np.zeros(n_features), np.zeros(n_features)
    # Blocks run along memory, so that each is read once and in order.
    by_rows = abs(X.strides[0]) >= abs(X.strides[1])
    step = max(1, _BLOCK // (n_features if by_rows else n_samples))
    for start in range(0, n_samples if by_rows else n_features, step):
        part = slice(start, start + step)
        columns = slice(None) if by_rows else part
        block = X[part] if by_rows else X[:, part]
        weight = share[part] if by_rows else share
        apart = np.subtract(block, shift[columns], dtype=np.float64)
        first[columns] += weight @ apart
        np.multiply(apart, apart, out=apart)
        second[columns] += weight @ apart
    return first, second


def _sparse_moments(X: Any, share: Floats, shift: Floats) -> tuple[Floats, Floats]:
    """The same; what a column does not store is zero."""
    n_features = X.shape[1]
    sums, absent = np.zeros((2, n_features)), np.ones(n_features)
    counts = np.zeros(n_features, np.int64)
    arrays = X.indptr, X.indices, X.data, share, shift
    if X.format == "csr":
        _row_moments(*arrays, sums, absent, counts)
    else:
        _column_moments(*arrays, sums, absent, counts)
    # one minus shares that sum to one is rounding, and shifts may be large
    absent[counts == np.count_nonzero(share)] = 0.0
    np.maximum(absent, 0.0, out=absent)
    return sums[0] - absent * shift, sums[1] + absent * shift**2


@kernel
def _row_moments(indptr, indices, data, share, shift, sums, absent, counts):  # type: ignore[no-untyped-def]
    for i in range(len(indptr) - 1):
        if share[i] == 0.0:
            continue
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            apart = data[t] - shift[j]
            sums[0, j] += share[i] * apart
            sums[1, j] += share[i] * apart * apart
            absent[j] -= share[i]
            counts[j] += 1


@kernel
def _column_moments(indptr, indices, data, share, shift, sums, absent, counts):  # type: ignore[no-untyped-def]
    for j in range(len(indptr) - 1):
        for t in range(indptr[j], indptr[j + 1]):
            weight = share[indices[t]]
            if weight == 0.0:
                continue
            apart = data[t] - shift[j]
            sums[0, j] += weight * apart
            sums[1, j] += weight * apart * apart
            absent[j] -= weight
            counts[j] += 1
