"""MISSION's inner loop: learn from examples with all weights in a sketch.

For each example: the margins from the sketched weights, the slope of the loss, a step
for every nonzero feature added to the sketch, and a look whether it lifts the feature's
score over the threshold of the candidates. Three step rules share the loop:

* gradient: w_j -= rate * slope * x_j, damped by the curvature along the example (an
  implicit step to first order, or exactly where curvatures have no bound, so that no
  loss needs a learning rate of its own);
* newton: w_j -= slope * x_j / (n_j + h x_j^2 + ridge), where n_j, the information
  h x_j^2 collected so far, lives beside the weights; shortened where all the steps
  together would overshoot;
* natural: the same step, but what is stored is beta_j = w_j (n_j + ridge), which a step
  changes by -slope * x_j + h x_j^2 w_j. Such sums of two runs can be added.

Either is taken in units in which no value of a feature has exceeded 1, if scales s_j are
kept: as if x_j were x_j / s_j and w_j were s_j w_j. What is stored stays in the units of
the data, so a scale may grow at any time: a gradient is divided by s_j^2, a ridge
multiplied by it. A weight then shrinks to what its steps so far are worth in the new units
(``follow_scales``): a step at a value far below all others is as large as that is small.

Where the features of the next example live is found beforehand, so that their cells can be
fetched while this one is learned from. What is done to each feature is a row of short loops
over arrays of single numbers, which the compiler turns into instructions for eight at once.

Features rank by |s_j w_j|, or by |s_j w_j| (n_j / s_j^2 + ridge)^(1/4); scores are the
squares of that, which rank the same.
"""

from typing import NamedTuple

import numpy as np

from shortlist._centring import CentredIds, move_means
from shortlist._steps import (
    NORM_FROZEN_AFTER,
    NORM_ROWS,
    ROWS,
    ask,
    bias_step,
    count_norm,
    curvatures_on_the_way,
    judge,
    mean_norm,
    shorten,
)
from shortlist.kernels._jit import counted, kernel
from shortlist.kernels.block_sketch import (
    BlockSketch,
    add_and_inform,
    add_located,
    fetch,
    inform,
    information_at,
    locate,
    medians,
    medians_and_information,
    raise_scales,
    ratios,
    scales_at,
)
from shortlist.kernels.heavy_hitters import Candidates, cut, listed
from shortlist.kernels.id_table import EMPTY, is_at_home, put, slot_of
from shortlist.kernels.separators import stand_alone
from shortlist.losses import n_margins

GRADIENT, NEWTON, NATURAL = 0, 1, 2

# Without counts of references, which would cost as much as the work on a short example; so
# would handing over all that states and scratch arrays are made of, from call to call.
_plain = kernel(_nrt=False)
_inlined = kernel(_nrt=False, forceinline=True)

#: Numbers of a sketch that the caches close to a core can hold: 512 kB.
_NEAR = 1 << 17
#: Examples from one that looks at all scores to the next. Who was above the threshold
#: before is a candidate by then, but for those that others in the same cells lifted there.
_CENSUS = 8.0
#: Scales are not taken to be smaller: their squares would vanish in single precision. So
#: might, or overflow, products of squares, which is why scores have a root of one only.
_LEAST_SCALE = np.float32(1e-15)
_ONE = np.float32(1.0)
_U1, _U2, _U3 = np.uint64(1), np.uint64(2), np.uint64(3)


class StepRule(NamedTuple):
    """How to step; constants of a run."""

    step: int  #: GRADIENT, NEWTON or NATURAL
    ridge: float  #: ridge of the newton step, in units of the mean squared norm
    bias_rate: float  #: AdaGrad rate of the bias; 0: newton step for the bias
    cautious: bool  #: see ``shortlist._steps.is_cautious``


class SketchState(NamedTuple):
    """All that one pass over a stream leaves behind."""

    sketch: BlockSketch
    found: Candidates
    bias: np.ndarray  #: float64, (n_margins,)
    bias_scale: np.ndarray  #: float64, (n_margins,): squares or information so far
    totals: np.ndarray  #: float64, see ``shortlist._steps``
    centres: CentredIds | None = None  #: the bias belongs to values about these means


def places_of(state: SketchState, ids: np.ndarray) -> np.ndarray:
    """Where features live in the sketch."""
    places = np.empty(len(ids), np.uint64)
    locate(state.sketch, ids, places)
    return places


class Scratch(NamedTuple):
    """Room for what is known about the features of one example."""

    x: np.ndarray  #: float32, as all but the last two: values
    scales: np.ndarray  #: of their features
    squares: np.ndarray  #: of these
    terms: np.ndarray  #: of a sum
    weights: np.ndarray  #: (n_margins, longest)
    known: np.ndarray  #: (n_margins, longest): information
    steps: np.ndarray
    before: np.ndarray  #: scores before the step
    scores: np.ndarray  #: and after it
    passing: np.ndarray  #: int64: which pass the threshold
    places: np.ndarray  #: uint64, (2, longest): where they live, and those of the next


