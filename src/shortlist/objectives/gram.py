"""Least squares through cached columns of the Gram matrix.

For methods that add and remove one coordinate at a time. With A the standardised columns
of X (nothing is copied: means and scales enter the formulas),

    Q(w) = sum_i s_i (y_i - a_i w - b)^2 / 2 + (l2 / 2) ||w||^2,   sum_i s_i = 1,

needs only c = A'Sy and those columns of G = A'SA that were ever candidates. They are
fetched in blocks: when one is missing, the coordinates that look best after it come along,
so that a product of matrices replaces many of vectors, and most later steps touch X not
at all. A Cholesky factor of G + l2 on the support grows and shrinks with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shortlist._protocols import DataError, Fit, Floats, Ints, ShortlistError
from shortlist.kernels.cholesky import append, inverse_diagonal, remove, solve
from shortlist.objectives.checks import as_table, as_weight
from shortlist.objectives.columns import column_moments, transposed_product
from shortlist.objectives.removal import removal_costs

#: Gram columns fetched at a time.
BLOCK = 32

# A column whose part outside the span of the others is this small adds nothing new.
_DEPENDENT = 1e-10


class GramObjective:
    """Mean squared error of a linear model with standardised columns.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Kept as it is, never copied whole.
    y : array-like of shape (n_samples,)
    l2 : float, default=0.0
        Penalty of the standardised weights.
    sample_weight : array-like of shape (n_samples,), default=None
    fit_intercept : bool, default=True
        Centre columns and y.
    standardize : bool, default=True
        Scale columns to standard deviation 1 (root mean square without intercept).

    Attributes
    ----------
    scale : ndarray of shape (n_features,)
        What columns are divided by; a weight of X is the standardised one over it.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.objectives import GramObjective
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    >>> objective = GramObjective(X, [1.0, 3.0, 5.0, 7.0])
    >>> fit = objective.refit(np.array([0]))
    >>> (fit.weights / objective.scale[[0]]).round(6), fit.nuisance.round(6)
    (array([2.]), array([1.]))
    """

    n_outputs = 1

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        l2: float = 0.0,
        sample_weight: Any = None,
        fit_intercept: bool = True,
        standardize: bool = True,
    ) -> None:
        self.X = as_table(X)
        n_samples, self.n_features = self.X.shape
        self.n_coordinates, self.l2 = self.n_features, float(l2)
        if not 0.0 <= self.l2 < np.inf:
            raise ShortlistError(f"l2 should be at least 0 and finite, got {l2}")
        self.fit_intercept = bool(fit_intercept)
        weight = as_weight(sample_weight, n_samples)
        self._share = weight / weight.sum()
        y = np.asarray(y, np.float64)
        self._y_mean, residual = 0.0, y
        for _ in range(2 * self.fit_intercept):  # the second mean is rounding's
            mean = float(self._share @ residual)
            self._y_mean, residual = self._y_mean + mean, residual - mean
        # What rounding leaves of a constant is nothing to explain.
        if np.abs(residual).max() <= 64.0 * np.finfo(float).eps * abs(self._y_mean):
            residual = np.zeros(n_samples)
        self._yy = float(self._share @ residual**2)

        self.mean, spread = mean_and_spread(self.X, self._share, center=fit_intercept)
        self.usable = spread > 0.0
        self.scale = np.where(self.usable, spread if standardize else 1.0, 1.0)
        self._diagonal = (spread / self.scale) ** 2
        self._c = self._project((self._share * residual)[:, np.newaxis])[:, 0]

        self._grams = np.empty((BLOCK, self.n_features))
        self._slot_of: dict[int, int] = {}
        self._promise = np.abs(self._c)
        self._order: list[int] = []
        self._factor = np.zeros((BLOCK, BLOCK))

    def _project(self, V: Floats) -> Floats:
        """A' V for columns V that sum to zero (or no intercept)."""
        out = transposed_product(self.X, V)
        out /= self.scale[:, np.newaxis]
        out[~self.usable] = 0.0
        return out

    def value(self, fit: Fit) -> float:
        """Q at the point."""
        w = fit.weights
        quadratic = w @ self._gram(fit.support)[:, fit.support] @ w
        fitted = quadratic - 2.0 * (self._c[fit.support] @ w)
        off = self._off(fit)
        return 0.5 * float(self._yy + fitted + self.l2 * (w @ w) + off**2)

    def gradient(self, fit: Fit) -> Floats:
        """Partial derivative of Q for every coordinate."""
        self._fetch(fit.support)
        slots = np.zeros(len(self._slot_of))
        slots[[self._slot_of[j] for j in fit.support.tolist()]] = fit.weights
        gradient: Floats = slots @ self._grams[: len(slots)] - self._c
        gradient[fit.support] += self.l2 * fit.weights
        if off := self._off(fit):
            gradient += off * np.where(self.usable, self.mean / self.scale, 0.0)
        self._promise = np.abs(gradient)
        return gradient

    def refit(self, support: Ints, start: Fit | None = None) -> Fit:
        """Minimise Q over a support; coordinates that depend on others get weight 0."""
        support = np.asarray(support, np.int64)
        self._factorise(support)
        m = len(self._order)
        order = np.array(self._order, np.int64)
        found = self._c[order]
        solve(self._factor, m, found)
        weights = np.zeros(len(support))
        weights[np.searchsorted(support, order)] = found
        value = 0.5 * (self._yy - float(self._c[order] @ found))
        return Fit(support, weights, self._intercept(support, weights), value)

    def removal_costs(self, fit: Fit, unit_of: Ints | None = None) -> Floats:
        """How much Q rises if a coordinate leaves and the others are refitted.

        Exact: w_i^2 / (2 ((G + l2)^-1)_ii), or its like for sets of coordinates.

        Parameters
        ----------
        fit : Fit
        unit_of : ndarray of shape (n_weights,), default=None
            Set, from 0, that each coordinate leaves with; None: each alone.
        """
        self._factorise(fit.support)
        m, places = len(self._order), np.searchsorted(fit.support, self._order)
        weights = fit.weights[places]
        if unit_of is None:
            costs = np.zeros(len(fit.support))
            inverse = inverse_diagonal(self._factor, m)
            costs[places] = weights**2 / (2.0 * inverse)
            return costs
        L = np.tril(self._factor[:m, :m])
        lower = np.linalg.solve(L, np.eye(m))
        return removal_costs(
            weights, lower.T @ lower, unit_of[places], int(unit_of.max(initial=-1)) + 1
        )

    def zeroing_costs(self, fit: Fit, unit_of: Ints | None = None) -> Floats:
        """How much Q rises from a refitted point if a weight is set to zero.

        The other weights stay; ``unit_of`` as in ``removal_costs``.
        """
        own = self._diagonal[fit.support] + self.l2
        if unit_of is None:
            return 0.5 * own * fit.weights**2
        W = fit.weights[:, np.newaxis] * (unit_of[:, np.newaxis] == np.unique(unit_of))
        fitted = W * (self._gram(fit.support)[:, fit.support] @ W + self.l2 * W)
        return np.asarray(0.5 * fitted.sum(axis=0))

    def decreases(self, fit: Fit) -> Floats:
        """How much Q can fall along each coordinate alone: g_j^2 / (2 (G_jj + l2))."""
        own = self._diagonal + self.l2
        return self.gradient(fit) ** 2 / (2.0 * np.where(self.usable, own, np.inf))

    def raw(self, fit: Fit) -> tuple[Floats, Floats]:
        """Weights for X itself, and the intercept."""
        return fit.weights / self.scale[fit.support], fit.nuisance

    def _intercept(self, support: Ints, weights: Floats) -> Floats:
        if not self.fit_intercept:
            return np.empty(0)
        raw = weights / self.scale[support]
        return np.array([self._y_mean - float(self.mean[support] @ raw)])

    def _off(self, fit: Fit) -> float:
        """How far the intercept is from the best one for the weights."""
        return float((fit.nuisance - self._intercept(fit.support, fit.weights)).sum())

    def _gram(self, support: Ints) -> Floats:
        self._fetch(support)
        return self._grams[[self._slot_of[j] for j in support.tolist()]]

    def _fetch(self, support: Ints) -> None:
        """Have the Gram columns of a support, and of what may come next."""
        missing = [j for j in support.tolist() if j not in self._slot_of]
        if not missing:
            return
        more = max(0, BLOCK - len(missing))
        ahead = self._promise.copy()
        ahead[[*self._slot_of, *missing]] = -1.0
        ahead[~self.usable] = -1.0
        if more and more < self.n_features:
            best = np.argpartition(-ahead, more)[:more]
            missing += [j for j in best.tolist() if ahead[j] > 0.0]
        chosen = np.array(missing)
        V = self.X[:, chosen]
        V = np.array(V.toarray() if hasattr(V, "toarray") else V, np.float64)
        V -= self.mean[chosen]
        if self.fit_intercept:  # columns of V must sum to zero, to the last digit
            V -= self._share @ V
        V /= self.scale[chosen]
        # From the columns themselves: means of squares lose digits where means are large.
        self._diagonal[chosen] = np.where(self.usable[chosen], self._share @ V**2, 0.0)
        V *= self._share[:, np.newaxis]
        begin, end = len(self._slot_of), len(self._slot_of) + len(missing)
        if end > len(self._grams):
            room = np.empty((max(end, 2 * len(self._grams)), self.n_features))
            room[:begin] = self._grams[:begin]
            self._grams = room
        self._grams[begin:end] = self._project(V).T
        self._slot_of.update(zip(missing, range(begin, end), strict=True))

    def _factorise(self, support: Ints) -> None:
        """Bring the Cholesky factor to a support, by as few changes as possible."""
        self._fetch(support)
        wanted = set(support.tolist())
        for place in range(len(self._order) - 1, -1, -1):
            if self._order[place] not in wanted:
                remove(self._factor, len(self._order), place)
                del self._order[place]
        have = set(self._order)
        for j in support.tolist():
            if j not in have and self.usable[j]:
                self._append(j)

    def _append(self, j: int) -> None:
        m = len(self._order)
        if m == len(self._factor):
            room = np.zeros((2 * m, 2 * m))
            room[:m, :m] = self._factor
            self._factor = room
        row = self._grams[self._slot_of[j], self._order]
        diagonal = self._diagonal[j] + self.l2
        if append(self._factor, m, row, diagonal, _DEPENDENT * diagonal) > (
            _DEPENDENT * diagonal
        ):
            self._order.append(j)


def mean_and_spread(X: Any, share: Floats, *, center: bool) -> tuple[Floats, Floats]:
    """Weighted mean and standard deviation of each column; 0 for constant columns.

    Without ``center`` means are taken to be 0.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        mean, square = column_moments(X, share)
        spread = np.sqrt(np.maximum(square - mean**2 * center, 0.0))
    if not np.isfinite(spread).all():
        j = int(np.argmin(np.isfinite(spread)))
        raise DataError(
            f"X should hold numbers below 1e150, column {j} has larger ones"
        )
    # What rounding leaves of a constant column is not a spread.
    spread[spread <= 1e-7 * np.sqrt(square)] = 0.0
    return mean * center, spread
