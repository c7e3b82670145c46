"""ReliefF and RReliefF as Robnik-Sikonja & Kononenko (2003) write them, loop by loop."""

import numpy as np


def differences(X, categories):
    """diff(A, I1, I2) of every column and two rows."""
    span = X.max(axis=0) - X.min(axis=0)

    def diff(a, i, j):
        if a in categories:
            return float(X[i, a] != X[j, a])
        return abs(X[i, a] - X[j, a]) / span[a] if span[a] > 0 else 0.0

    return diff


def neighbours(i, rows, k, diff, p):
    """The k nearest rows other than i; of equally near ones the first."""
    far = [(sum(diff(a, i, j) for a in range(p)), j) for j in rows if j != i]
    return [j for _, j in sorted(far)[:k]]


def relieff(X, y, k, *, categories=(), probes=None):
    """W of every column, for classes; averages over neighbours where there are fewer."""
    n, p = X.shape
    diff, W = differences(X, categories), np.zeros(p)
    probes = range(n) if probes is None else probes
    for i in probes:
        for c in set(y.tolist()):
            near = neighbours(i, np.flatnonzero(y == c), k, diff, p)
            factor = -1.0 if c == y[i] else np.mean(y == c) / (1 - np.mean(y == y[i]))
            for a in range(p):
                for j in near:
                    W[a] += factor * diff(a, i, j) / (len(probes) * len(near))
    return W


def rrelieff(X, y, k, *, categories=(), probes=None):
    """W of every column, for numbers; all k neighbours have the same influence."""
    n, p = X.shape
    diff, span = differences(X, categories), y.max() - y.min()
    n_dc, n_da, n_both = 0.0, np.zeros(p), np.zeros(p)
    probes = range(n) if probes is None else probes
    for i in probes:
        near = neighbours(i, range(n), k, diff, p)
        for j in near:
            apart = abs(y[i] - y[j]) / span
            n_dc += apart / len(near)
            for a in range(p):
                n_da[a] += diff(a, i, j) / len(near)
                n_both[a] += apart * diff(a, i, j) / len(near)
    return n_both / n_dc - (n_da - n_both) / (len(probes) - n_dc)
