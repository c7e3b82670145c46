"""Synthetic problems of section 5: sparse weights, Gaussian columns."""

from typing import NamedTuple

import numpy as np

S = 100


class Problem(NamedTuple):
    """Training data, the truth, and rows to test classifiers on."""

    X: np.ndarray
    y: np.ndarray
    support: np.ndarray
    w: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    @property
    def is_classification(self):
        return self.y_test is not None


def rows_for(p, s=S):
    """1.2 s log2 p, as many as the paper has."""
    return int(1.2 * s * np.log2(p))


def draw(kind, p, seed, *, s=S, n=None):
    """A problem of kind ``regression`` (noise of deviation .1) or ``classes`` (signs)."""
    rng = np.random.default_rng([seed, p, kind == "classes"])
    n = rows_for(p, s) if n is None else n
    X = np.asfortranarray(rng.standard_normal((n, p)))
    w = np.zeros(p)
    support = np.sort(rng.choice(p, s, replace=False))
    w[support] = rng.standard_normal(s)
    z = X[:, support] @ w[support]
    if kind == "regression":
        y = z + 0.1 * rng.standard_normal(n)
        return Problem(X, y, support, w, None, None)
    X_test = rng.standard_normal((n, p))
    y_test = np.sign(X_test[:, support] @ w[support])
    return Problem(X, np.sign(z), support, w, X_test, y_test)
