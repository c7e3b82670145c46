"""The linear model of retained columns: weights and intercepts that a worker holds."""

from __future__ import annotations

import numpy as np

from shortlist._protocols import Floats
from shortlist.columns._data import Data
from shortlist.columns._refit import best_fit
from shortlist.columns._retained import Retained
from shortlist.losses.arrays import mean_loss


class HeldModel:
    """Base of workers that hold a weight for each retained column and margin.

    Parameters
    ----------
    data : Data
    room : int
        Columns that may be retained at a time.
    """

    def __init__(self, data: Data, room: int) -> None:
        self.data = data
        self.retained = Retained.empty(room, len(data.y))
        self._W = np.zeros((room, data.n_margins))
        self._bias = best_fit(data, self.retained.values[:0])[1]

    @property
    def weights(self) -> Floats:
        """Of the retained columns, shape (n, n_margins)."""
        return self._W[: self.retained.n].copy()

    @property
    def intercept(self) -> Floats:
        """Of columns that are centred, shape (n_margins,)."""
        return self._bias.copy()

    def margins(self) -> Floats:
        """What the retained columns and the intercept say, shape (n_rows, n_margins)."""
        n = self.retained.n
        return np.ascontiguousarray(
            self.retained.values[:n].T @ self._W[:n] + self._bias
        )

    def objective(self, others: Floats | None = None) -> float:
        """Mean loss; ``others`` are margins that other workers are responsible for."""
        Z = self.margins() if others is None else self.margins() + others
        return float(mean_loss(self.data.loss, self.data.y, Z, self.data.share))
