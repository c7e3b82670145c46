"""A linear objective restricted to a support: a function of few parameters.

The parameters theta are the weights of the support, in the order of their coordinates,
then one intercept a margin (if there are intercepts). They belong to the gathered
columns A, which may be centred: ``shifted`` turns an intercept for X into one for A.
Only ``LinearObjective`` needs to know.

Where the support differs from margin to margin, W = ``matrix(theta)`` has zeros for the
weights that are not in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shortlist._protocols import Floats, Ints
from shortlist.losses.arrays import (
    curvature_products_into,
    curvatures_into,
    loss_along,
    slopes_into,
    total_loss,
)
from shortlist.objectives.columns import Columns

# A penalty this small beside the square of its column is lost in rounding.
_FLAT = 1e-9


class Restricted:
    """Q(theta) = sum_i weight_i loss(y_i, a_i W + b + offset_i) + (1/2) sum l2 W^2.

    Parameters
    ----------
    loss : loss
    columns : Columns
        The features that some margin uses.
    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
    weight : ndarray of shape (n_samples,)
        Sums to 1.
    n_outputs : int
    cells : ndarray of shape (n_weights,)
        Where each weight lies in W, flattened row by row; increasing.
    l2 : ndarray of shape (n_weights,)
        Penalties; all margins of a feature have the same.
    fit_intercept : bool
    """

    def __init__(
        self,
        loss: Any,
        columns: Columns,
        y: Floats,
        weight: Floats,
        *,
        n_outputs: int,
        cells: Ints,
        l2: Floats,
        fit_intercept: bool,
    ) -> None:
        self.loss, self.columns, self.y, self.weight = loss, columns, y, weight
        self.n_outputs, self.cells, self.l2 = n_outputs, cells, l2
        self.fit_intercept = fit_intercept
        self.n_weights = len(cells)
        self.n_parameters = self.n_weights + n_outputs * fit_intercept
        self.offset: Floats | None = None  #: added to the margins, (n_samples, C)

        feature, output = np.divmod(cells, n_outputs)
        #: for each margin, its columns of A and where their weights lie in theta
        self.features = [feature[output == c] for c in range(n_outputs)]
        self.places = [np.flatnonzero(output == c) for c in range(n_outputs)]
        self._feature_of = feature
        self.feature_l2 = np.zeros(len(columns.center))
        self.feature_l2[feature] = l2

        # Length of each parameter's column, in the weighted norm: the unit in which
        # gradients and curvatures are judged.
        lengths = np.sqrt(columns.squares(weight[:, np.newaxis])[:, 0])
        self.lengths = np.ones(self.n_parameters)
        self.lengths[: self.n_weights] = lengths[feature]

    def matrix(self, theta: Floats) -> Floats:
        """Weights as the matrix W, of shape (n_columns, C)."""
        W = np.zeros((len(self.columns.center), self.n_outputs))
        W.flat[self.cells] = theta[: self.n_weights]
        return W

    def shifted(self, theta: Floats, sign: float) -> Floats:
        """Parameters for X turned into those for A (sign +1) or back (sign -1)."""
        if not self.fit_intercept:
            return theta
        moved = theta.copy()
        moved[self.n_weights :] += sign * (self.columns.center @ self.matrix(theta))
        return moved

    def margins(self, theta: Floats) -> Floats:
        """Margins of every example."""
        Z = self.directions(theta)
        return Z if self.offset is None else Z + self.offset

    def directions(self, theta: Floats) -> Floats:
        """Change of the margins when the parameters change by theta."""
        Z = self.columns.times(self.matrix(theta))
        if self.fit_intercept:
            Z += theta[self.n_weights :]
        return Z

    def value(self, theta: Floats, Z: Floats) -> float:
        """Q at theta, whose margins are Z."""
        return float(
            total_loss(self.loss, self.y, Z, self.weight) + self._penalty(theta, theta)
        )

    def along(
        self, theta: Floats, d: Floats, Z: Floats, dZ: Floats, t: float
    ) -> tuple[float, float]:
        """Q at theta + t d and its derivative in t; Z, dZ are their margins."""
        total, rate = loss_along(self.loss, self.y, Z, dZ, t, self.weight)
        moved = theta + t * d
        rate += 2.0 * self._penalty(moved, d)
        return float(total + self._penalty(moved, moved)), float(rate)

    def slopes(self, Z: Floats) -> Floats:
        """Weighted derivative of each loss in each margin."""
        out = np.empty_like(Z)
        slopes_into(self.loss, self.y, Z, self.weight, out)
        return out

    def curvatures(self, Z: Floats) -> Floats:
        """Weighted second derivative of each loss in each margin."""
        out = np.empty_like(Z)
        curvatures_into(self.loss, self.y, Z, self.weight, out)
        return out

    def gradient(self, theta: Floats, G: Floats) -> Floats:
        """Gradient of Q at theta, where the slopes are G."""
        return self._adjoint(G, theta)

    def product(self, Z: Floats, v: Floats) -> Floats:
        """Hessian of Q at the margins Z, times v."""
        out = np.empty_like(Z)
        V = self.directions(v)
        curvature_products_into(self.loss, self.y, Z, V, self.weight, out)
        return self._adjoint(out, v)

    def hessian(self, Z: Floats) -> Floats:
        """Hessian of Q at the margins Z, all cross terms included."""
        H = np.zeros((self.n_parameters, self.n_parameters))
        unit, crossed = np.zeros_like(Z), np.empty_like(Z)
        for d in range(self.n_outputs):
            unit[:, d] = 1.0
            curvature_products_into(self.loss, self.y, Z, unit, self.weight, crossed)
            unit[:, d] = 0.0
            for c in range(d + 1):
                h = np.ascontiguousarray(crossed[:, c])
                if h.any():
                    self._add_block(H, h, c, d)
        H[np.diag_indices(self.n_weights)] += self.l2
        return H

    def gram(self) -> Floats:
        """What the Hessian would be if every loss had curvature 1, without l2."""
        H = np.zeros((self.n_parameters, self.n_parameters))
        for c in range(self.n_outputs):
            self._add_block(H, self.weight, c, c)
        return H

    def gram_product(self, v: Floats) -> Floats:
        """``gram`` times v."""
        V = self.directions(v)
        V *= self.weight[:, np.newaxis]
        return self._adjoint(V, np.zeros_like(v))

    def diagonal(self, Z: Floats) -> Floats:
        """Diagonal of the Hessian of Q at the margins Z."""
        curvatures = self.curvatures(Z)
        weights = self.columns.squares(curvatures).ravel()[self.cells] + self.l2
        intercepts = curvatures.sum(axis=0)[: self.n_parameters - self.n_weights]
        return np.concatenate([weights, intercepts])

    def free_shifts(self) -> list[Ints]:
        """Sets of parameters to which a constant may be added without changing Q.

        These are the null directions of a ``shift_invariant`` loss: the intercepts,
        and the weights of a feature that every margin uses, if its l2 is none, or too
        little to tell where along the direction its minimum is: at a sum of zero.
        """
        C = self.n_outputs
        if not getattr(type(self.loss), "shift_invariant", False):
            return []
        sets = []
        if self.fit_intercept:
            sets.append(np.arange(self.n_weights, self.n_parameters))
        _, first, count = np.unique(
            self._feature_of, return_index=True, return_counts=True
        )
        flat = self.l2[first] <= _FLAT * np.square(self.lengths[first])
        sets += [np.arange(i, i + C) for i in first[(count == C) & flat]]
        return sets

    def _add_block(self, H: Floats, h: Floats, c: int, d: int) -> None:
        """Write A_c' diag(h) A_d into H, intercepts included, and its transpose."""
        rows, columns = self.places[c], self.places[d]
        left, right = self.features[c], self.features[d]
        block = self.columns.gram(h, left, right)
        H[np.ix_(rows, columns)] = block
        if c != d:
            H[np.ix_(columns, rows)] = block.T
        if self.fit_intercept:
            sums = self.columns.transposed_times(h[:, np.newaxis])[:, 0]
            b_c, b_d = self.n_weights + c, self.n_weights + d
            H[rows, b_d] = H[b_d, rows] = sums[left]
            H[columns, b_c] = H[b_c, columns] = sums[right]
            H[b_c, b_d] = H[b_d, b_c] = h.sum()

    def _adjoint(self, G: Floats, theta: Floats) -> Floats:
        out = np.empty(self.n_parameters)
        out[: self.n_weights] = self.columns.transposed_times(G).ravel()[self.cells]
        out[: self.n_weights] += self.l2 * theta[: self.n_weights]
        if self.fit_intercept:
            out[self.n_weights :] = G.sum(axis=0)
        return out

    def _penalty(self, u: Floats, v: Floats) -> float:
        return 0.5 * float((self.l2 * u[: self.n_weights]) @ v[: self.n_weights])
