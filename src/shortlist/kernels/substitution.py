"""Features that arrive one by one and take the place of others, on inner products alone.

For the squared loss all that matters of a column are its inner products with the columns
that are retained, with the other columns of its block, and with what is to be predicted.
One matrix product gives them for a block; what follows is the algorithm itself, one
arrival after the other. Inner products of a block with itself matter from the first column
on that comes in. In most blocks none does: a kernel goes as far as that column, and is
called again once they are known.

Slots hold the features that are retained. In ``counts`` stand how many slots are in use,
how many of them hold features that may be replaced, how many candidates have arrived, and
how many inverses have been updated since the last one was computed.
"""

from typing import Any, NamedTuple

import numpy as np

from shortlist.kernels._jit import kernel

IN_USE, FREE, ARRIVED, UPDATES = range(4)
N_COUNTS = 4

#: What an arriving column is: to be compared, to be left out, to be kept in any case. From
#: 0 on: retained already, in that slot.
CANDIDATE, SKIPPED, ALWAYS = -1, -2, -3

#: Exchanges after which an inverse is computed afresh, before rounding adds up.
_FRESH = 64
#: Share of a column's square, left by the retained ones, below which it is one of them.
_DEPENDENT = 1e-8
#: Columns are copies if their angle has a squared sine below this.
ALIKE = 1e-10
#: An exchange should gain more than this share, so that rounding cannot make it swing.
_GAIN = 1e-9


class Kept(NamedTuple):
    """What is known about the columns that are retained; k slots."""

    gram: Any  #: (k, k) inner products
    corr: Any  #: (k,) inner products with what is to be predicted
    w: Any  #: (k,) weights
    inverse: Any  #: (k, k) of gram, for exact exchanges
    vector: Any  #: (k,) leading eigenvector of gram, about
    locked: Any  #: (k,) whether a slot holds what is always in
    counts: Any  #: (4,) see the module
    reach: Any  #: (2,) largest square of a column, largest eigenvalue of gram, about


class Arriving(NamedTuple):
    """Inner products of a block of columns."""

    kept: Any  #: (b, k) with the retained ones; changes as slots do
    squares: Any  #: (b,) with themselves
    own: Any  #: (b, b) with each other, below the diagonal; (0, 0) while not known
    corr: Any  #: (b,) with what is to be predicted
    status: Any  #: (b,) CANDIDATE, SKIPPED, ALWAYS or a slot


class Rule(NamedTuple):
    """How weights move."""

    capacity: int  #: features that may be retained, besides those always in
    eta: float  #: step of a newcomer; 0: 1 / the largest square of a column
    m: float  #: steps of retained ones are eta / m; 0: as long as is safe
    ridge: float = 0.0  #: part of every square of a column


def no_columns(k: int) -> Kept:
    """K slots, all of them free."""
    return Kept(
        gram=np.zeros((k, k)),
        corr=np.zeros(k),
        w=np.zeros(k),
        inverse=np.zeros((k, k)),
        vector=np.zeros(k),
        locked=np.zeros(k, np.bool_),
        counts=np.zeros(N_COUNTS, np.int64),
        reach=np.zeros(2),
    )


@kernel
def _times(symmetric, n, vector, out):
    """Write symmetric[:n, :n] vector into out, row by row: eight numbers at once."""
    for a in range(n):
        out[a] = 0.0
    for b in range(n):
        factor = vector[b]
        for a in range(n):
            out[a] += symmetric[b, a] * factor


@kernel
def power_step(gram, n, vector):
    """Improve on a leading eigenvector in place; return the eigenvalue, about."""
    image = np.empty(n)
    _times(gram, n, vector, image)
    norm = 0.0
    for a in range(n):
        norm += image[a] * image[a]
    norm = np.sqrt(norm)
    if norm > 0.0:
        for a in range(n):
            vector[a] = image[a] / norm
    return norm


@kernel
def weakest(sizes, locked, n):
    """Slot of the smallest size that is not locked; -1 if all are."""
    found = -1
    for a in range(n):
        if not locked[a] and (found < 0 or sizes[a] < sizes[found]):
            found = a
    return found


