"""Exact exchanges for a loss of one margin: least squares that touch it, block by block.

At each block the loss is replaced by the parabola that touches it where the model stands.
Exchanges are then those of the squared loss. How far the model moves, and whether exchanges
stay, is decided by the loss itself: so they come to an end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import Floats
from shortlist.columns._arriving import meet
from shortlist.columns._data import Data, Settings
from shortlist.columns._held_model import HeldModel
from shortlist.columns._parabola import Parabola, parabolas, steepest
from shortlist.columns._refit import best_fit
from shortlist.columns._retained import Prepared
from shortlist.kernels.substitution import ARRIVED, Rule, no_columns, refresh
from shortlist.losses.arrays import curvatures_into, mean_loss

#: Columns that meet the same parabola, at least.
_NARROWEST = 32
#: Ridge of standardised weights while features are chosen, in units of the largest
#: curvature of one example: of classes, which may be separable, and of numbers. For classes
#: less finds more where labels are certain, more where many are wrong.
_RIDGE, _RIDGE_OF_NUMBERS = 60.0, 1.0
#: Steps are halved this often before a model stays where it is.
_HALVINGS = 12
#: Exchanges of a block that have not lowered the objective after this many steps are taken
#: back, and tried by halves, down to as many columns.
_MORE_STEPS, _INDIVISIBLE = 4, 16
#: A model whose objective fell by a smaller share is as good as at rest.
_AT_REST = 1e-9


class LinearisedWorker(HeldModel):
    """Retains the best columns it has met, for a loss of one margin.

    Parameters
    ----------
    data : Data
    settings : Settings
    """

    def __init__(self, data: Data, settings: Settings) -> None:
        super().__init__(data, settings.k)
        self.settings = settings
        self._kept = no_columns(settings.k)
        self._l2 = self._ridge() / data.n_examples
        self._rule = Rule(settings.free, 0.0, 0.0, self._l2)
        self._parabola: Parabola | None = None

    @property
    def n_arrived(self) -> int:
        """How many candidates have come."""
        return int(self._kept.counts[ARRIVED])

    def step(self, block: Prepared, status: NDArray[np.int64], pass_number: int) -> int:
        """Let the columns of a block arrive; return how many came in."""
        width = max(_NARROWEST, self.settings.k)
        return sum(
            self._step(
                block.part(first, first + width),
                status[first : first + width],
                pass_number,
            )
            for first in range(0, len(status), width)
        )

    def _step(
        self, block: Prepared, status: NDArray[np.int64], pass_number: int
    ) -> int:
        """Let columns arrive that meet the same parabola; return how many came in."""
        b, k, n = len(status), self.settings.k, self.retained.n
        parabola = self._touch()
        products = np.zeros((b, k))
        products[:, :n] = parabola.products(block.values, self.retained.values[:n])
        holder, taken = meet(
            self._kept,
            products,
            parabola.squares(block.values) + self._l2,
            parabola.correlations(block.values),
            self.retained.recognised(block, status),
            self._rule,
            lambda: parabola.gram(block.values),
            exact=True,
        )
        before = self._penalised(self.margins(), self._W[:n])
        w, bias = self._W.copy(), self._bias.copy()
        undo = self.retained.remember(np.flatnonzero(holder[:n] >= 0).tolist())
        self.retained.follow(block, taken, holder, pass_number)
        self._W[holder >= 0] = 0.0  # who has left does not pull any more
        came = int((taken[:, 0] >= 0).sum())
        moved = self._move(parabola)
        if moved or came:
            self._parabola = None
        if came and self.retained.n == n and not self._has_gained(before):
            self.retained.undo(undo)
            self._W[:], self._bias[:] = w, bias
            self._parabola = None
            if b <= _INDIVISIBLE:
                return 0
            # some of these exchanges may be good, of which others took the gain
            half = b // 2
            first = self._step(block.part(0, half), status[:half], pass_number)
            rest = block.part(half, b)
            return first + self._step(rest, status[half:], pass_number)
        return came

    def _has_gained(self, before: float) -> bool:
        """Whether the objective is below what it was, if need be after some more steps."""
        for _ in range(_MORE_STEPS):
            n = self.retained.n
            now = self._penalised(self.margins(), self._W[:n])
            if now < before - _AT_REST * abs(before):
                return True
            if not self._move(self._touch()):
                return False
            self._parabola = None
        return False

    def _ridge(self) -> float:
        ridge = _RIDGE if self.data.loss.is_classifier else _RIDGE_OF_NUMBERS
        curvatures = np.empty((len(self.data.y), 1))
        ones = np.ones(len(self.data.y))
        curvatures_into(self.data.loss, self.data.y, self.margins(), ones, curvatures)
        return ridge * steepest(self.data.loss, curvatures)

    def _touch(self) -> Parabola:
        """The parabola of this block, with inner products of the retained columns."""
        if self._parabola is None:
            (self._parabola,) = parabolas(self.data, self.margins())
            n = self.retained.n
            values = self.retained.values[:n]
            gram = self._parabola.gram(values) + self._l2 * np.eye(n)
            self._kept.gram[:n, :n] = gram
            self._kept.corr[:n] = self._parabola.correlations(values)
            refresh(self._kept)
        return self._parabola

    def _move(self, parabola: Parabola) -> bool:
        """Go to where the parabola is lowest, or less far; whether that made a change.

        The objective does not rise.
        """
        n = self.retained.n
        values, w = self.retained.values[:n], self._kept.w[:n, np.newaxis].copy()
        bias = np.array([parabola.intercept(values, w[:, 0])])
        dw, db = w - self._W[:n], bias - self._bias
        Z = self.margins()
        dZ = np.ascontiguousarray(values.T @ dw + db)
        before = self._penalised(Z, self._W[:n])
        for halving in range(_HALVINGS):
            t = 0.5**halving
            after = self._penalised(Z + t * dZ, self._W[:n] + t * dw)
            if after <= before:
                self._W[:n] += t * dw
                self._bias += t * db
                return before - after > _AT_REST * abs(before)
        return False

    def _penalised(self, Z: Floats, W: Floats) -> float:
        loss = mean_loss(self.data.loss, self.data.y, Z, self.data.share)
        return float(loss + 0.5 * self._l2 * (W**2).sum())

    def restore(self, weights: Floats, intercept: Floats) -> None:
        """Go back to weights as they were before a refit."""
        self._W[: self.retained.n], self._bias[:] = weights, intercept

    def refit(self) -> None:
        """Move the weights and the intercept to where the loss is smallest."""
        n = self.retained.n
        self._W[:n], self._bias[:] = best_fit(self.data, self.retained.values[:n])
