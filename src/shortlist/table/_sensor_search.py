"""How sensors are looked for: FoBa over a chain, or elimination from all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import Fit, Ints, ShortlistError
from shortlist.engines import Interrupted
from shortlist.objectives import ChainCRF
from shortlist.table._foba import Path, Settings, Units, foba

# How many of the cheapest sensors are refitted without, to see which one to let go.
_TRIED = 4


class SensorStep(NamedTuple):
    """What somebody who watches a search hears after each refit."""

    fold: int  #: 0: the search in all sequences; from 1: those for held-out errors
    units: int  #: in the model: sensors, or weights with unit="feature"
    sensors: int
    objective: float


Report = Callable[[SensorStep], None]


@dataclass(frozen=True)
class SensorSearch:
    """How to look for sensors; see ``SensorSelector`` for the meaning of each."""

    k: int
    unit: str = "sensor"
    direction: str = "both"
    epsilon: float = 0.0
    report: Report | None = None

    def run(
        self, objective: ChainCRF, sensor_of: Ints, fold: int = 0
    ) -> dict[int, Fit]:
        """Fits by number of units, increasing.

        Parameters
        ----------
        objective : ChainCRF
        sensor_of : ndarray of shape (n_features,)
            Sensor that each column of X belongs to, from 0.
        fold : int, default=0
            What to tell somebody who watches.

        Raises
        ------
        Interrupted
            After Ctrl-C; its ``result`` has the fits that were reached.
        """
        watched: Any = _Watched(objective, self, sensor_of, fold)
        L = objective.n_labels
        of_sensor = np.repeat(sensor_of, L) if self.unit == "sensor" else None
        units = Units(objective.n_coordinates, of_sensor)
        try:
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
        except KeyboardInterrupt:
            raise Interrupted(watched.reached()) from None
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
    epsilon: Any = search.epsilon
    number = isinstance(epsilon, Real)
    if not (number and 0.0 <= epsilon < np.inf):
        raise ShortlistError(f"epsilon should be at least 0, got {epsilon!r}")


def eliminate(objective: Any, units: Units) -> Path:
    """Begin with all units and let them leave one by one, cheapest first.

    Of the few that cost least to set to zero, that is the one that costs least after a
    refit of the others.
    """
    left = list(range(units.n_units))
    fit = objective.refit(units.coordinates(left), None)
    path = Path()
    path.add(left, fit)
    while left:
        members, place = units.within(fit.support)
        costs = objective.zeroing_costs(fit, place)
        cheapest = members[np.argsort(costs, kind="stable")[:_TRIED]].tolist()
        rests = [[other for other in left if other != unit] for unit in cheapest]
        fits = [objective.refit(units.coordinates(rest), fit) for rest in rests]
        best = int(np.argmin([each.value for each in fits]))
        left, fit = rests[best], fits[best]
        path.add(left, fit)
        path.n_backward += 1
    return path


def sensors_of(fit: Fit, n_labels: int, sensor_of: Ints) -> Ints:
    """Sensors that a fit makes use of, increasing."""
    return np.unique(sensor_of[fit.support // n_labels])


class _Watched:
    """An objective that keeps the best fit of each size, and tells somebody of each."""

    def __init__(
        self, objective: ChainCRF, search: SensorSearch, sensor_of: Ints, fold: int
    ) -> None:
        self._objective, self._search = objective, search
        self._sensor_of, self._fold = sensor_of, fold
        self._best: dict[int, Fit] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._objective, name)

    def reached(self) -> dict[int, Fit]:
        """Best fits so far by number of units, increasing."""
        return {size: self._best[size] for size in sorted(self._best)}

    def refit(self, support: Ints, start: Fit | None = None) -> Fit:
        """Minimise Q over a support, and say how large that is."""
        fit = self._objective.refit(support, start)
        sensors = len(sensors_of(fit, self._objective.n_labels, self._sensor_of))
        units = sensors if self._search.unit == "sensor" else len(fit.support)
        if units not in self._best or fit.value < self._best[units].value:
            self._best[units] = fit
        if self._search.report is not None:
            self._search.report(SensorStep(self._fold, units, sensors, fit.value))
        return fit
