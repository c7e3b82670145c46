"""Substitution for the squared loss: a matrix product a block, then inner products."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import Floats
from shortlist.columns._arriving import meet
from shortlist.columns._data import Data, Settings
from shortlist.columns._retained import Column, Prepared, Retained
from shortlist.kernels.substitution import (
    ARRIVED,
    FREE,
    IN_USE,
    Rule,
    no_columns,
    refresh,
)

#: Columns worked on at a time, at least: fewer make matrix products slow.
_NARROWEST = 64


class SquaredWorker:
    """Retains the best columns it has met for a target that may be moved by others.

    Parameters
    ----------
    data : Data
    settings : Settings
    """

    def __init__(self, data: Data, settings: Settings) -> None:
        self.data, self.settings = data, settings
        k = settings.k
        self.retained = Retained.empty(k, len(data.y))
        self._is_exact = settings.exchange == "exact"
        self._kept = no_columns(k)
        self._rule = Rule(settings.free, settings.eta, settings.m)
        self._center = float(data.share @ data.y)
        self._y = data.y - self._center

    @property
    def weights(self) -> Floats:
        """Of the retained columns, shape (n, 1)."""
        return np.array(self._kept.w[: self.retained.n, np.newaxis])

    @property
    def intercept(self) -> Floats:
        """Of columns that are centred."""
        return np.array([self._center])

    @property
    def n_arrived(self) -> int:
        """How many candidates have come."""
        return int(self._kept.counts[ARRIVED])

    def margins(self) -> Floats:
        """What the retained columns say, shape (n_rows, 1); less the intercept."""
        n = self.retained.n
        return np.asarray(self._kept.w[:n] @ self.retained.values[:n])[:, np.newaxis]

    def objective(self, others: Floats | None = None) -> float:
        """Mean loss."""
        miss = self._y - self.margins()[:, 0]
        if others is not None:
            miss -= others[:, 0]
        return float(0.5 * self.data.share @ miss**2)

    def step(
        self,
        block: Prepared,
        status: NDArray[np.int64],
        pass_number: int,
        others: Floats | None = None,
    ) -> int:
        """Let the columns of a block arrive; return how many came in.

        ``others``: margins that other workers are responsible for.
        """
        y = self._y if others is None else self._y - others[:, 0]
        if others is not None and (n := self.retained.n):
            self._kept.corr[:n] = self.retained.values[:n] @ (self.data.share * y)
            if self._is_exact:
                refresh(self._kept)
        width = max(_NARROWEST, self.settings.k)
        return sum(
            self._step(
                block.part(first, first + width),
                status[first : first + width],
                pass_number,
                y,
            )
            for first in range(0, len(status), width)
        )

    def _step(
        self, block: Prepared, status: NDArray[np.int64], pass_number: int, y: Floats
    ) -> int:
        b, k, n = len(status), self.settings.k, self.retained.n
        weighted, factor = self._weighted(block.values)
        products = np.zeros((b, k))
        products[:, :n] = weighted @ self.retained.values[:n].T
        products[:, :n] *= factor
        holder, taken = meet(
            self._kept,
            products,
            block.squares,
            factor * (weighted @ y),
            self.retained.recognised(block, status),
            self._rule,
            lambda: self._gram(block.values),
            exact=self._is_exact,
        )
        self.retained.follow(block, taken, holder, pass_number)
        return int((taken[:, 0] >= 0).sum())

    def _weighted(self, values: Floats) -> tuple[Floats, float]:
        """Columns by the weights of the rows; one factor for all rows can wait."""
        if self.data.is_uniform:
            return values, float(self.data.share[0])
        return values * self.data.share, 1.0

    def _gram(self, values: Floats) -> Floats:
        """Inner products of columns with each other."""
        weighted, factor = self._weighted(values)
        return np.asarray(factor * (weighted @ values.T))

    def columns(self) -> list[Column]:
        """All that is retained, to be handed over."""
        w, locked = self.weights, self._kept.locked.tolist()
        return [self.retained.column(a, w, locked[a]) for a in range(self.retained.n)]

    def take_over(self, columns: Sequence[Column], intercept: Floats) -> None:
        """Retain these columns and no others, with their weights."""
        self.retained.hold(columns)
        n = len(columns)
        values = self.retained.values[:n]
        self._kept.gram[:n, :n] = self._gram(values)
        self._kept.corr[:n] = values @ (self.data.share * self._y)
        self._kept.w[:n] = [column.weight[0] for column in columns]
        self._kept.locked[:n] = [column.locked for column in columns]
        self._kept.vector[:n] = n**-0.5 if n else 0.0
        self._kept.counts[IN_USE] = n
        self._kept.counts[FREE] = n - self._kept.locked[:n].sum()
        self._kept.reach[0] = np.diag(self._kept.gram).max(initial=0.0)

    def restore(self, weights: Floats, intercept: Floats) -> None:
        """Go back to weights as they were before a refit."""
        self._kept.w[: self.retained.n] = weights[:, 0]

    def refit(self) -> None:
        """Move the weights to where the loss is smallest."""
        n = self.retained.n
        gram, corr = self._kept.gram[:n, :n], self._kept.corr[:n]
        # of columns that depend on each other the weights of least norm
        self._kept.w[:n] = np.linalg.lstsq(gram, corr, rcond=1e-12)[0]
