"""Substitution for any smooth loss: a pass over the retained columns for each arrival."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import Floats
from shortlist.columns._data import Data, Settings
from shortlist.columns._held_model import HeldModel
from shortlist.columns._refit import best_fit
from shortlist.columns._retained import Column, Prepared
from shortlist.columns._sweep import (
    OWN,
    SLOPE_OF_NEWCOMER,
    SLOPES,
    Examples,
    Linear,
    Swept,
    sweep,
)
from shortlist.kernels.substitution import ALIKE, ALWAYS, SKIPPED, power_step, weakest

#: Rows that a thread works on at a time; sums do not depend on the number of threads.
_PART = 1 << 14
#: Threads are worth their while if a pass is over this many numbers.
_MANY = 1 << 21
_MOST_THREADS = 8
#: Ridge of standardised weights while features are chosen, in units of one example's loss:
#: with few examples a choice that is held back errs less.
_SEARCH_RIDGE = 50.0
#: Curvature of a newcomer, as a share of the most it can be, that steps go by at least.
_LEAST_CURVATURE = 0.05


class SmoothWorker(HeldModel):
    """Retains the best columns it has met, for a loss with any number of margins.

    Parameters
    ----------
    data : Data
    settings : Settings
    """

    def __init__(self, data: Data, settings: Settings) -> None:
        super().__init__(data, settings.k)
        self.settings = settings
        k, C, n_rows = settings.k, data.n_margins, len(data.y)
        self.n_arrived = 0
        self._l2 = 0.0 if settings.eta > 0.0 else _SEARCH_RIDGE / data.n_examples
        self._locked = np.zeros(k, np.bool_)
        self._gram, self._vector = np.zeros((k, k)), np.zeros(k)
        self._nobody = np.zeros((n_rows, C))
        self._examples = Examples(data.y, data.share)
        starts = range(0, n_rows, _PART)
        self._parts = [np.array([s, min(s + _PART, n_rows)]) for s in starts]
        self._swept = [
            Swept(np.zeros((k, C)), np.zeros((3, C)), np.zeros(1)) for _ in starts
        ]
        self._bias /= settings.n_sharing

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
        model = Linear(
            self.retained.values,
            self._W,
            self._bias,
            self._nobody if others is None else others,
        )
        n_in, held = 0, self.retained.holds()
        with self._pool() as pool:
            spread: Callable[..., Any] = map if pool is None else pool.map
            for j in range(len(status)):
                if status[j] != SKIPPED and int(block.ids[j]) not in held:
                    always = bool(status[j] == ALWAYS)
                    slot, weight = self._arrive(model, block, j, always, spread)
                    if slot < 0:
                        continue
                    products = self._products(block.values[j])
                    if not always and self._is_copy(products):
                        continue
                    left = self.retained.names[slot] if slot < self.retained.n else ""
                    self._seat(block, j, slot, products)
                    self._W[slot], self._locked[slot] = weight, always
                    name = block.names[j]
                    self.retained.note(self.n_arrived, pass_number, name, left)
                    held = self.retained.holds()
                    n_in += 1
        return n_in

    def _pool(self) -> Any:
        """Threads for the parts of the rows, if there is enough to do."""
        work = len(self.data.y) * self.settings.k * self.data.n_margins
        threads = min(os.cpu_count() or 1, len(self._parts), _MOST_THREADS)
        if work < _MANY or threads == 1 or self.settings.n_sharing > 1:
            return nullcontext()
        return ThreadPoolExecutor(threads)

    def _arrive(
        self,
        model: Linear,
        block: Prepared,
        j: int,
        always: bool,
        spread: Callable[..., Any],
    ) -> tuple[int, Floats]:
        """Move the weights; return a slot for column j, or -1, and its weight."""
        n, x = self.retained.n, block.values[j]
        loss, examples = self.data.loss, self._examples

        def work(part: NDArray[np.int64], out: Swept) -> None:
            sweep(loss, model, n, examples, x, part, out)

        list(spread(work, self._parts, self._swept))
        slopes = sum(part.slopes[:n] for part in self._swept)
        sums = sum(part.sums for part in self._swept)
        self.n_arrived += 1
        eta, step, bound = self._lengths(sums, x)
        if n:
            self._W[:n] -= step * (slopes + self._l2 * self._W[:n])
        if self.settings.moves_intercept:
            self._bias -= sums[SLOPES] / bound
        newcomer = -eta * sums[SLOPE_OF_NEWCOMER]
        if always:
            return n, newcomer
        if n - self._locked[:n].sum() < self.settings.free:
            return n, newcomer
        if not self.settings.free:
            return -1, newcomer
        sizes = np.linalg.norm(self._W[:n], axis=1)
        slot = int(weakest(sizes, self._locked, n))
        comes = np.linalg.norm(newcomer) > sizes[slot]
        return (slot if comes else -1), newcomer

    def _lengths(self, sums: Floats, x: Floats) -> tuple[Floats, float, float]:
        """Steps of the newcomer, in each margin, and of the retained; the curvature."""
        bound = float(type(self.data.loss).smoothness)
        if not np.isfinite(bound):
            bound = max(1e-12, *(float(part.steepest[0]) for part in self._swept))
        square = float(self.data.share @ (x * x)) or 1.0
        if self.settings.eta > 0.0:
            eta = np.full(self.data.n_margins, self.settings.eta)
        else:
            least = _LEAST_CURVATURE * bound * square
            eta = 1.0 / np.maximum(sums[OWN] + self._l2, least)
        if self.settings.m > 0.0 and self.settings.eta > 0.0:
            return eta, self.settings.eta / self.settings.m, bound
        n = self.retained.n
        largest = float(power_step(self._gram, n, self._vector)) if n else 0.0
        largest = max(largest, float(self._gram.diagonal().max()), 1e-300)
        step = 1.0 / (self._l2 + bound * largest)
        return eta, step, bound

    def _products(self, x: Floats) -> Floats:
        """Inner products of a column with the retained ones and, last, with itself."""
        weighted = self.data.share * x
        products = self.retained.values[: self.retained.n] @ weighted
        return np.append(products, x @ weighted)

    def _is_copy(self, products: Floats) -> bool:
        """Whether a column with these products is another's, but for its unit."""
        squares = self._gram.diagonal()[: self.retained.n] * products[-1]
        return bool((products[:-1] ** 2 > (1.0 - ALIKE) * squares).any())

    def _seat(self, block: Prepared, j: int, slot: int, products: Floats) -> None:
        """Give a slot to column j."""
        n = self.retained.n
        if slot == n:
            self._vector[slot] = 1.0 / np.sqrt(n + 1.0)
        self._gram[slot, :n] = self._gram[:n, slot] = products[:-1]
        self._gram[slot, slot] = products[-1]
        self.retained.seat(block, j, slot)

    def columns(self) -> list[Column]:
        """All that is retained, to be handed over."""
        w, locked = self.weights, self._locked.tolist()
        return [self.retained.column(a, w, locked[a]) for a in range(self.retained.n)]

    def take_over(self, columns: Sequence[Column], intercept: Floats) -> None:
        """Retain these columns and no others, with their weights."""
        self.retained.hold(columns)
        n, self._bias[:] = len(columns), intercept
        values = self.retained.values[:n]
        self._gram[:n, :n] = (values * self.data.share) @ values.T
        weights = [column.weight for column in columns]
        self._W[:n] = np.array(weights).reshape(n, self._W.shape[1])
        self._locked[:n] = [column.locked for column in columns]
        self._vector[:n] = n**-0.5 if n else 0.0

    def restore(self, weights: Floats, intercept: Floats) -> None:
        """Go back to weights as they were before a refit."""
        self._W[: self.retained.n], self._bias[:] = weights, intercept

    def refit(self) -> None:
        """Move the weights and the intercept to where the loss is smallest."""
        n = self.retained.n
        self._W[:n], self._bias[:] = best_fit(self.data, self.retained.values[:n])