@kernel
def stays_out(status, holder):
    """Whether a column has no part in this: left out, or in its slot still."""
    return status == SKIPPED or (status >= 0 and holder[status] < 0)


@kernel
def is_copy(kept, block, j, rule):
    """Whether column j is another's, but for its unit; those always in are not asked."""
    if block.status[j] == ALWAYS:
        return False
    square = (1.0 - ALIKE) * (block.squares[j] - rule.ridge)
    for a in range(kept.counts[IN_USE]):
        if block.kept[j, a] ** 2 > square * (kept.gram[a, a] - rule.ridge):
            return True
    return False


@kernel
def substitute(kept, block, rule, holder, taken, first):
    """Let columns of a block arrive, from ``first`` on, by the gradient steps of the paper.

    ``holder[slot]``, -1 before, becomes the number in the block of the column that ends up
    there, ``taken[j, 0]`` the slot that column j took when it came, or -1, and
    ``taken[j, 1]`` how many candidates had come by then.

    Returns how many columns have arrived. While ``block.own`` is not known, that may be
    before all have: the last of them has a slot, and waits to be seated.
    """
    counts, w = kept.counts, kept.w
    grad = np.empty(w.shape[0])
    sizes = np.empty(w.shape[0])
    for j in range(first, block.corr.shape[0]):
        taken[j, 0] = -1
        if stays_out(block.status[j], holder):
            continue
        n = counts[IN_USE]
        counts[ARRIVED] += 1
        taken[j, 1] = counts[ARRIVED]
        kept.reach[0] = max(kept.reach[0], block.squares[j])
        slope = -block.corr[j]
        for a in range(n):
            slope += block.kept[j, a] * w[a]
        _times(kept.gram, n, w, grad)
        eta = rule.eta if rule.eta > 0.0 else 1.0 / kept.reach[0]
        if rule.m > 0.0:
            step = eta / rule.m
        else:
            kept.reach[1] = power_step(kept.gram, n, kept.vector)
            step = eta * kept.reach[0] / max(kept.reach[0], kept.reach[1])
        for a in range(n):
            w[a] -= step * (grad[a] - kept.corr[a])
            sizes[a] = abs(w[a])
        newcomer = -eta * slope
        slot = -1
        if block.status[j] == ALWAYS or counts[FREE] < rule.capacity:
            slot = n
        elif rule.capacity > 0:
            slot = weakest(sizes, kept.locked, n)
            if abs(newcomer) <= sizes[slot]:
                slot = -1
        if slot >= 0 and not is_copy(kept, block, j, rule):
            taken[j, 0] = slot
            w[slot] = newcomer
            if block.own.shape[0] == 0:
                return j + 1
            seat(kept, block, j, slot, holder)
    return block.corr.shape[0]


@kernel
def seat(kept, block, j, slot, holder):
    """Give a slot, perhaps a new one, to column j of the block, if ``own`` is known."""
    n = kept.counts[IN_USE]
    if slot == n:
        kept.counts[IN_USE] += 1
        kept.locked[slot] = block.status[j] == ALWAYS
        if not kept.locked[slot]:
            kept.counts[FREE] += 1
        kept.vector[slot] = 1.0 / np.sqrt(n + 1.0)
    for a in range(n):
        kept.gram[slot, a] = kept.gram[a, slot] = block.kept[j, a]
    kept.gram[slot, slot] = block.squares[j]
    kept.corr[slot] = block.corr[j]
    for i in range(j + 1, block.corr.shape[0]):
        block.kept[i, slot] = block.own[i, j]
    holder[slot] = j


