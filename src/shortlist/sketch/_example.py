"""What learners with a few active weights do alike, example after example."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shortlist._rules import bias_rate
from shortlist._steps import (
    bias_step,
    count_norm,
    is_cautious,
    judge,
    mean_norm,
    shorten,
)
from shortlist._targets import Target
from shortlist.kernels._jit import kernel
from shortlist.kernels.top_set import weight_of

#: Learning rate, in units of one over the mean squared norm of an example.
LEARNING_RATE = 1.0


class Steps(NamedTuple):
    """How long steps are; constants of a run."""

    rate: float  #: see LEARNING_RATE
    bias_rate: float  #: AdaGrad rate of the bias; 0: implicit steps for the bias
    damped: bool  #: whether a step stops where the example has what it asks for
    cautious: bool  #: see ``shortlist._steps.is_cautious``


def steps_for(target: Target, *, damped: bool) -> Steps:
    """Steps for a target: plain ones, as papers have them, or damped ones.

    No paper has a loss of counts, whose slopes grow without bound: plain steps diverge.
    """
    cautious = is_cautious(target.loss)
    damped = damped or target.loss.target == "count"
    return Steps(LEARNING_RATE, bias_rate(target), damped, cautious)


@kernel
def longest_row(block):  # type: ignore[no-untyped-def]
    """Number of nonzeros in the longest row of a block."""
    longest = 0
    for i in range(block.y.shape[0]):
        longest = max(longest, block.indptr[i + 1] - block.indptr[i])
    return longest


@kernel
def active_margins(top, bias, ids, x, z):  # type: ignore[no-untyped-def]
    """Write the margins of an example, made with the weights of the top sets."""
    for c in range(z.shape[0]):
        z[c] = bias[c]
        for t in range(ids.shape[0]):
            z[c] += weight_of(top, c, ids[t]) * x[t]


@kernel
def weight_pulls(loss, steps, state, example, x, z, pulls, curvatures):  # type: ignore[no-untyped-def]
    """Score an example, step the biases, and write what one unit of x has to move.

    ``state`` has the ``bias``, its ``bias_scale`` and the ``totals``. A damped step is
    implicit to first order, or exactly where curvatures have no bound.
    """
    y, importance = example
    norm = 0.0
    for t in range(x.shape[0]):
        norm += x[t] * x[t]
    count_norm(state.totals, norm, importance)
    scale = mean_norm(state.totals) / steps.rate
    judge(loss, y, z, importance, state.totals, pulls, curvatures)
    bias, bias_scale = state.bias, state.bias_scale
    bias_step(loss, example, steps.bias_rate, bias, bias_scale, z, pulls, curvatures)
    if steps.damped and steps.cautious:
        give = np.empty(z.shape[0])
        for c in range(z.shape[0]):
            give[c] = norm / scale
        shorten(loss, example, True, give, z, pulls, curvatures)
    for c in range(z.shape[0]):
        over = 0.0
        if steps.damped and not steps.cautious:
            over = curvatures[c] * norm
        pulls[c] /= scale + over
