"""GSR-FS and RFS line by line: whole matrices, nothing scaled, dropped or cached.

The objective is sum_i s_i ||x_i W + b - y_i||^r + lam sum_j ||w_j||^p, each norm read as
sqrt(||.||^2 + sigma); of the penalty its value at W = 0 is taken off.
"""

import numpy as np


def smoothed(rows, sigma):
    return np.sqrt(np.sum(rows**2, axis=1) + sigma)


def objective(X, Y, W, b, r, p, lam, sigma=0.0, weight=None):
    weight = np.ones(len(X)) if weight is None else weight
    loss = weight @ smoothed(X @ W + b - Y, sigma) ** r
    return loss + lam * np.sum(smoothed(W, sigma) ** p - sigma ** (p / 2))


def gsr(X, Y, r, p, lam, n_iter, sigma=1e-12, weight=None, intercept=False):
    """Algorithm 1 from S1 = S2 = I: W, b and the objective after every step.

    ``intercept``: minimise over b as well in each of the weighted problems.
    """
    weight = np.ones(len(X)) if weight is None else weight
    S1, S2 = np.diag(weight), np.eye(X.shape[1])
    ones = np.ones((len(X), 1))
    for _ in range(n_iter):
        A = np.hstack([X, ones]) if intercept else X
        penalty = np.zeros((A.shape[1], A.shape[1]))
        penalty[: len(S2), : len(S2)] = lam * S2
        theta = np.linalg.solve(A.T @ S1 @ A + penalty, A.T @ S1 @ Y)
        W = theta[: X.shape[1]]
        b = theta[-1] if intercept else np.zeros(Y.shape[1])
        S1 = np.diag(weight * r / 2 * smoothed(X @ W + b - Y, sigma) ** (r - 2))
        S2 = np.diag(p / 2 * smoothed(W, sigma) ** (p - 2))
        yield W, b, objective(X, Y, W, b, r, p, lam, sigma, weight)


def dual_gsr(X, Y, r, p, lam, n_iter, sigma=1e-12):
    """The same without an intercept, by the Woodbury form."""
    S1, S2 = np.eye(len(X)), np.eye(X.shape[1])
    for _ in range(n_iter):
        D2 = np.linalg.inv(S2)
        W = D2 @ X.T @ np.linalg.solve(X @ D2 @ X.T + lam * np.linalg.inv(S1), Y)
        S1 = np.diag(r / 2 * smoothed(X @ W - Y, sigma) ** (r - 2))
        S2 = np.diag(p / 2 * smoothed(W, sigma) ** (p - 2))
        yield W


def rfs(X, Y, lam, n_iter, sigma=1e-24):
    """Nie, Huang, Cai & Ding: min ||U||_{2,1} subject to A U = Y.

    A = [X, lam I] and U = [W; E], so that lam E = Y - X W. Yields W.
    """
    A = np.hstack([X, lam * np.eye(len(X))])
    D = np.eye(A.shape[1])
    for _ in range(n_iter):
        inverse = np.diag(1 / np.diag(D))
        U = inverse @ A.T @ np.linalg.solve(A @ inverse @ A.T, Y)
        D = np.diag(1 / (2 * smoothed(U, sigma)))
        yield U[: X.shape[1]]
