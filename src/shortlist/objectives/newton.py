"""Newton's method for a convex objective restricted to a support.

Each step solves H d = -g, with the exact Hessian if it is small and by conjugate
gradients if it is not, and then looks along d for a point where Q has fallen (Armijo)
and its derivative has at least halved. Looking costs no matrix product: the margins
along d are Z + t dZ. Once the gradient is so small that the method converges
quadratically, full steps are taken until rounding stops them; there the last
factorisation is good enough and is used again.

Gradients are judged in units: parameter j has the length ||a_j|| of its column and the
slopes have a length of their own, so |g_j| / (||a_j|| ||slopes||) is a cosine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shortlist._protocols import Floats
from shortlist.objectives.restricted import Restricted

_EPS = float(np.finfo(np.float64).eps)

# Cosine between slopes and columns below which only rounding is left to gain.
_EXACT = 1e-15
# The same for conjugate gradients, to which a gradient that is mostly rounding is as hard
# as any other: on ISOLET more than half of all products were spent below it, for nothing.
_EXACT_BY_PRODUCTS = 1e-12
# Cosine that counts as a minimum; below it full steps are taken.
_CLOSE = 1e-8
# Least reciprocal condition number, in units, for which Cholesky is trusted.
_TRUSTED = 1e-12
# Part of the gradient outside the range of H that is more than rounding.
_OUTSIDE = 1e-6
# Levenberg's factor: where it starts, and below which it is dropped.
_DAMPING, _NEGLIGIBLE = 0.1, 1e-5


class Minimum(NamedTuple):
    """Where Newton's method ended."""

    theta: Floats
    value: float  #: Q there
    Z: Floats  #: margins there
    g: Floats  #: gradient there
    miss: float  #: largest entry of the gradient, in units

    @property
    def converged(self) -> bool:
        """Whether the gradient vanishes."""
        return self.miss <= _CLOSE


def minimise(
    problem: Restricted,
    theta: Floats,
    *,
    slope_scale: float = 0.0,
    max_iter: int = 100,
    dense_limit: int = 1500,
    tol: float = 0.0,
) -> Minimum:
    """Minimise Q from theta on.

    Parameters
    ----------
    problem : Restricted
    theta : ndarray of shape (n_parameters,)
    slope_scale : float, default=0.0
        Length of the slopes where nothing has been fitted; 0 takes that at theta.
    max_iter : int, default=100
    dense_limit : int, default=1500
        With more parameters than this the Hessian is not formed.
    tol : float, default=0.0
        Cosine between slopes and columns that is small enough to stop.

    Notes
    -----
    Where the Hessian is singular because columns depend on each other, the step of
    least norm is taken. Where the losses have no curvature (Huber's loss far from the
    data, a hinge that no example reaches) so that a part of the gradient lies outside
    the Hessian's range, or where steps turn out far too long, a multiple of the
    columns' Gram matrix is added; it shrinks after full steps and grows after short
    ones (Levenberg).
    """
    unit = problem.lengths * (slope_scale or slope_length(problem, theta))
    unit[unit == 0.0] = 1.0

    def at(theta: Floats) -> Minimum:
        Z = problem.margins(theta)
        g = problem.gradient(theta, problem.slopes(Z))
        miss = float(np.abs(g / unit).max(initial=0.0))
        return Minimum(theta, problem.value(theta, Z), Z, g, miss)

    dense = problem.n_parameters <= dense_limit
    exact = max(tol, _EXACT if dense else _EXACT_BY_PRODUCTS)
    point = at(theta)
    system: _DenseSystem | _ProductSystem | None = None
    damping, fresh = 0.0, False
    for _ in range(max_iter):
        if point.miss <= exact:
            break
        if system is None:
            system = (_DenseSystem if dense else _ProductSystem)(problem, point.Z)
            fresh = True
        if point.miss <= _CLOSE:
            trial = at(point.theta + system.step(point.g, 0.0, point.miss)[0])
            if trial.miss <= 0.5 * point.miss:
                point, fresh = trial, False
                system = system if dense else None
            elif fresh:
                break  # rounding is all that is left
            else:
                system = None
            continue
        d, damping = system.step(point.g, damping, point.miss)
        t = _step_length(problem, point, d)
        if t == 0.0:
            break
        if t < 0.1:
            damping = max(10.0 * damping, 0.01 * _DAMPING)
        elif t >= 0.5:
            damping = 0.1 * damping if damping > _NEGLIGIBLE else 0.0
        point, fresh = at(point.theta + t * d), False
        if point.miss > _CLOSE or not dense:
            system = None
    return point


def slope_length(problem: Restricted, theta: Floats) -> float:
    """Root of the weighted mean square of the slopes at theta."""
    used = problem.weight > 0.0
    G, weight = problem.slopes(problem.margins(theta))[used], problem.weight[used]
    return float(np.sqrt((np.square(G).sum(axis=1) / weight).sum()))


def _step_length(problem: Restricted, point: Minimum, d: Floats) -> float:
    """Find t with Q(t) well below Q(0) and |Q'(t)| <= |Q'(0)| / 2; 0 if there is none.

    Q is convex along d, so Q' brackets the minimum; the bracket [low, high] shrinks by
    regula falsi, kept off its ends. At a kink the bracket closes without such a t, and
    its lower end, where Q has fallen, is the answer.
    """
    dZ = problem.directions(d)
    fall = float(point.g @ d)
    if not fall < 0.0:
        return 0.0
    noise = 8.0 * _EPS * abs(point.value)
    low, low_slope, high, high_slope = 0.0, fall, np.inf, np.inf
    t = 1.0
    for trial in range(100):
        value, slope = problem.along(point.theta, d, point.Z, dZ, t)
        fallen = value <= point.value + 1e-4 * t * fall + noise
        if fallen and abs(slope) <= 0.5 * abs(fall):
            return t
        if fallen and slope < 0.0:
            low, low_slope = t, slope
        else:
            high, high_slope = t, slope
        if high == np.inf:
            if t > 1e12:
                break
            t *= 4.0
        elif high - low <= 4.0 * _EPS * high:
            break
        else:
            part = 0.5  # every third time, and wherever the slopes make no bracket
            if trial % 3 < 2 and 0.0 < high_slope < np.inf:
                part = low_slope / (low_slope - high_slope)
            t = low + (high - low) * min(max(part, 0.05), 0.95)
    return low


