"""mRMR by its definitions: rows of weight s are s rows, nothing kept, nothing vectorised.

Peng, Long & Ding (2005) for mutual information, Ding & Peng (2005) for F and correlation.
"""

import numpy as np


def binned(x, w, bins):
    """Codes of bins of equal weight; few values are their own bins.

    A bin ends with the first value at which its share of the weight is reached, the last
    but one value at the latest.
    """
    values = sorted(set(x.tolist()))
    if len(values) <= bins:
        return np.array([values.index(v) for v in x])
    total, ends = w.sum(), set()
    for i in range(1, bins):
        reached = [v for v in values if w[x <= v].sum() >= i * total / bins]
        ends.add(min(reached[0], values[-2]))
    return np.array([sum(v > end for end in ends) for v in x])


def information(a, b, w):
    """I(a; b) in nats, of two columns of codes."""
    total, answer = w.sum(), 0.0
    for u in set(a.tolist()):
        for v in set(b.tolist()):
            both = w[(a == u) & (b == v)].sum() / total
            apart = w[a == u].sum() * w[b == v].sum() / total**2
            if both > 0:
                answer += both * np.log(both / apart)
    return answer


def correlation(a, b, w):
    """Pearson's; 0 of a constant."""
    a, b = a - w @ a / w.sum(), b - w @ b / w.sum()
    lengths = np.sqrt((w @ a**2) * (w @ b**2))
    return w @ (a * b) / lengths if lengths > 0 else 0.0


def f_of_classes(x, y, w):
    """F of a one-way analysis of variance."""
    mean = w @ x / w.sum()
    between = within = 0.0
    classes = set(y.tolist())
    for c in classes:
        own, share = x[y == c], w[y == c]
        center = share @ own / share.sum()
        between += share.sum() * (center - mean) ** 2
        within += share @ (own - center) ** 2
    return (between / (len(classes) - 1)) / (within / (w.sum() - len(classes)))


def f_of_numbers(x, y, w):
    """F of a regression on one column."""
    r = correlation(x, y, w)
    return r**2 / (1 - r**2) * (w.sum() - 2)


def mrmr(
    X, y, k, *, classes, relevance, redundancy, scheme, bins, weight=None, always=()
):
    """Columns in the order in which they come in, with what they tell and repeat."""
    n, p = X.shape
    w = np.ones(n) if weight is None else weight
    codes = np.column_stack([binned(X[:, j], w, bins) for j in range(p)])
    if relevance == "mutual_info":
        told = y if classes else binned(y, w, bins)
        relevant = [information(codes[:, j], told, w) for j in range(p)]
    else:
        f = f_of_classes if classes else f_of_numbers
        relevant = [f(X[:, j], y, w) for j in range(p)]

    def repeated(j, s):
        if redundancy == "mutual_info":
            return information(codes[:, j], codes[:, s], w)
        return abs(correlation(X[:, j], X[:, s], w))

    chosen = sorted(always, key=lambda j: (-relevant[j], j))
    while len(chosen) < k:
        best, at = -np.inf, None
        for j in set(range(p)) - set(chosen):
            value = relevant[j]
            if chosen:
                mean = sum(repeated(j, s) for s in chosen) / len(chosen)
                value = (
                    value - mean if scheme == "difference" else value / max(mean, 1e-3)
                )
            if value > best:
                best, at = value, j
        chosen.append(at)
    return chosen, np.array(relevant)
