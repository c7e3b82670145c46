"""The two naive online methods that the paper compares with.

It says of them no more than that they are "based on coordinate descent method and projected
or proximal operation". As read here: a feature that arrives, retained or not, gets one
coordinate step; nothing else moves. ``projected`` then keeps the s largest weights,
``proximal`` shrinks the weight by the l1 penalty.
"""

import numpy as np


def slopes(kind, y, u):
    """Derivative of the mean loss in the margins: squares, or the squared hinge."""
    if kind == "regression":
        return (u - y) / len(y)
    return -np.maximum(0.0, 1.0 - u * y) * y / len(y)


def projected(kind, X, y, s, passes):
    """Coordinate steps, the s largest weights kept."""
    w, u = {}, np.zeros(len(y))
    for _ in range(passes):
        for j in range(X.shape[1]):
            x = X[:, j]
            old = w.get(j, 0.0)
            new = old - (x @ slopes(kind, y, u)) * len(y) / (x @ x)
            if j not in w and len(w) == s:
                weakest = min(w, key=lambda i: abs(w[i]))
                if abs(new) <= abs(w[weakest]):
                    continue
                u -= w.pop(weakest) * X[:, weakest]
            w[j] = new
            u += (new - old) * x
    return np.array(sorted(w))


def proximal(kind, X, y, s, passes, lam):
    """Coordinate steps under a penalty; the s largest weights in the end."""
    w, u = np.zeros(X.shape[1]), np.zeros(len(y))
    for _ in range(passes):
        for j in range(X.shape[1]):
            x = X[:, j]
            step = len(y) / (x @ x)
            moved = w[j] - step * (x @ slopes(kind, y, u))
            new = np.sign(moved) * max(0.0, abs(moved) - step * lam)
            if new != w[j]:
                u += (new - w[j]) * x
                w[j] = new
    best = np.argsort(-np.abs(w))[:s]
    return np.sort(best[w[best] != 0])
