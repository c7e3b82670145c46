"""The one loop over examples that B-ARDA, B-AMD, OFS, SOFS, l1-ARDA and Ada-Fobos share.

For each example: the margins with the weights as they are, the slope of the loss, the bias,
then a step and a truncation. Which of each is a constant of the run (see ``METHODS`` in
``_methods``): a branch an example, that a processor predicts, instead of a compilation for
each pair of a loss and a method.
"""

import numpy as np

from shortlist._steps import ROWS, balance, bias_step, count_norm, judge
from shortlist.kernels._jit import kernel, uncounted
from shortlist.kernels.prefetch import prefetch
from shortlist.losses import alone, is_apart, n_margins
from shortlist.rows._lazy_top import keep_lazily, lazy_error
from shortlist.rows._state import (
    CONFIDENT,
    DUAL,
    FADE,
    LAZY_TOP,
    MIRROR,
    N_XI,
    NEXT_XI,
    PLAIN,
    REAL,
    TIME,
    TOP,
    UNITLESS,
    XI_ROWS,
    XI_SUM,
)
from shortlist.rows._step_rules import (
    add_margins,
    shrink,
    spread_of,
    step,
)
from shortlist.rows._top import keep_top

#: Examples after which the unit of a regression's target is held fixed.
UNIT_FROZEN_AFTER = 1000
#: Truncation errors are noted when there are this many times as many examples.
_XI_EVERY = 1.1
#: Sums whose unit has faded this far are written anew.
_FAINT = 1e-100


@kernel
def weight_unit(kind, unit):
    """What weights are multiples of: 1, or the slopes of a regression."""
    return _slope_unit(kind, unit) if kind == REAL else 1.0


@kernel
def _slope_unit(kind, unit):
    if kind == UNITLESS or unit[1] == 0.0:
        return 1.0
    return np.sqrt(unit[0] / unit[1])


@kernel
def _count_unit(kind, unit, slope):
    if kind != UNITLESS and slope != 0.0 and unit[1] < UNIT_FROZEN_AFTER:
        unit[0] += slope * slope
        unit[1] += 1.0


@kernel
def _pass_time(method, clock):
    """An example comes: what is forgotten fades; return whether it is hard to see."""
    clock[TIME] = method.rho * clock[TIME] + 1.0
    clock[FADE] *= method.rho
    return clock[FADE] < _FAINT


@kernel
def _write_anew(method, state):
    """Let sums be in units that have not faded."""
    fade, pool, margins = state.clock[FADE], state.pool, state.bias.shape[0]
    for cell in range(state.place.shape[0]):
        if method.step == DUAL:
            state.cells[2 * cell] *= fade
        state.cells[2 * cell + 1] *= fade
    for margin in range(margins):
        for p in range(pool.size[margin]):
            pool.first[margin, p] *= fade
            pool.second[margin, p] *= fade
    state.clock[FADE] = 1.0


@kernel
def _note_xi(method, state, ids):
    """Note the truncation error now and then: as it is, or the mean of B-AMD's."""
    clock, rows, n = state.clock, state.totals[ROWS], int(state.clock[N_XI])
    if rows < clock[NEXT_XI] or n == state.xi.shape[0]:
        return
    clock[NEXT_XI] = max(rows + 1.0, np.ceil(_XI_EVERY * rows))
    if method.truncation == LAZY_TOP:
        value = lazy_error(method, state, ids)
    else:
        value = clock[XI_SUM] / (rows - clock[XI_ROWS])
        clock[XI_SUM], clock[XI_ROWS] = 0.0, rows
    state.xi[n, 0], state.xi[n, 1] = rows, value
    clock[N_XI] += 1.0


@kernel
def _confident_move(loss, method, example, spread, z, pull, curvature):
    """How far SOFS goes at a margin: AROW's step, which is the implicit one."""
    y, importance, unit, c = example
    if is_apart(loss) and spread > 0.0:
        one, target = alone(loss, y, c)
        move = balance(one, target, z[c : c + 1], importance, method.gamma / spread)
        return move / (spread * unit)
    return pull / (method.gamma + curvature * spread)


@uncounted
def _fetch(cells, place, margins, slots):
    """Begin to load what the next example needs."""
    for t in range(slots.shape[0]):
        prefetch(cells, 2 * slots[t] * margins)
        prefetch(place, slots[t] * margins)


@kernel
def learn_rows(loss, method, state, ids, rows):
    """Learn from examples, in order; ``rows`` are (indptr, slots, values, y, weight).

    ``ids`` are those of all slots.
    """
    indptr, all_slots, values, labels, weight = rows
    margins = n_margins(loss, state.bias.shape[0])
    z, pulls, curvatures = np.empty(margins), np.empty(margins), np.empty(margins)
    bias, scale, units = state.bias, state.bias_scale, state.unit
    nothing = all_slots[:0]
    n = labels.shape[0]
    for i in range(n):
        importance = weight[i]
        if importance == 0.0:
            continue
        slots = all_slots[indptr[i] : indptr[i + 1]]
        x = values[indptr[i] : indptr[i + 1]]
        if i + 1 < n:
            coming = all_slots[indptr[i + 1] : indptr[i + 2]]
            _fetch(state.cells, state.place, margins, coming)
        for c in range(margins):
            z[c] = bias[c]
        add_margins(method, state, slots, x, weight_unit(method.unit, units), z)
        norm = 0.0
        for t in range(x.shape[0]):
            norm += x[t] * x[t]
        count_norm(state.totals, norm, importance)
        judge(loss, labels[i], z, importance, state.totals, pulls, curvatures)
        example, rate = (labels[i], importance), method.bias_rate
        bias_step(loss, example, rate, bias, scale, z, pulls, curvatures)
        if _pass_time(method, state.clock):
            _write_anew(method, state)
        _count_unit(method.unit, units, pulls[0] / importance)
        unit = _slope_unit(method.unit, units)
        for c in range(margins):
            pull = pulls[c] / unit
            if method.step == CONFIDENT and pull != 0.0:
                spread = spread_of(state.cells, (margins, c), slots, x)
                weighed = (labels[i], importance, weight_unit(method.unit, units), c)
                pull = _confident_move(
                    loss, method, weighed, spread, z, pull, curvatures[c]
                )
            elif method.step == PLAIN and method.unit != UNITLESS:
                # plain steps on slopes without a bound would go too far and farther
                give = method.eta * norm * weight_unit(method.unit, units) / unit
                pull /= 1.0 + curvatures[c] * give
            touched = slots if pull != 0.0 else nothing
            values_touched = x if pull != 0.0 else values[:0]
            step(method, state, c, touched, values_touched, pull, curvatures[c])
            if method.truncation == LAZY_TOP:
                keep_lazily(method, state, ids, c, touched)
            elif method.truncation == TOP:
                keep_top(method, state, ids, c, touched)
            else:
                shrink(method, state, c, touched)
        if method.truncation == LAZY_TOP or (
            method.truncation == TOP and method.step == MIRROR
        ):
            _note_xi(method, state, ids)