class _DenseSystem:
    """H d = -g with the Hessian formed and factorised."""

    def __init__(self, problem: Restricted, Z: Floats) -> None:
        self._problem, self._H = problem, problem.hessian(Z)
        for shift in problem.free_shifts():
            # H is singular along this direction and g has no part in it: any
            # curvature there will do, and the step gets no part in it either
            block = np.ix_(shift, shift)
            self._H[block] += self._H[shift, shift].mean() / len(shift)
        self._curvature = _typical_curvature(problem, np.diag(self._H))
        self._factor = _Factor(self._H, self._floor())

    def step(self, g: Floats, damping: float, miss: float) -> tuple[Floats, float]:
        """Return d and the damping it was computed with."""
        if damping == 0.0:
            d, outside = self._factor.solve(-g)
            if outside <= _OUTSIDE:
                return d, 0.0
        damping = damping or _DAMPING
        H = self._H + damping * self._curvature * self._problem.gram()
        return _Factor(H, self._floor()).solve(-g)[0], damping

    def _floor(self) -> Floats:
        floor: Floats = 1e-8 * self._curvature**0.5 * self._problem.lengths
        return floor


class _Factor:
    """Cholesky factor of a matrix, or its eigenvectors where it is singular."""

    def __init__(self, H: Floats, floor: Floats) -> None:
        from scipy.linalg import cholesky, eigh
        from scipy.linalg.lapack import dpocon

        unit = np.maximum(np.sqrt(np.maximum(np.diag(H), 0.0)), floor)
        unit[unit == 0.0] = 1.0
        self._unit = unit
        scaled = H / np.outer(unit, unit)
        self._lower: Floats | None = None
        try:
            lower = cholesky(scaled, lower=True, check_finite=False)
            norm = np.abs(scaled).sum(axis=0).max(initial=0.0)
            if not len(H) or dpocon(lower, norm, uplo="L")[0] > _TRUSTED:
                self._lower = lower
                return
        except np.linalg.LinAlgError:
            pass
        values, vectors = eigh(scaled, check_finite=False)
        keep = values > 4.0 * len(H) * _EPS * max(values[-1], 1e-300)
        self._values, self._vectors = values[keep], vectors[:, keep]

    def solve(self, b: Floats) -> tuple[Floats, float]:
        """Return the solution, and which part of b (in units) is out of reach."""
        from scipy.linalg import cho_solve

        scaled = b / self._unit
        if self._lower is not None:
            solution = cho_solve((self._lower, True), scaled, check_finite=False)
            return solution / self._unit, 0.0
        inside = self._vectors.T @ scaled
        rest = scaled - self._vectors @ inside
        outside = float(np.linalg.norm(rest) / (np.linalg.norm(scaled) or 1.0))
        return (self._vectors @ (inside / self._values)) / self._unit, outside


class _ProductSystem:
    """H d = -g by conjugate gradients: products with H only."""

    def __init__(self, problem: Restricted, Z: Floats) -> None:
        self._problem, self._Z = problem, Z
        self._diagonal = problem.diagonal(Z)
        self._curvature = _typical_curvature(problem, self._diagonal)

    def step(self, g: Floats, damping: float, miss: float) -> tuple[Floats, float]:
        """Return d and the damping it was computed with."""
        problem = self._problem
        added = damping * self._curvature
        squared = np.square(problem.lengths)
        unit = np.maximum(
            self._diagonal + added * squared, 1e-8 * self._curvature * squared
        )
        unit[unit == 0.0] = 1.0
        d, residual = np.zeros_like(g), -g
        direction = scaled = residual / unit
        rho = float(residual @ scaled)
        # the closer, the more digits the step must have for convergence to speed up; far
        # away a parabola is no good guide, and more digits of its minimum are no gain
        enough = min(0.3, miss**0.5) ** 2 * rho
        for _ in range(min(2 * len(g), 1000)):
            if rho <= enough or rho == 0.0:
                break
            product = problem.product(self._Z, direction)
            if added > 0.0:
                product += added * problem.gram_product(direction)
            curvature = float(direction @ product)
            if curvature <= _EPS * float(direction @ (unit * direction)):
                # flat: if the losses are to blame, damping helps; if the columns are,
                # the gradient has no part in this direction but rounding
                if damping == 0.0 and rho > _OUTSIDE**2 * float(g @ (g / unit)):
                    return self.step(g, _DAMPING, miss)
                break
            d = d + rho / curvature * direction
            residual = residual - rho / curvature * product
            scaled = residual / unit
            rho, before = float(residual @ scaled), rho
            direction = scaled + rho / before * direction
        return (d if d.any() else direction), damping


def _typical_curvature(problem: Restricted, diagonal: Floats) -> float:
    """Largest curvature per squared length; 1 if there is none anywhere."""
    squared = np.square(problem.lengths)
    ratios = diagonal[squared > 0.0] / squared[squared > 0.0]
    return float(ratios.max(initial=0.0)) or 1.0
