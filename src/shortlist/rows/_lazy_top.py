"""Truncation of B-ARDA: the exact k best at every step, without looking at all features.

The score of a coordinate is H G^2 / (c + H)^2, which ranks as H z^2 does (naive truncation:
without the first H, as z^2), with c = lambda eta t. While a coordinate is not touched its
score only falls: c grows, and what is forgotten shrinks G by more than H. So scores known
from earlier are upper bounds now, and a *pool* of members and some reserves is all that has
to be looked at, as long as a certificate holds:

    everyone outside the pool scores less than the weakest member.

Outsiders are bounded together, by buckets of H with upper edges E = 2^b: score (c + E)^2
<= bound_b. Since E >= H this product does not grow with c; with forgetting it falls by
rho^(3/2) a step (rho if naive), as r = sqrt(score) has

    d ln r / d time <= ln(rho) (1 - s / 4H),   H = delta + s.

If neither lambda nor forgetting moves scores, there is one bucket and the bound is on the
score itself. A touched outsider joins the pool if it exceeds its bound. When the
certificate fails, all features that ever came are scored, and the pool is made anew.
"""

import math

import numpy as np

from shortlist._steps import ROWS
from shortlist.kernels._jit import kernel, uncounted
from shortlist.kernels.ranking import bring_best, is_better
from shortlist.kernels.stays import end_stay
from shortlist.rows._state import FADE, N_BUCKETS, TIME

_FIRST_POWER = -64
_EDGES = 2.0 ** np.arange(_FIRST_POWER, _FIRST_POWER + N_BUCKETS)
#: Rounding must never make a bound too low.
_ABOVE = 1.0 + 1e-12


@kernel
def is_moving(method):
    """Whether scores of coordinates that nobody touches change."""
    return method.lam > 0.0 or method.rho < 1.0


@kernel
def dual_score(method, G, S, fade, c):
    """Score of a coordinate, whose sums are kept in units that fade."""
    H = method.delta + np.sqrt(S * fade)
    G = G * fade
    top = G * G if method.naive else H * (G * G)
    return top / ((c + H) * (c + H))


@kernel
def _bucket(method, S, fade):
    """Bucket of a coordinate: the power of two above its H."""
    if not is_moving(method):
        return 0
    _, power = math.frexp(method.delta + np.sqrt(S * fade))
    return min(max(power - _FIRST_POWER, 0), N_BUCKETS - 1)


@kernel
def _reach(method, b, c):
    """What a score is multiplied by before it is compared with a bound."""
    return (c + _EDGES[b]) * (c + _EDGES[b]) if is_moving(method) else 1.0


@kernel
def _leave_outside(method, pool, margin, S, score, fade, c):
    """Raise the bound on outsiders by one more."""
    b = _bucket(method, S, fade)
    bound = score * _reach(method, b, c) * _ABOVE
    pool.bound[margin, b] = max(pool.bound[margin, b], bound)
    pool.used[margin, 0] = min(pool.used[margin, 0], b)
    pool.used[margin, 1] = max(pool.used[margin, 1], b)


@kernel
def _copy_place(pool, margin, source, target):
    for column in (pool.slot, pool.entered):
        column[margin, target] = column[margin, source]
    pool.number[margin, target] = pool.number[margin, source]
    for numbers in (pool.first, pool.second, pool.score):
        numbers[margin, target] = numbers[margin, source]


@kernel
def _swap(state, margin, a, b):
    """Exchange two places of the pool."""
    pool, margins = state.pool, state.bias.shape[0]
    for column in (pool.slot, pool.entered):
        row = column[margin]
        row[a], row[b] = row[b], row[a]
    numbers = pool.number[margin]
    numbers[a], numbers[b] = numbers[b], numbers[a]
    for values in (pool.first, pool.second, pool.score):
        row = values[margin]
        row[a], row[b] = row[b], row[a]
    state.place[pool.slot[margin, a] * margins + margin] = a + 1
    state.place[pool.slot[margin, b] * margins + margin] = b + 1


