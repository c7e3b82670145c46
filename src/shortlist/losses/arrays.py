"""Losses of many examples at once: compiled loops over arrays.

Shapes are the same everywhere: ``y`` is (n,), or (n, C) for a loss whose target is a
row; ``Z`` holds the margins as a C-contiguous (n, C) array of float64 (C = 1 for a
pointwise loss); ``weight`` is (n,). An example of weight 0 is never looked at, so
whatever its margins are (infinite, even) it adds nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

from shortlist._protocols import Floats
from shortlist.kernels._jit import kernel
from shortlist.losses._dispatch import (
    curvature,
    curvature_into,
    slope,
    slope_into,
    value,
    value_of,
)


def curvature_product_into(
    loss: Any, y: Any, z: Floats, v: Floats, out: Floats
) -> None:
    """Write the second derivative of the loss at the margins z, times v, into out.

    A vector loss whose margins interact has a rule ``curvature_product_into``; without
    one the second derivative is taken to be its diagonal.
    """
    if hasattr(type(loss), "curvature_product_into"):
        type(loss).curvature_product_into(loss, y, z, v, out)
    else:
        curvature_into(loss, y, z, out)
        out *= v


@overload(curvature_product_into)
def _curvature_product_into_kernel(loss, y, z, v, out):  # type: ignore[no-untyped-def]
    if hasattr(loss.instance_class, "curvature_product_into"):
        return loss.instance_class.curvature_product_into

    def diagonal(loss, y, z, v, out):  # type: ignore[no-untyped-def]
        curvature_into(loss, y, z, out)
        for c in range(len(out)):
            out[c] *= v[c]

    return diagonal


@kernel
def total_loss(loss, y, Z, weight):  # type: ignore[no-untyped-def]
    """Sum of the losses, each times its weight.

    Compensated, so that the rounding of many nearly equal terms does not add up: line
    searches compare totals that differ in their last digits.
    """
    total, lost = 0.0, 0.0
    for i in range(Z.shape[0]):
        if weight[i] != 0.0:
            term = weight[i] * value_of(loss, y[i], Z[i]) - lost
            moved = total + term
            lost = (moved - total) - term
            total = moved
    return total


@kernel
def mean_loss(loss, y, Z, weight):  # type: ignore[no-untyped-def]
    """Weighted mean of the losses."""
    return total_loss(loss, y, Z, weight) / weight.sum()


@kernel
def slopes_into(loss, y, Z, weight, out):  # type: ignore[no-untyped-def]
    """Write into out, of the shape of Z, the weighted derivative in each margin."""
    for i in range(Z.shape[0]):
        if weight[i] != 0.0:
            slope_into(loss, y[i], Z[i], out[i])
            for c in range(out.shape[1]):
                out[i, c] *= weight[i]
        else:
            for c in range(out.shape[1]):
                out[i, c] = 0.0


@kernel
def curvatures_into(loss, y, Z, weight, out):  # type: ignore[no-untyped-def]
    """Write into out, of the shape of Z, the weighted diagonal second derivative."""
    for i in range(Z.shape[0]):
        if weight[i] != 0.0:
            curvature_into(loss, y[i], Z[i], out[i])
            for c in range(out.shape[1]):
                out[i, c] *= weight[i]
        else:
            for c in range(out.shape[1]):
                out[i, c] = 0.0


@kernel
def bend_straight_parts(loss, y, Z, curvatures):  # type: ignore[no-untyped-def]
    """Where a loss slopes but has no curvature, give it that of a parabola.

    It has the value and the slope of the loss there, and its minimum is 0, so far away,
    where a model errs by much, it is flat. For margins Z of shape (n, 1).
    """
    slopes = np.empty(1)
    for i in range(Z.shape[0]):
        if curvatures[i, 0] == 0.0:
            slope_into(loss, y[i], Z[i], slopes)
            height = value_of(loss, y[i], Z[i])
            if height > 0.0:
                curvatures[i, 0] = slopes[0] * slopes[0] / (2.0 * height)


@kernel
def curvature_products_into(loss, y, Z, V, weight, out):  # type: ignore[no-untyped-def]
    """Write into row i of out the weighted second derivative of loss i, times V[i]."""
    for i in range(Z.shape[0]):
        if weight[i] != 0.0:
            curvature_product_into(loss, y[i], Z[i], V[i], out[i])
            for c in range(out.shape[1]):
                out[i, c] *= weight[i]
        else:
            for c in range(out.shape[1]):
                out[i, c] = 0.0


@kernel
def loss_along(loss, y, Z, dZ, t, weight):  # type: ignore[no-untyped-def]
    """Total loss at Z + t dZ, and its derivative in t; compensated sums, as above."""
    C = Z.shape[1]
    z, slope = np.empty(C), np.empty(C)
    total, rate, lost, lost_rate = 0.0, 0.0, 0.0, 0.0
    for i in range(Z.shape[0]):
        if weight[i] != 0.0:
            for c in range(C):
                z[c] = Z[i, c] + t * dZ[i, c]
            term = weight[i] * value_of(loss, y[i], z) - lost
            moved = total + term
            lost = (moved - total) - term
            total = moved
            slope_into(loss, y[i], z, slope)
            for c in range(C):
                term = weight[i] * slope[c] * dZ[i, c] - lost_rate
                moved = rate + term
                lost_rate = (moved - rate) - term
                rate = moved
    return total, rate


@kernel
def descend_alone(loss, y, z, weight, rows, start):  # type: ignore[no-untyped-def]
    """Decrease of the total pointwise loss, moving along each of some columns alone.

    ``rows[j]`` is column j; ``start[j]`` its present weight w and penalty l2, so that
    moving by t costs l2 ((w + t)^2 - w^2) / 2. Newton's method looks for the root of the
    derivative; where a step would leave the interval known to hold the root, or is not
    half as long as the one before the last, the interval is halved instead.
    """
    out = np.zeros(rows.shape[0])
    for j in range(rows.shape[0]):
        w, l2 = start[j, 0], start[j, 1]
        t, low, high = 0.0, -np.inf, np.inf
        first, longest = 0.0, 0.0
        last, older = np.inf, np.inf
        for trial in range(60):
            rate, bend, square = l2 * (w + t), l2, 0.0
            for i in range(z.shape[0]):
                if weight[i] != 0.0:
                    x = rows[j, i]
                    at = z[i] + t * x
                    rate += weight[i] * slope(loss, y[i], at) * x
                    bend += weight[i] * curvature(loss, y[i], at) * x * x
                    square += weight[i] * x * x
            if trial == 0:
                first = abs(rate)
                longest = 100.0 * first / square if square > 0.0 else 0.0
            # the decrease is then known to the square of this
            if abs(rate) <= 1e-7 * first:
                break
            if rate < 0.0 or (t < 0.0 and not abs(rate) < np.inf):
                low = t
            else:
                high = t
            moved = t - rate / bend
            if not abs(moved - t) <= longest:  # no curvature to speak of
                moved = t - longest if rate > 0.0 else t + longest
                longest *= 2.0
            slow = high - low < np.inf and abs(moved - t) > 0.5 * older
            if slow or not low < moved < high:
                moved = 0.5 * (low + high)
            if not low < moved < high:
                break
            last, older = abs(moved - t), last
            t = moved
        gained = -0.5 * l2 * ((w + t) ** 2 - w * w)
        for i in range(z.shape[0]):
            if weight[i] != 0.0:
                at = z[i] + t * rows[j, i]
                gained -= weight[i] * (value(loss, y[i], at) - value(loss, y[i], z[i]))
        out[j] = max(0.0, gained)
    return out
