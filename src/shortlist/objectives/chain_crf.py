"""Likelihood of a linear-chain conditional random field, emission by emission.

With N labelled steps, the objective is

    Q = -(1/N) sum over sequences of log p(labels | observations)
        + (l2 / 2) (sum of squares of all weights, those always in included).

Weights of features for labels (emissions) are open to selection; transitions between
labels, first and last labels and a bias a label are always in.

References
----------
Lafferty, McCallum, Pereira. Conditional Random Fields: Probabilistic Models for Segmenting
and Labeling Sequence Data. ICML 2001.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np

from shortlist._protocols import Fit, Floats, Ints, ShortlistError
from shortlist.kernels.chain import forward_backward, log_partition
from shortlist.objectives.chain_model import (
    ChainModel,
    label_factors,
    move_factors,
    unpacked,
)
from shortlist.objectives.chain_steps import labelled_steps

# How many units of the cheapest are refitted to see what leaving costs.
_TRIED = 4
_MOST_ITERATIONS = 2000


class ChainCRF:
    """Negative log-likelihood of the labels of sequences, a step at a time.

    Coordinates are weights of features for labels: feature times n_labels plus label.
    The nuisance holds the bias of each label, the scores of first and last labels, and
    transitions row by row.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_steps, n_features)
        Observations of all sequences, one after the other.
    y : array-like of int of shape (n_steps,)
        Codes of labels, from 0. A negative one means that nobody knows: there the
        sequence is cut in two, and the step is not used.
    lengths : array-like of int of shape (n_sequences,), default=None
        How many steps each sequence has; None: all are one sequence.
    l2 : float, default=1e-4
        Penalty of all weights; above 0.
    n_labels : int, default=None
        Number of labels, if more than y has.
    features, labels : sequence of str, default=None
        Names; None: x0, x1, ... and 0, 1, ...
    n_jobs : int, default=1
        Threads, each with sequences of its own.
    tol : float, default=1e-5
        Largest derivative at which a refit may end.

    Attributes
    ----------
    n_coordinates : int
        Number of features times number of labels.
    n_samples : int
        Number of labelled steps.

    Notes
    -----
    Rows of observations that are equal are worked out once. Sums over paths are scaled,
    in float64; see ``chain_model`` for where factors are kept from vanishing.

    Derivatives are the same for any number of threads but for rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.objectives import ChainCRF
    >>> y = np.repeat([0, 1, 0, 1], 5)
    >>> X = np.column_stack([y, np.arange(20) % 2])  # the first feature tells
    >>> objective = ChainCRF(X, y, features=["light", "clock"], labels=["off", "on"])
    >>> gradient = objective.gradient(objective.refit(np.empty(0, int)))
    >>> objective.names[np.argmin(gradient)]
    'light -> on'
    >>> model = objective.model(objective.refit(np.array([1])))
    >>> model.decode(X, np.array([0, 20])).tolist() == y.tolist()
    True
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        lengths: Any = None,
        *,
        l2: float = 1e-4,
        n_labels: int | None = None,
        features: Sequence[str] | None = None,
        labels: Sequence[str] | None = None,
        n_jobs: int = 1,
        tol: float = 1e-5,
    ) -> None:
        _check_settings(l2, n_jobs)
        self._steps = steps = labelled_steps(X, y, lengths)
        least = int(steps.y.max()) + 1
        L = least if n_labels is None else n_labels
        if least > L:
            raise ShortlistError(f"n_labels should be at least {least}, got {n_labels}")
        self.n_labels, self.n_features = L, steps.X.shape[1]
        self.n_coordinates, self.n_samples = self.n_features * L, steps.n_steps
        self.l2, self.n_jobs, self.tol = float(l2), n_jobs, tol
        self._features, self._labels = features, labels
        for what, given, n in (
            ("features", features, self.n_features),
            ("labels", labels, L),
        ):
            if given is not None and len(given) != n:
                raise ShortlistError(f"{what} should be {n} names, got {len(given)}")

        self._shares = steps.shares(min(n_jobs, len(steps.bounds) - 1))
        self._repeats = np.bincount(steps.row_of, minlength=steps.X.shape[0])
        n_runs = len(steps.bounds) - 1
        self._n_moves = np.array([self.n_samples - n_runs, n_runs, n_runs])
        # what the gradient is measured against, and what scores of labels add up with
        seen, moves = steps.label_counts(L), steps.move_counts(L)
        self._seen = np.asarray(steps.X.T @ seen)
        self._seen_always = _packed(seen.sum(axis=0), moves)
        self._latest: tuple[bytes, tuple[Ints, Any, Ints]] = (
            b"none",
            (np.empty(0, np.int64), None, np.empty(0, np.int64)),
        )

    @cached_property
    def names(self) -> list[str]:
        """Names of the coordinates, such as "fridge -> breakfast"."""
        features = self._features or [f"x{j}" for j in range(self.n_features)]
        labels = self._labels or range(self.n_labels)
        return [f"{feature} -> {label}" for feature in features for label in labels]

    def model(self, fit: Fit) -> ChainModel:
        """Return a point as a model, which can say something about other sequences."""
        W = np.zeros(self.n_coordinates)
        W[fit.support] = fit.weights
        return unpacked(W.reshape(self.n_features, self.n_labels), fit.nuisance)

    def value(self, fit: Fit) -> float:
        """Q at the point: sums over paths forward only."""
        factors, moves, offset = self._factors(fit)
        row_of = self._steps.row_of

        def part(bounds: Ints) -> float:
            return float(log_partition(factors, row_of, bounds, moves))

        return self._mean(fit, offset + sum(self._each(part)))

    def gradient(self, fit: Fit) -> Floats:
        """Partial derivative for every coordinate."""
        _, marginals, _ = self._expected(fit)
        g = np.asarray(self._steps.X.T @ marginals - self._seen).ravel()
        g /= self.n_samples
        g[fit.support] += self.l2 * fit.weights
        return g

    def refit(self, support: Ints, start: Fit | None = None) -> Fit:
        """Minimise Q over a support and all that is always in, by L-BFGS."""
        from scipy.optimize import minimize

        support = np.asarray(support, np.int64)
        m = len(support)
        theta = np.zeros(m + len(self._seen_always))
        if start is not None:
            _, ours, theirs = np.intersect1d(
                support, start.support, assume_unique=True, return_indices=True
            )
            theta[ours] = start.weights[theirs]
            theta[m:] = start.nuisance
        seen = np.concatenate([self._seen.ravel()[support], self._seen_always])

        def value_and_slope(theta: Floats) -> tuple[float, Floats]:
            fit = Fit(support, theta[:m], theta[m:], np.nan)
            value, marginals, always = self._expected(fit)
            _, columns, cells = self._restricted(support)
            emitted = np.asarray(columns.T @ marginals).ravel()[cells]
            surplus = np.concatenate([emitted, always]) - seen
            return value, surplus / self.n_samples + self.l2 * theta

        found = minimize(
            value_and_slope,
            theta,
            jac=True,
            method="L-BFGS-B",
            options={
                "maxiter": _MOST_ITERATIONS,
                "maxcor": 20,
                "ftol": 1e-15,
                "gtol": self.tol,
            },
        )
        return Fit(support, found.x[:m], found.x[m:], float(found.fun))

    def zeroing_costs(self, fit: Fit, unit_of: Ints | None = None) -> Floats:
        """How much Q rises if weights are set to zero and all else stays.

        Parameters
        ----------
        fit : Fit
        unit_of : ndarray of shape (n_weights,), default=None
            Set, from 0, that each weight leaves with; None: each alone.
        """
        if unit_of is None:
            unit_of = np.arange(len(fit.support))
        n_units = int(unit_of.max(initial=-1)) + 1
        values = [
            self.value(fit._replace(weights=np.where(unit_of == u, 0.0, fit.weights)))
            for u in range(n_units)
        ]
        return np.array(values) - fit.value

    def removal_costs(self, fit: Fit, unit_of: Ints | None = None) -> Floats:
        """How much Q rises if weights leave and the others are refitted.

        Of the few that cost least to set to zero; of others that cost, which is more.
        """
        if unit_of is None:
            unit_of = np.arange(len(fit.support))
        costs = self.zeroing_costs(fit, unit_of)
        for unit in np.argsort(costs, kind="stable")[:_TRIED]:
            without = self.refit(fit.support[unit_of != unit], fit)
            costs[unit] = without.value - fit.value
        return costs

    def _expected(self, fit: Fit) -> tuple[float, Floats, Floats]:
        """Q, probabilities of labels added up by row, and what is expected of the rest."""
        factors, moves, offset = self._factors(fit)
        row_of = self._steps.row_of

        def part(bounds: Ints) -> tuple[float, Floats, Floats]:
            marginals, expected = np.zeros_like(factors), np.zeros_like(moves)
            total = forward_backward(
                factors, row_of, bounds, moves, marginals, expected
            )
            return total, marginals, expected

        totals, marginals, expected = zip(*self._each(part), strict=True)
        by_row = sum(marginals[1:], start=marginals[0])[:, : self.n_labels]
        moved = sum(expected[1:], start=expected[0])[:, : self.n_labels]
        width = len(moved) - 2
        inside = np.delete(moved, np.s_[self.n_labels : width], axis=0)
        always = _packed(by_row.sum(axis=0), inside)
        return self._mean(fit, offset + sum(totals)), by_row, always

    def _factors(self, fit: Fit) -> tuple[Floats, Floats, float]:
        """Factors of rows and of moves, and the logarithm of what they leave out."""
        of, columns, cells = self._restricted(fit.support)
        W = np.zeros(len(of) * self.n_labels)
        W[cells] = fit.weights
        model = unpacked(W.reshape(len(of), self.n_labels), fit.nuisance)
        factors, top = label_factors(model.scores(columns))
        moves, tops = move_factors(model.moves)
        return factors, moves, float(self._repeats @ top + self._n_moves @ tops)

    def _mean(self, fit: Fit, log_partition: float) -> float:
        """Q from the sum over sequences of the logarithms of the sums over paths."""
        score = self._seen.ravel()[fit.support] @ fit.weights
        score += self._seen_always @ fit.nuisance
        squares = fit.weights @ fit.weights + fit.nuisance @ fit.nuisance
        return float((log_partition - score) / self.n_samples + 0.5 * self.l2 * squares)

    def _restricted(self, support: Ints) -> tuple[Ints, Any, Ints]:
        """Features of a support, their columns, and its cells in the weights of these."""
        key = np.asarray(support, np.int64).tobytes()
        if self._latest[0] != key:  # most questions are about the same support
            feature, label = np.divmod(support, self.n_labels)
            of, place = np.unique(feature, return_inverse=True)
            X = self._steps.X[:, of] if len(of) < self.n_features else self._steps.X
            self._latest = (key, (of, X, place * self.n_labels + label))
        return self._latest[1]

    def _each(self, part: Any) -> list[Any]:
        """Results for all shares of the sequences, in their order."""
        if len(self._shares) == 1:
            return [part(self._shares[0])]
        with ThreadPoolExecutor(len(self._shares)) as pool:
            return list(pool.map(part, self._shares))


def _check_settings(l2: Any, n_jobs: Any) -> None:
    """Refuse settings that make no sense, whatever they are."""
    number, whole = isinstance(l2, Real), isinstance(n_jobs, Integral)
    if not (number and 0.0 < l2 < np.inf):
        raise ShortlistError(f"l2 should be above 0 and finite, got {l2!r}")
    if not (whole and n_jobs >= 1):
        raise ShortlistError(f"n_jobs should be at least 1, got {n_jobs!r}")


def _packed(bias: Floats, moves: Floats) -> Floats:
    """Numbers of what is always in, in the order of the nuisance."""
    return np.concatenate([bias, moves[-2], moves[-1], moves[:-2].ravel()])