@kernel
def substitute_exactly(kept, block, rule, holder, taken, first):
    """Let columns of a block arrive; weights are always those of least squares.

    A newcomer joins for a moment; of all that are then in, the one goes whose going costs
    least, ``w^2 / (2 (gram^-1)_aa)`` for each. So no exchange raises the objective.
    Otherwise as ``substitute``.
    """
    counts, w, inverse = kept.counts, kept.w, kept.inverse
    h = np.empty(w.shape[0])
    costs = np.empty(w.shape[0])
    for j in range(first, block.corr.shape[0]):
        taken[j, 0] = -1
        if stays_out(block.status[j], holder):
            continue
        n = counts[IN_USE]
        counts[ARRIVED] += 1
        taken[j, 1] = counts[ARRIVED]
        left, slope = block.squares[j], block.corr[j]
        _times(inverse, n, block.kept[j], h)
        for a in range(n):
            left -= h[a] * block.kept[j, a]
            slope -= w[a] * block.kept[j, a]
        if left <= _DEPENDENT * block.squares[j]:
            if block.status[j] != ALWAYS:
                continue
            left = _DEPENDENT * block.squares[j]  # it is kept, with hardly a weight
            if left <= 0.0:
                left = 1.0
        newcomer = slope / left
        slot = -1
        if block.status[j] == ALWAYS or counts[FREE] < rule.capacity:
            slot = n
        elif rule.capacity > 0:
            for a in range(n):
                moved = w[a] - h[a] * newcomer
                costs[a] = moved * moved / (inverse[a, a] + h[a] * h[a] / left)
            slot = weakest(costs, kept.locked, n)
            if costs[slot] >= (1.0 - _GAIN) * slope * newcomer:
                slot = -1
        if slot >= 0 and not is_copy(kept, block, j, rule):
            taken[j, 0] = slot
            _join(kept, h, left, newcomer, slot)
            if block.own.shape[0] == 0:
                return j + 1
            seat_exactly(kept, block, j, slot, holder)
    return block.corr.shape[0]


@kernel
def seat_exactly(kept, block, j, slot, holder):
    """Seat column j; compute the inverse afresh now and then."""
    seat(kept, block, j, slot, holder)
    kept.counts[UPDATES] += 1
    if kept.counts[UPDATES] >= _FRESH:
        refresh(kept)


@kernel
def _join(kept, h, left, newcomer, slot):
    """Bring weights and inverse to what they are with a newcomer in a slot."""
    n, w, inverse = kept.counts[IN_USE], kept.w, kept.inverse
    for a in range(n):
        w[a] -= h[a] * newcomer
        for b in range(n):
            inverse[a, b] += h[a] * h[b] / left
    if slot == n:
        for a in range(n):
            inverse[a, n] = inverse[n, a] = -h[a] / left
        inverse[n, n] = 1.0 / left
        w[n] = newcomer
        return
    # The slot's own row and column go, and the newcomer's take their place.
    pivot, lost = inverse[slot, slot], w[slot]
    gone = inverse[slot, :n].copy()
    fresh = -h[:n] / left
    w[slot] = newcomer
    cross = fresh[slot]
    for a in range(n):
        if a != slot:
            w[a] -= gone[a] * lost / pivot
            for b in range(n):
                if b != slot:
                    inverse[a, b] -= gone[a] * gone[b] / pivot
            inverse[a, slot] = fresh[a] - gone[a] * cross / pivot
            inverse[slot, a] = inverse[a, slot]
    w[slot] -= cross * lost / pivot
    inverse[slot, slot] = 1.0 / left - cross * cross / pivot


@kernel
def refresh(kept):
    """Compute inverse and weights from the inner products, by elimination."""
    n, inverse = kept.counts[IN_USE], kept.inverse
    kept.counts[UPDATES] = 0
    for a in range(n):
        for b in range(n):
            inverse[a, b] = kept.gram[a, b]
    for p in range(n):
        # what depends on others is all but left out
        pivot = max(inverse[p, p], _DEPENDENT * kept.gram[p, p])
        if pivot <= 0.0:
            pivot = 1.0
        for b in range(n):
            if b != p:
                inverse[p, b] /= pivot
        for a in range(n):
            if a != p:
                factor = inverse[a, p]
                for b in range(n):
                    if b != p:
                        inverse[a, b] -= factor * inverse[p, b]
                inverse[a, p] = -factor / pivot
        inverse[p, p] = 1.0 / pivot
    _times(inverse, n, kept.corr, kept.w)
