"""MISSION's inner loop: learn from examples with all weights in a sketch.

For each example: the margins from the sketched weights, the slope of the loss, a step
for every nonzero feature added to the sketch (``_step_rules`` has three kinds), and a look
whether it lifts the feature's score over the threshold of the candidates.

Steps may be taken in units in which no value of a feature has exceeded 1, if scales s_j are
kept: as if x_j were x_j / s_j and w_j were s_j w_j. What is stored stays in the units of
the data, so a scale may grow at any time. A weight then shrinks to what its steps so far
are worth in the new units (``follow_scales``): a step at a value far below all others is as
large as that is small.

Where the features of the next example live is found beforehand, so that their cells can be
fetched while this one is learned from. What is done to each feature is a row of short loops
over arrays of single numbers, which the compiler turns into instructions for eight at once.
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
    add_located,
    fetch,
    information_at,
    locate,
    medians,
    raise_scales,
    ratios,
    scales_at,
)
from shortlist.kernels.heavy_hitters import Candidates, cut, listed
from shortlist.kernels.id_table import EMPTY, is_at_home, put, slot_of
from shortlist.kernels.prefetch import prefetch_to_read
from shortlist.kernels.separators import stand_alone
from shortlist.losses import n_margins
from shortlist.sketch._step_rules import (
    give_into,
    is_informed,
    is_stacked,
    kept_share,
    read_weights,
    score_of,
    step_along,
    total,
)

# Without counts of references, which would cost as much as the work on a short example; so
# would handing over all that states and scratch arrays are made of, from call to call.
_plain = kernel(_nrt=False)
_inlined = kernel(_nrt=False, forceinline=True)

#: Numbers of a sketch that the caches close to a core can hold: 512 kB.
_NEAR = 1 << 17
#: Examples from one that is learned from to one that is asked for from memory.
_EARLY = 3
#: Numbers of double precision that a processor loads at once.
_LINE = 8
#: Examples from one that looks at all scores to the next. Who was above the threshold
#: before is a candidate by then, but for those that others in the same cells lifted there.
_CENSUS = 8.0
#: Scales are not taken to be smaller: their squares would vanish in single precision. So
#: might, or overflow, products of squares, which is why scores have a root of one only.
_LEAST_SCALE = np.float32(1e-15)
_ONE = np.float32(1.0)
_U1, _U2, _U3 = np.uint64(1), np.uint64(2), np.uint64(3)


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


@_plain
def fetch_example(block, i):
    """Begin to load example i, if there is one.

    Processors guess what of an array comes next, but not among all that is loaded here,
    and blocks were written by another core.
    """
    n_rows = block.y.shape[0]
    first, last = block.indptr[min(i, n_rows)], block.indptr[min(i + 1, n_rows)]
    for t in range(first, last, _LINE):
        prefetch_to_read(block.ids, np.uint64(t))
        prefetch_to_read(block.values, np.uint64(t))


@_inlined
def fetch_quarter(sketch, places, quarter):
    """Begin to load a quarter of an example's cells: more at a time would wait in line."""
    n = places.shape[0]
    fetch(sketch, places[n * quarter // 4 : n * (quarter + 1) // 4])


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
    """Shrink weights whose scales grew to what their steps are worth in the new units."""
    stand_alone()  # rare, and within the loop it would only be in its way
    squares, before, steps, n = room.squares, room.before, room.steps, places.shape[0]
    for c in range(margins):
        weights, known = room.weights[c], room.known[c]
        for t in range(n):
            steps[t] = 0.0
            if 0.0 < before[t] < room.scales[t]:
                was = max(before[t], _LEAST_SCALE)
                kept = kept_share(rule.step, known[t], ridge, was, squares[t])
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
    ridge = np.float32(rule.ridge * mean_norm(state.totals))
    read_weights(rule.step, loss, sketch, places, ridge, room)
    if grew and not is_stacked(rule.step):
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


def explore(loss, rule, state, block, moves=None):
    """Learn from a block of examples, in order.

    If features are to be centred, ``moves`` is an array as long as they are many, and
    the block should be ``led_by`` them; its values change.
    """
    margins = n_margins(loss, state.sketch.n_margins)
    longest = int(np.diff(block.indptr).max(initial=0))
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
        fetch_example(block, i + _EARLY)
        fetch_quarter(sketch, upcoming, 0)
        importance = block.weight[i]
        if importance == 0.0:
            continue
        values = block.values[first:last]
        look(loss, rule, state, moves, here, (values, importance), room, z)
        fetch_quarter(sketch, upcoming, 1)
        norm = 0.0
        if not is_informed(rule.step) or totals[NORM_ROWS] < NORM_FROZEN_AFTER:
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
        if is_informed(rule.step):
            curvatures_on_the_way(
                loss, block.y[i], z, state.bias, importance, on_the_way, curvatures
            )
        units = norm, scale, rule.ridge * scale
        give_into(rule.step, loss, sketch, here, units, room, give)
        is_short = rule.cautious or is_informed(rule.step)
        if is_short:
            shorten(loss, example, rule.cautious, give, z, pulls, curvatures)
        fetch_quarter(sketch, upcoming, 2)

        for c in range(margins):
            if pulls[c] == 0.0:
                continue
            asked = pulls[c], curvatures[c], is_short
            step_along(rule.step, loss, sketch, c, here, asked, units, room)
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
    if is_stacked(rule.step):
        ratios(sketch, sketch.n_margins, places, ridge * squares, weights)
    else:
        medians(sketch, sketch.n_margins, places, weights)
    scores = np.empty(n)
    for i in range(n):
        scores[i] = score_of(
            rule.step, weights[c, i], known[i], scales[i], squares[i], ridge
        )
    return weights[c].copy(), scores, known, squares


@counted
def prune(rule, state, c):
    """Cut the full set of candidates of margin c to its best half."""
    ids = listed(state.found, c)
    cut(state.found, c, ids, rescore(rule, state, c, ids)[1])
