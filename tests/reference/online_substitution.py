"""Online Substitution, one feature at a time, as the paper has it.

X has columns of weighted mean 0; ``share`` are the weights of rows, which sum to 1. The
intercept of a loss other than the squared one moves by a step of its own.
"""

import numpy as np

from shortlist.losses import slope, value


def leading_eigenvalue(G, v):
    """One step of the power method; v goes on from arrival to arrival."""
    image = G @ v
    norm = np.linalg.norm(image)
    return norm, image / norm if norm > 0 else v


def substitution(X, y, k, *, eta=None, m=None, passes=1, share=None):
    """Squared loss: supports after each arrival, last weights, objective each time."""
    n, p = X.shape
    share = np.full(n, 1 / n) if share is None else share
    S, w, v = [], np.zeros(0), np.zeros(0)
    supports, objectives = [], []
    largest = 0.0
    for _ in range(passes):
        for j in range(p):
            if j in S:
                continue
            XS, x = X[:, S], X[:, j]
            g = share * (XS @ w - y)
            largest = max(largest, share @ x**2)
            step = 1 / largest if eta is None else eta
            if m is not None:
                small = step / m
            elif S:
                top, v = leading_eigenvalue(XS.T @ (share[:, None] * XS), v)
                small = step * largest / max(largest, top)
            else:
                small = 0.0
            w = w - small * (XS.T @ g)
            newcomer = -step * (x @ g)
            if len(S) < k:
                S, w = [*S, j], np.append(w, newcomer)
                v = np.append(v, 1 / np.sqrt(len(S)))
            elif abs(newcomer) > np.abs(w).min():
                slot = int(np.abs(w).argmin())
                S[slot], w[slot] = j, newcomer
            supports.append(list(S))
            objectives.append(0.5 * share @ (X[:, S] @ w - y) ** 2)
    return supports, w, objectives


def exact_substitution(X, y, k, *, passes=1, share=None):
    """Squared loss, refitted on k + 1 features whenever one arrives."""
    n, p = X.shape
    share = np.full(n, 1 / n) if share is None else share
    S, supports, objectives = [], [], []

    def solve(S):
        A = X[:, S] * np.sqrt(share)[:, None]
        inverse = np.linalg.inv(A.T @ A)
        return inverse, inverse @ A.T @ (np.sqrt(share) * y)

    for _ in range(passes):
        for j in range(p):
            if j in S:
                continue
            T = [*S, j]
            if len(T) > k:
                inverse, w = solve(T)
                costs = w**2 / np.diag(inverse)
                slot = int(costs[:-1].argmin())
                if costs[slot] < costs[-1]:
                    S[slot] = j
            else:
                S = T
            supports.append(list(S))
            _, w = solve(S)
            objectives.append(0.5 * share @ (X[:, S] @ w - y) ** 2)
    return supports, solve(S)[1], objectives


def smooth_substitution(loss, X, y, k, *, eta, m, passes=1, bias=0.0):
    """Any pointwise loss, with numbers for eta and m."""
    n, p = X.shape
    S, w = [], np.zeros(0)
    supports, objectives = [], []
    bound = type(loss).smoothness
    for _ in range(passes):
        for j in range(p):
            if j in S:
                continue
            XS, x = X[:, S], X[:, j]
            z = XS @ w + bias
            g = np.array([slope(loss, a, b) for a, b in zip(y, z, strict=True)]) / n
            w = w - eta / m * (XS.T @ g)
            bias -= g.sum() / bound
            newcomer = -eta * (x @ g)
            if len(S) < k:
                S, w = [*S, j], np.append(w, newcomer)
            elif abs(newcomer) > np.abs(w).min():
                slot = int(np.abs(w).argmin())
                S[slot], w[slot] = j, newcomer
            supports.append(list(S))
            z = X[:, S] @ w + bias
            pairs = zip(y, z, strict=True)
            objectives.append(np.mean([value(loss, a, b) for a, b in pairs]))
    return supports, w, bias, objectives
