"""The three truncation rules: which weights are not 0 after an example.

* lazy top (B-ARDA): the k largest H z^2 of all features, see ``_lazy_top``;
* top (B-AMD, OFS, SOFS): the k largest H |z|, |w| or precisions among members and the
  example, see ``_top``;
* shrink (l1-ARDA, Ada-Fobos): all weights, made smaller by a penalty.

Both papers' bounds on regret contain the truncation error xi, which is noted now and then.
"""

import numpy as np

from shortlist._steps import ROWS
from shortlist.kernels._jit import kernel
from shortlist.rows._lazy_top import keep_lazily, lazy_error
from shortlist.rows._state import (
    FADE,
    LAZY_TOP,
    MIRROR,
    N_XI,
    NEXT_XI,
    TIME,
    TOP,
    XI_ROWS,
    XI_SUM,
)
from shortlist.rows._step_rules import toward_zero
from shortlist.rows._top import keep_top

#: Truncation errors are noted when there are this many times as many examples.
_XI_EVERY = 1.1


@kernel(forceinline=True)
def truncate(method, state, ids, margin, slots):
    """Truncate after a step, which touched these slots, for one margin."""
    if method.truncation == LAZY_TOP:
        keep_lazily(method, state, ids, margin, slots)
    elif method.truncation == TOP:
        keep_top(method, state, ids, margin, slots)
    else:
        _shrink(method, state, margin, slots)


@kernel
def _shrink(method, state, margin, slots):
    """Truncation of Ada-Fobos, for the features of an example; others wait.

    What l1-ARDA shrinks is worked out with its weights.
    """
    if method.step != MIRROR:
        return
    cells, margins = state.cells, state.bias.shape[0]
    for t in range(slots.shape[0]):
        cell = slots[t] * margins + margin
        H = method.delta + np.sqrt(cells[2 * cell + 1] * state.clock[FADE])
        by = method.eta * method.lam / H
        cells[2 * cell] = toward_zero(cells[2 * cell], by)
        state.shrunk[cell] = state.clock[TIME]


@kernel
def has_error(method):
    """Whether what truncation costs is part of the method's bound."""
    return method.truncation == LAZY_TOP or (
        method.truncation == TOP and method.step == MIRROR
    )


@kernel
def note_error(method, state, ids):
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
