"""Feature hashing with a sketch of one row, all of whose weights count."""

from reference.mission_paper import SlowPaper


class SlowHashed(SlowPaper):
    """Steps go into the buckets, margins come out of them."""

    def weight(self, c, number):
        return self.sketch.estimate(number, c)

    def _learn(self, loss, ids, x, y, importance):
        for c, pull in enumerate(self.pulls(loss, ids, x, y, importance)):
            for number, value in zip(ids, x, strict=True):
                self.sketch.add(number, c, pull * value)