@kernel
def _make_room(method, state, margin, c):
    """Send the weaker half of the reserves away."""
    pool, margins, fade = state.pool, state.bias.shape[0], state.clock[FADE]
    n, keep = pool.size[margin], method.k + method.reserve // 2
    order = np.arange(method.k, n)
    bring_best(order, keep - method.k, pool.score[margin], pool.number[margin])
    is_kept = np.zeros(n, np.bool_)
    for i in range(keep - method.k):
        is_kept[order[i]] = True
    at = method.k
    for p in range(method.k, n):
        cell = pool.slot[margin, p] * margins + margin
        if is_kept[p]:
            _copy_place(pool, margin, p, at)
            state.place[cell] = at + 1
            at += 1
        else:
            S, score = pool.second[margin, p], pool.score[margin, p]
            _leave_outside(method, pool, margin, S, score, fade, c)
            state.place[cell] = 0
    pool.size[margin] = keep
    pool.ends[margin, 1] = -1


@kernel
def _put(state, ids, margin, p, slot, score, now):
    """Fill a place of the pool."""
    pool, cell = state.pool, slot * state.bias.shape[0] + margin
    pool.slot[margin, p], pool.number[margin, p] = slot, ids[slot]
    pool.first[margin, p] = state.cells[2 * cell]
    pool.second[margin, p] = state.cells[2 * cell + 1]
    pool.score[margin, p], pool.entered[margin, p] = score, now
    state.place[cell] = p + 1


@kernel
def _forget_ends(pool, margin):
    pool.ends[margin, 0], pool.ends[margin, 1] = -1, -1


@uncounted
def _look(method, pool, margin):
    """Find the weakest member and the best reserve, unless they are known."""
    score, number = pool.score[margin], pool.number[margin]
    n = pool.size[margin]
    members = min(n, method.k)
    if pool.ends[margin, 0] < 0:
        weakest = 0
        for p in range(1, members):
            if is_better(score, number, weakest, p):
                weakest = p
        pool.ends[margin, 0] = weakest
    if pool.ends[margin, 1] < 0 and n > method.k:
        best = method.k
        for p in range(method.k + 1, n):
            if is_better(score, number, p, best):
                best = p
        pool.ends[margin, 1] = best


@kernel
def _certainly_below(method, bound):
    """What G^4 / S stays below only if the score, G^2 / H, stays below the bound.

    H is above sqrt(S), so no root need be taken; 0, which tells nothing, where scores are
    something else, or so small that squares of theirs would be rounded to 0.
    """
    if is_moving(method) or method.naive or bound < 1e-30:
        return 0.0
    return bound * bound / (_ABOVE * _ABOVE)


# In place: a call would hand over some thirty arrays, word by word.
@kernel(forceinline=True)
def _touch(method, state, ids, margin, slots, c, now):
    """Take in the new sums of an example's features."""
    pool, cells, place, fade = state.pool, state.cells, state.place, state.clock[FADE]
    margins = state.bias.shape[0]
    score, number, ends = pool.score[margin], pool.number[margin], pool.ends[margin]
    first, second, bound = pool.first[margin], pool.second[margin], pool.bound[margin]
    weak = _certainly_below(method, bound[0])
    for t in range(slots.shape[0]):
        cell = slots[t] * margins + margin
        G, S = cells[2 * cell], cells[2 * cell + 1]
        p = place[cell] - 1
        if p < 0 and weak * S > G * G * (G * G):
            continue
        value = dual_score(method, G, S, fade, c)
        if p < 0:
            b = _bucket(method, S, fade)
            if value * _reach(method, b, c) <= bound[b]:
                continue
            if pool.size[margin] == pool.slot.shape[1]:
                _make_room(method, state, margin, c)
            p = pool.size[margin]
            _put(state, ids, margin, p, slots[t], value, now)
            pool.size[margin] = p + 1
            if p < method.k:
                ends[0] = -1
            elif ends[1] >= 0 and is_better(score, number, p, ends[1]):
                ends[1] = p
            continue
        rises, score[p] = value > score[p], value
        first[p], second[p] = G, S
        if p < method.k:
            if p == ends[0]:
                ends[0] = -1 if rises else p
            elif ends[0] >= 0 and is_better(score, number, ends[0], p):
                ends[0] = p
        elif p == ends[1]:
            ends[1] = p if rises else -1
        elif ends[1] >= 0 and is_better(score, number, p, ends[1]):
            ends[1] = p


