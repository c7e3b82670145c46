"""Hard thresholding of stochastic gradients with dictionaries, a batch at a time."""

from collections import defaultdict

from reference.mission_paper import SlowPaper
from reference.sketch import rows_of


class SlowIht(SlowPaper):
    """For each margin a dictionary of at most k weights and one of gathered steps."""

    def __init__(self, n_margins, *, batch, room, **options):
        super().__init__(None, n_margins, **options)
        self.batch, self.room = batch, room
        self._begin()

    def _begin(self):
        self.rows = 0
        self.gathered = [defaultdict(float) for _ in self.active]

    def learn(self, loss, block):
        for ids, x, y, importance in rows_of(block):
            if importance == 0:
                continue
            ids = [int(i) for i in ids]
            if len(self.gathered[0]) + len(ids) > self.room:
                self.threshold()
            pulls = self.pulls(loss, ids, x, y, importance)
            for c, pull in enumerate(pulls):
                for number, value in zip(ids, x, strict=True):
                    self.gathered[c][number] += pull * value
            self.rows += 1
            if self.rows == self.batch:
                self.threshold()

    def weight(self, c, number):
        return self.active[c].get(number, 0.0) + self.gathered[c].get(number, 0.0)

    def threshold(self):
        for active, gathered in zip(self.active, self.gathered, strict=True):
            for number, total in gathered.items():
                if total != 0 or number in active:
                    active[number] = active.get(number, 0.0) + total
            best = sorted(active, key=lambda i: (-abs(active[i]), i))
            for number in best[self.k :]:
                del active[number]
        self._begin()
