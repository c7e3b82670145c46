"""Algorithm 1 of the MISSION paper with dictionaries, a sentence a line."""

import numpy as np

from reference.sketch import SlowSketch, Totals, bias_step, judge, rows_of


class SlowPaper:
    """A sketch, and for each margin a dictionary of at most k active weights."""

    def __init__(self, keys, width, n_margins, *, k, learning_rate, bias_rate):
        self.k, self.learning_rate, self.bias_rate = k, learning_rate, bias_rate
        self.sketch = SlowSketch(keys, width, n_margins)
        self.active = [{} for _ in range(n_margins)]
        self.bias, self.bias_scale = np.zeros(n_margins), np.zeros(n_margins)
        self.totals = Totals()

    def learn(self, loss, block):
        for ids, x, y, importance in rows_of(block):
            if importance > 0:
                self._learn(loss, [int(i) for i in ids], x, y, importance)

    def _learn(self, loss, ids, x, y, importance):
        z = self.bias.copy()
        for c, active in enumerate(self.active):
            for number, value in zip(ids, x, strict=True):
                z[c] += active.get(number, 0.0) * value
        self.totals.count_norm(sum(value * value for value in x), importance)
        asked = judge(loss, y, z, importance, self.totals)
        pulls, _ = bias_step(
            loss,
            y,
            importance,
            self.bias_rate,
            self.bias,
            self.bias_scale,
            z,
            *asked,
        )
        rate = self.learning_rate / self.totals.mean_norm
        for c in range(len(pulls)):
            if pulls[c] != 0:
                for number, value in zip(ids, x, strict=True):
                    self.sketch.add(number, c, rate * pulls[c] * value)
        for c in range(len(pulls)):
            for number in ids:
                self._offer(c, number, self.sketch.estimate(number, c))

    def _offer(self, c, number, weight):
        active = self.active[c]
        if number in active or weight != 0.0:
            active[number] = weight
        if len(active) > self.k:
            del active[min(active, key=lambda i: (abs(active[i]), -i))]
