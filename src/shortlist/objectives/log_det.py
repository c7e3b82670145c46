"""Covariance selection: the Gaussian likelihood of a precision matrix, pair by pair.

With S the covariances of p variables and Theta their precision matrix (the inverse of the
covariances that a model gives them), the negative log-likelihood of a sample is, but for
a constant,

    Q(Theta) = (tr(S Theta) - log det Theta) / 2 + (l2 / 2) sum_{i<j} theta_ij^2.

A pair with theta_ij = 0 is independent given all other variables. So to select pairs is
to select the edges of a graph; the diagonal is always in.

Theta falls apart into one block for each connected part of the graph, and variables
without edges have theta_ii = 1 / S_ii. Few edges make small blocks, whatever p is.

References
----------
Dempster. Covariance Selection. Biometrics 28, 1972.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import Fit, Floats, Ints, ShortlistError
from shortlist.objectives.checks import as_covariance, as_table
from shortlist.objectives.log_det_block import Block
from shortlist.objectives.log_det_lines import Lines
from shortlist.objectives.removal import removal_costs

# A column whose deviation is smaller, relative to its largest entry, is constant.
_CONSTANT = 1e-14


class LogDetObjective:
    """Gaussian negative log-likelihood of a precision matrix with few pairs.

    Coordinates are the pairs i < j in the order of ``np.triu_indices(p, 1)``; a weight is
    theta_ij = theta_ji. The nuisance is the diagonal of Theta.

    Parameters
    ----------
    S : array-like of shape (n_variables, n_variables)
        Covariances or correlations. It may be singular, as long as no selected block
        is too close to that: then ``refit`` raises, unless l2 helps.
    l2 : float, default=0.0
        Penalty of the pairs; above 0 there always is a minimum.
    names : sequence of str, default=None
        Names of the variables; None: x0, x1, ...

    Attributes
    ----------
    n_coordinates : int
        Number of pairs, p (p - 1) / 2.
    variables : list of str
        Names of the variables.

    Notes
    -----
    Gradients depend on the units of the variables, so with ``criterion="gradient"``
    FoBa wants correlations. What a pair gains or costs does not (without l2).

    A refit of a block with m variables and e pairs forms a Hessian of (m + e)^2 numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.objectives import LogDetObjective
    >>> S = [[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]  # a chain
    >>> objective = LogDetObjective(S, names="abc")
    >>> fit = objective.refit(np.array([0, 2]))
    >>> [objective.names[j] for j in fit.support], fit.weights.round(6)
    (['a -- b', 'b -- c'], array([-0.666667, -0.666667]))
    >>> np.abs(objective.gradient(fit)).max().round(6)  # a -- c adds nothing
    np.float64(0.0)
    """

    def __init__(
        self, S: Any, *, l2: float = 0.0, names: Sequence[str] | None = None
    ) -> None:
        S = as_covariance(S)
        p = len(S)
        self.variables = (
            [f"x{i}" for i in range(p)] if names is None else [*map(str, names)]
        )
        if len(self.variables) != p:
            raise ShortlistError(
                f"names should be one for each of {p} variables, "
                f"got {len(self.variables)}"
            )
        self.n_variables, self.l2 = p, float(l2)
        if not 0.0 <= self.l2 < np.inf:
            raise ShortlistError(f"l2 should be at least 0 and finite, got {l2}")
        self._i, self._j = np.triu_indices(p, 1)
        self.n_coordinates = len(self._i)

        # All is computed with variances of 1: theta_ij is that of S times d_i d_j.
        self._d = np.sqrt(np.diag(S))
        self._R = S / self._d / self._d[:, np.newaxis]
        np.fill_diagonal(self._R, 1.0)
        self._unit = self._d[self._i] * self._d[self._j]
        self._r = self._R[self._i, self._j]
        self._l2 = self.l2 / self._unit / self._unit
        self._offset = float(np.log(self._d).sum())
        self._latest: tuple[bytes, list[_Part]] = (b"", [])

    @classmethod
    def from_samples(
        cls,
        X: Any,
        *,
        standardize: bool = True,
        l2: float = 0.0,
        names: Sequence[str] | None = None,
    ) -> LogDetObjective:
        """Make the objective of a table, whose columns are the variables.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_variables)
        standardize : bool, default=True
            Take correlations instead of covariances (the sum of squares over n).
        l2 : float, default=0.0
        names : sequence of str, default=None
            Names of the columns; None: those of the frame, or x0, x1, ...
        """
        if names is None:
            names = getattr(X, "columns", None)
        X = as_table(X)
        X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
        if not np.isfinite(X).all():
            raise ShortlistError("X should be finite, it holds a NaN or an infinity")
        centred = X - X.mean(axis=0)
        spread = np.sqrt(np.square(centred).mean(axis=0))
        constant = spread <= _CONSTANT * np.abs(X).max(axis=0)
        if constant.any():
            raise ShortlistError(
                "columns of X should vary, drop those that are constant: "
                f"column {np.argmax(constant)} is"
            )
        if standardize:
            centred /= spread
        return cls(centred.T @ centred / len(X), l2=l2, names=names)

    @cached_property
    def names(self) -> list[str]:
        """Names of the pairs, such as "x0 -- x1"."""
        v = self.variables
        ends = zip(self._i.tolist(), self._j.tolist(), strict=True)
        return [f"{v[i]} -- {v[j]}" for i, j in ends]

    def precision(self, fit: Fit) -> Floats:
        """Theta, a matrix of shape (n_variables, n_variables)."""
        theta = np.diag(fit.nuisance)
        i, j = self._i[fit.support], self._j[fit.support]
        theta[i, j] = theta[j, i] = fit.weights
        return theta

    def value(self, fit: Fit) -> float:
        """Q at the point; infinite where Theta is not positive definite."""
        diagonal, weights = self._scaled(fit)
        alone = np.ones(self.n_variables, bool)
        for part in self._parts(fit.support):
            alone[part.of] = False
        own = diagonal[alone]
        if not (own > 0.0).all():
            return np.inf
        value = self._offset + 0.5 * float((own - np.log(own)).sum())
        for part in self._parts(fit.support):
            value += part.block.value(part.theta(diagonal, weights))
        return value

    def gradient(self, fit: Fit) -> Floats:
        """Partial derivative for every pair: S_ij - W_ij + l2 theta_ij."""
        g = self._r - self._inverse(fit)[self._i, self._j]
        g *= self._unit
        g[fit.support] += self.l2 * fit.weights
        return np.asarray(g)

    def refit(self, support: Ints, start: Fit | None = None) -> Fit:
        """Minimise Q over the pairs of a support and the diagonal, by Newton steps.

        Each block starts from what ``start`` says of it, where that is positive definite,
        else from its diagonal.
        """
        support = np.asarray(support, np.int64)
        diagonal, weights = np.ones(self.n_variables), np.zeros(len(support))
        first, first_weights = diagonal.copy(), weights.copy()
        if start is not None:
            first, given = self._scaled(start)
            _, ours, theirs = np.intersect1d(
                support, start.support, assume_unique=True, return_indices=True
            )
            first_weights[ours] = given[theirs]
        for part in self._parts(support):
            theta = part.block.minimise(part.theta(first, first_weights))
            if theta is None:
                raise self._no_minimum(part.of)
            diagonal[part.of], weights[part.pairs] = np.split(theta, [len(part.of)])
        fit = Fit(support, weights / self._unit[support], diagonal / self._d**2, np.nan)
        return fit._replace(value=self.value(fit))

    def zeroing_costs(self, fit: Fit, unit_of: Ints | None = None) -> Floats:
        """How much Q rises if a weight is set to zero and all else stays.

        Exact; infinite where Theta would not be positive definite.

        Parameters
        ----------
        fit : Fit
        unit_of : ndarray of shape (n_weights,), default=None
            Set, from 0, that each pair leaves with; None: each alone.
        """
        weights, W = self._scaled(fit)[1], self._inverse(fit)
        if unit_of is None:
            return self._lines(fit, W, fit.support).rise(-weights)
        costs = np.zeros(int(unit_of.max(initial=-1)) + 1)
        for unit in np.unique(unit_of):
            gone = fit.support[unit_of == unit]
            w = weights[unit_of == unit]
            ends, place = np.unique([self._i[gone], self._j[gone]], return_inverse=True)
            D = np.zeros((len(ends), len(ends)))
            i, j = place.reshape(2, -1)
            D[i, j] = D[j, i] = w
            # det(Theta - D) / det(Theta) = det(1 - L'DL) with LL' = W, on the ends
            L = np.linalg.cholesky(W[np.ix_(ends, ends)])
            shares = np.linalg.eigvalsh(L.T @ D @ L)
            if shares[-1] >= 1.0:
                costs[unit] = np.inf
                continue
            linear = (self._r[gone] + 0.5 * self._l2[gone] * w) @ w
            costs[unit] = -linear - 0.5 * np.log1p(-shares).sum()
        return costs

    def removal_costs(self, fit: Fit, unit_of: Ints | None = None) -> Floats:
        """How much Q rises if a pair leaves and the others are refitted.

        By a quadratic model of Q at the fit, hence good for weights that are small;
        ``unit_of`` as in ``zeroing_costs``.
        """
        diagonal, weights = self._scaled(fit)
        n = len(weights)
        inverse = np.zeros((n, n))
        for part in self._parts(fit.support):
            inverse[np.ix_(part.pairs, part.pairs)] = part.block.inverse_hessian(
                part.theta(diagonal, weights)
            )
        if unit_of is None:
            unit_of = np.arange(n)
        return removal_costs(
            weights, inverse, unit_of, int(unit_of.max(initial=-1)) + 1
        )

    def decreases(self, fit: Fit) -> Floats:
        """How much Q can fall along each pair alone, all else staying. Exact."""
        lines = self._lines(fit, self._inverse(fit), slice(None))
        return np.maximum(-lines.rise(lines.best()), 0.0)

    def _lines(self, fit: Fit, W: Floats, pairs: Ints | slice) -> Lines:
        i, j, own = self._i[pairs], self._j[pairs], np.diag(W)
        theta = np.zeros(self.n_coordinates)
        theta[fit.support] = self._scaled(fit)[1]
        return Lines(
            self._r[pairs], W[i, j], own[i] * own[j], theta[pairs], self._l2[pairs]
        )

    def _scaled(self, fit: Fit) -> tuple[Floats, Floats]:
        """Diagonal and weights for variances of 1."""
        return fit.nuisance * self._d**2, fit.weights * self._unit[fit.support]

    def _inverse(self, fit: Fit) -> Floats:
        """W, for variances of 1."""
        diagonal, weights = self._scaled(fit)
        if not (diagonal > 0.0).all():
            raise self._not_definite(np.flatnonzero(~(diagonal > 0.0)))
        W = np.diag(1.0 / diagonal)
        for part in self._parts(fit.support):
            try:
                inverse = part.block.inverse(part.theta(diagonal, weights))
            except np.linalg.LinAlgError:
                raise self._not_definite(part.of) from None
            W[np.ix_(part.of, part.of)] = inverse
        return W

    def _parts(self, support: Ints) -> list[_Part]:
        """Connected parts of the graph that a support makes; not single variables."""
        key = np.asarray(support, np.int64).tobytes()
        if self._latest[0] != key:  # most questions are about the same support
            self._latest = (key, list(self._find_parts(support)))
        return self._latest[1]

    def _find_parts(self, support: Ints) -> Iterator[_Part]:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        ends = np.array([self._i[support], self._j[support]])
        of, place = np.unique(ends, return_inverse=True)
        i, j = place.reshape(2, -1)
        graph = coo_array((np.ones(len(i)), (i, j)), shape=(len(of), len(of)))
        n_parts, label = connected_components(graph, directed=False)
        for part in range(n_parts):
            inside = np.flatnonzero(label == part)
            pairs = np.flatnonzero(label[i] == part)
            block = Block(
                self._R[np.ix_(of[inside], of[inside])],
                np.searchsorted(inside, i[pairs]),
                np.searchsorted(inside, j[pairs]),
                self._l2[support[pairs]],
            )
            yield _Part(of[inside], pairs, block)

    def _not_definite(self, of: Ints) -> ShortlistError:
        return ShortlistError(
            "the precision matrix of a fit should be positive definite, it is not for "
            f"{self._listed(of)}; start from refit"
        )

    def _no_minimum(self, of: Ints) -> ShortlistError:
        return ShortlistError(
            f"no precision matrix is best for {self._listed(of)}: the covariances of "
            "connected variables are too close to singular; "
            f"set l2 above {self.l2:g} or select fewer pairs"
        )

    def _listed(self, of: Ints) -> str:
        shown = [self.variables[i] for i in of[:5].tolist()]
        return ", ".join(shown) + (f" and {len(of) - 5} more" if len(of) > 5 else "")


class _Part(NamedTuple):
    """Variables that are connected."""

    of: Ints  #: the variables, increasing
    pairs: Ints  #: places in the support of the pairs between them
    block: Block

    def theta(self, diagonal: Floats, weights: Floats) -> Floats:
        """Parameters of the block."""
        return np.concatenate([diagonal[self.of], weights[self.pairs]])
