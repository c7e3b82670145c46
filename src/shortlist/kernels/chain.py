"""Linear chains of labels: sums over all paths, the best path, and what is expected.

A chain has a factor for each step and label, psi, one for each pair of labels that follow
each other, and one for the first and the last label of a sequence. Labels are padded with
factors of 0 to a multiple of eight, so that products fill whole registers (``lanes``).

Steps with the same observations share a row of factors, ``row_of`` says which. Sensors
that say yes or no have few different rows, and what is worked out for a row (exponentials,
products with observations) is worked out once.
"""

import math

import numpy as np

from shortlist.kernels._jit import kernel
from shortlist.kernels.lanes import WIDE, add_products, times
from shortlist.kernels.prefetch import prefetch, prefetch_to_read

#: Rows of ``moves`` after those of the transitions.
FIRST, LAST = -2, -1

#: Within this range a product of scales needs no logarithm yet.
SMALL, LARGE = 1e-100, 1e100

#: So many steps are in the fastest cache together.
CHUNK = 64

#: Rows of factors lie all over memory: they are asked for so many steps before.
SOON = 8

#: Sums may run in any order: that makes them vector instructions.
_FAST = {"contract", "reassoc"}


@kernel
def exponentials(scores, least, factors, tops):
    """Write exponentials of scores less the largest of their row, and that one.

    Scores lower than that by more than ``least`` count as so much; ``factors``, which may
    be wider than ``scores``, is 0 beyond them.
    """
    n_labels = scores.shape[1]
    for row in range(len(scores)):
        top = scores[row, 0]
        for j in range(1, n_labels):
            top = max(top, scores[row, j])
        tops[row] = top
        for j in range(n_labels):
            factors[row, j] = math.exp(max(scores[row, j] - top, least))
        for j in range(n_labels, factors.shape[1]):
            factors[row, j] = 0.0


@kernel(fastmath=_FAST)
def log_partition(psi, row_of, bounds, moves):
    """Sum over sequences of the logarithm of the sum over all paths.

    Parameters
    ----------
    psi : ndarray of shape (n_rows, width)
        Factors of the labels for each different observation; padding is 0.
    row_of : ndarray of shape (n_steps,)
        Row of each step.
    bounds : ndarray of shape (n_sequences + 1,)
        Where sequences begin and end; none is empty.
    moves : ndarray of shape (width + 2, width)
        Factors from label (row) to label (column), of the first and of the last label.
    """
    width = psi.shape[1]
    n_labels = _in_use(moves)
    sums, here = np.empty((2, width)), 0
    total, product = 0.0, 1.0  # a logarithm only when the product leaves its range
    for s in range(len(bounds) - 1):
        row = row_of[bounds[s]]
        scale = 0.0
        for j in range(width):
            sums[here, j] = psi[row, j] * moves[FIRST, j]
            scale += sums[here, j]
        for t in range(bounds[s] + 1, bounds[s + 1]):
            if SMALL < product * scale < LARGE:
                product *= scale
            else:
                total += math.log(product) + math.log(scale)
                product = 1.0
            soon = row_of[min(t + SOON, bounds[s + 1] - 1)] * width
            for j in range(0, width, WIDE):
                prefetch_to_read(psi, soon + j)
            here, inverse = 1 - here, 1.0 / scale
            scale = times(
                sums, 1 - here, moves, n_labels, psi, row_of[t], inverse, sums, here
            )
        whole = 0.0
        for j in range(width):
            whole += sums[here, j] * moves[LAST, j]
        total += math.log(whole)
    return total + math.log(product)


