"""The best of many by score, of equals those with the lower id: a partial sort."""

from shortlist.kernels._jit import kernel


@kernel
def is_better(scores, ids, a, b):
    """Whether place a beats place b."""
    return scores[a] > scores[b] or (scores[a] == scores[b] and ids[a] < ids[b])


@kernel
def bring_best(order, keep, scores, ids):
    """Reorder places so that the ``keep`` best come first, in no particular order.

    ``scores`` and ``ids`` are by place; ids are distinct, so there is one answer.
    """
    low, high = 0, order.shape[0] - 1
    if keep <= 0 or keep > high:
        return
    while low < high:
        # The median of three guards against sorted input, the common bad case.
        a, b, c = order[low], order[(low + high) // 2], order[high]
        if is_better(scores, ids, b, a):
            a, b = b, a
        if is_better(scores, ids, c, b):
            b = a if is_better(scores, ids, c, a) else c
        i, j = low, high
        while i <= j:
            while is_better(scores, ids, order[i], b):
                i += 1
            while is_better(scores, ids, b, order[j]):
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if keep - 1 <= j:
            high = j
        elif keep - 1 >= i:
            low = i
        else:
            break
