"""Algorithm 1 of the MISSION paper with dictionaries, a sentence a line."""

from collections import defaultdict

import numpy as np

from reference.sketch import SlowSketch, Totals, bias_step, judge, rows_of, shorten


class SlowIdentity:
    """A sketch that gives back what was put in."""

    def __init__(self):
        self.weights = defaultdict(np.float32)

    def add(self, number, c, amount):
        self.weights[number, c] += np.float32(amount)

    def estimate(self, number, c):
        return float(self.weights.get((number, c), 0.0))

    def multiply(self, factor):
        for key in self.weights:
            self.weights[key] *= np.float32(factor)


class SlowCount(SlowSketch):
    """A Count-Sketch that can be multiplied."""

    def multiply(self, factor):
        self.table *= np.float32(factor)


class SlowPaper:
    """A sketch, and for each margin a dictionary of at most k active weights."""

    def __init__(
        self,
        sketch,
        n_margins,
        *,
        k,
        learning_rate,
        bias_rate,
        gamma=None,
        lazy=0.0,
        damped=False,
    ):
        self.k, self.learning_rate, self.bias_rate = k, learning_rate, bias_rate
        self.gamma, self.lazy, self.damped = gamma, lazy, damped
        self.sketch = sketch
        self.active = [{} for _ in range(n_margins)]
        self.bias, self.bias_scale = np.zeros(n_margins), np.zeros(n_margins)
        self.totals = Totals()

    def learn(self, loss, block):
        for ids, x, y, importance in rows_of(block):
            if importance > 0:
                self._learn(loss, [int(i) for i in ids], x, y, importance)

    def weight(self, c, number):
        """Weight that counts in the margins."""
        return self.active[c].get(number, 0.0)

    def pulls(self, loss, ids, x, y, importance):
        """What one unit of a value moves the weights by."""
        z = self.bias.copy()
        for c in range(len(z)):
            for number, value in zip(ids, x, strict=True):
                z[c] += self.weight(c, number) * value
        norm = sum(value * value for value in x)
        self.totals.count_norm(norm, importance)
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
        scale = self.totals.mean_norm / self.learning_rate
        if not self.damped:
            return pulls / scale
        if np.isfinite(loss.smoothness):
            return pulls / (scale + curvatures * norm)
        give = np.full(len(pulls), norm / scale)
        return shorten(loss, y, z, importance, give, pulls, curvatures)[0] / scale

    def _learn(self, loss, ids, x, y, importance):
        pulls = self.pulls(loss, ids, x, y, importance)
        for c in range(len(pulls)):
            if pulls[c] != 0:
                for number, value in zip(ids, x, strict=True):
                    self.sketch.add(number, c, pulls[c] * value)
        for c in range(len(pulls)):
            for number in ids:
                weight = self.sketch.estimate(number, c)
                if abs(weight - self.active[c].get(number, 0.0)) >= self.lazy:
                    self._offer(c, number, weight)
        if self.gamma is not None:
            self.sketch.multiply(self.gamma)
            for c, active in enumerate(self.active):
                for number, weight in active.items():
                    self.sketch.add(number, c, (1 - self.gamma) * weight)

    def _offer(self, c, number, weight):
        active = self.active[c]
        if number in active or weight != 0.0:
            active[number] = weight
        if len(active) > self.k:
            del active[min(active, key=lambda i: (abs(active[i]), -i))]
