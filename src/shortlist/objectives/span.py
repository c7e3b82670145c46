"""Which columns are combinations of others: what a ridge alone would take them in for.

A column that others add up to cannot make a model fit better. Under a ridge it still
lowers the objective, as two weights that share the work of one are penalised less: of
``town=Rome`` and ``town=Oslo``, where there are no other towns, the second would take a
place in a budget and tell nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shortlist._protocols import Floats, Ints
from shortlist.objectives.columns import gather

#: Share of a column's variance that others leave unexplained, below which it is rounding.
_ROUNDING = 1e-10


class Span:
    """Combinations of some columns of a table, and of a constant if there is an intercept.

    Holds the Cholesky factor of their covariances, a row for each column that is not a
    combination of those before it. Asking about a column costs an inner product with
    each; a column that joins costs no more.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
    share : ndarray of shape (n_samples,)
        Weights of the rows, which add up to 1.
    center : bool
        Whether there is an intercept.
    """

    def __init__(self, X: Any, share: Floats, *, center: bool) -> None:
        self.X, self.share, self.center = X, share, center
        self._members: set[int] = set()
        self._forget()

    def holds(self, members: Ints, feature: int) -> bool:
        """Whether a column is a combination of members, but for rounding."""
        self._become(set(members.tolist()))
        _, left, own = self._remainder(feature)
        return bool(left <= _ROUNDING * own)

    def _forget(self) -> None:
        self._members = set()
        self._basis: list[int] = []
        self._factor: Floats = np.zeros((0, 0))

    def _become(self, members: set[int]) -> None:
        if self._members - members:
            self._forget()
        for feature in sorted(members - self._members):
            row, left, own = self._remainder(feature)
            self._members.add(feature)
            if left > _ROUNDING * own:
                n = len(self._basis)
                factor = np.zeros((n + 1, n + 1))
                factor[:n, :n] = self._factor
                factor[n, :n], factor[n, n] = row, np.sqrt(left)
                self._basis.append(feature)
                self._factor = factor

    def _remainder(self, feature: int) -> tuple[Floats, float, float]:
        """Row of the factor that a column would have, and its variance, left and own."""
        from scipy.linalg import solve_triangular

        features = np.unique([*self._basis, feature])
        columns = gather(self.X, features, self.share, center=self.center)
        here = np.searchsorted(features, [feature])
        inner = columns.gram(self.share, np.arange(len(features)), here)[:, 0]
        if self.center:  # columns of a sparse table are not centred by themselves
            means = columns.transposed_times(self.share[:, np.newaxis])[:, 0]
            inner = inner - means * means[here]
        own = float(inner[here[0]])
        with_basis = inner[np.searchsorted(features, self._basis)]
        row = solve_triangular(self._factor, with_basis, lower=True)
        return row, own - float(row @ row), own
