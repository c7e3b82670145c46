"""Refits with a dictionary of weights, and by a general-purpose optimiser."""

import numpy as np
from scipy.optimize import minimize

from reference.sketch import (
    Totals,
    bias_step,
    judge,
    on_the_way,
    rows_of,
    shorten,
)
from shortlist.losses import slope_into, value_of


def norm_within(features, ids, x):
    """Squared norm of a row restricted to some features."""
    pairs = zip(ids, x, strict=True)
    return sum(value**2 for number, value in pairs if int(number) in features)


class SlowRefit:
    """Diagonal Newton steps, row by row; weights and information by (id, margin).

    The ridge is a share of the mean squared norm of the rows so far, restricted to the
    features that have a weight. Features in ``centred`` come as distances from their mean
    in all rows so far, and are held back by the part ``share`` of the ridge.
    """

    def __init__(
        self, loss, weights, bias, *, ridge_share, bias_rate, centred=(), share=None
    ):
        self.loss, self.ridge_share, self.bias_rate = loss, ridge_share, bias_rate
        self.weights = dict(weights)
        self.features = {number for number, _ in weights}
        self.information = dict.fromkeys(weights, 0.0)
        self.evidence = dict.fromkeys(weights, 0.0)
        self.bias = np.array(bias, float)
        self.bias_scale = np.zeros(len(bias))
        self.totals = Totals()
        self.means = dict.fromkeys(centred, 0.0)
        self.weight_so_far = 0.0
        self.share = {} if share is None else share

    def centre(self, ids, x, importance):
        """Take a row into the means; give it as distances from them."""
        self.weight_so_far += importance
        others = [t for t, number in enumerate(ids) if int(number) not in self.means]
        away = []
        for number in self.means:
            value = x[ids == number].sum()
            moved = (value - self.means[number]) * importance / self.weight_so_far
            self.means[number] += moved
            away.append(value - self.means[number])
            for c in range(len(self.bias)):
                self.bias[c] += self.weights.get((number, c), 0.0) * moved
        numbers = np.array(list(self.means), np.uint64)
        return np.r_[numbers, ids[others]], np.r_[away, x[others]]

    def margins(self, ids, x):
        z = self.bias.copy()
        for number, value in zip(ids, x, strict=True):
            for c in range(len(z)):
                z[c] += self.weights.get((int(number), c), 0.0) * value
        return z

    def learn(self, block):
        for ids, x, y, importance in rows_of(block):
            if importance > 0:
                ids, x = self.centre(ids, x, importance)
                z = self.margins(ids, x)
                norm = norm_within(self.features, ids, x)
                self.totals.count_norm(norm, importance)
                pulls, curvatures = judge(self.loss, y, z, importance, self.totals)
                pulls, curvatures = bias_step(
                    self.loss,
                    y,
                    importance,
                    self.bias_rate,
                    self.bias,
                    self.bias_scale,
                    z,
                    pulls,
                    curvatures,
                )
                self._step(ids, x, y, z, importance, pulls, curvatures)

    def _step(self, ids, x, y, z, importance, pulls, curvatures):
        whole = self.ridge_share * self.totals.mean_norm
        ridge = {at: whole * self.share.get(at[0], 1.0) for at in self.weights}
        own = [
            ((int(number), c), value)
            for number, value in zip(ids, x, strict=True)
            for c in range(len(pulls))
            if (int(number), c) in self.weights
        ]
        means = on_the_way(self.loss, y, z, self.bias, importance, curvatures)
        give = np.zeros(len(pulls))
        for at, value in own:
            give[at[1]] += value * value / (self.information[at] + ridge[at])
        pulls, curvatures = shorten(
            self.loss, y, z, importance, give, pulls, curvatures
        )
        for at, value in own:
            self.information[at] += curvatures[at[1]] * value**2
            self.evidence[at] += means[at[1]] * value**2
        for at, value in own:
            self.weights[at] += (
                pulls[at[1]] * value / (self.information[at] + ridge[at])
            )


class Problem:
    """sum_i s_i loss(y_i, z_i) + (ridge / 2) ||w||^2, with biases free."""

    def __init__(self, loss, coordinates, n_margins, block, ridge_share):
        self.loss, self.coordinates = loss, coordinates
        self.n_margins, self.y, self.s = n_margins, block.y, block.weight
        self.X = np.zeros((block.n_rows, len(coordinates)))  # a column a coordinate
        for i, (ids, x, _, _) in enumerate(rows_of(block)):
            for j, (number, _) in enumerate(coordinates):
                self.X[i, j] = x[ids == number].sum()
        # ``at_margin[j, c]`` is 1 if coordinate j works at margin c.
        self.at_margin = np.zeros((len(coordinates), n_margins))
        for j, (_, c) in enumerate(coordinates):
            self.at_margin[j, c] = 1.0
        distinct = [number for number, _ in coordinates]
        columns = self.X[:, [distinct.index(number) for number in set(distinct)]]
        apart = columns - np.average(columns, axis=0, weights=self.s)
        spread = np.average((apart**2).sum(axis=1), weights=self.s)
        of_squares = np.average(self.X**2, axis=0, weights=self.s)
        apart = self.X - np.average(self.X, axis=0, weights=self.s)
        share = np.average(apart**2, axis=0, weights=self.s)
        varies = share > 1e-12 * of_squares
        share = np.where(varies, share, 1.0) / np.where(varies, of_squares, 1.0)
        self.ridge = ridge_share * (spread if spread > 0 else 1.0) * share

    def value_and_gradient(self, theta):
        w, bias = theta[: -self.n_margins], theta[-self.n_margins :]
        Z = (self.X * w) @ self.at_margin + bias
        value, slopes = 0.0, np.zeros_like(Z)
        for i, z in enumerate(Z):
            value += self.s[i] * value_of(self.loss, self.y[i], z)
            slope_into(self.loss, self.y[i], z, slopes[i])
        slopes *= self.s[:, None]
        gradient = (self.X * (slopes @ self.at_margin.T)).sum(axis=0) + self.ridge * w
        penalty = (self.ridge * w) @ w / 2
        return value + penalty, np.concatenate([gradient, slopes.sum(axis=0)])

    def value(self, weight, bias):
        return self.value_and_gradient(np.concatenate([weight, bias]))[0]

    def minimum(self):
        """Weights and biases at the minimum."""
        start = np.zeros(len(self.coordinates) + self.n_margins)
        found = minimize(
            self.value_and_gradient,
            start,
            jac=True,
            method="L-BFGS-B",
            options={"ftol": 1e-16, "gtol": 1e-9, "maxiter": 5000},
        ).x
        return found[: -self.n_margins], found[-self.n_margins :]
