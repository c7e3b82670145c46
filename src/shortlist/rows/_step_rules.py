"""The four step rules: what an example does to the cells of its features.

The loss asks for a pull at each margin; ``answer`` says how much of it a rule follows, and
``step`` does so.

With g = -pull x, the gradient of the loss, H = delta + sqrt(sum of g^2):

* dual averaging (B-ARDA, l1-ARDA): a cell is (sum of g, sum of g^2), and a weight is
  worked out when it is asked for;
* mirror descent (B-AMD, Ada-Fobos): (w, sum of g^2), w -= eta g / H; B-AMD counts the
  gradient lambda w of the regulariser in g, for all members;
* plain (OFS): (w, nothing), w = (1 - eta lambda) w - eta g, within the ball of radius
  1 / sqrt(lambda); pulls of a regression, which have no bound, are damped;
* confident (SOFS): (w, precision - 1), w += pull x / precision, precision += h x^2 / gamma,
  where AROW answers a pull as far as the variance of the margin allows.

Sums are kept in units that fade: what stands for them is their value times ``FADE``.
"""

import numpy as np

from shortlist._steps import ROWS, balance
from shortlist.kernels._jit import kernel, uncounted
from shortlist.losses import alone, is_apart
from shortlist.rows._slope_unit import slope_unit, weight_unit
from shortlist.rows._state import (
    CONFIDENT,
    DUAL,
    FADE,
    LAZY_TOP,
    MIRROR,
    PLAIN,
    SHRINK,
    TIME,
    UNITLESS,
)


@kernel
def toward_zero(weight, by):
    """A weight made smaller by a penalty."""
    return np.sign(weight) * max(0.0, abs(weight) - by)


@kernel
def weight_of(method, first, second, place, shrunk, clock):
    """Weight of a cell as of now, of its numbers: what small functions take is cheap."""
    if first == 0.0 or method.step == PLAIN or method.step == CONFIDENT:
        return first
    if method.step == MIRROR and method.truncation != SHRINK:
        return first
    if method.truncation == LAZY_TOP and not 0 < place <= method.k:
        return 0.0
    time, fade = clock
    H = method.delta + np.sqrt(second * fade)
    if method.truncation == LAZY_TOP:
        return -method.eta * first * fade / (method.lam * method.eta * time + H)
    if method.step == DUAL:
        return -method.eta * toward_zero(first * fade, method.lam * time) / H
    return toward_zero(first, (time - shrunk) * method.eta * method.lam / H)


@uncounted
def add_margins(method, state, slots, x, unit, z):
    """Add the weighted values of an example to its margins."""
    cells, place, shrunk, margins = state.cells, state.place, state.shrunk, z.shape[0]
    clock = state.clock[TIME], state.clock[FADE]
    waits = shrunk.shape[0] > 0
    few = method.truncation == LAZY_TOP  # most have no weight: leave them unread
    for t in range(slots.shape[0]):
        for c in range(margins):
            cell = slots[t] * margins + c
            if few and not 0 < place[cell] <= method.k:
                continue
            first, second = cells[2 * cell], cells[2 * cell + 1]
            since = shrunk[cell] if waits else 0.0
            weight = weight_of(method, first, second, place[cell], since, clock)
            z[c] += unit * weight * x[t]


@kernel
def all_weights(method, state, margin, out):
    """Write the weight of every slot at a margin."""
    cells, place, shrunk = state.cells, state.place, state.shrunk
    clock, margins = (state.clock[TIME], state.clock[FADE]), state.bias.shape[0]
    waits = shrunk.shape[0] > 0
    for slot in range(out.shape[0]):
        cell = slot * margins + margin
        first, second = cells[2 * cell], cells[2 * cell + 1]
        since = shrunk[cell] if waits else 0.0
        out[slot] = weight_of(method, first, second, place[cell], since, clock)


@uncounted
def _dual(cells, where, fade, slots, x, pull):
    margins, margin = where
    for t in range(slots.shape[0]):
        at = 2 * (slots[t] * margins + margin)
        g = -pull * x[t]
        cells[at] += g if fade == 1.0 else g / fade
        cells[at + 1] += g * g if fade == 1.0 else g * g / fade


