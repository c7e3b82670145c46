"""Losses of one margin z = <w, x> + b.

Scale: ``Squared`` and ``SquaredHinge`` carry the factor 1/2. At a kink the slope is the
one of the flatter side, and value, slope and curvature take the same side.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from shortlist.losses._registry import register


@register("squared", "ls", "l2", "gaussian", target="real", smoothness=1.0)
class Squared(NamedTuple):
    """(z - y)^2 / 2, for a real target."""

    @staticmethod
    def value(loss, y, z):  # type: ignore[no-untyped-def]
        return 0.5 * (z - y) * (z - y)

    @staticmethod
    def slope(loss, y, z):  # type: ignore[no-untyped-def]
        return z - y

    @staticmethod
    def curvature(loss, y, z):  # type: ignore[no-untyped-def]
        return 1.0

    @staticmethod
    def response(loss, z):  # type: ignore[no-untyped-def]
        return z


@register("logistic", "log", target="sign", smoothness=0.25, probability=True)
class Logistic(NamedTuple):
    """log(1 + exp(-y z)), y = -1 or +1.

    All by exp(-|z|), which never overflows and is exact on both tails.
    """

    @staticmethod
    def value(loss, y, z):  # type: ignore[no-untyped-def]
        return math.log1p(math.exp(-abs(z))) + max(0.0, -y * z)

    @staticmethod
    def slope(loss, y, z):  # type: ignore[no-untyped-def]
        tail = math.exp(-abs(z))
        return -y * (tail if y * z > 0.0 else 1.0) / (1.0 + tail)

    @staticmethod
    def curvature(loss, y, z):  # type: ignore[no-untyped-def]
        tail = math.exp(-abs(z))
        return tail / ((1.0 + tail) * (1.0 + tail))

    @staticmethod
    def response(loss, z):  # type: ignore[no-untyped-def]
        tail = math.exp(-abs(z))
        return (1.0 if z > 0.0 else tail) / (1.0 + tail)


@register("hinge", "svm", target="sign")
class Hinge(NamedTuple):
    """max(0, 1 - y z), y = -1 or +1."""

    @staticmethod
    def value(loss, y, z):  # type: ignore[no-untyped-def]
        return max(0.0, 1.0 - y * z)

    @staticmethod
    def slope(loss, y, z):  # type: ignore[no-untyped-def]
        return -y if y * z < 1.0 else 0.0 * y

    @staticmethod
    def curvature(loss, y, z):  # type: ignore[no-untyped-def]
        return 0.0

    @staticmethod
    def response(loss, z):  # type: ignore[no-untyped-def]
        return z


@register("squared_hinge", "l2_svm", target="sign", smoothness=1.0)
class SquaredHinge(NamedTuple):
    """max(0, 1 - y z)^2 / 2, y = -1 or +1."""

    @staticmethod
    def value(loss, y, z):  # type: ignore[no-untyped-def]
        short = max(0.0, 1.0 - y * z)
        return 0.5 * short * short

    @staticmethod
    def slope(loss, y, z):  # type: ignore[no-untyped-def]
        return -y * max(0.0, 1.0 - y * z)

    @staticmethod
    def curvature(loss, y, z):  # type: ignore[no-untyped-def]
        return 1.0 if y * z < 1.0 else 0.0

    @staticmethod
    def response(loss, z):  # type: ignore[no-untyped-def]
        return z


@register("huber", target="real", smoothness=1.0)
class Huber(NamedTuple):
    """(z - y)^2 / 2 up to |z - y| = delta, then linear."""

    delta: float = 1.35

    @staticmethod
    def is_sound(loss) -> bool:  # type: ignore[no-untyped-def]
        return bool(loss.delta > 0.0)

    @staticmethod
    def value(loss, y, z):  # type: ignore[no-untyped-def]
        miss = abs(z - y)
        if miss <= loss.delta:
            return 0.5 * miss * miss
        return loss.delta * (miss - 0.5 * loss.delta)

    @staticmethod
    def slope(loss, y, z):  # type: ignore[no-untyped-def]
        return min(loss.delta, max(-loss.delta, z - y))

    @staticmethod
    def curvature(loss, y, z):  # type: ignore[no-untyped-def]
        return 1.0 if abs(z - y) <= loss.delta else 0.0

    @staticmethod
    def response(loss, z):  # type: ignore[no-untyped-def]
        return z


@register("epsilon_insensitive", "svr", target="real")
class EpsilonInsensitive(NamedTuple):
    """max(0, |z - y| - epsilon): misses below epsilon cost nothing."""

    epsilon: float = 0.1

    @staticmethod
    def value(loss, y, z):  # type: ignore[no-untyped-def]
        return max(0.0, abs(z - y) - loss.epsilon)

    @staticmethod
    def slope(loss, y, z):  # type: ignore[no-untyped-def]
        if z - y > loss.epsilon:
            return 1.0
        return -1.0 if y - z > loss.epsilon else 0.0

    @staticmethod
    def curvature(loss, y, z):  # type: ignore[no-untyped-def]
        return 0.0

    @staticmethod
    def response(loss, z):  # type: ignore[no-untyped-def]
        return z


@register("poisson", target="count")
class Poisson(NamedTuple):
    """exp(z) - y z: counts with log link (the term that depends on y alone left out).

    Beyond z = 30, a rate of ten million million, it goes on as its own tangent
    parabola, so that a wild step costs much but never overflows.
    """

    @staticmethod
    def value(loss, y, z):  # type: ignore[no-untyped-def]
        over = max(0.0, z - 30.0)
        return math.exp(z - over) * (1.0 + over + 0.5 * over * over) - y * z

    @staticmethod
    def slope(loss, y, z):  # type: ignore[no-untyped-def]
        over = max(0.0, z - 30.0)
        return math.exp(z - over) * (1.0 + over) - y

    @staticmethod
    def curvature(loss, y, z):  # type: ignore[no-untyped-def]
        return math.exp(min(z, 30.0))

    @staticmethod
    def response(loss, z):  # type: ignore[no-untyped-def]
        return math.exp(min(z, 700.0))
