"""How the features fared while GSR went on: rank and weight against iteration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shortlist._protocols import Floats, Ints
from shortlist.table._gsr import Standing

#: Instead of a unit: a copy of another feature, and one that may not take part.
COPY, NEVER = -1, -2


@dataclass(frozen=True)
class SelectionPath:
    """Rank and weight of every feature after each iteration.

    Only what was still in is held; arrays are made when asked for.

    Parameters
    ----------
    history : tuple of Standing
        Units that were in, and their norms, after each iteration.
    unit_of : ndarray of shape (n_features,)
        Unit of each feature; COPY or NEVER for one that took no part.
    """

    history: tuple[Standing, ...]
    unit_of: Ints

    def __len__(self) -> int:
        """Number of iterations."""
        return len(self.history)

    @property
    def weights(self) -> Floats:
        """Norm of each feature's row of weights, of shape (n_iter, n_features).

        Features of a group share that of the group; what was dropped has 0.
        """
        n_units = int(self.unit_of.max(initial=-1)) + 1
        norms = np.zeros((len(self.history), n_units + 1))
        for row, standing in zip(norms, self.history, strict=True):
            row[standing.units] = standing.norms
        return norms[:, np.maximum(self.unit_of, -1)]  # the last column stays 0

    @property
    def ranks(self) -> Ints:
        """Place of each feature, 1 for the best, of shape (n_iter, n_features).

        Features that are in are ranked by weight; those that were dropped come after
        them, the last to go first; then copies of others; then those that may not take
        part. Ties go to the feature that comes first.
        """
        weights = self.weights
        latest = np.minimum(self.unit_of, 0)  #: when it was in last
        last_weight = np.zeros(weights.shape[1])
        out = np.empty(weights.shape, np.int64)
        n_units = int(self.unit_of.max(initial=-1)) + 1
        for t, standing in enumerate(self.history):
            present = np.zeros(n_units + 1, bool)
            present[standing.units] = True
            inside = present[np.maximum(self.unit_of, -1)]
            latest[inside], last_weight[inside] = t, weights[t, inside]
            order = np.lexsort((-last_weight, -latest))
            out[t, order] = np.arange(1, len(order) + 1)
        return out