@_inlined
def place_example(sketch, block, i, room):
    """Find where the features of example i live, if there is one."""
    n_rows = block.y.shape[0]
    first, last = block.indptr[min(i, n_rows)], block.indptr[min(i + 1, n_rows)]
    locate(sketch, block.ids[first:last], room.places[i & 1, : last - first])


@_inlined
def fetch_quarter(sketch, places, quarter):
    """Begin to load a quarter of an example's cells: more at a time would wait in line."""
    n = places.shape[0]
    fetch(sketch, places[n * quarter // 4 : n * (quarter + 1) // 4])


@_plain
def total(terms, n):
    """Sum of the first n terms, in four parts: additions need not wait for another."""
    a = b = c = d = 0.0
    whole = n - n % 4
    for t in range(0, whole, 4):
        u = np.uint64(
            t
        )  # unsigned: spares tests for negative places, and the four load as one
        a += terms[u]
        b += terms[u + _U1]
        c += terms[u + _U2]
        d += terms[u + _U3]
    for t in range(whole, n):
        a += terms[t]
    return (a + b) + (c + d)


@_inlined
def grown_scales(sketch, places, room):
    """Let scales keep up with the values in ``room``; return whether a known one grew.

    ``room.before`` has the scales as they were.
    """
    x, scales, squares, before = room.x, room.scales, room.squares, room.before
    n, grew = places.shape[0], False
    scales_at(sketch, places, before)
    raise_scales(sketch, places, x[:n])
    scales_at(sketch, places, scales)
    for t in range(n):
        grew |= (before[t] > 0.0) & (before[t] < scales[t])
        scales[t] = max(scales[t], _LEAST_SCALE)
        squares[t] = scales[t] * scales[t]
    return grew


@_plain
def follow_scales(rule, sketch, margins, places, ridge, room):
    """Shrink weights whose scales grew to what their steps are worth in the new units.

    A sum of newton steps is about beta / (n + ridge s^2), one of plain steps beta / s^2,
    and it is beta that does not depend on s.
    """
    stand_alone()  # rare, and within the loop it would only be in its way
    squares, before, steps, n = room.squares, room.before, room.steps, places.shape[0]
    for c in range(margins):
        weights, known = room.weights[c], room.known[c]
        for t in range(n):
            steps[t] = 0.0
            if 0.0 < before[t] < room.scales[t]:
                was = max(before[t], _LEAST_SCALE)
                kept = was * was / squares[t]
                if rule.step == NEWTON:
                    kept = (known[t] + ridge * was * was) / (
                        known[t] + ridge * squares[t]
                    )
                steps[t] = weights[t] * (kept - _ONE)
                weights[t] += steps[t]
        add_located(sketch, margins, places, c, steps)


@_inlined
def look(loss, rule, state, moves, places, example, room, z):
    """Take in an example, values and importance: its scales, weights and margins.

    ``moves`` is room for by how much means move, or None; with it the example should
    begin with the features to be centred, and the biases go with their means.
    """
    values, importance = example
    if moves is not None:
        move_means(state.centres, values, importance, moves)
    sketch, x, terms, n = state.sketch, room.x, room.terms, places.shape[0]
    margins = n_margins(loss, sketch.n_margins)
    for t in range(n):
        x[t] = np.float32(values[t])
    grew = grown_scales(sketch, places, room) if sketch.scaled else False
    if rule.step == NATURAL:
        ridge = np.float32(rule.ridge * mean_norm(state.totals))
        for t in range(n):
            terms[t] = ridge * room.squares[t]
        ratios(sketch, margins, places, terms, room.weights)
    elif rule.step == NEWTON:
        medians_and_information(sketch, margins, places, room.weights, room.known)
    else:
        medians(sketch, margins, places, room.weights)
    if grew and rule.step != NATURAL:
        ridge = np.float32(rule.ridge * mean_norm(state.totals))
        follow_scales(rule, sketch, margins, places, ridge, room)
    for c in range(margins):
        weights = room.weights[c]
        if moves is not None:
            for t in range(moves.shape[0]):
                state.bias[c] += weights[t] * moves[t]
        for t in range(n):
            terms[t] = x[t] * weights[t]
        z[c] = state.bias[c] + total(terms, n)


@_inlined
def scaled_norm(values, squares, scaled):
    """Squared norm of an example, each value in units of its feature's scale.

    In double precision, which tells tiny values from none, and in four parts as ``total``.
    """
    a = b = c = d = 0.0
    n = values.shape[0]
    if scaled:
        for t in range(n):
            a += values[t] * values[t] / squares[t]
        return a
    whole = n - n % 4
    for t in range(0, whole, 4):
        u = np.uint64(t)
        a += values[u] * values[u]
        b += values[u + _U1] * values[u + _U1]
        c += values[u + _U2] * values[u + _U2]
        d += values[u + _U3] * values[u + _U3]
    for t in range(whole, n):
        a += values[t] * values[t]
    return (a + b) + (c + d)


@_inlined
def newton_give(loss, natural, sketch, places, ridge, room, give):
    """Write how far the newton steps together move each margin."""
    x, squares, terms, n = room.x, room.squares, room.terms, places.shape[0]
    margins, ridge = n_margins(loss, sketch.n_margins), np.float32(ridge)
    for c in range(margins):
        known = room.known[c]
        if natural:
            information_at(sketch, margins, places, c, known)
        for t in range(n):
            terms[t] = x[t] * x[t] / (known[t] + ridge * squares[t])
        give[c] = total(terms, n)


@_inlined
def gradient_steps(loss, sketch, c, places, pull, room):
    """Plain steps along the example, and the scores they lead to."""
    x, squares, weights, n = room.x, room.squares, room.weights[c], places.shape[0]
    steps, before, scores = room.steps, room.before, room.scores
    pull = np.float32(pull)
    for t in range(n):
        steps[t] = pull * x[t] / squares[t]
        moved = weights[t] + steps[t]
        before[t] = weights[t] * weights[t] * squares[t]
        scores[t] = moved * moved * squares[t]
    add_located(sketch, n_margins(loss, sketch.n_margins), places, c, steps)


@_inlined
def newton_steps(loss, natural, sketch, c, places, evidence, room):
    """Diagonal Newton steps, with the information collected so far."""
    x, squares, weights, n = room.x, room.squares, room.weights[c], places.shape[0]
    steps, known, scales = room.steps, room.known[c], room.scales
    before, scores = room.before, room.scores
    margins = n_margins(loss, sketch.n_margins)
    e, h, ridge = evidence
    e, h, ridge = np.float32(e), np.float32(h), np.float32(ridge)
    for t in range(n):
        new = h * x[t] * x[t]
        stiff = known[t] + ridge * squares[t]
        before[t] = weights[t] * weights[t] * scales[t] * np.sqrt(stiff)
        stiff += new
        known[t] = new
        steps[t] = e * x[t] / stiff
        moved = weights[t] + steps[t]
        scores[t] = moved * moved * scales[t] * np.sqrt(stiff)
    if natural:
        for t in range(n):
            steps[t] = e * x[t] + known[t] * weights[t]
    if natural:
        inform(sketch, margins, places, c, known)
        add_located(sketch, margins, places, c, steps)
    else:
        add_and_inform(sketch, margins, places, c, steps, known)


@_inlined
def pass_threshold(tau, everyone, room, n):
    """Note whose scores rise to tau, or ``everyone`` above it; return how many."""
    before, scores, passing = room.before, room.scores, room.passing
    n_passing, least = 0, np.float32(tau)
    bar = np.float32(np.inf) if everyone else least
    for t in range(n):  # without a branch that is often guessed wrong
        passing[n_passing] = t
        n_passing += (scores[t] >= least) & (before[t] < bar)
    return n_passing


@_plain
def enter(found, c, ids, room, done, n_passing):
    """Let those who pass in, from the ``done``-th on; return where the set was full."""
    keys, scores, passing = found.keys[c], room.scores, room.passing
    for i in range(done, n_passing):
        t = passing[i]
        if is_at_home(keys, ids[t]):
            continue  # most are in already
        if scores[t] >= found.tau[c] and scores[t] > 0.0:
            if found.count[c] < 2 * found.room:
                found.count[c] += put(keys, ids[t])
            elif keys[slot_of(keys, ids[t])] == EMPTY:
                return i
    return n_passing


@counted
def enter_in_turns(rule, state, c, ids, room, done, n):
    """Let those of the n ids in that found the set full, which is cut before each turn."""
    while done < n:
        prune(rule, state, c)
        done = enter(state.found, c, ids, room, done, n)


@_inlined
def nominate(rule, state, c, ids, room, n):
    """Let the n ids that pass the threshold of margin c in among the candidates."""
    done = enter(state.found, c, ids, room, 0, n)
    if done < n:
        enter_in_turns(rule, state, c, ids, room, done, n)


@kernel
def explore(loss, rule, state, block, moves=None):
    """Learn from a block of examples, in order.

    If features are to be centred, ``moves`` is an array as long as they are many, and
    the block should be ``led_by`` them; its values change.
    """
    margins, longest = n_margins(loss, state.sketch.n_margins), 0
    for i in range(block.y.shape[0]):
        longest = max(longest, block.indptr[i + 1] - block.indptr[i])
    room = Scratch(
        np.empty(longest, np.float32),
        np.full(longest, _ONE),
        np.full(longest, _ONE),
        np.empty(longest, np.float32),
        np.empty((margins, longest), np.float32),
        np.empty((margins, longest), np.float32),
        np.empty(longest, np.float32),
        np.empty(longest, np.float32),
        np.empty(longest, np.float32),
        np.empty(longest, np.int64),
        np.empty((2, longest), np.uint64),
    )
    of_margins = np.empty((4, margins)), np.empty((3, margins))
    _explore(loss, rule, state, block, moves, room, of_margins)


@_plain
def _explore(loss, rule, state, block, moves, room, of_margins):
    """``explore`` in room made beforehand: no array is made here, and none counted.

    Counting references to arrays took a third of the time before.
    """
    sketch, totals = state.sketch, state.totals
    margins = n_margins(loss, sketch.n_margins)
    is_far = sketch.cells.shape[0] > _NEAR
    n_rows = block.y.shape[0]
    each, on_the_way = of_margins
    z, pulls, curvatures, give = each[0], each[1], each[2], each[3]

    place_example(sketch, block, 0, room)
    for i in range(n_rows):
        first, last = block.indptr[i], block.indptr[i + 1]
        here = room.places[i & 1, : last - first]
        place_example(sketch, block, i + 1, room)
        n_next = block.indptr[min(i + 2, n_rows)] - last if is_far else 0
        upcoming = room.places[(i + 1) & 1, :n_next]
        fetch_quarter(sketch, upcoming, 0)
        importance = block.weight[i]
        if importance == 0.0:
            continue
        values = block.values[first:last]
        look(loss, rule, state, moves, here, (values, importance), room, z)
        fetch_quarter(sketch, upcoming, 1)
        norm = 0.0
        if rule.step == GRADIENT or totals[NORM_ROWS] < NORM_FROZEN_AFTER:
            norm = scaled_norm(values, room.squares, sketch.scaled)
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
        if rule.step != GRADIENT:
            curvatures_on_the_way(
                loss, block.y[i], z, state.bias, importance, on_the_way, curvatures
            )
            newton_give(loss, rule.step == NATURAL, sketch, here, ridge, room, give)
        else:
            for c in range(margins):
                give[c] = norm / scale
        implicit = rule.cautious or rule.step != GRADIENT
        if implicit:
            shorten(loss, example, rule.cautious, give, z, pulls, curvatures)
        fetch_quarter(sketch, upcoming, 2)

        for c in range(margins):
            e, h = pulls[c], curvatures[c]
            if e == 0.0:
                continue
            if rule.step != GRADIENT:
                natural = rule.step == NATURAL
                newton_steps(loss, natural, sketch, c, here, (e, h, ridge), room)
            else:
                pull = e / scale if implicit else e / (scale + h * norm)
                gradient_steps(loss, sketch, c, here, pull, room)
            if c == 0:
                fetch_quarter(sketch, upcoming, 3)
            tau = state.found.tau[c]
            everyone = tau == 0.0 or totals[ROWS] % _CENSUS == 0.0
            n = pass_threshold(tau, everyone, room, last - first)
            nominate(rule, state, c, block.ids[first:last], room, n)


@kernel
def rescore(rule, state, c, ids):
    """Weights, scores, information and squared scales of ids at margin c, as of now."""
    sketch, n = state.sketch, ids.shape[0]
    places = np.empty(n, np.uint64)
    locate(sketch, ids, places)
    weights = np.empty((sketch.n_margins, n), np.float32)
    known, scales, squares = np.zeros(n, np.float32), np.full(n, _ONE), np.full(n, _ONE)
    if sketch.informed:
        information_at(sketch, sketch.n_margins, places, c, known)
    if sketch.scaled:
        scales_at(sketch, places, scales)
        for i in range(n):
            scales[i] = max(scales[i], _LEAST_SCALE)
            squares[i] = scales[i] * scales[i]
    ridge = np.float32(rule.ridge * mean_norm(state.totals))
    if rule.step == NATURAL:
        ratios(sketch, sketch.n_margins, places, ridge * squares, weights)
    else:
        medians(sketch, sketch.n_margins, places, weights)
    scores = np.empty(n)
    for i in range(n):
        score = weights[c, i] * weights[c, i]
        if rule.step != GRADIENT:
            score *= scales[i] * np.sqrt(known[i] + ridge * squares[i])
        else:
            score *= squares[i]
        scores[i] = score
    return weights[c].copy(), scores, known, squares


@counted
def prune(rule, state, c):
    """Cut the full set of candidates of margin c to its best half."""
    ids = listed(state.found, c)
    cut(state.found, c, ids, rescore(rule, state, c, ids)[1])
