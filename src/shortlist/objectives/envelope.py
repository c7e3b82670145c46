"""Losses with kinks: made smooth by their Moreau envelope, and minimised exactly.

The envelope of a convex loss with radius r,

    envelope(v) = min_z  loss(z) + (z - v)^2 / (2 r),

is smooth, has curvature 1/r where the minimiser z sits on a kink, and needs nothing of
the loss but its slope: z + r slope(z) = v is monotone in z, so bisection finds it.

Minimising the envelopes alone would give an approximation. The method of multipliers
makes it exact: with z_i as variables of their own, tied to the margins by multipliers
u_i, minimising over z leaves the envelopes of the margins moved by r u_i, and the
slopes found there are the next multipliers. They end up as the subgradients that make
Q stationary, and r never has to go to zero.
"""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import Floats
from shortlist.kernels._jit import kernel
from shortlist.losses import curvature, slope, value
from shortlist.objectives.newton import Minimum, minimise
from shortlist.objectives.restricted import Restricted

_MAX_ROUNDS = 100
# Margins may miss the z they are tied to by this much, relative to their spread.
_TIED = 1e-10


class Envelope(NamedTuple):
    """Moreau envelope of a pointwise loss; itself a pointwise loss."""

    inner: Any
    radius: float

    @staticmethod
    def value(loss, y, z):  # type: ignore[no-untyped-def]
        """Smallest loss plus squared distance."""
        nearest, _ = proximal(loss, y, z)
        return value(loss.inner, y, nearest) + (z - nearest) ** 2 / (2.0 * loss.radius)

    @staticmethod
    def slope(loss, y, z):  # type: ignore[no-untyped-def]
        """Slope of the loss at the minimiser, a subgradient if that is a kink."""
        nearest, _ = proximal(loss, y, z)
        return (z - nearest) / loss.radius

    @staticmethod
    def curvature(loss, y, z):  # type: ignore[no-untyped-def]
        """1/r on a kink, else h / (1 + r h) with h the loss's own curvature."""
        nearest, kink = proximal(loss, y, z)
        if kink:
            return 1.0 / loss.radius
        h = curvature(loss.inner, y, nearest)
        return h / (1.0 + loss.radius * h)


# Dispatch asks this of every loss; registering sets it for those that have a name.
Envelope.is_vector = False  # type: ignore[attr-defined]


@kernel
def proximal(loss, y, v):  # type: ignore[no-untyped-def]
    """Minimiser of loss.inner(z) + (z - v)^2 / (2 radius), and whether it is a kink."""
    step = v - loss.radius * slope(loss.inner, y, v)
    # the minimiser lies between v and step, since slopes increase with z
    low, high = min(v, step), max(v, step)
    if slope(loss.inner, y, low) == slope(loss.inner, y, high):
        return step, False
    middle = 0.5 * (low + high)
    for _ in range(100):  # 53 halvings, and some for a kink at zero
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        if middle + loss.radius * slope(loss.inner, y, middle) < v:
            low = middle
        else:
            high = middle
    jump = slope(loss.inner, y, high) - slope(loss.inner, y, low)
    return middle, jump > 1e-6 * (abs(v - middle) / loss.radius)


def minimise_with_kinks(problem: Restricted, theta: Floats, **options: Any) -> Minimum:
    """Minimise Q for a pointwise loss with kinks, by the method of multipliers.

    ``options`` are those of ``newton.minimise``, which solves each round.
    """
    smooth, spread = copy(problem), _spread(problem)
    weight = problem.weight[:, np.newaxis]
    multipliers = np.zeros_like(weight)
    radius = spread
    for _ in range(_MAX_ROUNDS):
        smooth.loss = Envelope(problem.loss, radius)
        smooth.offset = radius * multipliers
        found = minimise(smooth, theta, **options)
        theta, before = found.theta, multipliers
        slopes = smooth.slopes(found.Z)
        multipliers = np.divide(
            slopes, weight, out=np.zeros_like(slopes), where=weight > 0.0
        )
        # how far the margins are from the z that they are tied to
        gap = radius * float(np.abs(multipliers - before).max())
        if gap <= _TIED * spread:
            break
        # a smaller radius makes the multipliers converge faster and each round harder
        radius = max(0.2 * radius, 1e-5 * spread)
    Z = problem.margins(theta)
    return found._replace(value=problem.value(theta, Z), Z=Z)


def _spread(problem: Restricted) -> float:
    """Distance over which the loss changes: 1 for signs, the deviation of real y."""
    if type(problem.loss).target == "sign":
        return 1.0
    mean = problem.weight @ problem.y
    return float(np.sqrt(problem.weight @ np.square(problem.y - mean))) or 1.0
