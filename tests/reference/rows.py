"""B-ARDA, B-AMD and their four peers on dense arrays: every coordinate at every step.

All of d is scored and sorted after each example, as the papers write it down. Only the
loss, the steps of the bias and the root finder of implicit steps are the package's.
"""

import numpy as np

from reference.sketch import Totals, bias_step, judge, rows_of
from shortlist._steps import balance

#: Examples after which the unit of a regression's target is held fixed.
UNIT_FROZEN_AFTER = 1000


def dense(ids, x, d):
    """Row of d values; what a row repeats adds up."""
    row = np.zeros(d)
    np.add.at(row, ids, x)
    return row


def largest(scores, k):
    """Coordinates of the k largest scores above 0; of equals the first."""
    order = np.lexsort((np.arange(len(scores)), -scores))[:k]
    return np.sort(order[scores[order] > 0])


class SlowRows:
    """What the six have in common: margins, loss, bias, the unit of a regression.

    Subclasses have ``weights``, of shape (margins, d), and ``learn_row``.
    """

    def __init__(self, d, n_margins=1, *, k, eta, lam=0.0, delta=0.01, bias_rate=0.3):
        self.d, self.k, self.eta, self.lam, self.delta = d, k, eta, lam, delta
        self.bias_rate = bias_rate
        self.bias, self.bias_scale = np.zeros(n_margins), np.zeros(n_margins)
        self.weights = np.zeros((n_margins, d))
        self.pulls_seen = []
        self.totals = Totals()
        self.xi = 0.0

    def unit(self, loss):
        """Typical size of a slope, and what weights are multiples of."""
        if loss.is_classifier or not self.pulls_seen:
            return 1.0, 1.0
        total = sum(pull * pull for pull in self.pulls_seen)
        slope = np.sqrt(total / len(self.pulls_seen))
        return slope, slope if loss.target == "real" else 1.0

    def support(self, c=0):
        return np.flatnonzero(self.weights[c])

    def learn(self, loss, block):
        for ids, x, y, importance in rows_of(block):
            if importance > 0:
                self._learn(loss, ids.astype(int).tolist(), x, y, importance)

    def _learn(self, loss, ids, x, y, importance):
        _, unit = self.unit(loss)
        x, z = dense(ids, x, self.d), self.bias.copy()
        for c in range(len(z)):  # one by one: ties are broken by the last digit
            for j in dict.fromkeys(ids):
                z[c] += unit * self.weights[c, j] * x[j]
        self.totals.count_norm(x @ x, importance)
        asked = judge(loss, y, z, importance, self.totals)
        pulls, curvatures = bias_step(
            loss,
            y,
            importance,
            self.bias_rate,
            self.bias,
            self.bias_scale,
            z,
            *asked,
        )
        if pulls[0] != 0 and len(self.pulls_seen) < UNIT_FROZEN_AFTER:
            self.pulls_seen.append(pulls[0] / importance)
        slope, unit = self.unit(loss)
        self.example = loss, y, z, importance, unit
        self.learn_row(x, pulls / slope, curvatures)


class SlowDual(SlowRows):
    """Sums of gradients and of their squares; what is forgotten is a share of both."""

    def __init__(self, *args, rho=1.0, **options):
        super().__init__(*args, **options)
        self.rho, self.t = rho, 0.0
        self.G, self.S = np.zeros_like(self.weights), np.zeros_like(self.weights)

    def learn_row(self, x, pulls, curvatures):
        g = -np.outer(pulls, x)
        self.t = self.rho * self.t + 1
        self.G = self.rho * self.G + g
        self.S = self.rho * self.S + g * g
        self.H = self.delta + np.sqrt(self.S)
        self.weights = self.truncated()


