"""From many columns to k in halves: ridge regressions of a dense table."""

import numpy as np


def ridge_fit(X, y, share):
    """Weights, and their distances from none in standard errors, about the means."""
    away, target = X - X.mean(axis=0), y - y.mean()
    spread, squares = (away**2).sum(axis=0), (X**2).sum(axis=0)
    ridge = share * spread.sum() / len(y) * spread / squares
    weight = np.linalg.solve(away.T @ away + np.diag(ridge), away.T @ target)
    return weight, np.abs(weight) * np.sqrt(spread + ridge)


def cut_in_halves(X, y, k, share, always=()):
    """Columns that stay, and their weights; those of ``always`` come first."""
    columns = np.arange(X.shape[1])
    while True:
        weight, score = ridge_fit(X[:, columns], y, share)
        if len(columns) == k:
            return columns, weight
        score[np.isin(columns, always)] = np.inf
        size = max(k, (len(columns) + 1) // 2)
        columns = np.sort(columns[np.argsort(-score, kind="stable")[:size]])
