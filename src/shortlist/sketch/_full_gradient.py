"""MISSION with full gradients, the form that its appendix is about, for dense tables.

From S = 0, with beta the k largest entries of S, an iteration is (Eq. 11)

    S += step X'(y - X beta),   beta = top k of S,   S = gamma S outside the top k,

where S is a vector (the identity sketch of section 5.1) or a Count-Sketch. The last part is
the clean-up of section 9.1: gamma begins near 1, so that gradients are gathered from many
iterations, and falls, so that in the end this is iterative hard thresholding.

It serves to rerun the paper's simulations; to select from a table there are better ways in
``shortlist.table``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shortlist._protocols import Floats, Ints, ShortlistError
from shortlist.kernels.count_sketch import add, count_sketch, estimate

# Sums beyond it grow further, and squares of them would not be numbers.
_NO_BOUND = 1e100


class FullGradient(NamedTuple):
    """Where the iterations ended."""

    support: Ints  #: increasing
    weights: Floats  #: one a feature of the support
    n_iter: int
    converged: bool


class _Identity:
    """A sketch that gives back what was put in."""

    def __init__(self, n_features: int) -> None:
        self._sums = np.zeros(n_features)

    def add(self, numbers: Floats) -> Floats:
        self._sums += numbers
        return self._sums

    def fade(self, gamma: float, support: Ints, weights: Floats) -> None:
        self._sums *= gamma
        self._sums[support] = weights


class _Count:
    """A Count-Sketch of all features at once."""

    def __init__(self, n_features: int, width: int, seed: int) -> None:
        self._sketch = count_sketch(3, width, seed=seed)
        self._ids = np.arange(n_features, dtype=np.uint64)
        self._out = np.empty((n_features, 1))

    def add(self, numbers: Floats) -> Floats:
        add(self._sketch, self._ids, numbers[:, None])
        estimate(self._sketch, self._ids, self._out, np.empty_like(self._out))
        estimates: Floats = self._out[:, 0]
        return estimates

    def fade(self, gamma: float, support: Ints, weights: Floats) -> None:
        self._sketch.table[:] *= np.float32(gamma)
        rest = (1.0 - gamma) * weights[:, None]
        add(self._sketch, self._ids[support], rest)


def full_gradient_mission(
    X: Floats,
    y: Floats,
    k: int,
    *,
    step: float | None = None,
    gamma: float = 0.9999,
    decay: float = 0.9999,
    width: int | None = None,
    seed: int = 0,
    max_iter: int = 10_000,
    tol: float = 1e-6,
) -> FullGradient:
    """Select k features by MISSION with full gradients and squared loss.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        There is no intercept.
    k : int
    step : float, default=None
        Step along X'(y - X beta); by default 1 over the largest squared singular value.
    gamma : float, default=0.9999
        Factor of what is outside the top k, in the first iteration; 0 makes it iterative
        hard thresholding.
    decay : float, default=0.9999
        Factor of gamma from one iteration to the next.
    width : int, default=None
        Cells in each of the three rows of a Count-Sketch; None: exact sums.
    seed : int, default=0
        Seed of the hash functions.
    max_iter : int, default=10_000
    tol : float, default=1e-6
        Stop when the support stays and the weights change by less, relatively.

    Returns
    -------
    FullGradient

    Notes
    -----
    Section 9.1 attenuates "the gradients vector" and section 5.1 "the non top-k elements
    of S"; read here as one: the gathered gradients.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 200))
    >>> y = X[:, 7] - 2 * X[:, 42]
    >>> full_gradient_mission(X, y, 2).support
    array([ 7, 42])
    """
    n_features = X.shape[1]
    if not 1 <= k <= n_features:
        raise ShortlistError(f"k should be from 1 to {n_features}, got {k}")
    if not (0.0 <= gamma <= 1.0 and 0.0 < decay <= 1.0):
        raise ShortlistError(
            f"gamma and decay should be at most 1, got {gamma} and {decay}"
        )
    if step is None:
        step = 1.0 / float(np.linalg.norm(X, 2)) ** 2
    store: _Identity | _Count = _Identity(n_features)
    if width is not None:
        store = _Count(n_features, width, seed)
    support, weights = np.arange(k), np.zeros(k)
    for n_iter in range(1, max_iter + 1):
        with np.errstate(over="ignore", invalid="ignore"):
            residual = y - X[:, support] @ weights
            sums = store.add(step * (residual @ X))
        if not np.abs(sums).max() < _NO_BOUND:
            raise ShortlistError(f"step={step:.3g} is too long: the sums have no bound")
        # of equals the first: features that share their cells have equal estimates
        kept = np.sort(np.argsort(-np.abs(sums), kind="stable")[:k])
        now = sums[kept].copy()
        stays = np.array_equal(kept, support) and bool(
            np.linalg.norm(now - weights) <= tol * np.linalg.norm(now)
        )
        support, weights = kept, now
        if stays:
            return FullGradient(support, weights, n_iter, True)
        store.fade(gamma, support, weights)
        gamma *= decay
    return FullGradient(support, weights, max_iter, False)