class SlowBarda(SlowDual):
    """Algorithm 1: the k largest H z^2, or z^2 if truncation is naive."""

    def __init__(self, *args, naive=False, **options):
        super().__init__(*args, **options)
        self.naive = naive

    def scores(self):
        reach = self.lam * self.eta * self.t + self.H
        top = self.G**2 if self.naive else self.H * self.G**2
        return top / reach**2

    def truncated(self):
        z = -self.eta * self.G / (self.lam * self.eta * self.t + self.H)
        w = np.zeros_like(z)
        for c, scores in enumerate(self.scores()):
            kept = largest(scores, self.k)
            w[c, kept] = z[c, kept]
        self.xi = np.sqrt(np.sum(self.H * (w - z) ** 2))
        return w


class SlowL1Arda(SlowDual):
    """Mean gradients shrunk by lambda."""

    def truncated(self):
        left = np.maximum(0.0, np.abs(self.G) - self.lam * self.t)
        return -self.eta * np.sign(self.G) * left / self.H


class SlowMirror(SlowRows):
    """A step from the weights as they are, divided by H."""

    def __init__(self, *args, rho=1.0, naive=False, **options):
        super().__init__(*args, **options)
        self.rho, self.naive = rho, naive
        self.S = np.zeros_like(self.weights)

    def stepped(self, g):
        self.S = self.rho * self.S + g * g
        self.H = self.delta + np.sqrt(self.S)
        return self.weights - self.eta * g / self.H


class SlowBamd(SlowMirror):
    """Algorithm 2: the k largest H |z|, or |z| if truncation is naive."""

    def learn_row(self, x, pulls, curvatures):
        z = self.stepped(-np.outer(pulls, x) + self.lam * self.weights)
        scores = np.abs(z) if self.naive else self.H * np.abs(z)
        w = np.zeros_like(z)
        for c in range(len(z)):
            kept = largest(scores[c], self.k)
            w[c, kept] = z[c, kept]
        self.xi = np.sum(self.H * np.abs(z - w))
        self.weights = w


class SlowAdaFobos(SlowMirror):
    """Weights shrunk by eta lambda / H after the step."""

    def learn_row(self, x, pulls, curvatures):
        v = self.stepped(-np.outer(pulls, x))
        left = np.maximum(0.0, np.abs(v) - self.eta * self.lam / self.H)
        self.weights = np.sign(v) * left


class SlowOfs(SlowRows):
    """Gradient steps within a ball, damped for numbers; the k largest |w|."""

    def learn_row(self, x, pulls, curvatures):
        loss = self.example[0]
        if not loss.is_classifier:
            slope, unit = self.unit(loss)
            pulls = pulls / (1 + curvatures * (self.eta * (x @ x) * unit / slope))
        w = (1 - self.eta * self.lam) * self.weights + self.eta * np.outer(pulls, x)
        for c in range(len(w)):
            length = np.sqrt(np.sum(w[c] ** 2))
            if self.lam > 0 and length > self.lam**-0.5:
                w[c] *= self.lam**-0.5 / length
            kept = largest(np.abs(w[c]), self.k)
            self.weights[c] = 0.0
            self.weights[c, kept] = w[c, kept]


class SlowSofs(SlowRows):
    """Diagonal AROW; the k coordinates with the smallest variance."""

    def __init__(self, *args, gamma=1.0, **options):
        super().__init__(*args, eta=1.0, **options)
        self.gamma = gamma
        self.precision = np.ones_like(self.weights)

    def learn_row(self, x, pulls, curvatures):
        loss, y, z, importance, unit = self.example
        for c, pull in enumerate(pulls):
            if pull == 0:
                continue
            spread = x @ (x / self.precision[c])
            if len(pulls) == 1 and spread > 0:
                move = balance(loss, y, z, importance, self.gamma / spread)
                move /= spread * unit
            else:
                move = pull / (self.gamma + curvatures[c] * spread)
            w = self.weights[c] + move * x / self.precision[c]
            self.precision[c] += curvatures[c] / self.gamma * x * x
            kept = largest(
                np.where(self.precision[c] > 1, self.precision[c], 0), self.k
            )
            self.weights[c] = 0.0
            self.weights[c, kept] = w[kept]
