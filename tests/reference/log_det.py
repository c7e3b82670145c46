"""Covariance selection the slow way: whole matrices, and two ways to the minimum."""

import numpy as np
from scipy.optimize import minimize

from shortlist._protocols import Fit


def matrix(p, support, weights, diagonal):
    """Theta with these weights at these pairs."""
    pairs = np.zeros(p * (p - 1) // 2)
    pairs[support] = weights
    theta = np.zeros((p, p))
    theta[np.triu_indices(p, 1)] = pairs
    return theta + theta.T + np.diag(diagonal)


def value(S, theta, l2=0.0):
    """The formula as it reads; infinite outside positive definiteness."""
    if np.linalg.eigvalsh(theta)[0] <= 0.0:
        return np.inf
    likelihood = np.trace(S @ theta) - np.linalg.slogdet(theta)[1]
    return 0.5 * likelihood + 0.5 * l2 * (np.triu(theta, 1) ** 2).sum()


def by_regressions(S, support, rounds=2000):
    """Theta for l2 = 0: each variable regressed on its neighbours, in turns.

    Covariances of the model, W, equal S on the diagonal and the support; the rest of each
    column is what the regression of that variable on its neighbours implies.
    """
    p = len(S)
    linked = matrix(p, support, 1.0, np.zeros(p)) > 0.0
    W = np.diag(np.diag(S))
    theta = np.diag(1.0 / np.diag(S))
    for _ in range(rounds):
        before = W.copy()
        for v in range(p):
            others, near = np.arange(p) != v, linked[v]
            beta = np.zeros(p)
            beta[near] = np.linalg.solve(W[np.ix_(near, near)], S[near, v])
            W[others, v] = W[v, others] = (W @ beta)[others]
            theta[v, v] = 1.0 / (S[v, v] - W[v] @ np.where(others, beta, 0.0))
            theta[others, v] = -beta[others] * theta[v, v]
        if np.abs(W - before).max() < 1e-14:
            break
    return theta


def by_descent(S, support, l2=0.0):
    """Theta by a general method for smooth functions, with numbers for a gradient."""
    p, n_pairs = len(S), len(support)

    def unpack(x):
        return matrix(p, support, x[:n_pairs], x[n_pairs:])

    def value_and_gradient(x):
        theta = unpack(x)
        here = value(S, theta, l2)
        if here == np.inf:
            return 1e10, np.zeros_like(x)
        G = S - np.linalg.inv(theta)
        pairs = (G + l2 * theta)[np.triu_indices(p, 1)][support]
        return here, np.concatenate([pairs, 0.5 * np.diag(G)])

    x = np.concatenate([np.zeros(n_pairs), 1.0 / np.diag(S)])
    for _ in range(3):  # from where it was, without what it believed of the curvature
        x = minimize(
            value_and_gradient, x, jac=True, method="BFGS", options={"gtol": 1e-11}
        ).x
    return unpack(x)


def covariances(seed=0, p=7, n=30):
    """Of correlated variables in units of their own."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.4 * rng.normal(size=(p, p)))
    return np.cov(X * 2.0 ** rng.integers(-2, 3, p), rowvar=False)


def pairs_of(p, edges):
    """Coordinates of edges."""
    number = np.zeros((p, p), int)
    number[np.triu_indices(p, 1)] = np.arange(p * (p - 1) // 2)
    return np.sort([number[min(e), max(e)] for e in edges])


def moved(fit, coordinate, t):
    """The point after theta_ij has changed by t."""
    support = np.union1d(fit.support, [coordinate])
    weights = np.zeros(len(support))
    weights[np.searchsorted(support, fit.support)] = fit.weights
    weights[np.searchsorted(support, coordinate)] += t
    return fit._replace(support=support, weights=weights)


def some_point(seed, support, S):
    """Positive definite, and not a minimum."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(len(S), 1)
    diagonal = rng.uniform(0.5, 2.0, len(S)) / np.diag(S)
    room = np.sqrt(diagonal[i] * diagonal[j])[support] / len(S)
    return Fit(support, rng.uniform(-1.0, 1.0, len(support)) * room, diagonal, np.nan)


def planted(edges, p, n, seed=0, strength=0.35):
    """Samples of a Gaussian whose precision matrix has these edges."""
    rng = np.random.default_rng(seed)
    theta = np.eye(p)
    for i, j in edges:
        theta[i, j] = theta[j, i] = strength * rng.choice([-1.0, 1.0])
    theta += max(0.0, 0.1 - np.linalg.eigvalsh(theta)[0]) * np.eye(p)
    L = np.linalg.cholesky(theta)
    return np.linalg.solve(L.T, rng.normal(size=(p, n))).T
