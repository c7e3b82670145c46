"""Projected gradient descent onto supports of k units: IHT, ITI and PHT in one loop.

From a point w of Q, with gradient g and a step mu, one iteration is

    u = w - mu g,   S = the k units with the largest ||u_S||,   w' = u on S, 0 elsewhere,

and, if asked for, a refit of w' on S. With ``exchange=l`` all but the l smallest units of
the present support stay, so at most l are replaced. The nuisance follows the weights.

Points are measured in units of the columns: ``Units.scale`` times the weights.

References
----------
Blumensath, Davies. Iterative Hard Thresholding for Compressed Sensing. ACHA 2009.
Blumensath, Davies. Normalized Iterative Hard Thresholding. IEEE JSTSP 2010.
Maleki. Coherence Analysis of Iterative Thresholding Algorithms. Allerton 2009.
Jain, Tewari, Dhillon. Partial Hard Thresholding. IEEE Trans. Inf. Theory 2017.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import Fit, Floats, Ints, Objective, ShortlistError
from shortlist.table._foba import Path, Units, gradient_at

# c of normalized IHT: how far below the longest safe step a new support has to stay.
_MARGIN = 0.01
# Times that a step is halved before it counts as none.
_HALVINGS = 60
# Differences of Q that are smaller, relative to it now or at the start, are rounding.
_ROUNDING = 1e-13
# Power iteration ends when the estimate grows by less; L is taken to be this much larger.
_SLACK = 0.01


@dataclass(frozen=True)
class ProjectedSettings:
    """How to descend; see ``ProjectedGradient`` and ``PHT`` for the meaning of each."""

    k: int
    step: str = "normalized"
    step_size: float | str = "auto"
    exchange: int | None = None
    refit: str = "end"
    max_iter: int = 300
    tol: float = 1e-6


class Projected(NamedTuple):
    """Where the descent came by and how it went."""

    path: Path  #: of one size, units that are always in not counted
    values: Floats  #: Q at the start and after each iteration
    converged: bool

    @property
    def n_iter(self) -> int:
        """Number of iterations."""
        return len(self.values) - 1


def project(
    objective: Objective,
    units: Units,
    settings: ProjectedSettings,
    *,
    always: tuple[int, ...] = (),
    never: tuple[int, ...] = (),
) -> Projected:
    """Descend to a support of k units.

    Parameters
    ----------
    objective : Objective
        What to minimise. It may offer ``hessian_times``, for which gradients are
        subtracted otherwise, and ``settle``, without which the nuisance stays as the
        last refit left it.
    units : Units
        What may be selected.
    settings : ProjectedSettings
    always, never : tuple of int
        Units that are in from the start and stay (not counted in k), and units that
        stay out.

    Returns
    -------
    Projected

    Examples
    --------
    >>> from shortlist.objectives import LinearObjective
    >>> from shortlist.table import ProjectedSettings, Units, project
    >>> X = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [2.0, 1.0, 0.0], [1.0, 3.0, 1.0]])
    >>> objective = LinearObjective("squared", X, 2 * X[:, 1])
    >>> project(objective, Units(3), ProjectedSettings(1)).path.best[1].units
    (1,)
    """
    return _Descent(objective, units, settings, always, never).run()


class _Descent:
    def __init__(
        self,
        objective: Any,
        units: Units,
        settings: ProjectedSettings,
        always: tuple[int, ...],
        never: tuple[int, ...],
    ) -> None:
        self.objective, self.units, self.settings = objective, units, settings
        self.always = list(always)
        self.free = np.ones(units.n_units, bool)
        self.free[[*always, *never]] = False
        self.k = min(settings.k, int(self.free.sum()))
        n = objective.n_coordinates
        self.scale = np.ones(n) if units.scale is None else units.scale
        self.chosen: list[int] = []
        self.fit = objective.refit(units.coordinates(self.always), None)
        self.start = abs(self.fit.value)
        self.mu = 1.0
        if settings.step == "fixed":
            self.mu = self._fixed_step()

    def run(self) -> Projected:
        path, values, converged = Path(), [self.fit.value], False
        for _ in range(self.settings.max_iter * (self.k > 0)):
            chosen, fit = self._iterate()
            if not np.isfinite(fit.value):
                raise ShortlistError(
                    f"steps of step_size={self.mu:.3g} are too long: the objective grew "
                    "beyond all bounds; try a smaller one or step='normalized'"
                )
            fell = abs(self.fit.value - fit.value)
            small = self.settings.tol * abs(self.fit.value) * (chosen == self.chosen)
            rounding = _ROUNDING * max(self.start, abs(fit.value))
            self.chosen, self.fit = chosen, fit
            values.append(fit.value)
            path.add(chosen, fit)
            if fell <= max(small, rounding):
                converged = True
                break
        if self.k == 0:
            path.add([], self.fit)
        elif self.settings.refit == "end":
            best = path.best[self.k]
            support = self._support(list(best.units))
            path.add(list(best.units), self.objective.refit(support, best.fit))
        return Projected(path, np.array(values), converged or self.k == 0)

    def _iterate(self) -> tuple[list[int], Fit]:
        """Step, keep the largest, refit if asked; where nothing is lower, stay."""
        g = gradient_at(self.objective, self.fit) / self.scale
        w = self._dense(self.fit)
        normalized = self.settings.step == "normalized"
        home: list[int] = []
        if normalized:
            home = self._home(g)
            self.mu = self._normalized_step(g, home)
        mu = self.mu
        chosen, moved = self._moved(w, g, mu)
        if normalized:
            for _ in range(_HALVINGS):
                known = chosen == home
                if self._is_lower(moved, mu, w, g, known=known):
                    break
                mu /= 2.0
                chosen, moved = self._moved(w, g, mu)
            else:
                return self._stay(w - self.mu * g)
        if self.settings.refit == "every":
            moved = self.objective.refit(moved.support, moved)
            if normalized and not moved.value <= self.fit.value:  # by rounding
                return self._stay(w - self.mu * g)
        return chosen, moved

    def _stay(self, u: Floats) -> tuple[list[int], Fit]:
        """The present point; before there is a support, a refit on the first one."""
        if self.chosen:
            return self.chosen, self.fit
        chosen = self._keep(u)
        return chosen, self.objective.refit(self._support(chosen), self.fit)

    def _moved(self, w: Floats, g: Floats, mu: float) -> tuple[list[int], Fit]:
        """Point after a gradient step, on the support that is kept."""
        with np.errstate(over="ignore", invalid="ignore"):
            u = w - mu * g
            if not np.isfinite(u).all():
                return self.chosen, self.fit._replace(value=np.inf)
            chosen = self._keep(u)
            support = self._support(chosen)
            weights = u[support] / self.scale[support]
            at = Fit(support, weights, self.fit.nuisance, np.nan)
            return chosen, self._settled(at)

    def _keep(self, u: Floats) -> list[int]:
        """The k largest units of a point, of equals the first; few may be new."""
        size = np.where(self.free, self.units.norms(u), -np.inf)
        if self.settings.exchange is not None and self.chosen:
            inside = np.array(self.chosen)
            order = np.argsort(-size[inside], kind="stable")
            size[inside[order[: max(0, self.k - self.settings.exchange)]]] = np.inf
        least = np.partition(size, len(size) - self.k)[len(size) - self.k]
        above, level = np.flatnonzero(size > least), np.flatnonzero(size == least)
        kept = np.concatenate([above, level[: self.k - len(above)]])
        return [int(unit) for unit in np.sort(kept)]

    def _is_lower(
        self, moved: Fit, mu: float, w: Floats, g: Floats, *, known: bool
    ) -> bool:
        """Whether a step is short enough.

        On a support that the step was not made for, normalized IHT asks for
        mu <= (1 - c) ||d||^2 / <d, H d>, with d the way gone. Here <d, H d> / 2 is what Q
        has risen above its tangent, which is the same for least squares and makes Q fall
        for every loss.
        """
        if not moved.value <= self.fit.value:
            return False
        if known:
            return True
        d = self._dense(moved) - w
        above = moved.value - self.fit.value - float(g @ d)
        rounding = _ROUNDING * max(self.start, abs(moved.value))
        allowed = (1.0 - _MARGIN) / (2.0 * mu) * float(d @ d)
        return bool(above <= allowed + rounding)

    def _home(self, g: Floats) -> list[int]:
        """Units that a normalized step is made for.

        The support, or, where Q is minimal on it, the units that would come in.
        """
        if self.chosen and self.settings.refit != "every":
            return self.chosen
        size = np.where(self.free, self.units.norms(g), -np.inf)
        n_new = min(self.k, (self.chosen and self.settings.exchange) or self.k)
        return sorted(np.argsort(-size, kind="stable")[:n_new].tolist())

    def _normalized_step(self, g: Floats, home: list[int]) -> float:
        """||g_S||^2 / <g_S, H g_S>: the best step along the gradient on S."""
        support = self._support(home)
        d = g[support]
        bend = float(d @ self._curved(support, d))
        # where Q is flat any step may do: it is halved until Q falls
        return float(d @ d) / bend if bend > 0.0 else self.mu

    def _fixed_step(self) -> float:
        """The step asked for, or 1 / L with L the largest curvature at the start."""
        if not isinstance(self.settings.step_size, str):
            return float(self.settings.step_size)
        may = self.free.copy()
        may[self.always] = True
        support = self.units.coordinates(np.flatnonzero(may).tolist())
        v = np.random.default_rng(0).normal(size=len(support))
        largest = 0.0
        for _ in range(100):
            v = self._curved(support, v / (np.linalg.norm(v) or 1.0))
            before, largest = largest, float(np.linalg.norm(v))
            if largest <= before * (1.0 + 0.1 * _SLACK):
                break
        return 1.0 / ((1.0 + _SLACK) * largest) if largest > 0.0 else 1.0

    def _curved(self, support: Ints, direction: Floats) -> Floats:
        """Second derivative of Q within a support, times a direction on it."""
        scale = self.scale[support]
        d = direction / scale
        if hasattr(self.objective, "hessian_times"):
            product = self.objective.hessian_times(self.fit, support, d)
            return np.asarray(product / scale)
        w = self._dense(self.fit) / self.scale
        h = 1e-4 * max(1.0, np.abs(w).max()) / (np.abs(d).max(initial=0.0) or 1.0)
        w[support] += h * d
        moved = Fit(np.arange(len(w)), w, self.fit.nuisance, np.nan)
        rise = self.objective.gradient(moved) - self.objective.gradient(self.fit)
        return np.asarray(rise[support] / (h * scale))

    def _settled(self, fit: Fit) -> Fit:
        if hasattr(self.objective, "settle"):
            settled: Fit = self.objective.settle(fit)
            return settled
        return fit._replace(value=float(self.objective.value(fit)))

    def _support(self, chosen: list[int]) -> Ints:
        return self.units.coordinates([*self.always, *chosen])

    def _dense(self, fit: Fit) -> Floats:
        """Weights of all coordinates, in units of the columns."""
        w = np.zeros(len(self.scale))
        w[fit.support] = fit.weights * self.scale[fit.support]
        return w


def check_projected(settings: ProjectedSettings) -> None:
    """Refuse settings that make no sense."""
    for name, known in (
        ("step", ("normalized", "fixed")),
        ("refit", ("never", "every", "end")),
    ):
        if getattr(settings, name) not in known:
            words = ", ".join(map(repr, known))
            raise ShortlistError(
                f"{name} should be one of {words}, got {getattr(settings, name)!r}"
            )
    size = settings.step_size
    if size != "auto" and not (isinstance(size, Real) and 0.0 < size < math.inf):
        raise ShortlistError(f"step_size should be above 0 or 'auto', got {size!r}")
    for name in ("exchange", "max_iter"):
        count = getattr(settings, name)
        whole = isinstance(count, Integral) and not isinstance(count, bool)
        if count is not None and not (whole and count >= 1):
            raise ShortlistError(
                f"{name} should be a whole number from 1, got {count!r}"
            )
    if not 0.0 <= settings.tol < math.inf:
        raise ShortlistError(f"tol should be at least 0 and finite, got {settings.tol}")
