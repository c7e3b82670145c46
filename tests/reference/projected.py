"""Hard thresholding for least squares, as the papers write it: dense, nothing cached.

All minimise ||y - A w||^2 / (2 n) over k nonzeros and yield w after every iteration from
w = 0; mu is the step.
"""

import numpy as np


def hard_threshold(z, k):
    """H_k(z): the k largest entries, all others 0."""
    out = np.zeros_like(z)
    largest = np.argsort(-np.abs(z), kind="stable")[:k]
    out[largest] = z[largest]
    return out


def least_squares(A, y, support):
    """argmin ||y - A w|| over w that are zero outside the support."""
    w = np.zeros(A.shape[1])
    w[support] = np.linalg.lstsq(A[:, support], y)[0]
    return w


def iht(A, y, k, mu, n_iter):
    """Blumensath & Davies: w <- H_k(w + mu A'(y - A w) / n)."""
    w = np.zeros(A.shape[1])
    for _ in range(n_iter):
        w = hard_threshold(w + mu * A.T @ (y - A @ w) / len(y), k)
        yield w


def normalized_iht(A, y, k, n_iter, c=0.01, kappa=2 / 0.99):
    """Blumensath & Davies (2010), Algorithm 1; also yields how often mu was shortened."""
    n, w = len(y), np.zeros(A.shape[1])
    S = np.flatnonzero(hard_threshold(A.T @ y, k))
    for _ in range(n_iter):
        g = A.T @ (y - A @ w) / n
        mu = g[S] @ g[S] / (np.sum((A[:, S] @ g[S]) ** 2) / n)
        new, shortened = hard_threshold(w + mu * g, k), 0
        while not np.array_equal(np.flatnonzero(new), S):
            omega = (
                (1 - c) * np.sum((new - w) ** 2) / (np.sum((A @ (new - w)) ** 2) / n)
            )
            if mu <= omega:
                break
            mu /= kappa * (1 - c)
            new, shortened = hard_threshold(w + mu * g, k), shortened + 1
        w, S = new, np.flatnonzero(new)
        yield w, shortened


def iti(A, y, k, mu, n_iter):
    """Maleki: the same support, then the inverse of A on it."""
    w = np.zeros(A.shape[1])
    for _ in range(n_iter):
        z = hard_threshold(w + mu * A.T @ (y - A @ w) / len(y), k)
        w = least_squares(A, y, np.flatnonzero(z))
        yield w


def pht(A, y, k, l, mu, n_iter):  # noqa: E741
    """Jain, Tewari & Dhillon: of bottom_l inside and top_l outside, the l largest stay.

    The support to begin with is that of the k largest entries of A'y.
    """
    inside = np.flatnonzero(hard_threshold(A.T @ y, k))
    w = least_squares(A, y, inside)
    yield w
    for _ in range(n_iter - 1):
        z = w + mu * A.T @ (y - A @ w) / len(y)
        outside = np.setdiff1d(np.arange(len(z)), inside)
        bottom = inside[np.argsort(np.abs(z[inside]))[:l]]
        top = outside[np.argsort(-np.abs(z[outside]))[:l]]
        both = np.concatenate([bottom, top])
        winners = both[np.argsort(-np.abs(z[both]))[: len(bottom)]]
        inside = np.union1d(np.setdiff1d(inside, bottom), winners)
        w = least_squares(A, y, inside)
        yield w
