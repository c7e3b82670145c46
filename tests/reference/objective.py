"""The linear objective the slow way: one example at a time, as the formula reads."""

import numpy as np
from scipy.optimize import linprog, minimize

from shortlist.losses import slope_into, value_of


def value(loss, X, y, W, b, l2=0.0, weight=None):
    """Weighted mean loss of the margins x_i W + b, plus (l2 / 2) ||W||^2."""
    weight = np.ones(len(X)) if weight is None else weight
    total = sum(
        s * value_of(loss, target, x @ W + b)
        for x, target, s in zip(X, y, weight, strict=True)
    )
    return total / weight.sum() + 0.5 * l2 * (W**2).sum()


def gradient(loss, X, y, W, b, l2=0.0, weight=None):
    """Derivative in every weight, by central differences of the value."""
    out = np.empty_like(W)
    for cell in np.ndindex(*W.shape):
        h = 1e-5
        up, down = W.copy(), W.copy()
        up[cell] += h
        down[cell] -= h
        rise = value(loss, X, y, up, b, l2, weight)
        out[cell] = (rise - value(loss, X, y, down, b, l2, weight)) / (2 * h)
    return out


def refit(loss, X, y, mask, l2=0.0, weight=None, fit_intercept=True):
    """Minimise over the weights where mask is True; returns W, b and the value."""
    weight = np.ones(len(X)) if weight is None else weight
    n_weights, C = int(mask.sum()), mask.shape[1]

    def unpack(theta):
        W = np.zeros(mask.shape)
        W[mask] = theta[:n_weights]
        return W, theta[n_weights:] if fit_intercept else np.zeros(C)

    def value_and_gradient(theta):
        W, b = unpack(theta)
        G = np.zeros((len(X), C))
        for i in range(len(X)):
            slope_into(loss, y[i], X[i] @ W + b, G[i])
        G *= (weight / weight.sum())[:, None]
        parts = [(X.T @ G + l2 * W)[mask], G.sum(axis=0) if fit_intercept else []]
        return value(loss, X, y, W, b, l2, weight), np.concatenate(parts)

    theta = np.zeros(n_weights + C * fit_intercept)
    for method in ("L-BFGS-B", "BFGS"):  # the second polishes what the first leaves
        found = minimize(
            value_and_gradient,
            theta,
            jac=True,
            method=method,
            options={"gtol": 1e-10, "maxiter": 5000}
            | ({"ftol": 0.0} if method == "L-BFGS-B" else {}),
        )
        theta = found.x
    return *unpack(theta), float(found.fun)


def hinge_by_linear_programming(X, y, weight):
    """Smallest weighted mean hinge loss of a model with an intercept, l2 = 0."""
    n, p = X.shape
    # variables w, b, xi: minimise mean xi, subject to y (X w + b) >= 1 - xi, xi >= 0
    cost = np.concatenate([np.zeros(p + 1), weight / weight.sum()])
    rows = np.hstack([-y[:, None] * X, -y[:, None], -np.eye(n)])
    bounds = [(None, None)] * (p + 1) + [(0, None)] * n
    return linprog(cost, A_ub=rows, b_ub=-np.ones(n), bounds=bounds).fun


def insensitive_by_linear_programming(X, y, weight, epsilon):
    """Smallest weighted mean of max(0, |y - X w - b| - epsilon), l2 = 0."""
    n, p = X.shape
    cost = np.concatenate([np.zeros(p + 1), weight / weight.sum()])
    A = np.hstack([X, np.ones((n, 1))])
    rows = np.vstack([np.hstack([A, -np.eye(n)]), np.hstack([-A, -np.eye(n)])])
    limits = np.concatenate([y + epsilon, epsilon - y])
    bounds = [(None, None)] * (p + 1) + [(0, None)] * n
    return linprog(cost, A_ub=rows, b_ub=limits, bounds=bounds).fun
