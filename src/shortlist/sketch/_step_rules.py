"""Three ways in which MISSION's weights may step, and what a sketch holds for each.

* gradient: w_j -= rate * slope * x_j, damped by the curvature along the example (an
  implicit step to first order, or exactly where curvatures have no bound, so that no
  loss needs a learning rate of its own);
* newton: w_j -= slope * x_j / (n_j + h x_j^2 + ridge), where n_j, the information
  h x_j^2 collected so far, lives beside the weights; shortened where all the steps
  together would overshoot;
* natural: the same step, but what is stored is beta_j = w_j (n_j + ridge), which a step
  changes by -slope * x_j + h x_j^2 w_j. Such sums of two runs can be added.

All in units in which no value of a feature has exceeded 1, if scales s_j are kept: a
gradient is divided by s_j^2, a ridge multiplied by it.

A way to step is a class, as a loss is: kernels are compiled for the one that is used, and
contain nothing of the others.
"""

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from shortlist.kernels._jit import kernel
from shortlist.kernels.block_sketch import (
    add_and_inform,
    add_located,
    inform,
    information_at,
    medians,
    medians_and_information,
    ratios,
)
from shortlist.losses import n_margins

# Without counts of references, which would cost as much as the work on a short example.
_inlined = kernel(_nrt=False, forceinline=True)
_U1, _U2, _U3 = np.uint64(1), np.uint64(2), np.uint64(3)


def _by_step(function):
    """Let the class of its first argument say what a function does, by the same name."""
    name = function.__name__

    @overload(function, strict=False, jit_options={"forceinline": True, "_nrt": False})
    def of_class(step, *_arguments):
        return getattr(step.instance_class, name)

    return function


def is_informed(step):
    """Whether steps go by the information collected so far."""
    return type(step).informed


def is_stacked(step):
    """Whether what is stored are sums that can be added, and do not depend on scales."""
    return type(step).stacked


@overload(is_informed)
def _is_informed(step):
    answer = step.instance_class.informed
    return lambda step: answer


@overload(is_stacked)
def _is_stacked(step):
    answer = step.instance_class.stacked
    return lambda step: answer


@_by_step
def read_weights(step, loss, sketch, places, ridge, room):
    """Read weights, and information if steps need it, of the features of an example."""
    type(step).read_weights(step, loss, sketch, places, ridge, room)


@_by_step
def kept_share(step, known, ridge, was, square):
    """What part of a weight stays when its scale grows from ``was`` to root of ``square``.

    A sum of newton steps is about beta / (n + ridge s^2), one of plain steps beta / s^2,
    and it is beta that does not depend on s.
    """
    return type(step).kept_share(step, known, ridge, was, square)


@_by_step
def give_into(step, loss, sketch, places, units, room, give):
    """Write how far the steps together move each margin, for each unit of pull.

    ``units`` are the squared norm of the example, the mean of all such, and the ridge.
    """
    type(step).give_into(step, loss, sketch, places, units, room, give)


@_by_step
def step_along(step, loss, sketch, c, places, asked, units, room):
    """Step, at margin c, along the example; leave the scores before and after in ``room``.

    ``asked`` are the pull, its curvature, and whether it is a step that was shortened.
    """
    type(step).step_along(step, loss, sketch, c, places, asked, units, room)


@_by_step
def score_of(step, weight, known, scale, square, ridge):
    """By what features rank: the square of |s w| or of |s w| (n / s^2 + ridge)^(1/4)."""
    return type(step).score_of(step, weight, known, scale, square, ridge)


@_inlined
def total(terms, n):
    """Sum of the first n terms, in four parts: additions need not wait for another."""
    a = b = c = d = 0.0
    whole = n - n % 4
    for t in range(0, whole, 4):
        # unsigned: spares tests for negative places, and the four load as one
        u = np.uint64(t)
        a += terms[u]
        b += terms[u + _U1]
        c += terms[u + _U2]
        d += terms[u + _U3]
    for t in range(whole, n):
        a += terms[t]
    return (a + b) + (c + d)


class Gradient(NamedTuple):
    """Plain steps."""

    informed, stacked = False, False

    @staticmethod
    def read_weights(step, loss, sketch, places, ridge, room):
        medians(sketch, n_margins(loss, sketch.n_margins), places, room.weights)

    @staticmethod
    def kept_share(step, known, ridge, was, square):
        return was * was / square

    @staticmethod
    def give_into(step, loss, sketch, places, units, room, give):
        norm, mean, _ = units
        for c in range(n_margins(loss, sketch.n_margins)):
            give[c] = norm / mean

    @staticmethod
    def step_along(step, loss, sketch, c, places, asked, units, room):
        x, squares, weights, n = room.x, room.squares, room.weights[c], places.shape[0]
        steps, before, scores = room.steps, room.before, room.scores
        pull, curvature, is_short = asked
        norm, mean, _ = units
        pull = np.float32(pull / mean if is_short else pull / (mean + curvature * norm))
        for t in range(n):
            steps[t] = pull * x[t] / squares[t]
            moved = weights[t] + steps[t]
            before[t] = weights[t] * weights[t] * squares[t]
            scores[t] = moved * moved * squares[t]
        add_located(sketch, n_margins(loss, sketch.n_margins), places, c, steps)

    @staticmethod
    def score_of(step, weight, known, scale, square, ridge):
        return weight * weight * square


