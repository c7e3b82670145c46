"""One call for every loss, in Python and inside compiled kernels.

``value(loss, y, z)``, ``slope(loss, y, z)`` and ``curvature(loss, y, z)`` give a
pointwise loss at the margin ``z`` and its first two derivatives in ``z``. In Python they
look the rule up on the loss's class; inside a kernel the class is known when the kernel
is compiled, so the rule is inlined and costs what hand-written code costs.

Kernels that serve losses of one margin and of several alike use the ``*_into`` forms,
which read the margins of an example from an array and write as many numbers, and
``n_margins(loss, n)``, which is the constant 1 for a pointwise loss so that loops over
the margins vanish. ``alone(loss, y, c)`` takes a sum over classes (see ``one_vs_rest``)
apart.
"""

from __future__ import annotations

from typing import Any

from numba.extending import overload

from shortlist._protocols import Floats


def value(loss: Any, y: float, z: float) -> float:
    """Loss of predicting the margin z when the target is y."""
    return float(type(loss).value(loss, y, z))


def slope(loss: Any, y: float, z: float) -> float:
    """First derivative of the loss in z (a subgradient at a kink)."""
    return float(type(loss).slope(loss, y, z))


def curvature(loss: Any, y: float, z: float) -> float:
    """Second derivative of the loss in z (0 where it has none)."""
    return float(type(loss).curvature(loss, y, z))


def response(loss: Any, z: float) -> float:
    """What the margin predicts: a mean, a probability or a rate; else z itself."""
    return float(type(loss).response(loss, z))


@overload(value)
def _value(loss, y, z):  # type: ignore[no-untyped-def]
    return loss.instance_class.value


@overload(slope)
def _slope(loss, y, z):  # type: ignore[no-untyped-def]
    return loss.instance_class.slope


@overload(curvature)
def _curvature(loss, y, z):  # type: ignore[no-untyped-def]
    return loss.instance_class.curvature


@overload(response)
def _response(loss, z):  # type: ignore[no-untyped-def]
    return loss.instance_class.response


def n_margins(loss: Any, n: int) -> int:
    """Return n for a vector loss, the constant 1 for a pointwise one."""
    return n if type(loss).is_vector else 1


@overload(n_margins)
def _n_margins(loss, n):  # type: ignore[no-untyped-def]
    if loss.instance_class.is_vector:
        return lambda loss, n: n
    return lambda loss, n: 1


def is_apart(loss: Any) -> bool:
    """Whether no margin of a loss has to do with another: one margin, or a sum of such."""
    return not type(loss).is_vector or hasattr(type(loss), "binary")


def alone(loss: Any, y: float, c: int) -> tuple[Any, float]:
    """Return the loss of margin c by itself, and its target; all of it if there is none."""
    if hasattr(type(loss), "binary"):
        return type(loss).binary, 1.0 if c == int(y) else -1.0
    return loss, y


@overload(is_apart)
def _is_apart(loss):  # type: ignore[no-untyped-def]
    if loss.instance_class.is_vector and not hasattr(loss.instance_class, "binary"):
        return lambda loss: False
    return lambda loss: True


@overload(alone)
def _alone(loss, y, c):  # type: ignore[no-untyped-def]
    if not hasattr(loss.instance_class, "binary"):
        return lambda loss, y, c: (loss, y)
    binary = type(loss.instance_class.binary)
    return lambda loss, y, c: (binary(), 1.0 if c == int(y) else -1.0)


def value_of(loss: Any, y: float, z: Floats) -> float:
    """Loss of an example with margins z; y is its target (a class code for softmax)."""
    if type(loss).is_vector:
        return float(type(loss).value_of(loss, y, z))
    return value(loss, y, z[0])


def slope_into(loss: Any, y: float, z: Floats, out: Floats) -> None:
    """Write the derivative of ``value_of`` in each margin into out."""
    if type(loss).is_vector:
        type(loss).slope_into(loss, y, z, out)
    else:
        out[0] = slope(loss, y, z[0])


def curvature_into(loss: Any, y: float, z: Floats, out: Floats) -> None:
    """Write the diagonal of the second derivative of ``value_of`` into out."""
    if type(loss).is_vector:
        type(loss).curvature_into(loss, y, z, out)
    else:
        out[0] = curvature(loss, y, z[0])


def response_into(loss: Any, z: Floats, out: Floats) -> None:
    """Write what the margins predict (probabilities for softmax) into out."""
    if type(loss).is_vector:
        type(loss).response_into(loss, z, out)
    else:
        out[0] = response(loss, z[0])


@overload(value_of)
def _value_of_kernel(loss, y, z):  # type: ignore[no-untyped-def]
    if loss.instance_class.is_vector:
        return loss.instance_class.value_of
    return lambda loss, y, z: value(loss, y, z[0])


@overload(slope_into)
def _slope_into_kernel(loss, y, z, out):  # type: ignore[no-untyped-def]
    if loss.instance_class.is_vector:
        return loss.instance_class.slope_into

    def pointwise(loss, y, z, out):  # type: ignore[no-untyped-def]
        out[0] = slope(loss, y, z[0])

    return pointwise


@overload(curvature_into)
def _curvature_into_kernel(loss, y, z, out):  # type: ignore[no-untyped-def]
    if loss.instance_class.is_vector:
        return loss.instance_class.curvature_into

    def pointwise(loss, y, z, out):  # type: ignore[no-untyped-def]
        out[0] = curvature(loss, y, z[0])

    return pointwise


@overload(response_into)
def _response_into_kernel(loss, z, out):  # type: ignore[no-untyped-def]
    if loss.instance_class.is_vector:
        return loss.instance_class.response_into

    def pointwise(loss, z, out):  # type: ignore[no-untyped-def]
        out[0] = response(loss, z[0])

    return pointwise
