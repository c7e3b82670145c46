"""MISSION's inner loop: learn from examples with all weights in a Count-Sketch.

For each example: the margins from the sketched weights, the slope of the loss, a step
for every nonzero feature added to the sketch, and a look whether the feature's score now
reaches the threshold of the candidates. Two step rules share the loop:

* gradient: w_j -= rate * slope * x_j, damped by the curvature along the example (an
  implicit step to first order, or exactly where curvatures have no bound, so that no
  loss needs a learning rate of its own);
* newton: w_j -= slope * x_j / (n_j + h x_j^2 + ridge), where n_j, the information
  h x_j^2 collected so far, lives in one more row of cells beside row 0; shortened where
  all the steps together would overshoot.

Where features live in the sketch is found beforehand (``places_of``, by another thread if
there is one), so that the cells of the next example can be fetched while this one is
learned from.

Scores rank as |w_j| and as |w_j| (n_j + ridge)^(1/4); the second is kept as its fourth
power, which ranks the same and costs no roots.
"""

from typing import NamedTuple

import numpy as np

from shortlist._steps import ask, bias_step, count_norm, judge, mean_norm, shorten
from shortlist.kernels._jit import kernel
from shortlist.kernels.count_sketch import (
    CountSketch,
    add_located,
    cell_at,
    locate,
    medians,
)
from shortlist.kernels.heavy_hitters import Candidates, cut, listed
from shortlist.kernels.id_table import put
from shortlist.kernels.prefetch import prefetch
from shortlist.losses import n_margins

GRADIENT, NEWTON = 0, 1

#: Cells of a sketch that the caches close to a core can hold: 512 kB.
_NEAR = 1 << 17


class StepRule(NamedTuple):
    """How to step; constants of a run."""

    step: int  #: GRADIENT or NEWTON
    ridge: float  #: ridge of the newton step, in units of the mean squared norm
    bias_rate: float  #: AdaGrad rate of the bias; 0: newton step for the bias
    cautious: bool  #: see ``shortlist._steps.is_cautious``


class SketchState(NamedTuple):
    """All that one pass over a stream leaves behind."""

    sketch: CountSketch
    information: np.ndarray  #: float32, (width, n_margins), or (0, n_margins)
    found: Candidates
    bias: np.ndarray  #: float64, (n_margins,)
    bias_scale: np.ndarray  #: float64, (n_margins,): squares or information so far
    totals: np.ndarray  #: float64, see ``shortlist._steps``


@kernel
def gradient_steps(pull, x, weights, steps, scores):
    """Plain steps along the example, and the scores they lead to."""
    for t in range(x.shape[0]):
        steps[t] = pull * x[t]
        scores[t] = abs(weights[t] + steps[t])


@kernel
def newton_give(known, places, x, ridge):
    """How far the newton steps of an example together move its margin."""
    give = 0.0
    for t in range(x.shape[0]):
        give += x[t] * x[t] / (known[cell_at(places[t, 0])] + ridge)
    return give


@kernel
def newton_steps(known, places, evidence, x, weights, steps, scores):
    """Diagonal Newton steps, with the information collected so far."""
    e, h, ridge = evidence
    for t in range(x.shape[0]):
        cell = cell_at(places[t, 0])
        information = known[cell] + h * x[t] * x[t]
        known[cell] = information
        steps[t] = e * x[t] / (information + ridge)
        squared = (weights[t] + steps[t]) * (weights[t] + steps[t])
        scores[t] = squared * squared * (information + ridge)


@kernel
def nominate(rule, state, c, ids, scores):
    """Let ids whose scores reach the threshold of margin c in among the candidates."""
    found = state.found
    keys, tau = found.keys[c], found.tau
    for t in range(ids.shape[0]):
        if scores[t] >= tau[c] and scores[t] > 0.0:
            if found.count[c] >= 2 * found.room:
                prune(rule, state, c)
                if scores[t] < tau[c]:
                    continue
            found.count[c] += put(keys, ids[t])


@kernel
def fetch(flat, known, places):
    """Begin to load the cells of an example."""
    for t in range(places.shape[0]):
        for r in range(places.shape[1]):
            prefetch(flat, cell_at(places[t, r]))
        if known.shape[0] > 0:
            prefetch(known, cell_at(places[t, 0]))