@_inlined
def _newton_give(loss, sketch, places, ridge, room, give):
    """How far newton steps move margins, by the information that ``room`` holds."""
    x, squares, terms = room.x, room.squares, room.terms
    ridge = np.float32(ridge)
    for c in range(n_margins(loss, sketch.n_margins)):
        known = room.known[c]
        for t in range(places.shape[0]):
            terms[t] = x[t] * x[t] / (known[t] + ridge * squares[t])
        give[c] = total(terms, places.shape[0])


@_inlined
def _newton_steps(c, places, asked, units, room):
    """Leave diagonal newton steps in ``room``, and for information what it grows by."""
    x, squares, weights, n = room.x, room.squares, room.weights[c], places.shape[0]
    steps, known, scales = room.steps, room.known[c], room.scales
    before, scores = room.before, room.scores
    e, h, ridge = np.float32(asked[0]), np.float32(asked[1]), np.float32(units[2])
    for t in range(n):
        new = h * x[t] * x[t]
        stiff = known[t] + ridge * squares[t]
        before[t] = weights[t] * weights[t] * scales[t] * np.sqrt(stiff)
        stiff += new
        known[t] = new
        steps[t] = e * x[t] / stiff
        moved = weights[t] + steps[t]
        scores[t] = moved * moved * scales[t] * np.sqrt(stiff)


@_inlined
def _informed_score(weight, known, scale, square, ridge):
    return weight * weight * scale * np.sqrt(known + ridge * square)


class Newton(NamedTuple):
    """Steps by the information so far."""

    informed, stacked = True, False

    @staticmethod
    def read_weights(step, loss, sketch, places, ridge, room):
        margins = n_margins(loss, sketch.n_margins)
        medians_and_information(sketch, margins, places, room.weights, room.known)

    @staticmethod
    def kept_share(step, known, ridge, was, square):
        return (known + ridge * was * was) / (known + ridge * square)

    @staticmethod
    def give_into(step, loss, sketch, places, units, room, give):
        _newton_give(loss, sketch, places, units[2], room, give)

    @staticmethod
    def step_along(step, loss, sketch, c, places, asked, units, room):
        _newton_steps(c, places, asked, units, room)
        margins = n_margins(loss, sketch.n_margins)
        add_and_inform(sketch, margins, places, c, room.steps, room.known[c])

    @staticmethod
    def score_of(step, weight, known, scale, square, ridge):
        return _informed_score(weight, known, scale, square, ridge)


class Natural(NamedTuple):
    """The same steps, stored as sums."""

    informed, stacked = True, True

    @staticmethod
    def read_weights(step, loss, sketch, places, ridge, room):
        terms = room.terms
        for t in range(places.shape[0]):
            terms[t] = ridge * room.squares[t]
        ratios(sketch, n_margins(loss, sketch.n_margins), places, terms, room.weights)

    @staticmethod
    def kept_share(step, known, ridge, was, square):
        return np.float32(1.0)

    @staticmethod
    def give_into(step, loss, sketch, places, units, room, give):
        margins = n_margins(loss, sketch.n_margins)
        for c in range(margins):
            information_at(sketch, margins, places, c, room.known[c])
        _newton_give(loss, sketch, places, units[2], room, give)

    @staticmethod
    def step_along(step, loss, sketch, c, places, asked, units, room):
        _newton_steps(c, places, asked, units, room)
        x, weights, steps, known = room.x, room.weights[c], room.steps, room.known[c]
        pull = np.float32(asked[0])
        for t in range(places.shape[0]):
            steps[t] = pull * x[t] + known[t] * weights[t]
        margins = n_margins(loss, sketch.n_margins)
        inform(sketch, margins, places, c, known)
        add_located(sketch, margins, places, c, steps)

    @staticmethod
    def score_of(step, weight, known, scale, square, ridge):
        return _informed_score(weight, known, scale, square, ridge)


GRADIENT, NEWTON, NATURAL = Gradient(), Newton(), Natural()


class StepRule(NamedTuple):
    """How to step; constants of a run."""

    step: Gradient | Newton | Natural
    ridge: float  #: ridge of the newton step, in units of the mean squared norm
    bias_rate: float  #: AdaGrad rate of the bias; 0: newton step for the bias
    cautious: bool  #: see ``shortlist._steps.is_cautious``