@kernel
def _mirror(method, state, margin, slots, x, pull):
    pool, cells, margins = state.pool, state.cells, state.bias.shape[0]
    fade, now = state.clock[FADE], np.int64(state.totals[ROWS])
    ridge = 0.0 if method.truncation == SHRINK else method.lam
    for t in range(slots.shape[0]):
        cell = slots[t] * margins + margin
        w = cells[2 * cell]
        if method.truncation == SHRINK and w != 0.0:  # up to the example before
            H = method.delta + np.sqrt(cells[2 * cell + 1] * fade)
            since = state.clock[TIME] - 1.0 - state.shrunk[cell]
            w = toward_zero(w, since * method.eta * method.lam / H)
        g = -pull * x[t] + ridge * w
        cells[2 * cell + 1] += g * g / fade
        H = method.delta + np.sqrt(cells[2 * cell + 1] * fade)
        cells[2 * cell] = w - method.eta * g / H
        if ridge > 0.0 and state.place[cell] > 0:
            pool.touched[margin, state.place[cell] - 1] = now
    if ridge > 0.0:
        for p in range(pool.size[margin]):
            if pool.touched[margin, p] != now:
                at = 2 * (pool.slot[margin, p] * margins + margin)
                g = ridge * cells[at]
                cells[at + 1] += g * g / fade
                H = method.delta + np.sqrt(cells[at + 1] * fade)
                cells[at] -= method.eta * g / H


@kernel
def _plain(method, state, margin, slots, x, pull):
    pool, cells, margins = state.pool, state.cells, state.bias.shape[0]
    if method.lam > 0.0:
        for p in range(pool.size[margin]):
            at = 2 * (pool.slot[margin, p] * margins + margin)
            cells[at] *= 1.0 - method.eta * method.lam
    for t in range(slots.shape[0]):
        cells[2 * (slots[t] * margins + margin)] += method.eta * pull * x[t]
    if method.lam > 0.0:
        _project(method, state, margin, slots)


@kernel
def _project(method, state, margin, slots):
    """Scale the members and an example's features to the ball."""
    pool, cells, margins = state.pool, state.cells, state.bias.shape[0]
    norm = 0.0
    for p in range(pool.size[margin]):
        norm += cells[2 * (pool.slot[margin, p] * margins + margin)] ** 2
    for t in range(slots.shape[0]):
        cell = slots[t] * margins + margin
        if state.place[cell] == 0:
            norm += cells[2 * cell] ** 2
    if norm * method.lam <= 1.0:
        return
    factor = 1.0 / np.sqrt(norm * method.lam)
    for p in range(pool.size[margin]):
        cells[2 * (pool.slot[margin, p] * margins + margin)] *= factor
    for t in range(slots.shape[0]):
        cell = slots[t] * margins + margin
        if state.place[cell] == 0:
            cells[2 * cell] *= factor


@kernel
def _spread(cells, where, slots, x):
    """Variance of an example's margin, x' Sigma x, for SOFS."""
    margins, margin = where
    spread = 0.0
    for t in range(slots.shape[0]):
        precision = 1.0 + cells[2 * (slots[t] * margins + margin) + 1]
        spread += x[t] * x[t] / precision
    return spread


@kernel
def _confident(cells, where, slots, x, move, growth):
    margins, margin = where
    for t in range(slots.shape[0]):
        at = 2 * (slots[t] * margins + margin)
        cells[at] += move * x[t] / (1.0 + cells[at + 1])
        cells[at + 1] += growth * x[t] * x[t]


@kernel
def _confident_pull(loss, method, example, spread, z, pull, curvature):
    """Pull that AROW follows at a margin: its step is the implicit one."""
    y, importance, unit, c = example
    if is_apart(loss) and spread > 0.0:
        one, target = alone(loss, y, c)
        move = balance(one, target, z[c : c + 1], importance, method.gamma / spread)
        return move / (spread * unit)
    return pull / (method.gamma + curvature * spread)


@kernel(forceinline=True)
def answer(loss, method, state, row, margin, z, pull, curvature):
    """How much of a pull a rule follows; a row is (y, importance, slots, x, x'x)."""
    y, importance, slots, x, norm = row
    if method.step == CONFIDENT and pull != 0.0:
        spread = _spread(state.cells, (state.bias.shape[0], margin), slots, x)
        example = y, importance, weight_unit(method.unit, state.unit), margin
        return _confident_pull(loss, method, example, spread, z, pull, curvature)
    if method.step == PLAIN and method.unit != UNITLESS:
        # plain steps on slopes without a bound would go too far and farther
        unit, slope = (
            weight_unit(method.unit, state.unit),
            slope_unit(method.unit, state.unit),
        )
        return pull / (1.0 + curvature * (method.eta * norm * unit / slope))
    return pull


@kernel(forceinline=True)
def step(method, state, margin, slots, x, pull, curvature):
    """Take the step of an example, for one margin; ``pull`` may be 0."""
    if method.step == DUAL:
        if pull != 0.0:
            where = state.bias.shape[0], margin
            _dual(state.cells, where, state.clock[FADE], slots, x, pull)
    elif method.step == MIRROR:
        _mirror(method, state, margin, slots, x, pull)
    elif method.step == PLAIN:
        _plain(method, state, margin, slots, x, pull)
    elif pull != 0.0:
        where = state.bias.shape[0], margin
        _confident(state.cells, where, slots, x, pull, curvature / method.gamma)
