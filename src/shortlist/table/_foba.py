"""FoBa: forward-backward greedy selection for any smooth convex objective.

A forward step adds the unit (a feature, or a group of coordinates) with the largest
gradient, in units of its column, or with the best decrease along itself, and refits. A
backward step drops a unit whose weights can be set to zero at less than half of what the
forward step to the present size had gained. After k and ``overshoot`` more have come in,
units leave one by one, cheapest first by the cost after a refit, and for each size the best
support seen on the way up or down is kept: that is what recovers correlated supports.

With ``overshoot=0`` this is the paper's algorithm to the letter.

References
----------
Liu, Fujimaki, Ye. Forward-Backward Greedy Algorithms for General Convex Smooth Functions
over A Cardinality Constraint. ICML 2014.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from shortlist._protocols import Fit, Floats, Ints, Objective, ShortlistError


class Units:
    """What is selected as a whole: single coordinates, or sets of them.

    Parameters
    ----------
    n_coordinates : int
    unit_of : ndarray of shape (n_coordinates,), default=None
        Unit of each coordinate, numbered from 0; None: each is its own.
    scale : ndarray of shape (n_coordinates,), default=None
        Unit of measurement of each coordinate; gradients are divided by it.
    """

    def __init__(
        self,
        n_coordinates: int,
        unit_of: Ints | None = None,
        scale: Floats | None = None,
    ) -> None:
        self.unit_of, self.scale = unit_of, scale
        self.n_units = n_coordinates if unit_of is None else int(unit_of.max()) + 1
        if unit_of is not None:
            self._order = np.argsort(unit_of, kind="stable")
            ends = np.cumsum(np.bincount(unit_of, minlength=self.n_units))
            self._bounds = [0, *ends.tolist()]

    def coordinates(self, units: list[int]) -> Ints:
        """Coordinates of some units, increasing."""
        if self.unit_of is None:
            return np.sort(np.array(units, np.int64))
        if not units:
            return np.empty(0, np.int64)
        bounds = self._bounds
        members = [self._order[bounds[u] : bounds[u + 1]] for u in units]
        return np.sort(np.concatenate(members))

    def lengths(self, gradient: Floats) -> Floats:
        """Length of the gradient within each unit, in units of the columns."""
        g = np.abs(gradient if self.scale is None else gradient / self.scale)
        if self.unit_of is None:
            return g
        sizes = np.bincount(self.unit_of, minlength=self.n_units)
        return np.sqrt(np.bincount(self.unit_of, g**2, self.n_units) / sizes)

    def norms(self, point: Floats) -> Floats:
        """Euclidean norm of a point within each unit."""
        if self.unit_of is None:
            return np.abs(point)
        return np.sqrt(np.bincount(self.unit_of, point**2, self.n_units))

    def within(self, support: Ints) -> tuple[Ints, Ints]:
        """Units of a support, increasing, and which of them each coordinate is in."""
        own = support if self.unit_of is None else self.unit_of[support]
        units, place = np.unique(own, return_inverse=True)
        return units, place


@dataclass
class Step:
    """A support of some size: what the path is made of."""

    units: tuple[int, ...]
    fit: Fit


@dataclass
class Path:
    """For each size, the support reached last and the best one."""

    latest: dict[int, Step] = field(default_factory=dict)
    best: dict[int, Step] = field(default_factory=dict)
    n_forward: int = 0
    n_backward: int = 0

    def add(self, units: list[int], fit: Fit) -> None:
        """Record a support."""
        step = Step(tuple(sorted(units)), fit)
        size = len(units)
        self.latest[size] = step
        if size not in self.best or fit.value < self.best[size].fit.value:
            self.best[size] = step


@dataclass(frozen=True)
class Settings:
    """How far to go; see ``FoBa`` for the meaning of each."""

    k: int
    criterion: str = "gradient"
    backward: bool = True
    overshoot: float = 0.2
    epsilon: float = 0.0
    delta: float = 0.0
    tol: float = 0.0


def foba(
    objective: Objective,
    units: Units,
    settings: Settings,
    *,
    always: tuple[int, ...] = (),
    never: tuple[int, ...] = (),
) -> Path:
    """Run FoBa; return the path of supports.

    Parameters
    ----------
    objective : Objective
        What to minimise. It may offer ``zeroing_costs``, ``removal_costs`` and
        ``decreases``, for which there are slow stand-ins; the first two are given the
        fit, and the unit of each coordinate of its support if units are sets. If it
        offers ``adds_nothing``, units for which that is true are passed over.
    units : Units
        What may be selected.
    settings : Settings
    always, never : tuple of int
        Units that are in from the start and stay (not counted in k), and units that
        stay out.

    Returns
    -------
    Path
        Sizes do not count the units that are always in.

    Examples
    --------
    >>> from shortlist.objectives import LinearObjective
    >>> from shortlist.table import Settings, Units, foba
    >>> X = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [2.0, 1.0, 0.0], [1.0, 3.0, 1.0]])
    >>> objective = LinearObjective("squared", X, 2 * X[:, 1])
    >>> foba(objective, Units(3), Settings(1)).best[1].units
    (1,)
    """
    search = _Search(objective, units, settings, always, never)
    search.climb()
    search.descend()
    return search.path


class _Search:
    def __init__(
        self,
        objective: Any,
        units: Units,
        settings: Settings,
        always: tuple[int, ...],
        never: tuple[int, ...],
    ) -> None:
        self.objective, self.units, self.settings = objective, units, settings
        self.always = list(always)
        self.barred = np.array([*always, *never], np.int64)
        self.chosen: list[int] = []
        self.fit = _checked(objective.refit(units.coordinates(self.always), None))
        #: decrease of the latest forward step that reached each size
        self.gain: dict[int, float] = {}
        #: units that add nothing to those chosen, nor to more of them
        self.idle: set[int] = set()
        self.path = Path()
        self.path.add([], self.fit)
        self.start = self.fit.value

    def climb(self) -> None:
        """Forward steps, each followed by the backward steps it makes possible."""
        k, room = self.settings.k, self.units.n_units - len(self.barred)
        top = min(math.ceil(k * (1.0 + self.settings.overshoot) - 1e-9), room)
        # A pair of forward and backward steps lowers Q, so the walk ends; the bound is
        # for objectives whose refits are too inexact for that.
        for _ in range(20 * top + 100):
            if len(self.chosen) >= top or not self.forward_step():
                return
            if self.settings.backward:
                self.backward_steps()

    def forward_step(self) -> bool:
        """Add the unit that promises most; False if none does."""
        promise = self.units.lengths(gradient_at(self.objective, self.fit))
        promise[self.barred] = promise[self.chosen] = -np.inf
        least = self.settings.epsilon
        if not promise.max() > least:
            return False
        if self.settings.criterion == "objective":
            promise, least = self._decreases(promise), self.settings.delta
        unit = self._most_promising(promise, least)
        if unit is None:
            return False
        added = [*self.chosen, unit]
        fit = self._refit(added)
        gained = self.fit.value - fit.value
        rounding = _ROUNDING * max(abs(self.start), abs(self.fit.value))
        if not gained > max(self.settings.delta, rounding):
            return False
        self.chosen, self.fit = added, fit
        self.gain[len(added)] = gained
        self.path.add(added, fit)
        self.path.n_forward += 1
        return True

    def _most_promising(self, promise: Floats, least: float) -> int | None:
        """Unit that promises most, and more than the least, and does not do so idly."""
        promise[list(self.idle)] = -np.inf
        while promise[unit := int(np.argmax(promise))] > least:
            if not self._adds_nothing(unit):
                return unit
            self.idle.add(unit)
            promise[unit] = -np.inf
        return None

    def _adds_nothing(self, unit: int) -> bool:
        if not hasattr(self.objective, "adds_nothing"):
            return False
        return bool(
            self.objective.adds_nothing(self.fit, self.units.coordinates([unit]))
        )

    def _decreases(self, promise: Floats) -> Floats:
        """Best decrease of Q along each coordinate alone (FoBa-obj).

        Of a unit with several coordinates, the decrease after a refit.
        """
        single = self.units.unit_of is None
        if single and hasattr(self.objective, "decreases"):
            along = np.asarray(self.objective.decreases(self.fit))
            return np.where(np.isfinite(promise), along, -np.inf)
        out = np.full(len(promise), -np.inf)
        for unit in np.flatnonzero(np.isfinite(promise)).tolist():
            if single:
                out[unit] = self._decrease_along(unit)
            else:
                out[unit] = self.fit.value - self._refit([*self.chosen, unit]).value
        return out

    def _decrease_along(self, coordinate: int) -> float:
        from scipy.optimize import minimize_scalar

        place = int(np.searchsorted(self.fit.support, coordinate))
        support = np.insert(self.fit.support, place, coordinate)

        def value(t: float) -> float:
            weights = np.insert(self.fit.weights, place, t)
            moved = self.fit._replace(support=support, weights=weights)
            return float(self.objective.value(moved))

        return float(self.fit.value) - float(minimize_scalar(value).fun)

    def backward_steps(self) -> None:
        """Drop units as long as one costs less than half of what its size gained."""
        while len(self.chosen) > 1:
            costs = self._costs("zeroing_costs")
            unit = min(costs, key=lambda u: (costs[u], u))
            if not costs[unit] < 0.5 * self.gain[len(self.chosen)]:
                return
            self._drop(unit)
            self.path.n_backward += 1

    def descend(self) -> None:
        """Let units leave one by one, cheapest first."""
        if self.settings.overshoot <= 0.0:
            return
        while self.chosen:
            costs = self._costs("removal_costs")
            self._drop(min(costs, key=lambda u: (costs[u], u)))

    def _drop(self, unit: int) -> None:
        self.chosen.remove(unit)
        self.idle.clear()
        self.fit = self._refit(self.chosen)
        self.path.add(self.chosen, self.fit)

    def _refit(self, units: list[int]) -> Fit:
        support = self.units.coordinates([*self.always, *units])
        return _checked(self.objective.refit(support, self.fit))

    def _costs(self, method: str) -> dict[int, float]:
        """What Q would rise by without each chosen unit."""
        if not hasattr(self.objective, method):
            stand_in = getattr(self, f"_{method}")
            return {unit: stand_in(unit) for unit in self.chosen}
        units, place = self.units.within(self.fit.support)
        sets = () if self.units.unit_of is None else (place,)
        costs = getattr(self.objective, method)(self.fit, *sets)
        every = dict(zip(units.tolist(), costs.tolist(), strict=True))
        return {unit: every[unit] for unit in self.chosen}

    def _zeroing_costs(self, unit: int) -> float:
        gone = np.isin(self.fit.support, self.units.coordinates([unit]))
        zeroed = self.fit._replace(weights=np.where(gone, 0.0, self.fit.weights))
        return float(self.objective.value(zeroed) - self.fit.value)

    def _removal_costs(self, unit: int) -> float:
        without = self._refit([other for other in self.chosen if other != unit])
        return float(without.value - self.fit.value)


# Differences of Q that are smaller, relative to it now or at the start, are rounding.
_ROUNDING = 1e-13


def gradient_at(objective: Any, fit: Fit) -> Floats:
    """Gradient of an objective; refuse one that is not finite."""
    gradient: Floats = np.asarray(objective.gradient(fit))
    if not (finite := np.isfinite(gradient)).all():
        j = int(np.argmin(finite))
        raise ShortlistError(
            f"objective: gradient should be finite, coordinate {j} has {gradient[j]} at a "
            f"support of {len(fit.support)}"
        )
    return gradient


def _checked(fit: Fit) -> Fit:
    """Refuse what an objective cannot mean: all comparisons with NaN are false."""
    if np.isnan(fit.value):
        raise ShortlistError(
            f"objective: refit should return a value, got NaN at a support of "
            f"{len(fit.support)}"
        )
    return fit


def check_settings(settings: Settings) -> None:
    """Refuse settings that make no sense."""
    if settings.criterion not in ("gradient", "objective"):
        raise ShortlistError(
            f"criterion should be 'gradient' or 'objective', got {settings.criterion!r}"
        )
    for name in ("overshoot", "epsilon", "delta", "tol"):
        value = getattr(settings, name)
        number = isinstance(value, Real) and not isinstance(value, bool)
        if not (number and 0.0 <= value < math.inf):
            raise ShortlistError(
                f"{name} should be at least 0 and finite, got {value!r}"
            )
