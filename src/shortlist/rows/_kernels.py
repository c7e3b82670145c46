"""The one loop over examples that B-ARDA, B-AMD, OFS, SOFS, l1-ARDA and Ada-Fobos share.

For each example: the margins with the weights as they are, the slope of the loss, the bias,
then ``step`` and ``truncate``, which are all that the six differ in. Which rules they go by
are constants of the run (see ``METHODS`` in ``_methods``): a branch an example, that a
processor predicts, instead of a compilation for each pair of a loss and a method.
"""

import numpy as np

from shortlist._steps import bias_step, count_norm, judge
from shortlist.kernels._jit import kernel, uncounted
from shortlist.kernels.prefetch import prefetch
from shortlist.losses import n_margins
from shortlist.rows._slope_unit import count_slope, slope_unit, weight_unit
from shortlist.rows._state import DUAL, FADE, TIME
from shortlist.rows._step_rules import add_margins, answer, step
from shortlist.rows._truncation_rules import has_error, note_error, truncate

#: Sums whose unit has faded this far are written anew.
_FAINT = 1e-100


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
        count_slope(method.unit, units, pulls[0] / importance)
        unit = slope_unit(method.unit, units)
        row = labels[i], importance, slots, x, norm
        for c in range(margins):
            asked, curvature = pulls[c] / unit, curvatures[c]
            pull = answer(loss, method, state, row, c, z, asked, curvature)
            touched = slots if pull != 0.0 else nothing
            values_touched = x if pull != 0.0 else values[:0]
            step(method, state, c, touched, values_touched, pull, curvature)
            truncate(method, state, ids, c, touched)
        if has_error(method):
            note_error(method, state, ids)
