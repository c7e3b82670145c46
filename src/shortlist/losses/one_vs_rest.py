"""Several classes by a loss that knows two: each class against the rest, added up.

Margins do not interact, so whoever learns by such a loss learns one problem a class, with
the same numbers as if he had them apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from shortlist.losses._dispatch import alone, curvature, response, slope, value
from shortlist.losses._registry import register
from shortlist.losses.pointwise import Hinge, Logistic, SquaredHinge

L = TypeVar("L", bound=type)

_SUMS: dict[type, type] = {}


def one_vs_rest(loss: Any) -> Any:
    """Return the sum over classes of a loss for two of them; None if there is none."""
    found = _SUMS.get(type(loss))
    return None if found is None else found()


def binary_of(loss: Any) -> Any:
    """Return what a loss is a sum of, or the loss itself: who knows one knows both."""
    return getattr(type(loss), "binary", loss)


def _sum_of(binary: Any) -> Callable[[L], L]:
    """Give a class the rules of a sum over classes; ``alone`` reads what of."""

    def decorate(cls: L) -> L:
        loss: Any = cls
        loss.binary = binary
        loss.value_of = staticmethod(_value_of)
        loss.slope_into = staticmethod(_slope_into)
        loss.curvature_into = staticmethod(_curvature_into)
        loss.response_into = staticmethod(_response_into)
        _SUMS[type(binary)] = cls
        return cls

    return decorate


def _value_of(loss, y, z):  # type: ignore[no-untyped-def]
    total = 0.0
    for c in range(len(z)):
        one, sign = alone(loss, y, c)
        total += value(one, sign, z[c])
    return total


def _slope_into(loss, y, z, out):  # type: ignore[no-untyped-def]
    for c in range(len(z)):
        one, sign = alone(loss, y, c)
        out[c] = slope(one, sign, z[c])


def _curvature_into(loss, y, z, out):  # type: ignore[no-untyped-def]
    for c in range(len(z)):
        one, sign = alone(loss, y, c)
        out[c] = curvature(one, sign, z[c])


def _response_into(loss, z, out):  # type: ignore[no-untyped-def]
    for c in range(len(z)):
        one, _ = alone(loss, 0.0, c)
        out[c] = response(one, z[c])


def _shares_into(loss, z, out):  # type: ignore[no-untyped-def]
    total = 0.0
    for c in range(len(z)):
        one, _ = alone(loss, 0.0, c)
        out[c] = response(one, z[c])
        total += out[c]
    for c in range(len(z)):
        # all of them may be too small for a number
        out[c] = out[c] / total if total > 0.0 else 1.0 / len(z)


@register("squared_hinge_ovr", target="class", smoothness=1.0)
@_sum_of(SquaredHinge())
class SquaredHingeOvR(NamedTuple):
    """Sum of max(0, 1 - s_c z_c)^2 / 2, s_c = +1 for class y and -1 for the others."""


@register("hinge_ovr", target="class")
@_sum_of(Hinge())
class HingeOvR(NamedTuple):
    """Sum of max(0, 1 - s_c z_c), s_c = +1 for class y and -1 for the others."""


@register("logistic_ovr", target="class", smoothness=0.25, probability=True)
@_sum_of(Logistic())
class LogisticOvR(NamedTuple):
    """Sum of log(1 + exp(-s_c z_c)), s_c = +1 for class y and -1 for the others.

    Probabilities are those of each class against the rest, divided by their sum.
    """


LogisticOvR.response_into = staticmethod(_shares_into)  # type: ignore[attr-defined]