def places_of(state: SketchState, ids: np.ndarray) -> np.ndarray:
    """Where features live in each row of the sketch; needs nothing but their ids."""
    places = np.empty((len(ids), state.sketch.table.shape[0]), np.uint32)
    locate(state.sketch, ids, places)
    return places


@kernel
def explore(loss, rule, state, block, places):
    """Learn from a block of examples, in order; places as of ``places_of``."""
    sketch, totals = state.sketch, state.totals
    flat, known = sketch.table.reshape(-1), state.information.reshape(-1)
    margins = n_margins(loss, sketch.table.shape[2])
    is_far = flat.shape[0] > _NEAR
    n_rows, longest = block.y.shape[0], 0
    for i in range(n_rows):
        longest = max(longest, block.indptr[i + 1] - block.indptr[i])
    weights = np.empty((longest, margins))
    steps, scores = np.empty(longest), np.empty(longest)
    z, pulls, curvatures = np.empty(margins), np.empty(margins), np.empty(margins)
    give = np.empty(margins)

    for i in range(n_rows):
        first, last = block.indptr[i], block.indptr[i + 1]
        if is_far and i + 1 < n_rows:
            fetch(flat, known, places[last : block.indptr[i + 2]])
        importance = block.weight[i]
        if importance == 0.0:
            continue
        ids, x, here = (
            block.ids[first:last],
            block.values[first:last],
            places[first:last],
        )
        length = last - first
        medians(flat, here, weights[:length])
        norm = 0.0
        for c in range(margins):
            z[c] = state.bias[c]
        for t in range(length):
            norm += x[t] * x[t]
            for c in range(margins):
                z[c] += weights[t, c] * x[t]
        count_norm(totals, norm, importance)
        scale = mean_norm(totals)
        if rule.bias_rate == 0.0 and state.bias_scale[0] == 0.0:
            # Nobody can guess the unit of a number: the first is not scored.
            ask(loss, block.y[i], z, importance, pulls, curvatures)
        else:
            judge(loss, block.y[i], z, importance, totals, pulls, curvatures)
        example, rate = (block.y[i], importance), rule.bias_rate
        bias_step(
            loss, example, rate, state.bias, state.bias_scale, z, pulls, curvatures
        )
        ridge = rule.ridge * scale
        for c in range(margins):
            give[c] = norm / scale
            if rule.step == NEWTON:
                give[c] = newton_give(known[c:], here, x, ridge)
        implicit = rule.cautious or rule.step == NEWTON
        if implicit:
            shorten(loss, example, rule.cautious, give, z, pulls, curvatures)

        for c in range(margins):
            e, h = pulls[c], curvatures[c]
            if e == 0.0:
                continue
            if rule.step == NEWTON:
                evidence = (e, h, ridge)
                newton_steps(known[c:], here, evidence, x, weights[:, c], steps, scores)
            else:
                pull = e / scale if implicit else e / (scale + h * norm)
                gradient_steps(pull, x, weights[:, c], steps, scores)
            add_located(flat, here, c, steps[:length])
            nominate(rule, state, c, ids, scores)


@kernel
def rescore(rule, state, c, ids):
    """Weights, scores and information of ids at margin c, as the sketch is now."""
    sketch = state.sketch
    rows, _, margins = sketch.table.shape
    flat, known = sketch.table.reshape(-1), state.information.reshape(-1)
    places = np.empty((ids.shape[0], rows), np.uint32)
    weights = np.empty((ids.shape[0], margins))
    locate(sketch, ids, places)
    medians(flat, places, weights)
    ridge = rule.ridge * mean_norm(state.totals)
    estimates, scores = np.empty(ids.shape[0]), np.empty(ids.shape[0])
    information = np.zeros(ids.shape[0])
    for i in range(ids.shape[0]):
        estimates[i] = weights[i, c]
        scores[i] = abs(estimates[i])
        if rule.step == NEWTON:
            information[i] = known[cell_at(places[i, 0]) + np.uint64(c)]
            squared = estimates[i] * estimates[i]
            scores[i] = squared * squared * (information[i] + ridge)
    return estimates, scores, information


@kernel
def prune(rule, state, c):
    """Cut the full set of candidates of margin c to its best half."""
    ids = listed(state.found, c)
    cut(state.found, c, ids, rescore(rule, state, c, ids)[1])