@kernel(fastmath=_FAST)
def forward_backward(psi, row_of, bounds, moves, marginals, expected):
    """``log_partition``, and how often each label and pair of labels is expected.

    Adds up the probabilities of the labels of each step in its row of ``marginals``, as
    large as psi, and those of pairs, first and last labels in ``expected``, as large
    as moves. Both should be 0 before.

    Sums of a step are divided by the total of those of the step before them, forward by
    forward and backward by backward ones: so neither waits for the other, and as each step
    waits for the one before it, having both under way takes little more time than one.
    What makes probabilities of their products, ``share``, follows from the totals. As
    ``after`` has the factors of its step, probabilities are divided by these in the end,
    once a row.
    """
    width, n_labels = psi.shape[1], _in_use(moves)
    longest = 0
    for s in range(len(bounds) - 1):
        longest = max(longest, bounds[s + 1] - bounds[s])
    ahead = np.empty((longest, width))  # forward sums
    after = np.empty((longest, width))  # factor times backward sum
    scales, backs = np.ones(longest), np.ones(longest)  # totals of sums of neighbours
    share = np.ones(longest)
    turned, pairs = np.empty((width, width)), np.zeros((width, width))
    for i in range(width):
        for j in range(width):
            turned[j, i] = moves[i, j]
    total, product = 0.0, 1.0  # a logarithm only when the product leaves its range
    for s in range(len(bounds) - 1):
        first, n = bounds[s], bounds[s + 1] - bounds[s]
        row = row_of[first]
        scale = 0.0
        for j in range(width):
            ahead[0, j] = psi[row, j] * moves[FIRST, j]
            scale += ahead[0, j]
        row, back = row_of[first + n - 1], 0.0
        for j in range(width):
            after[n - 1, j] = psi[row, j] * moves[LAST, j]
            back += after[n - 1, j]
        for t in range(1, n):
            scales[t] = scale
            if SMALL < product * scale < LARGE:
                product *= scale
            else:
                total += math.log(product) + math.log(scale)
                product = 1.0
            u = n - 1 - t
            soon = row_of[first + min(t + SOON, n - 1)] * width
            late = row_of[first + max(u - SOON, 0)] * width
            for j in range(0, width, WIDE):
                prefetch_to_read(psi, soon + j)
                prefetch_to_read(psi, late + j)
            row, inverse = row_of[first + t], 1.0 / scale
            scale = times(ahead, t - 1, moves, n_labels, psi, row, inverse, ahead, t)
            backs[u] = back
            row, inverse = row_of[first + u], 1.0 / back
            back = times(after, u + 1, turned, n_labels, psi, row, inverse, after, u)
        whole = 0.0
        for j in range(width):
            whole += ahead[n - 1, j] * moves[LAST, j]
        total += math.log(whole)
        for j in range(width):
            expected[LAST, j] += ahead[n - 1, j] * moves[LAST, j] / whole
        usual = _shares(scales, backs, whole, n, share)
        if not usual:  # slower, and safe where forward and backward sums hardly overlap
            row = row_of[first + n - 1]
            for j in range(width):
                after[n - 1, j] = psi[row, j] * moves[LAST, j] * share[n - 1]
            for t in range(n - 1, 0, -1):
                row, inverse = row_of[first + t - 1], 1.0 / scales[t - 1]
                times(after, t, turned, n_labels, psi, row, inverse, after, t - 1)
            share[:n] = 1.0
        for j in range(width):
            expected[FIRST, j] += moves[FIRST, j] * after[0, j] * share[0]
        for begin in range(0, n, CHUNK):
            end = min(begin + CHUNK, n)
            for t in range(begin, end):
                row, scale = row_of[first + t], scales[t]
                soon = row_of[first + min(t + SOON, n - 1)] * width
                for j in range(0, width, WIDE):
                    prefetch(marginals, soon + j)
                for j in range(width):
                    after[t, j] *= share[t]
                    marginals[row, j] += ahead[t, j] * after[t, j] * scale
            add_products(ahead, after, max(begin, 1), end, pairs)
    for row in range(len(psi)):
        for j in range(width):
            if psi[row, j] > 0.0:
                marginals[row, j] /= psi[row, j]
    for i in range(width):
        for j in range(width):
            expected[i, j] += pairs[i, j] * moves[i, j]
    return total + math.log(product)


@kernel
def best_paths(scores, bounds, moves, labels):
    """Viterbi: the most probable labels of each sequence; of equals the lowest.

    All in logarithms and not padded: ``scores`` has shape (n_steps, n_labels), ``moves``
    (n_labels + 2, n_labels); ``labels`` is written.
    """
    n_labels = scores.shape[1]
    longest = 0
    for s in range(len(bounds) - 1):
        longest = max(longest, bounds[s + 1] - bounds[s])
    came_from = np.empty((longest, n_labels), np.int32)
    best, new = np.empty(n_labels), np.empty(n_labels)
    for s in range(len(bounds) - 1):
        first, n = bounds[s], bounds[s + 1] - bounds[s]
        for j in range(n_labels):
            best[j] = scores[first, j] + moves[FIRST, j]
        for t in range(1, n):
            for j in range(n_labels):
                top, source = best[0] + moves[0, j], 0
                for i in range(1, n_labels):
                    through = best[i] + moves[i, j]
                    if through > top:
                        top, source = through, i
                new[j] = top + scores[first + t, j]
                came_from[t, j] = source
            best, new = new, best
        label = 0
        for j in range(n_labels):
            best[j] += moves[LAST, j]
            if best[j] > best[label]:
                label = j
        labels[first + n - 1] = label
        for t in range(n - 1, 0, -1):
            label = came_from[t, label]
            labels[first + t - 1] = label


@kernel
def _shares(scales, backs, whole, n, share):
    """What turns after sums of each step into those of probabilities; whether it is sane.

    The last one is always right. Sums that hardly overlap have shares beyond all range.
    """
    part = 1.0 / (scales[n - 1] * whole)
    share[n - 1] = part
    usual = SMALL < part < LARGE
    for t in range(n - 2, -1, -1):
        part *= backs[t] / scales[t]
        share[t] = part
        usual &= (SMALL < part < LARGE) & (backs[t] > SMALL) & (scales[t] > SMALL)
    return usual


@kernel
def _in_use(moves):
    """Number of labels without padding, which no sequence begins with; made even."""
    n = moves.shape[1]
    while n > 1 and moves[FIRST, n - 1] == 0.0:
        n -= 1
    return n + n % 2
