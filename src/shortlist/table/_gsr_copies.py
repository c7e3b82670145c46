"""Columns that are others again, up to their sign, once they are centred and scaled.

A penalty of rows makes copies of a column share its weight: all survive, and use up a
budget though one of them says it all. Indicators of two values, "sex=m" and "sex=f", are
copies of each other with opposite signs. One stands for all while features are chosen.

Columns are compared by their products with a few random vectors, which takes one pass over
the table: those of different columns differ, by more than rounding, for sure.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import Floats, Ints
from shortlist.objectives.columns import transposed_product

#: Random vectors: if one of them makes columns look alike by chance, the others do not.
_VECTORS = 3
#: Columns of spread 1 that differ by less are the same, ...
_SAME = 1e-10
#: ... or by so many times what rounding makes of those that are far from zero.
_ROUNDINGS = 16.0


def copies(
    X: Any,
    columns: Ints,
    kept: NDArray[np.bool_],
    present: NDArray[np.bool_],
    moments: tuple[Floats, Floats, Floats],
    *,
    centred: bool,
) -> NDArray[np.bool_]:
    """Tell which of some columns repeat another of them, which stands for them.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
    columns : ndarray of shape (n_columns,)
        Increasing numbers of those to compare.
    kept : ndarray of shape (n_columns,)
        Columns that are no copies in any case; they stand for others if they can, else the
        first does.
    present : ndarray of shape (n_samples,)
        Rows that count.
    moments : tuple of three ndarrays of shape (n_features,)
        Mean and spread of each column, and what it is divided by.
    centred : bool
        Whether columns are centred.
    """
    again = np.zeros(len(columns), bool)
    if len(columns) < 2:
        return again
    mean, spread, scale = (of_all[columns] for of_all in moments)
    n = int(np.count_nonzero(present))
    G = np.random.default_rng(0).normal(size=(len(present), _VECTORS))
    if centred:  # what is added to a column does not count
        G -= G[present].mean(axis=0)
    G[~present] = 0.0
    seen = transposed_product(X, G)[columns] / scale[:, np.newaxis]
    seen *= np.where(seen[:, :1] < 0.0, -1.0, 1.0)
    noise = _ROUNDINGS * float(np.finfo(np.float64).eps) * np.sqrt(n) * np.abs(mean)
    near = np.sqrt(n) * (_SAME * spread + noise) / scale
    order = np.argsort(seen[:, 0], kind="stable")
    near = np.maximum(near[order][1:], near[order][:-1])
    differs = np.abs(np.diff(seen[order], axis=0)) > near[:, np.newaxis]
    group = np.empty(len(columns), np.int64)
    group[order] = np.concatenate([[0], np.cumsum(differs.any(axis=1))])
    order = np.lexsort((columns, ~kept, group))  # who stands for a group comes first
    again[order[1:]] = np.diff(group[order]) == 0
    return again & ~kept
