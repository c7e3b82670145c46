"""The objective of linear models: a loss of X W + b, with an l2 penalty."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from shortlist._protocols import Fit, Floats, Ints, ShortlistError
from shortlist.losses import get_loss, is_apart
from shortlist.losses.arrays import (
    curvature_products_into,
    curvatures_into,
    descend_alone,
    slopes_into,
    total_loss,
)
from shortlist.objectives.apart import refit_apart
from shortlist.objectives.checks import (
    as_penalty,
    as_table,
    as_target,
    as_weight,
    count_outputs,
)
from shortlist.objectives.columns import gather, product, transposed_product
from shortlist.objectives.newton import minimise, slope_length
from shortlist.objectives.removal import removal_costs
from shortlist.objectives.restricted import Restricted
from shortlist.objectives.solving import minimum_of
from shortlist.objectives.span import Span

# Two values of Q that differ by less, relatively, are the same but for rounding.
_ROUNDING = 1e-14
# Share of its curvature that is added to each weight before a Hessian is inverted.
_RIDGE = 1e-12
# Margins computed at a time, of models that differ in a feature: 2 MB.
_BLOCK = 1 << 18


class LinearObjective:
    """Mean loss of a linear model, as methods that select features see it.

    With weights W, of shape (n_features, n_outputs), and intercepts b,

        Q(W, b) = sum_i s_i loss(y_i, x_i W + b) / sum_i s_i
                  + (1 / 2) sum_jc l2_j W_jc^2.

    Coordinates are flat: ``j * n_outputs + c`` is the weight of feature j for margin c,
    so the margins of a softmax may use different features. Intercepts are the nuisance:
    always in, never penalised.

    Parameters
    ----------
    loss : str or loss
        A name, such as "logistic" or "huber:1.5", or a loss.
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Kept as it is: rows or columns first, float32 or float64, a memory map, CSR or
        CSC. Other sparse forms are turned into CSR.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        What the loss takes: numbers, -1 and +1, counts, class codes 0, 1, ...; a row
        an example for "squared_vector".
    l2 : float or array-like of shape (n_features,), default=0.0
        Penalty, the same for all features or one for each: squared column scales make
        it the penalty of standardised columns.
    sample_weight : array-like of shape (n_samples,), default=None
        Importance of each example, at least 0; None means 1 each.
    fit_intercept : bool, default=True
    n_outputs : int, default=None
        Number of classes of a softmax; None: the largest code in y, plus 1.
    max_iter : int, default=100
        Newton steps in a refit.
    dense_limit : int, default=1500
        With more parameters than this a refit does not form the Hessian.
    tol : float, default=0.0
        A refit ends where no gradient, as a cosine between slopes and columns, exceeds it;
        0 goes on to the last digits. Squared losses need no such limit.

    Attributes
    ----------
    n_samples, n_features, n_outputs : int
    n_coordinates : int
        n_features * n_outputs.

    Notes
    -----
    ``refit`` finds the minimum to the last digits that rounding leaves. Squared losses
    are solved directly (least norm if columns depend on each other), others by Newton's
    method with a line search, on the exact Hessian up to ``dense_limit`` parameters and
    by conjugate gradients beyond.

    *Singular Hessians.* Duplicated or constant columns get the step of least norm. A
    softmax does not change when a constant is added to all its margins; the intercepts
    returned sum to zero, and so do, without l2, the weights of a feature that all
    classes use. Losses without curvature on parts of the line (Huber, squared hinge)
    get a Levenberg term where they need one.

    *Kinks.* A pointwise loss without any curvature (hinge, epsilon-insensitive), or one
    at whose kinks Newton's method gets stuck, is replaced by its Moreau envelope inside
    the method of multipliers, which ends at the minimum of the loss itself. A vector
    loss with kinks is minimised as far as a line search along damped steps gets.

    *No minimum.* With separable classes and l2 = 0 the weights grow until the gradient
    is negligible or ``max_iter`` is reached.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.objectives import LinearObjective
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    >>> objective = LinearObjective("squared", X, [1.0, 3.0, 5.0, 7.0])
    >>> fit = objective.refit(np.array([0]))
    >>> fit.weights.round(6), fit.nuisance.round(6)
    (array([2.]), array([1.]))
    """

    def __init__(
        self,
        loss: Any,
        X: Any,
        y: Any,
        *,
        l2: float | Floats = 0.0,
        sample_weight: Any = None,
        fit_intercept: bool = True,
        n_outputs: int | None = None,
        max_iter: int = 100,
        dense_limit: int = 1500,
        tol: float = 0.0,
    ) -> None:
        self.loss = get_loss(loss)
        self.X = as_table(X)
        self.n_samples, self.n_features = self.X.shape
        self.y = as_target(self.loss, y, self.n_samples)
        self.n_outputs = count_outputs(self.loss, self.y, n_outputs)
        self.n_coordinates = self.n_features * self.n_outputs
        self.sample_weight = as_weight(sample_weight, self.n_samples)
        self.l2 = as_penalty(l2, self.n_features)
        self.fit_intercept = bool(fit_intercept)
        self._limits: dict[str, Any] = {
            "max_iter": max_iter,
            "dense_limit": dense_limit,
            "tol": tol,
        }
        self._share = self.sample_weight / self.sample_weight.sum()

    def margins(self, fit: Fit) -> Floats:
        """x_i W + b of every example, of shape (n_samples, n_outputs)."""
        return self._margins(fit, np.ones(self.n_samples))

    def value(self, fit: Fit) -> float:
        """Q at the point."""
        total = total_loss(
            self.loss, self.y, self._margins(fit, self._share), self._share
        )
        return float(total + 0.5 * (self._penalty(fit.support) @ fit.weights**2))

    def gradient(self, fit: Fit) -> Floats:
        """Partial derivative of Q in every weight, of shape (n_coordinates,)."""
        Z = self._margins(fit, self._share)
        G = np.empty_like(Z)
        slopes_into(self.loss, self.y, Z, self._share, G)
        gradient = transposed_product(self.X, G).ravel()
        gradient[fit.support] += self._penalty(fit.support) * fit.weights
        return gradient

    def information(self, fit: Fit) -> Floats:
        """Second derivative of the summed losses in each weight of the support.

        For coordinate (j, c) it is sum_i s_i h_ic x_ij^2, with h the curvatures: not
        divided by the sum of the s_i, and without l2. Its inverse root is the standard
        error of a weight whose feature does not correlate with the others.
        """
        features, cells = self._locate(fit.support)
        Z = self._margins(fit, self._share)
        H = np.empty_like(Z)
        curvatures_into(self.loss, self.y, Z, self.sample_weight, H)
        columns = gather(self.X, features, self.sample_weight, center=False)
        return columns.squares(H).ravel()[cells]

    def refit(self, support: Ints, start: Fit | None = None) -> Fit:
        """Minimise Q over the weights of a support and the intercepts.

        Parameters
        ----------
        support : ndarray of shape (n_weights,)
            Increasing coordinates; may be empty.
        start : Fit, default=None
            Where to begin; coordinates that are not in the support are left out. None
            begins at the best intercepts.
        """
        support = np.asarray(support, dtype=np.int64)
        if self.n_outputs > 1 and self.loss.is_vector and is_apart(self.loss):
            args = self.loss, self.y, self.n_outputs, self._of_one_output
            fit = refit_apart(*args, support, start)
            return fit._replace(value=self.value(fit))
        intercepts, slope_scale = self._unfitted
        theta = np.concatenate([np.zeros(len(support)), intercepts])
        if start is not None:
            _, here, there = np.intersect1d(
                support, start.support, assume_unique=True, return_indices=True
            )
            theta[here] = start.weights[there]
            theta[len(support) :] = start.nuisance
        problem = self._restricted(support)
        first = problem.shifted(theta, +1.0)
        before = problem.value(first, problem.margins(first))
        found = minimum_of(problem, first, slope_scale=slope_scale, **self._limits)
        theta, value = problem.shifted(found.theta, -1.0), found.value
        if not value <= before + _ROUNDING * abs(before):
            theta, value = problem.shifted(first, -1.0), before
        for shift in problem.free_shifts():
            theta[shift] -= theta[shift].mean()
        return Fit(support, theta[: len(support)], theta[len(support) :], value)

    def _of_one_output(self, loss: Any, y: Floats) -> LinearObjective:
        """The same table and penalty with another loss and target."""
        return LinearObjective(
            loss,
            self.X,
            y,
            l2=self.l2,
            sample_weight=self.sample_weight,
            fit_intercept=self.fit_intercept,
            **self._limits,
        )

    def zeroing_costs(self, fit: Fit, unit_of: Ints | None = None) -> Floats:
        """How much Q rises if a weight of the support is set to zero, others staying.

        With an intercept, columns are taken as centred, so that where their zero lies
        does not matter.

        Parameters
        ----------
        fit : Fit
        unit_of : ndarray of shape (n_weights,), default=None
            Set, from 0, that each coordinate is zeroed with; None: each alone.
        """
        unit_of = np.arange(len(fit.support)) if unit_of is None else unit_of
        features, cells = self._locate(fit.support)
        columns = gather(self.X, features, self._share, center=False)
        C, n_units = self.n_outputs, int(unit_of.max(initial=-1)) + 1
        feature, output = np.divmod(cells, C)
        W = np.zeros((len(features), n_units, C))
        W[feature, unit_of, output] = fit.weights
        Z = columns.times(W.sum(axis=1))
        if self.fit_intercept:
            Z += fit.nuisance
        here = total_loss(self.loss, self.y, Z, self._share)
        saved = 0.5 * self._penalty(fit.support) * fit.weights**2
        costs: Floats = -np.bincount(unit_of, saved, n_units).astype(np.float64)
        step = max(1, _BLOCK // (self.n_samples * C))
        for first in range(0, n_units, step):
            part = W[:, first : first + step].reshape(len(features), -1)
            parts = columns.times(part)
            if self.fit_intercept:
                parts -= self._share @ parts
            for i in range(part.shape[1] // C):
                rest = Z - parts[:, i * C : (i + 1) * C]
                costs[first + i] += (
                    total_loss(self.loss, self.y, rest, self._share) - here
                )
        return costs

    def removal_costs(self, fit: Fit, unit_of: Ints | None = None) -> Floats:
        """How much Q rises if a weight leaves and the others are refitted, about.

        By the quadratic model at the fit, w_i^2 / (2 (H^-1)_ii), or its like for sets of
        coordinates: exact for squared losses. ``unit_of`` as in ``zeroing_costs``.
        """
        m = len(fit.weights)
        problem = self._restricted(fit.support)
        theta = problem.shifted(np.concatenate([fit.weights, fit.nuisance]), +1.0)
        H = problem.hessian(problem.margins(theta))
        unit = np.sqrt(np.diag(H))
        unit[unit == 0.0] = 1.0
        H /= np.outer(unit, unit)
        for free in problem.free_shifts():  # their sums are zero: keep them there
            c = 1.0 / unit[free]
            H[np.ix_(free, free)] += np.outer(c, c) / (c @ c)
        # What rounding leaves of singular directions must not become infinite.
        H[np.diag_indices(len(H))] += _RIDGE
        inverse: Floats = np.linalg.inv(H)[:m, :m].astype(np.float64)
        alone = np.arange(m) if unit_of is None else unit_of
        n_units = int(alone.max(initial=-1)) + 1
        return removal_costs(fit.weights * unit[:m], inverse, alone, n_units)

    def decreases(self, fit: Fit) -> Floats:
        """How much Q can fall along each coordinate alone, for a pointwise loss.

        With an intercept, along the centred column, so that where its zero lies does not
        matter. Costs several passes over X; see ``descend_alone`` for how it is found.
        """
        if self.n_outputs > 1:
            raise ShortlistError("decreases along one coordinate need a pointwise loss")
        Z = self._margins(fit, self._share)
        weights = np.zeros(self.n_features)
        weights[fit.support] = fit.weights
        out = np.empty(self.n_features)
        step = max(8, _BLOCK // self.n_samples)  # 8: what a cache line holds
        for first in range(0, self.n_features, step):
            features = np.arange(first, min(self.n_features, first + step))
            columns = gather(self.X, features, self._share, center=False)
            block = np.ascontiguousarray(columns.rows(0, self.n_samples).T)
            if self.fit_intercept:
                block -= (block @ self._share)[:, np.newaxis]
            start = np.column_stack([weights[features], self.l2[features]])
            out[features] = descend_alone(
                self.loss, self.y, Z[:, 0].copy(), self._share, block, start
            )
        return out

    def adds_nothing(self, fit: Fit, coordinates: Ints) -> bool:
        """Whether columns that a ridge might favour are combinations of the support's.

        Those of each margin by themselves; without a ridge such columns gain nothing.
        """
        if not self._penalty(coordinates).any():
            return False
        inside, output = np.divmod(fit.support, self.n_outputs)
        for coordinate in coordinates.tolist():
            feature, c = divmod(coordinate, self.n_outputs)
            if not self._spans[c].holds(inside[output == c], feature):
                return False
        return True

    @cached_property
    def _spans(self) -> list[Span]:
        """Combinations of the columns that each margin uses."""
        return [
            Span(self.X, self._share, center=self.fit_intercept)
            for _ in range(self.n_outputs)
        ]

    def settle(self, fit: Fit) -> Fit:
        """Minimise Q over the intercepts alone: the weights stay as they are."""
        intercepts, slope_scale = self._unfitted
        if not self.fit_intercept:
            return fit._replace(nuisance=intercepts, value=self.value(fit))
        Z = self._margins(fit._replace(nuisance=0.0 * intercepts), self._share)
        mean = self._share @ Z  # where the zeros of the columns lie does not matter
        problem = self._restricted(np.empty(0, dtype=np.int64))
        problem.offset = Z - mean
        limits = {key: self._limits[key] for key in ("max_iter", "tol")}
        found = minimise(problem, intercepts, slope_scale=slope_scale, **limits)
        nuisance = found.theta - mean
        for shift in problem.free_shifts():
            nuisance[shift] -= nuisance[shift].mean()
        penalty = 0.5 * (self._penalty(fit.support) @ fit.weights**2)
        return fit._replace(nuisance=nuisance, value=float(found.value + penalty))

    def hessian_times(self, fit: Fit, support: Ints, direction: Floats) -> Floats:
        """Second derivative of Q within a support, times a direction.

        With intercepts, of what is left of Q when they are minimised over.
        """
        X, Z = self.X, self._margins(fit, self._share)
        whole = len(support) == self.n_coordinates
        features, cells = self._locate(support)
        D = np.zeros((len(features), self.n_outputs))
        D.flat[cells] = direction
        part = None if whole else gather(X, features, self._share, center=False)
        dZ = product(X, D) if part is None else part.times(D)
        V = np.empty_like(Z)
        if self.fit_intercept:
            dZ -= self._share @ dZ
            curvature_products_into(self.loss, self.y, Z, dZ, self._share, V)
            H = self._restricted(np.empty(0, dtype=np.int64)).hessian(Z)
            # a softmax has a null direction, which must not be taken for a curved one
            dZ -= np.linalg.pinv(H, 1e-10, hermitian=True) @ V.sum(axis=0)
        curvature_products_into(self.loss, self.y, Z, dZ, self._share, V)
        G = transposed_product(X, V) if part is None else part.transposed_times(V)
        return np.asarray(G.ravel()[cells] + self._penalty(support) * direction)

    @cached_property
    def _unfitted(self) -> tuple[Floats, float]:
        """Intercepts of the model without features, and the length of its slopes."""
        problem = self._restricted(np.empty(0, dtype=np.int64))
        zero = np.zeros(problem.n_parameters)
        theta = minimum_of(problem, zero, **{**self._limits, "tol": 0.0}).theta
        # a constant y is fitted by the intercepts alone and leaves slopes of rounding
        least = 1e-10 * slope_length(problem, zero)
        return theta, max(slope_length(problem, theta), least)

    def _margins(self, fit: Fit, weight: Floats) -> Floats:
        """Margins; those of rows with weight 0 are the intercepts."""
        features, cells = self._locate(fit.support)
        W = np.zeros((len(features), self.n_outputs))
        W.flat[cells] = fit.weights
        Z = gather(self.X, features, weight, center=False).times(W)
        if self.fit_intercept:
            Z += fit.nuisance
        return Z

    def _penalty(self, support: Ints) -> Floats:
        """Penalty of each coordinate of a support."""
        return self.l2[support // self.n_outputs]

    def _restricted(self, support: Ints) -> Restricted:
        features, cells = self._locate(support)
        columns = gather(self.X, features, self._share, center=self.fit_intercept)
        return Restricted(
            self.loss,
            columns,
            self.y,
            self._share,
            n_outputs=self.n_outputs,
            cells=cells,
            l2=self._penalty(support),
            fit_intercept=self.fit_intercept,
        )

    def _locate(self, support: Ints) -> tuple[Ints, Ints]:
        """Features that a support uses, and its cells in their weights, flattened."""
        if np.any(np.diff(support) <= 0) or (
            len(support) and not 0 <= support[0] <= support[-1] < self.n_coordinates
        ):
            raise ShortlistError(
                "support should hold increasing coordinates below "
                f"{self.n_coordinates}, got {support}"
            )
        feature, output = np.divmod(support, self.n_outputs)
        features, row = np.unique(feature, return_inverse=True)
        return features, row * self.n_outputs + output
