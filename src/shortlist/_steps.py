"""Small compiled pieces that every learner of examples shares.

Running totals are one float64 array; the constants below name its places.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shortlist.kernels._jit import counted, uncounted
from shortlist.losses import alone, curvature_into, is_apart, slope_into, value_of

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

# Change of margins within which curvatures are taken to be the same.
_SHORT = 1.0
# Stiffness of a bias that has seen nothing yet.
_SLACK = 1e-9

#: Examples after which the mean squared norm of an example is held fixed.
NORM_FROZEN_AFTER = 1000


def is_cautious(loss: Any) -> bool:
    """Whether a loss calls for implicit steps: its curvature has no bound.

    It may be far larger after a step than before it (Poisson, or where a hinge bends),
    so that what the curvature says here tells little about how far to go.
    """
    return not type(loss).smoothness < np.inf


@uncounted
def mean_norm(totals):
    """Mean squared norm of the examples; 1 before there are any."""
    if totals[NORM] > 0.0:
        return totals[NORM] / totals[NORM_WEIGHT]
    return 1.0


@uncounted
def count_norm(totals, norm, importance):
    """Take the squared norm of an example into the mean, unless it is fixed by now."""
    if totals[NORM_ROWS] < NORM_FROZEN_AFTER:
        totals[NORM_ROWS] += 1.0
        totals[NORM_WEIGHT] += importance
        totals[NORM] += importance * norm


@uncounted
def is_hit(y, z):
    """Whether the margins point at the label: the sign for one, the largest for many."""
    if z.shape[0] == 1:
        return y * z[0] > 0.0
    best = 0
    for c in range(1, z.shape[0]):
        if z[c] > z[best]:
            best = c
    return best == int(y)


@uncounted
def ask(loss, y, z, importance, pulls, curvatures):
    """Write what an example asks of each margin: minus the slope, and the curvature.

    Both times the importance. Where a loss has no curvature (hinge, a Huber tail) that
    of the parabola with its slope whose minimum is 0 stands in, slope^2 / (2 value), so
    that step sizes still fall, in the unit of the target; at most the squared slope.
    """
    slope_into(loss, y, z, pulls)
    curvature_into(loss, y, z, curvatures)
    for c in range(z.shape[0]):
        if curvatures[c] == 0.0 and pulls[c] != 0.0:
            one, target = alone(loss, y, c)
            value = value_of(one, target, z[c : c + 1] if is_apart(loss) else z)
            curvatures[c] = pulls[c] * pulls[c] / max(1.0, 2.0 * value)
        pulls[c] *= -importance
        curvatures[c] *= importance


@uncounted
def judge(loss, y, z, importance, totals, pulls, curvatures):
    """Score an example before learning from it, then write what it asks for."""
    totals[ROWS] += 1.0
    totals[WEIGHT] += importance
    totals[LOSS] += importance * value_of(loss, y, z)
    totals[HITS] += importance * is_hit(y, z)
    ask(loss, y, z, importance, pulls, curvatures)


@uncounted
def curvatures_on_the_way(loss, y, z, bias, importance, room, means):
    """Raise curvatures to their average over the way from the bias alone to the margins z.

    ``means`` comes with those at z, times the importance; by Simpson's rule. Where
    features tell classes apart for sure the curvature at z is nearly 0, and a weight over
    an error that goes by it looks like noise (Hauck and Donner, 1977). The mean says what
    there was to learn: the square of the weight times it is about what the loss has
    fallen by, twice.
    """
    is_short = True
    for c in range(z.shape[0]):
        is_short = is_short and abs(z[c] - bias[c]) < _SHORT
    if is_short:
        return
    start, half_way, middle = room[0], room[1], room[2]
    curvature_into(loss, y, bias, start)
    for c in range(z.shape[0]):
        half_way[c] = 0.5 * (bias[c] + z[c])
    curvature_into(loss, y, half_way, middle)
    for c in range(z.shape[0]):
        others = importance * (start[c] + 4.0 * middle[c])
        means[c] = max(means[c], (means[c] + others) / 6.0)


@counted
def balance(loss, y, z, importance, stiffness):
    """How far an example pulls its margin against a spring, for losses of one margin.

    The root t of importance * slope(y, z + t) + stiffness * t, which is the minimum of
    importance * loss(y, z + t) + stiffness t^2 / 2: an implicit step. It lies between 0
    and where the pull at z would end if it stayed constant; Newton's method within that
    interval, halved where Newton's steps leave it or do not shrink it.
    """
    at, slope, bend = z.copy(), np.empty(1), np.empty(1)
    slope_into(loss, y, at, slope)
    end = -importance * slope[0] / stiffness
    low, high = min(0.0, end), max(0.0, end)
    t = 0.0
    for _ in range(100):
        at[0] = z[0] + t
        slope_into(loss, y, at, slope)
        curvature_into(loss, y, at, bend)
        rate = importance * slope[0] + stiffness * t
        if rate == 0.0:
            break
        if rate < 0.0:
            low = t
        else:
            high = t
        width = high - low
        moved = t - rate / (importance * bend[0] + stiffness)
        if not low < moved < high or abs(moved - t) > 0.5 * width:
            moved = 0.5 * (low + high)
        if abs(moved - t) <= 1e-14 * (abs(z[0]) + abs(t)) or not low < moved < high:
            break
        t = moved
    return t


@counted
def step_implicitly(loss, example, give, z, pulls, curvatures):
    """Let pulls and curvatures be those of implicit steps, in place; as ``shorten``."""
    y, importance = example
    bend = np.empty(1)
    for c in range(z.shape[0]):
        if give[c] > 0.0 and pulls[c] != 0.0:
            one, target = alone(loss, y, c)
            here = z[c : c + 1]
            t = balance(one, target, here, importance, 1.0 / give[c])
            pulls[c] = t / give[c]
            curvature_into(one, target, here + t, bend)
            if bend[0] > 0.0:
                curvatures[c] = importance * bend[0]


@uncounted
def shorten(loss, example, cautious, give, z, pulls, curvatures):
    """Shorten pulls that would carry the margins too far, in place.

    ``give[c]`` is how far margin c goes per unit of pull. Where the curvature has a bound
    a pull is divided by how many times too far it would go; a cautious loss takes the
    implicit step, and reports the curvature where that ends, if it has one there.
    """
    if cautious and is_apart(loss):
        step_implicitly(loss, example, give, z, pulls, curvatures)
        return
    for c in range(z.shape[0]):
        pulls[c] /= max(1.0, curvatures[c] * give[c])


@uncounted
def bias_step(loss, example, rate, bias, scale, z, pulls, curvatures):
    """Move the biases, by steps that shrink as evidence gathers.

    With a rate above 0: AdaGrad, for labels whose scale is known; weights step from
    where the margins were. With rate 0 an implicit step, whatever the unit of the target:
    of the squared loss it makes the running mean, and the first example is matched. The
    margins go with it, so that what weights are asked for is only what the bias leaves:
    otherwise a target far from zero would be put on the features of its first rows.
    An example is its label and its importance.
    """
    y, importance = example
    if rate > 0.0:
        for c in range(bias.shape[0]):
            scale[c] += pulls[c] * pulls[c]
            bias[c] += rate * pulls[c] / np.sqrt(1.0 + scale[c])
        return
    for c in range(bias.shape[0]):
        if bias.shape[0] == 1:
            move = balance(loss, y, z, importance, scale[0] + _SLACK)
        else:
            move = pulls[c] / (scale[c] + curvatures[c] + _SLACK)
        scale[c] += curvatures[c]
        bias[c] += move
        z[c] += move
    ask(loss, y, z, importance, pulls, curvatures)
