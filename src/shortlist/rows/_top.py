"""Truncation of B-AMD, OFS and SOFS: members against the features of the example.

A feature that is not a member has weight 0 and cannot become one unless an example has it,
so the k best are found among the members and the example: O(nnz + k).

Scores are H |z| (B-AMD), |z| (OFS, naive truncation) and the precision (SOFS).
"""

import numpy as np

from shortlist._steps import ROWS
from shortlist.kernels._jit import kernel
from shortlist.kernels.ranking import bring_best, is_better
from shortlist.kernels.stays import end_stay
from shortlist.rows._state import CONFIDENT, FADE, MIRROR, XI_SUM


@kernel
def top_score(method, first, second, fade):
    """What members are ranked by."""
    if method.step == CONFIDENT:
        return 1.0 + second
    if method.step == MIRROR and not method.naive:
        return (method.delta + np.sqrt(second * fade)) * abs(first)
    return abs(first)


@kernel
def _error(method, first, second, fade):
    """What it costs to set a weight to 0: its part of xi."""
    if method.step != MIRROR:
        return 0.0
    return (method.delta + np.sqrt(second * fade)) * abs(first)


@kernel
def _weakest(pool, margin):
    score, number = pool.score[margin], pool.number[margin]
    weakest = 0
    for p in range(1, pool.size[margin]):
        if is_better(score, number, weakest, p):
            weakest = p
    return weakest


@kernel
def _score_members(method, state, margin):
    pool, margins, fade = state.pool, state.bias.shape[0], state.clock[FADE]
    for p in range(pool.size[margin]):
        cell = pool.slot[margin, p] * margins + margin
        first, second = state.cells[2 * cell], state.cells[2 * cell + 1]
        pool.score[margin, p] = top_score(method, first, second, fade)


@kernel
def keep_top(method, state, ids, margin, slots):
    """Have the best k be the members, after the features in these slots stepped."""
    pool, cells, place = state.pool, state.cells, state.place
    fade, margins = state.clock[FADE], state.bias.shape[0]
    score, number = pool.score[margin], pool.number[margin]
    if method.step != CONFIDENT and (method.lam > 0.0 or method.rho < 1.0):
        _score_members(method, state, margin)
    for t in range(slots.shape[0]):
        cell = slots[t] * margins + margin
        if place[cell] > 0:
            value = top_score(method, cells[2 * cell], cells[2 * cell + 1], fade)
            score[place[cell] - 1] = value
    weakest = -1
    rivals, values = np.empty(slots.shape[0], np.int64), np.empty(slots.shape[0])
    n = 0
    for t in range(slots.shape[0]):
        cell = slots[t] * margins + margin
        if place[cell] > 0 or cells[2 * cell] == 0.0:
            continue
        value = top_score(method, cells[2 * cell], cells[2 * cell + 1], fade)
        if pool.size[margin] < method.k:
            _admit(state, ids, margin, pool.size[margin], slots[t], value)
            pool.size[margin] += 1
            continue
        weakest = _weakest(pool, margin) if weakest < 0 else weakest
        if value < score[weakest] or (
            value == score[weakest] and ids[slots[t]] > number[weakest]
        ):
            _set_to_zero(method, state, cell)
        else:
            rivals[n], values[n] = slots[t], value
            n += 1
    if n == 1:
        _dismiss(method, state, margin, weakest)
        _admit(state, ids, margin, weakest, rivals[0], values[0])
    elif n > 1:
        _compete(method, state, ids, margin, rivals[:n], values[:n])


@kernel
def _admit(state, ids, margin, p, slot, value):
    """Give a place to a feature."""
    pool = state.pool
    pool.slot[margin, p], pool.number[margin, p] = slot, ids[slot]
    pool.score[margin, p] = value
    pool.entered[margin, p] = np.int64(state.totals[ROWS])
    state.place[slot * state.bias.shape[0] + margin] = p + 1


@kernel
def _set_to_zero(method, state, cell):
    first, second = state.cells[2 * cell], state.cells[2 * cell + 1]
    state.clock[XI_SUM] += _error(method, first, second, state.clock[FADE])
    state.cells[2 * cell] = 0.0


@kernel
def _dismiss(method, state, margin, p):
    """Set the weight of a member to 0; its place is free."""
    pool, now = state.pool, np.int64(state.totals[ROWS])
    cell = pool.slot[margin, p] * state.bias.shape[0] + margin
    _set_to_zero(method, state, cell)
    state.place[cell] = 0
    end_stay(state.stays, pool.number[margin, p], margin, pool.entered[margin, p], now)


@kernel
def _compete(method, state, ids, margin, rivals, values):
    """Let several features compete with all members at once."""
    pool, k, n = state.pool, method.k, rivals.shape[0]
    scores, numbers = np.empty(k + n), np.empty(k + n, np.uint64)
    order, wins = np.arange(k + n), np.zeros(k + n, np.bool_)
    for p in range(k):
        scores[p], numbers[p] = pool.score[margin, p], pool.number[margin, p]
    for i in range(n):
        scores[k + i], numbers[k + i] = values[i], ids[rivals[i]]
    bring_best(order, k, scores, numbers)
    for i in range(k):
        wins[order[i]] = True
    p = 0
    for i in range(n):
        if not wins[k + i]:
            _set_to_zero(method, state, rivals[i] * state.bias.shape[0] + margin)
            continue
        while wins[p]:
            p += 1
        _dismiss(method, state, margin, p)
        _admit(state, ids, margin, p, rivals[i], values[i])
        p += 1
