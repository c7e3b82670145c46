"""Least squares through cached columns of the Gram matrix.

For methods that add and remove one coordinate at a time. With A the standardised columns
of X (nothing is copied: means and scales enter the formulas),

    Q(w) = sum_i s_i (y_i - a_i w - b)^2 / 2 + sum_j l2_j w_j^2 / 2,   sum_i s_i = 1,

needs only c = A'Sy and those columns of G = A'SA that were ever candidates (several
outputs share them: y, w and c are then matrices). They are
fetched in blocks: when one is missing, the coordinates that look best after it come along,
so that a product of matrices replaces many of vectors, and most later steps touch X not
at all. A Cholesky factor of G + l2 on the support grows and shrinks with it.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from shortlist._protocols import Fit, Floats, Ints, ShortlistError
from shortlist.kernels.cholesky import append, inverse_diagonal, remove, solve
from shortlist.objectives.checks import as_penalty, as_table, as_weight
from shortlist.objectives.columns import transposed_product
from shortlist.objectives.moments import (
    centred_product,
    far_columns,
    mean_and_spread,
)
from shortlist.objectives.removal import removal_costs
from shortlist.objectives.span import Span

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
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        With several outputs a coordinate is a feature and an output, numbered feature by
        feature, and supports hold all outputs of a feature or none.
    l2 : float or array-like of shape (n_features,), default=0.0
        Penalty of the standardised weights, the same for all or one for each.
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

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        l2: float | Floats = 0.0,
        sample_weight: Any = None,
        fit_intercept: bool = True,
        standardize: bool = True,
    ) -> None:
        self.X = as_table(X)
        n_samples, self.n_features = self.X.shape
        self.l2 = as_penalty(l2, self.n_features)
        self.fit_intercept = bool(fit_intercept)
        weight = as_weight(sample_weight, n_samples)
        self._share = weight / weight.sum()
        residual = np.array(y, np.float64).reshape(n_samples, -1)
        self.n_outputs = residual.shape[1]
        self.n_coordinates = self.n_features * self.n_outputs
        self._y_mean = np.zeros(self.n_outputs)
        for _ in range(2 * self.fit_intercept):  # the second mean is rounding's
            mean = self._share @ residual
            self._y_mean, residual = self._y_mean + mean, residual - mean
        residual[self._share == 0.0] = 0.0
        # What rounding leaves of a constant is nothing to explain.
        rounding = 64.0 * np.finfo(float).eps * np.abs(self._y_mean)
        residual[:, np.abs(residual).max(axis=0) <= rounding] = 0.0
        self._yy = float((self._share @ residual**2).sum())

        self.mean, spread = mean_and_spread(self.X, self._share, center=fit_intercept)
        self.usable = spread > 0.0
        self.scale = np.where(self.usable, spread if standardize else 1.0, 1.0)
        self._far = far_columns(self.mean, spread)
        self._diagonal = (spread / self.scale) ** 2
        self._c = self._project(self._share[:, np.newaxis] * residual)

        self._grams = np.empty((BLOCK, self.n_features))
        self._slot_of: dict[int, int] = {}
        self._promise = _row_lengths(self._c)
        self._order: list[int] = []
        self._factor = np.zeros((BLOCK, BLOCK))

    def _project(self, V: Floats) -> Floats:
        """A' V for columns V that sum to zero (or no intercept)."""
        out = transposed_product(self.X, V)
        if len(self._far):
            out[self._far] = centred_product(self.X, self._far, self.mean, V)
        out /= self.scale[:, np.newaxis]
        out[~self.usable] = 0.0
        return out

    def value(self, fit: Fit) -> float:
        """Q at the point."""
        features, W = self._rows(fit)
        fitted = (W * (self._gram(features)[:, features] @ W)).sum()
        explained = 2.0 * (self._c[features] * W).sum()
        off = self._off(fit)
        penalty = self.l2[features] @ (W**2).sum(axis=1) + (off**2).sum()
        return 0.5 * float(self._yy + fitted - explained + penalty)

    def gradient(self, fit: Fit) -> Floats:
        """Partial derivative of Q for every coordinate."""
        features, W = self._rows(fit)
        self._fetch(features)
        slots = np.zeros((self.n_outputs, len(self._slot_of)))
        slots[:, [self._slot_of[j] for j in features.tolist()]] = W.T
        gradient: Floats = (slots @ self._grams[: slots.shape[1]]).T - self._c
        gradient[features] += self.l2[features, np.newaxis] * W
        off = self._off(fit)
        if off.any():
            gradient += np.outer(
                np.where(self.usable, self.mean / self.scale, 0.0), off
            )
        self._promise = _row_lengths(gradient)
        return gradient.ravel()

    def refit(self, support: Ints, start: Fit | None = None) -> Fit:
        """Minimise Q over a support; coordinates that depend on others get weight 0."""
        support = np.asarray(support, np.int64)
        features = self._features(support)
        self._factorise(features)
        order = np.array(self._order, np.int64)
        found = self._c[order]
        for c in range(self.n_outputs):
            column = found[:, c].copy()
            solve(self._factor, len(order), column)
            found[:, c] = column
        W = np.zeros((len(features), self.n_outputs))
        W[np.searchsorted(features, order)] = found
        value = 0.5 * (self._yy - float((self._c[order] * found).sum()))
        return Fit(support, W.ravel(), self._intercept(features, W), value)

    def removal_costs(self, fit: Fit, unit_of: Ints | None = None) -> Floats:
        """How much Q rises if a coordinate leaves and the others are refitted.

        Exact: w_i^2 / (2 ((G + l2)^-1)_ii), or its like for sets of coordinates.

        Parameters
        ----------
        fit : Fit
        unit_of : ndarray of shape (n_weights,), default=None
            Set, from 0, that each coordinate leaves with; None: each feature alone.
        """
        features, W = self._rows(fit)
        self._factorise(features)
        m, places = len(self._order), np.searchsorted(features, self._order)
        unit, n_units = self._units(unit_of, len(features))
        if n_units == len(features):
            costs = np.zeros(n_units)
            inverse = inverse_diagonal(self._factor, m)
            costs[unit[places]] = (W[places] ** 2).sum(axis=1) / (2.0 * inverse)
            return costs
        lower = np.linalg.solve(np.tril(self._factor[:m, :m]), np.eye(m))
        return removal_costs(W[places], lower.T @ lower, unit[places], n_units)

    def zeroing_costs(self, fit: Fit, unit_of: Ints | None = None) -> Floats:
        """How much Q rises from a refitted point if a weight is set to zero.

        The other weights stay; ``unit_of`` as in ``removal_costs``.
        """
        features, W = self._rows(fit)
        unit, n_units = self._units(unit_of, len(features))
        costs = np.zeros(n_units)
        if n_units == len(features):
            own = self._diagonal[features] + self.l2[features]
            costs[unit] = 0.5 * own * (W**2).sum(axis=1)
            return costs
        gram = self._gram(features)[:, features]
        for u in range(n_units):
            members = np.flatnonzero(unit == u)
            part = W[members]
            ridge = self.l2[features[members], np.newaxis]
            pulled = gram[np.ix_(members, members)] @ part + ridge * part
            costs[u] = 0.5 * (part * pulled).sum()
        return costs

    def decreases(self, fit: Fit) -> Floats:
        """How much Q can fall along each coordinate alone: g_j^2 / (2 (G_jj + l2))."""
        own = np.where(self.usable, self._diagonal + self.l2, np.inf)
        return self.gradient(fit) ** 2 / (2.0 * np.repeat(own, self.n_outputs))

    def adds_nothing(self, fit: Fit, coordinates: Ints) -> bool:
        """Whether columns that a ridge might favour are combinations of the support's."""
        features = self._features(coordinates)
        if not self.l2[features].any():
            return False
        inside = self._features(fit.support)
        return all(self._span.holds(inside, feature) for feature in features.tolist())

    @cached_property
    def _span(self) -> Span:
        return Span(self.X, self._share, center=self.fit_intercept)

    def _features(self, support: Ints) -> Ints:
        """Features of a support, which has all outputs of each."""
        m = self.n_outputs
        features = support[::m] // m
        whole = np.add.outer(features * m, np.arange(m)).ravel()
        if not np.array_equal(support, whole):
            raise ShortlistError("a support should have all outputs of a feature")
        return features

    def _rows(self, fit: Fit) -> tuple[Ints, Floats]:
        """Features of a fit, and their weights, a row a feature."""
        return self._features(fit.support), fit.weights.reshape(-1, self.n_outputs)

    def _units(self, unit_of: Ints | None, n_features: int) -> tuple[Ints, int]:
        """Unit of each feature of a support, and how many units there are."""
        if unit_of is None:
            return np.arange(n_features), n_features
        unit = unit_of[:: self.n_outputs]
        return unit, int(unit.max(initial=-1)) + 1

    def _intercept(self, features: Ints, W: Floats) -> Floats:
        if not self.fit_intercept:
            return np.empty(0)
        raw = W / self.scale[features, np.newaxis]
        return np.asarray(self._y_mean - self.mean[features] @ raw)

    def _off(self, fit: Fit) -> Floats:
        """How far each intercept is from the best one for the weights."""
        if not self.fit_intercept:
            return np.zeros(self.n_outputs)
        return fit.nuisance - self._intercept(*self._rows(fit))

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
        diagonal = self._diagonal[j] + self.l2[j]
        if append(self._factor, m, row, diagonal, _DEPENDENT * diagonal) > (
            _DEPENDENT * diagonal
        ):
            self._order.append(j)


def _row_lengths(table: Floats) -> Floats:
    return np.abs(table[:, 0]) if table.shape[1] == 1 else np.linalg.norm(table, axis=1)