@kernel
def _refresh(method, pool, margin, fade, c):
    """Score the pool as of now, and let bounds on outsiders fade."""
    first, second, score = pool.first[margin], pool.second[margin], pool.score[margin]
    for p in range(pool.size[margin]):
        score[p] = dual_score(method, first[p], second[p], fade, c)
    _forget_ends(pool, margin)
    if method.rho < 1.0:
        falls = method.rho if method.naive else method.rho * np.sqrt(method.rho)
        for b in range(pool.used[margin, 0], pool.used[margin, 1] + 1):
            pool.bound[margin, b] *= falls * _ABOVE


@uncounted
def _is_certain(method, pool, margin, c):
    """Whether nobody outside can score as much as the weakest member."""
    lowest, bound = pool.score[margin, pool.ends[margin, 0]], pool.bound[margin]
    for b in range(pool.used[margin, 0], pool.used[margin, 1] + 1):
        if bound[b] > 0.0 and bound[b] >= lowest * _reach(method, b, c) / _ABOVE:
            return False
    return True


@kernel
def _rebuild(method, state, ids, margin, c, now):
    """Score all features that ever came, and make the pool anew."""
    pool, margins, fade = state.pool, state.bias.shape[0], state.clock[FADE]
    cells, n = state.cells, ids.shape[0]
    scores, order = np.empty(n), np.arange(n)
    for slot in range(n):
        cell = slot * margins + margin
        scores[slot] = dual_score(method, cells[2 * cell], cells[2 * cell + 1], fade, c)
    keep = min(n, method.k + method.reserve // 2)
    bring_best(order, keep, scores, ids)
    bring_best(order[:keep], method.k, scores, ids)
    members = min(method.k, pool.size[margin])
    before, entered = np.empty(members, np.uint64), np.empty(members, np.int64)
    stayed = np.zeros(members, np.bool_)
    for p in range(members):
        before[p], entered[p] = pool.number[margin, p], pool.entered[margin, p]
    new_entered = np.full(keep, now)
    for p in range(min(keep, method.k)):
        old = state.place[order[p] * margins + margin] - 1
        if 0 <= old < members:
            new_entered[p], stayed[old] = entered[old], True
    for p in range(members):
        if not stayed[p]:
            end_stay(state.stays, before[p], margin, entered[p], now)
    for p in range(pool.size[margin]):
        state.place[pool.slot[margin, p] * margins + margin] = 0
    for p in range(keep):
        _put(state, ids, margin, p, order[p], scores[order[p]], new_entered[p])
    pool.size[margin] = keep
    _forget_ends(pool, margin)
    for b in range(N_BUCKETS):
        pool.bound[margin, b] = -1.0
    pool.used[margin, 0], pool.used[margin, 1] = N_BUCKETS, -1
    for i in range(keep, n):
        S = cells[2 * (order[i] * margins + margin) + 1]
        _leave_outside(method, pool, margin, S, scores[order[i]], fade, c)


@kernel(forceinline=True)
def keep_lazily(method, state, ids, margin, slots):
    """Have the best k be the members, after the features in these slots were touched."""
    pool = state.pool
    now = np.int64(state.totals[ROWS])
    c = method.lam * method.eta * state.clock[TIME]
    if is_moving(method):
        _refresh(method, pool, margin, state.clock[FADE], c)
    _touch(method, state, ids, margin, slots, c, now)
    if pool.size[margin] == 0:
        return
    score, number, ends = pool.score[margin], pool.number[margin], pool.ends[margin]
    _look(method, pool, margin)
    while pool.size[margin] > method.k and is_better(score, number, ends[1], ends[0]):
        gone, came = ends[0], ends[1]
        end_stay(state.stays, number[gone], margin, pool.entered[margin, gone], now)
        _swap(state, margin, gone, came)
        pool.entered[margin, gone] = now
        _forget_ends(pool, margin)
        _look(method, pool, margin)
    if not _is_certain(method, pool, margin, c):
        _rebuild(method, state, ids, margin, c, now)


@kernel
def lazy_error(method, state, ids):
    """Truncation error xi: the length, by H, of what is outside."""
    cells, place, fade = state.cells, state.place, state.clock[FADE]
    c = method.lam * method.eta * state.clock[TIME]
    total = 0.0
    for cell in range(ids.shape[0] * state.bias.shape[0]):
        if not 0 < place[cell] <= method.k:
            total += dual_score(method, cells[2 * cell], cells[2 * cell + 1], fade, c)
    return method.eta * np.sqrt(total)
