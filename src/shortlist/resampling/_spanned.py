"""Columns that all chosen ones but one add up to: in place of that one they tell nothing.

Under a ridge they would lower the objective all the same, as weights that share the work
are penalised less.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import Floats

#: Share of a column's variance that others leave unexplained, below which it is rounding.
_ROUNDING = 1e-10


class SpannedByOthers:
    """Compares columns with some chosen ones, of which each in turn is left out.

    What is left of a column by all of them is r, and b_j are the weights that explain the
    rest. Without column j, r + b_j^2 / P_jj is left, P being the inverse of their
    covariances: one product with a column serves all k comparisons.

    Parameters
    ----------
    chosen : ndarray of shape (k, n_rows)
        Centred.
    share : ndarray of shape (n_rows,)
        Weights of the rows, which add up to 1.

    Examples
    --------
    >>> chosen = np.array([[1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0]])
    >>> SpannedByOthers(chosen, np.full(4, 0.25))(3 * chosen[:1])
    array([[False],
           [ True]])
    """

    def __init__(self, chosen: Floats, share: Floats) -> None:
        self._weighted = chosen * share
        self._inverse = np.linalg.pinv(self._weighted @ chosen.T, hermitian=True)
        self._share = share

    def __call__(self, columns: Floats) -> NDArray[np.bool_]:
        """Whether the others add up to each column: (k, n_columns), columns centred."""
        inner = self._weighted @ columns.T
        weights = self._inverse @ inner
        own = np.square(columns) @ self._share
        left = np.maximum(own - (inner * weights).sum(axis=0), 0.0)
        told = weights**2  # of a column that is constant there is no weight
        variance = np.diag(self._inverse)[:, np.newaxis]
        left = left + np.divide(told, variance, out=told, where=variance > 0.0)
        spanned: NDArray[np.bool_] = left <= _ROUNDING * own
        return spanned
