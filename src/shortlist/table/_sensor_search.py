"""How sensors are looked for: FoBa over a chain, or elimination from all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from shortlist._protocols import Fit, Ints, ShortlistError
from shortlist.objectives import ChainCRF
from shortlist.table._foba import Path, Settings, Units, foba

Report = Callable[[int, float], None]


@dataclass(frozen=True)
class SensorSearch:
    """How to look for sensors; see ``SensorSelector`` for the meaning of each."""

    k: int
    unit: str = "sensor"
    direction: str = "both"
    epsilon: float = 0.0
    report: Report | None = None

    def run(self, objective: ChainCRF, sensor_of: Ints) -> dict[int, Fit]:
        """Fits by number of units, increasing.

        Parameters
        ----------
        objective : ChainCRF
        sensor_of : ndarray of shape (n_features,)
            Sensor that each column of X belongs to, from 0.
        """
        watched: Any = objective
        if self.report is not None:
            watched = _Reporting(objective, sensor_of, self.report)
        L = objective.n_labels
        of_sensor = np.repeat(sensor_of, L) if self.unit == "sensor" else None
        units = Units(objective.n_coordinates, of_sensor)
        if self.direction == "backward":
            path = eliminate(watched, units)
        else:
            settings = Settings(
                self.k,
                backward=self.direction == "both",
                overshoot=0.0,
                epsilon=self.epsilon,
            )
            path = foba(watched, units, settings)
        # the smallest Q of a size: backward steps may come by twice
        return {size: path.best[size].fit for size in sorted(path.best)}


def check_search(search: SensorSearch) -> None:
    """Refuse settings that make no sense."""
    for name, known in (
        ("unit", ("sensor", "feature")),
        ("direction", ("forward", "both", "backward")),
    ):
        if getattr(search, name) not in known:
            raise ShortlistError(
                f"{name} should be one of {', '.join(known)}, got "
                f"{getattr(search, name)!r}"
            )
    if search.direction == "backward" and search.unit == "feature":
        raise ShortlistError(
            "direction='backward' goes with unit='sensor': features are too many to "
            "begin with all"
        )
    if not 0.0 <= search.epsilon < np.inf:
        raise ShortlistError(f"epsilon should be at least 0, got {search.epsilon}")


def eliminate(objective: Any, units: Units) -> Path:
    """Begin with all units and let them leave one by one, cheapest first."""
    left = list(range(units.n_units))
    fit = objective.refit(units.coordinates(left), None)
    path = Path()
    path.add(left, fit)
    while left:
        members, place = units.within(fit.support)
        costs = objective.removal_costs(fit, place)
        left.remove(int(members[np.argmin(costs)]))
        fit = objective.refit(units.coordinates(left), fit)
        path.add(left, fit)
        path.n_backward += 1
    return path


def sensors_of(fit: Fit, n_labels: int, sensor_of: Ints) -> Ints:
    """Sensors that a fit makes use of, increasing."""
    return np.unique(sensor_of[fit.support // n_labels])


class _Reporting:
    """An objective that tells somebody of each refit."""

    def __init__(self, objective: ChainCRF, sensor_of: Ints, report: Report) -> None:
        self._objective, self._sensor_of, self._report = objective, sensor_of, report

    def __getattr__(self, name: str) -> Any:
        return getattr(self._objective, name)

    def refit(self, support: Ints, start: Fit | None = None) -> Fit:
        """Minimise Q over a support, and say how many sensors that has."""
        fit = self._objective.refit(support, start)
        n = len(sensors_of(fit, self._objective.n_labels, self._sensor_of))
        self._report(n, fit.value)
        return fit
