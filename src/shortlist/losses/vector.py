"""Losses of several margins at once: one a class, or one an output.

Rules of one loss call each other through the dispatching functions, so that they read
the same in Python and inside a kernel.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from shortlist.losses._dispatch import response_into
from shortlist.losses._registry import register


@register(
    "softmax",
    "multinomial",
    "cross_entropy",
    target="class",
    smoothness=0.25,
    probability=True,
)
class Softmax(NamedTuple):
    """log(sum_c exp(z_c)) - z_y: cross-entropy of class codes y = 0, 1, ...

    Adding a constant to every margin changes nothing (``shift_invariant``). The second
    derivative is diag(p) - p p', with p the shares that ``response_into`` writes.
    """

    @staticmethod
    def value_of(loss, y, z):  # type: ignore[no-untyped-def]
        top = z[0]
        for c in range(1, len(z)):
            top = max(top, z[c])
        total = 0.0
        for c in range(len(z)):
            total += math.exp(z[c] - top)
        return math.log(total) + top - z[int(y)]

    @staticmethod
    def slope_into(loss, y, z, out):  # type: ignore[no-untyped-def]
        response_into(loss, z, out)
        out[int(y)] -= 1.0

    @staticmethod
    def curvature_into(loss, y, z, out):  # type: ignore[no-untyped-def]
        response_into(loss, z, out)
        for c in range(len(z)):
            out[c] *= 1.0 - out[c]

    @staticmethod
    def curvature_product_into(loss, y, z, v, out):  # type: ignore[no-untyped-def]
        response_into(loss, z, out)
        mean = 0.0
        for c in range(len(z)):
            mean += out[c] * v[c]
        for c in range(len(z)):
            out[c] *= v[c] - mean

    @staticmethod
    def response_into(loss, z, out):  # type: ignore[no-untyped-def]
        top = z[0]
        for c in range(1, len(z)):
            top = max(top, z[c])
        total = 0.0
        for c in range(len(z)):
            out[c] = math.exp(z[c] - top)
            total += out[c]
        for c in range(len(z)):
            out[c] /= total


Softmax.shift_invariant = True  # type: ignore[attr-defined]


@register("squared_vector", target="real", smoothness=1.0)
class SquaredVector(NamedTuple):
    """sum_c (z_c - y_c)^2 / 2: several real targets, y a row with one an output."""

    @staticmethod
    def value_of(loss, y, z):  # type: ignore[no-untyped-def]
        total = 0.0
        for c in range(len(z)):
            total += 0.5 * (z[c] - y[c]) * (z[c] - y[c])
        return total

    @staticmethod
    def slope_into(loss, y, z, out):  # type: ignore[no-untyped-def]
        for c in range(len(z)):
            out[c] = z[c] - y[c]

    @staticmethod
    def curvature_into(loss, y, z, out):  # type: ignore[no-untyped-def]
        for c in range(len(z)):
            out[c] = 1.0

    @staticmethod
    def response_into(loss, z, out):  # type: ignore[no-untyped-def]
        for c in range(len(z)):
            out[c] = z[c]
