"""Small compiled pieces that every learner of examples shares.

Running totals are one float64 array; the constants below name its places.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shortlist.kernels._jit import kernel
from shortlist.losses import curvature_into, slope_into, value_of

(
    ROWS,  #: examples with a weight above 0
    WEIGHT,  #: sum of their weights
    LOSS,  #: weighted loss before learning from each (test, then train)
    HITS,  #: weighted count of those whose label the margins pointed at
    NORM_ROWS,  #: examples that the mean squared norm is taken over
    NORM_WEIGHT,
    NORM,
    N_TOTALS,
) = range(8)

#: Examples after which the mean squared norm of an example is held fixed.
NORM_FROZEN_AFTER = 1000


def caution_with(loss: Any) -> float:
    """Return 1.0 for a loss whose curvature has no bound, else 0.0.

    A diagonal Newton step is divided by this plus how far it overshoots the example, if
    that is more than 1: a curvature that can be far larger after the step than before it
    (Poisson) calls for implicit steps throughout.
    """
    return 0.0 if type(loss).smoothness < np.inf else 1.0


@kernel
def mean_norm(totals):
    """Mean squared norm of the examples; 1 before there are any."""
    if totals[NORM] > 0.0:
        return totals[NORM] / totals[NORM_WEIGHT]
    return 1.0


@kernel
def count_norm(totals, norm, importance):
    """Take the squared norm of an example into the mean, unless it is fixed by now."""
    if totals[NORM_ROWS] < NORM_FROZEN_AFTER:
        totals[NORM_ROWS] += 1.0
        totals[NORM_WEIGHT] += importance
        totals[NORM] += importance * norm


@kernel
def is_hit(y, z):
    """Whether the margins point at the label: the sign for one, the largest for many."""
    if z.shape[0] == 1:
        return y * z[0] > 0.0
    best = 0
    for c in range(1, z.shape[0]):
        if z[c] > z[best]:
            best = c
    return best == int(y)


@kernel
def ask(loss, y, z, importance, pulls, curvatures):
    """Write what an example asks of each margin: minus the slope, and the curvature.

    Both times the importance. Where a loss has no curvature (hinge, a Huber tail) its
    squared slope stands in, as in a Gauss-Newton step, so that step sizes still fall.
    """
    slope_into(loss, y, z, pulls)
    curvature_into(loss, y, z, curvatures)
    for c in range(z.shape[0]):
        if curvatures[c] == 0.0:
            curvatures[c] = pulls[c] * pulls[c]
        pulls[c] *= -importance
        curvatures[c] *= importance


@kernel
def judge(loss, y, z, importance, totals, pulls, curvatures):
    """Score an example before learning from it, then write what it asks for."""
    totals[ROWS] += 1.0
    totals[WEIGHT] += importance
    totals[LOSS] += importance * value_of(loss, y, z)
    totals[HITS] += importance * is_hit(y, z)
    ask(loss, y, z, importance, pulls, curvatures)


@kernel
def bias_step(rate, bias, scale, pulls, curvatures):
    """Move the biases by steps that shrink as evidence gathers.

    With a rate above 0: AdaGrad, for labels whose scale is known. With rate 0: Newton,
    which for the squared loss is the running mean, whatever the unit of the target.
    """
    for c in range(bias.shape[0]):
        if rate > 0.0:
            scale[c] += pulls[c] * pulls[c]
            bias[c] += rate * pulls[c] / np.sqrt(1.0 + scale[c])
        else:
            scale[c] += curvatures[c]
            bias[c] += pulls[c] / (scale[c] + 1e-3)
