"""The l1-penalised problem that Grafting solves, by proximal gradient steps."""

import numpy as np

from shortlist.losses import slope, value


def penalised(loss, X, y, w, bias, lam):
    """Mean loss and penalty."""
    z = X @ w + bias
    mean = np.mean([value(loss, a, b) for a, b in zip(y, z, strict=True)])
    return mean + lam * np.abs(w).sum()


def gradient(loss, X, y, w, bias):
    """Of the mean loss: in the weights, and in the intercept."""
    z = X @ w + bias
    g = np.array([slope(loss, a, b) for a, b in zip(y, z, strict=True)]) / len(y)
    return X.T @ g, g.sum()


def violation(loss, X, y, w, bias, lam):
    """How far the conditions of a minimum are from holding: 0 at a minimum."""
    slopes, level = gradient(loss, X, y, w, bias)
    zero = np.maximum(0.0, np.abs(slopes) - lam)
    moved = np.abs(slopes + lam * np.sign(w))
    return max(float(np.where(w == 0, zero, moved).max()), abs(level))


def lasso(loss, X, y, lam, *, steps=20_000):
    """Weights and intercept, slowly."""
    A = np.column_stack([X, np.ones(len(y))])
    step = len(y) / (type(loss).smoothness * np.linalg.norm(A, 2) ** 2)
    w, bias = np.zeros(X.shape[1]), 0.0
    for _ in range(steps):
        slopes, level = gradient(loss, X, y, w, bias)
        w = w - step * slopes
        w = np.sign(w) * np.maximum(0.0, np.abs(w) - step * lam)
        bias -= step * level
    return w, bias
