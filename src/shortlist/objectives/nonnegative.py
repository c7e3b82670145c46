"""Any objective, with weights that may not be negative."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import Fit, Floats, Ints


class NonNegative:
    """The same objective over weights of at least 0; the nuisance stays free.

    A refit is an active-set method: it minimises over the weights that are free, walks
    from the weights it has to that minimum as far as none becomes negative, fixes those
    that reach 0, and frees the fixed weight with the steepest descent once the minimum
    itself is feasible (Lawson and Hanson's method, for any convex function).

    Parameters
    ----------
    objective : LinearObjective, GramObjective or the like
        With one output. It has ``zeroing_costs``, ``removal_costs`` and ``decreases``.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.objectives import GramObjective
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.5], [3.0, 0.0]])
    >>> objective = NonNegative(GramObjective(X, [0.0, 1.0, 1.5, 3.0]))
    >>> objective.refit(np.array([0, 1])).weights.round(3)
    array([1.062, 0.   ])
    """

    def __init__(self, objective: Any) -> None:
        self.objective = objective
        self.n_coordinates: int = objective.n_coordinates

    def value(self, fit: Fit) -> float:
        """Q at the point."""
        return float(self.objective.value(fit))

    def gradient(self, fit: Fit) -> Floats:
        """Partial derivatives; 0 where Q falls only towards negative weights."""
        gradient: Floats = np.asarray(self.objective.gradient(fit)).copy()
        open_ = np.zeros(self.n_coordinates, np.bool_)
        open_[fit.support[fit.weights > 0.0]] = True
        gradient[~open_ & (gradient > 0.0)] = 0.0
        return gradient

    def refit(self, support: Ints, start: Fit | None = None) -> Fit:
        """Minimise Q over a support, from ``start`` if given."""
        support = np.asarray(support, np.int64)
        weights = _weights_on(support, start)
        fit = self._minimum(support, weights > 0.0, weights, start)
        if not len(support):
            return fit
        # Every round lowers Q, so no set of free weights comes again; the bound is for
        # rounding.
        for _ in range(10 * len(support) + 10):
            slopes = self.objective.gradient(fit)[support]
            free = fit.weights > 0.0
            steepness = np.where(free, 0.0, -slopes)
            if steepness.max() <= _FLAT * np.abs(slopes).max():
                break
            free[np.argmax(steepness)] = True
            freer = self._minimum(support, free, fit.weights, fit)
            if not freer.value < fit.value:
                break
            fit = freer
        return fit

    def _minimum(
        self, support: Ints, free: NDArray[np.bool_], weights: Floats, start: Fit | None
    ) -> Fit:
        """Minimise over free weights, fixing those that would become negative."""
        free, weights = free.copy(), np.where(free, weights, 0.0)
        while True:
            found = self.objective.refit(support[free], start)
            if (found.weights > 0.0).all():
                weights = np.zeros(len(support))
                weights[free] = found.weights
                return Fit(support, weights, found.nuisance, found.value)
            here, there = weights[free], found.weights
            falling = there <= 0.0
            ratio = np.where(falling, here / np.maximum(here - there, _TINY), np.inf)
            far = min(1.0, float(ratio.min()))
            moved = here + far * (there - here)
            moved[falling & (ratio <= far)] = 0.0
            weights[free] = np.maximum(moved, 0.0)
            free = weights > 0.0

    def zeroing_costs(self, fit: Fit, unit_of: Ints | None = None) -> Floats:
        """How much Q rises if a weight is set to zero, the others staying."""
        return self._costs("zeroing_costs", fit, unit_of)

    def removal_costs(self, fit: Fit, unit_of: Ints | None = None) -> Floats:
        """How much Q rises if a coordinate leaves, as if no other reached 0 then."""
        return self._costs("removal_costs", fit, unit_of)

    def _costs(self, method: str, fit: Fit, unit_of: Ints | None) -> Floats:
        """Costs of the weights above 0; the others cost nothing."""
        unit_of = np.arange(len(fit.support)) if unit_of is None else unit_of
        free = fit.weights > 0.0
        inside = fit._replace(support=fit.support[free], weights=fit.weights[free])
        units, place = np.unique(unit_of[free], return_inverse=True)
        costs = np.zeros(int(unit_of.max(initial=-1)) + 1)
        costs[units] = getattr(self.objective, method)(inside, place)
        return costs

    def decreases(self, fit: Fit) -> Floats:
        """How much Q can fall along each coordinate alone, upwards from 0."""
        along: Floats = np.asarray(self.objective.decreases(fit))
        return np.where(self.gradient(fit) < 0.0, along, 0.0)


# Slopes this small, relative to the largest, are rounding.
_FLAT = 1e-10
_TINY = np.finfo(float).tiny


def _weights_on(support: Ints, start: Fit | None) -> Floats:
    """Weights of a starting point on a support, 0 where it has none."""
    weights = np.zeros(len(support))
    if start is not None and len(start.support):
        place = np.searchsorted(start.support, support)
        place[place == len(start.support)] = 0
        known = start.support[place] == support
        weights[known] = np.maximum(start.weights[place[known]], 0.0)
    return weights
