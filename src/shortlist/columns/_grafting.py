"""Grafting: features arrive, and come in if that lowers the loss by more than they cost.

References
----------
Perkins, Theiler. Online Feature Selection using Grafting. ICML 2003.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import Capabilities, Floats, ShortlistError
from shortlist.columns._data import Data
from shortlist.columns._held_model import HeldModel
from shortlist.columns._parabola import parabolas
from shortlist.columns._refit import best_fit
from shortlist.columns._request import check_lists, check_passes, check_switches
from shortlist.columns._retained import Prepared
from shortlist.kernels.shrinking import shrink
from shortlist.kernels.substitution import ALWAYS, SKIPPED
from shortlist.losses import Squared
from shortlist.losses.arrays import mean_loss, slopes_into

CAPABILITIES = Capabilities(
    method="grafting",
    room="columns",
    summary="features one by one, under an l1 penalty",
    algorithm="shortlist.columns._select:graft_columns",
    estimator="shortlist.columns._grafting_estimator:Grafting",
    losses=("squared", "logistic", "softmax", "squared_hinge", "huber", "poisson"),
    citation=(
        "Perkins, Theiler (2003). Online Feature Selection using Grafting. ICML."
    ),
    options=("lam", "passes", "standardize", "refit", "tol"),
)

#: Penalty, as a share of the steepest slope met, to begin with if users name none; and the
#: ridge there is then, in units of one example's loss: classes may be separable.
_LEAST, _RIDGE = 1e-4, 5.0
#: Slopes at the end of a fit, beyond what the penalty allows, as a share of it.
_SLACK = 1e-7
#: Parabolas that a fit goes along, at most, and how often steps are halved.
_STEPS, _HALVINGS = 100, 30
#: By how much the penalty rises while too many features are in; at least, where a larger
#: rise would send more features away than it should.
_RISE, _LEAST_RISE = 0.02, 1e-5


@dataclass(frozen=True)
class GraftingRequest:
    """What a user asks for; bad settings raise."""

    k: int
    lam: float = 0.0
    passes: int = 4
    standardize: bool = True
    refit: bool = True
    tol: float = 1e-4
    always: tuple[str, ...] = ()
    never: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.lam, Real) or not 0 <= float(self.lam) < np.inf:
            raise ShortlistError(f"lam should be a number from 0, got {self.lam!r}")
        check_passes(self.passes, self.tol)
        check_switches(standardize=self.standardize, refit=self.refit)
        check_lists(self.k, self.always, self.never)

    def worker(self, data: Data) -> GraftingWorker:
        """Make what retains columns."""
        return GraftingWorker(data, self.k, float(self.lam))

    def params(self, worker: GraftingWorker) -> dict[str, Any]:
        """Return the settings, for the result."""
        return {
            "lam": float(self.lam),
            "penalty": worker.penalty,
            "passes": int(self.passes),
            "standardize": bool(self.standardize),
            "refit": bool(self.refit),
            "tol": float(self.tol),
        }


class GraftingWorker(HeldModel):
    """Retains columns whose weights an l1 penalty leaves, k of them at most.

    Weights are optimal for the penalty whenever a column has come in. If more than k are
    left then, the penalty rises until one goes.

    Parameters
    ----------
    data : Data
    k : int
    lam : float
    """

    def __init__(self, data: Data, k: int, lam: float) -> None:
        super().__init__(data, k + 1)
        self.k, self.penalty = k, lam
        self._has_floor = lam == 0.0
        self._l2 = 0.0
        if self._has_floor and not isinstance(data.loss, Squared):
            self._l2 = _RIDGE / data.n_examples
        self.n_arrived = 0
        self._locked = np.zeros(k + 1, np.bool_)
        # of the squared loss parabolas are all the same, and so are inner products
        self._squared = isinstance(data.loss, Squared)
        self._gram, self._corr = np.zeros((k + 1, k + 1)), np.zeros(k + 1)
        self._slopes = self._slopes_at(self.margins())

    def step(self, block: Prepared, status: NDArray[np.int64], pass_number: int) -> int:
        """Let the columns of a block arrive; return how many came in."""
        came, held = 0, self.retained.holds()
        slopes = block.values @ self._slopes
        for j in range(len(status)):
            if status[j] == SKIPPED or int(block.ids[j]) in held:
                continue
            self.n_arrived += 1
            always = bool(status[j] == ALWAYS)
            steep = float(np.abs(slopes[j]).max())
            if self._has_floor:
                self.penalty = max(self.penalty, _LEAST * steep)
            if always or steep > (1.0 + _SLACK) * self.penalty:
                self._graft(block, j, always, pass_number)
                came += 1
                held = self.retained.holds()
                slopes[j + 1 :] = block.values[j + 1 :] @ self._slopes
        return came

    def _graft(self, block: Prepared, j: int, always: bool, pass_number: int) -> None:
        """Let column j in; send away whatever has no weight then."""
        slot = self.retained.n
        self.retained.seat(block, j, slot)
        self._W[slot], self._locked[slot] = 0.0, always
        if self._squared:
            values, share = self.retained.values[: slot + 1], self.data.share
            weighted = share * values[slot]
            self._gram[slot, : slot + 1] = self._gram[: slot + 1, slot] = (
                values @ weighted
            )
            self._corr[slot] = weighted @ (self.data.y - self._bias[0])
        self.optimise()
        self._meet_budget()
        gone = self._weightless()
        left = [self.retained.names[slot] for slot in gone]
        self.retained.note(
            self.n_arrived, pass_number, block.names[j], left[0] if left else ""
        )
        for name in left[1:]:
            self.retained.note(self.n_arrived, pass_number, "", name)
        self._drop(gone)

    def _weightless(self) -> list[int]:
        n = self.retained.n
        without = ~self._W[:n].any(axis=1) & ~self._locked[:n]
        return [int(slot) for slot in np.flatnonzero(without)]

    def _meet_budget(self) -> None:
        """Raise the penalty until k features have weights."""
        rise = _RISE
        while (n := self.retained.n) - len(self._weightless()) > self.k:
            before = (self.penalty, self._W[:n].copy(), self._bias.copy())
            self.penalty *= 1.0 + rise
            self.optimise()
            too_far = n - len(self._weightless()) < self.k
            if too_far and rise > _LEAST_RISE:
                self.penalty, self._W[:n], self._bias[:] = before
                rise /= 4.0

    def _drop(self, slots: list[int]) -> None:
        """Close up the ranks; the last take the places of those that go."""
        for slot in reversed(slots):
            last = self.retained.n - 1
            self.retained.leave(slot)
            for each in (self._W, self._locked, self._corr, self._gram, self._gram.T):
                each[slot] = each[last]

    def optimise(self) -> None:
        """Move the weights to where loss and penalty are smallest."""
        n = self.retained.n
        penalties = np.where(self._locked[:n], 0.0, self.penalty)
        if self._squared:
            w = np.ascontiguousarray(self._W[:n, 0])
            gram = np.ascontiguousarray(self._gram[:n, :n])
            tol = max(_SLACK * self.penalty, 1e-12 * np.abs(self._corr[:n]).max())
            shrink(gram, self._corr[:n], penalties, w, gram @ w, tol)
            self._W[:n, 0] = w
        else:
            for _ in range(_STEPS):
                if not self._move(penalties):
                    break
        self._slopes = self._slopes_at(self.margins())

    def _move(self, penalties: Floats) -> bool:
        """Go towards the minimum of the parabolas; whether there is further to go."""
        n, Z = self.retained.n, self.margins()
        values = self.retained.values[:n]
        W, bias = self._W[:n].copy(), np.empty_like(self._bias)
        for c, parabola in enumerate(parabolas(self.data, Z)):
            w = np.ascontiguousarray(W[:, c])
            gram = parabola.gram(values) + self._l2 * np.eye(n)
            corr = parabola.correlations(values)
            shrink(gram, corr, penalties, w, gram @ w, 0.1 * _SLACK * self.penalty)
            W[:, c], bias[c] = w, parabola.intercept(values, w)
        dW, db = W - self._W[:n], bias - self._bias
        dZ = np.ascontiguousarray(values.T @ dW + db)
        slope = (self._slopes_at(Z) * dZ).sum() + self._l2 * (self._W[:n] * dW).sum()
        sizes = penalties @ (np.abs(self._W[:n]) - np.abs(W)).sum(axis=1)
        gain = sizes - slope
        before = self._penalised(Z, self._W[:n], penalties)
        for halving in range(_HALVINGS):
            t = 0.5**halving
            there = W if halving == 0 else self._W[:n] + t * dW  # zeros stay zeros
            after = self._penalised(Z + t * dZ, there, penalties)
            if after <= before - 0.1 * t * gain:
                self._W[:n] = there
                self._bias += t * db
                return bool(gain > _SLACK**2 * abs(before))
        return False

    def _penalised(self, Z: Floats, W: Floats, penalties: Floats) -> float:
        loss = mean_loss(self.data.loss, self.data.y, Z, self.data.share)
        ridge = 0.5 * self._l2 * (W**2).sum()
        return float(loss + penalties @ np.abs(W).sum(axis=1) + ridge)

    def _slopes_at(self, Z: Floats) -> Floats:
        slopes = np.empty_like(Z)
        slopes_into(self.data.loss, self.data.y, Z, self.data.share, slopes)
        return slopes

    def restore(self, weights: Floats, intercept: Floats) -> None:
        """Go back to weights as they were before a refit."""
        self._W[: self.retained.n], self._bias[:] = weights, intercept

    def refit(self) -> None:
        """Move the weights to where the loss alone is smallest."""
        n = self.retained.n
        if self._squared:
            fit = np.linalg.lstsq(self._gram[:n, :n], self._corr[:n], rcond=1e-12)
            self._W[:n, 0] = fit[0]
        else:
            self._W[:n], self._bias[:] = best_fit(self.data, self.retained.values[:n])
