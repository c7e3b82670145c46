"""MISSION with Python integers, sets and a loop a sentence: slow, easy to believe.

Borrowed from the package, besides the losses, are the order in which a set of candidates
lists its members, which decides which of several equals survive a cut, and the root
finder of implicit steps, which has tests of its own.
"""

from itertools import pairwise

import numpy as np

from shortlist._protocols import RowBlock
from shortlist._steps import balance
from shortlist.kernels.id_table import EMPTY, members, n_slots, put
from shortlist.losses import curvature_into, slope_into, value_of

GRADIENT, NEWTON = "gradient", "newton"


def mix(number):
    """Finaliser of the 64-bit murmur3 hash."""
    for multiplier in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        number ^= number >> 33
        number = number * multiplier % 2**64
    return number ^ (number >> 33)


def place(number, key, width):
    """Cell and sign of an id in a row with this key."""
    hashed = mix(int(number)) * int(key) % 2**64
    return ((hashed >> 32) * width) >> 32, 1 if (hashed >> 31) & 1 else -1


class SlowSketch:
    """Count-Sketch: a signed sum in one cell of each row; medians as estimates."""

    def __init__(self, keys, width, n_margins=1):
        self.keys = keys
        self.table = np.zeros((len(keys), width, n_margins), np.float32)

    def _places(self, number):
        width = self.table.shape[1]
        return [(r, *place(number, key, width)) for r, key in enumerate(self.keys)]

    def add(self, number, c, amount):
        for r, cell, sign in self._places(number):
            self.table[r, cell, c] += np.float32(sign * amount)

    def views(self, number, c):
        """What each row says about the id, in increasing order."""
        return sorted(
            float(sign * self.table[r, cell, c])
            for r, cell, sign in self._places(number)
        )

    def estimate(self, number, c):
        return self.views(number, c)[len(self.keys) // 2]

    def spread(self, number, c):
        views = self.views(number, c)
        return (views[-1] - views[0]) / 2


class Totals:
    """Progressive loss and hits, and the mean squared norm of the first examples."""

    def __init__(self):
        self.rows = self.weight = self.loss = self.hits = 0.0
        self._norms = []

    def count_norm(self, norm, importance):
        if len(self._norms) < 1000:
            self._norms.append((norm, importance))

    @property
    def mean_norm(self):
        weighted = sum(norm * importance for norm, importance in self._norms)
        return weighted / sum(importance for _, importance in self._norms) or 1.0


def judge(loss, y, z, importance, totals):
    """Count an example; return its pulls and curvatures."""
    totals.rows += 1
    totals.weight += importance
    totals.loss += importance * value_of(loss, y, z)
    hit = y * z[0] > 0 if len(z) == 1 else np.argmax(z) == y
    totals.hits += importance * hit
    return ask(loss, y, z, importance)


def ask(loss, y, z, importance):
    slope, curvature = np.empty(len(z)), np.empty(len(z))
    slope_into(loss, y, z, slope)
    curvature_into(loss, y, z, curvature)
    stand_in = slope**2 / max(1.0, 2.0 * value_of(loss, y, z))
    curvature = np.where(curvature == 0, stand_in, curvature)
    return -importance * slope, importance * curvature


def bias_step(loss, y, importance, rate, bias, scale, z, pulls, curvatures):
    """AdaGrad with a rate above 0, else implicit; returns what weights are asked for."""
    if rate > 0:
        scale += pulls**2
        bias += rate * pulls / np.sqrt(1 + scale)
        return pulls, curvatures
    if len(z) == 1:
        move = balance(loss, y, z, importance, scale[0] + 1e-9)
    else:
        move = pulls / (scale + curvatures + 1e-9)
    scale += curvatures
    bias += move
    z += move
    return ask(loss, y, z, importance)


def on_the_way(loss, y, z, bias, importance, curvatures):
    """Curvatures raised to their mean between the bias and the margins."""
    if (np.abs(z - bias) < 1).all():
        return curvatures
    start, middle = np.empty(len(z)), np.empty(len(z))
    curvature_into(loss, y, bias, start)
    curvature_into(loss, y, 0.5 * (bias + z), middle)
    mean = (curvatures + importance * (start + 4 * middle)) / 6
    return np.maximum(curvatures, mean)


def shorten(loss, y, z, importance, give, pulls, curvatures):
    """Pulls that do not carry margins too far; ``give`` is how far one unit goes."""
    if np.isfinite(loss.smoothness):
        return pulls / np.maximum(1.0, curvatures * give), curvatures
    if give[0] == 0 or pulls[0] == 0:
        return pulls, curvatures
    t = balance(loss, y, z, importance, 1 / give[0])
    after = np.empty(1)
    curvature_into(loss, y, z + t, after)
    if after[0] > 0:
        curvatures = importance * after
    return np.array([t / give[0]]), curvatures


class SlowSet:
    """Candidates of one margin."""

    def __init__(self, room):
        self.room, self.tau = room, 0.0
        self._refill([])

    def _refill(self, ids):
        self._keys = np.full(n_slots(2 * self.room), EMPTY)
        for number in ids:
            self.add(number)

    def add(self, number):
        put(self._keys, np.uint64(number))

    def listed(self):
        out = np.empty(len(self._keys), np.uint64)
        return out[: members(self._keys, out)]

    def cut(self, scores):
        """Keep the best, the first listed of equals; scores are in listing order."""
        best = np.argsort(-np.asarray(scores), kind="stable")[: self.room]
        self.tau = scores[best[-1]]
        self._refill(self.listed()[np.sort(best)])


class SlowBlocks:
    """The same with all cells of an id in one block, beside information and a scale."""

    def __init__(self, keys, n_blocks, rows, n_margins=1, *, is_direct=False):
        self.keys, self.is_direct = keys, is_direct
        self.weights = np.zeros((n_blocks, rows, 4, n_margins), np.float32)
        self.information = np.zeros((n_blocks, 4, n_margins), np.float32)
        self.scales = np.zeros((n_blocks, 4), np.float32)

    def place(self, number, plane):
        """Block, cell and sign of an id: rows are planes 0, 1, ..., others come after."""
        if self.is_direct:
            return int(number) // 4, int(number) % 4, 1
        to_block, to_cells = (
            mix(int(number)) * int(key) % 2**64 >> 32 for key in self.keys
        )
        bits = to_cells >> 3 * plane
        return to_block * len(self.weights) >> 32, bits & 3, -1 if bits & 4 else 1

    def _rows(self, number):
        for r in range(self.weights.shape[1]):
            block, cell, sign = self.place(number, r)
            yield (block, r, cell), sign

    def add(self, number, c, amount):
        for where, sign in self._rows(number):
            self.weights[where][c] += np.float32(sign) * amount

    def estimate(self, number, c):
        views = [np.float32(s) * self.weights[at][c] for at, s in self._rows(number)]
        return sorted(views)[len(views) // 2]

    def spread(self, number, c):
        views = [s * float(self.weights[at][c]) for at, s in self._rows(number)]
        return (max(views) - min(views)) / 2

    def known(self, number):
        """Information about an id, one number a margin."""
        block, cell, _ = self.place(number, self.weights.shape[1])
        return self.information[block, cell]

    def scale(self, number, informed):
        """Scale of an id, as an array of one number."""
        block, cell, _ = self.place(number, self.weights.shape[1] + informed)
        return self.scales[block, cell : cell + 1]


def total(terms):
    """Sum as the loop takes it: every fourth term, then the four sums."""
    lanes = [0.0] * 4
    whole = len(terms) - len(terms) % 4
    for t, term in enumerate(terms):
        lanes[t % 4 if t < whole else 0] += float(term)
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])


class SlowMission:
    """All weights in a sketch; ``explore`` learns from a block, in single precision."""

    def __init__(
        self,
        sketch,
        *,
        step,
        ridge,
        bias_rate,
        room,
        scaled=False,
        n_margins=1,
        centred=(),
    ):
        self.step, self.relative_ridge, self.bias_rate = step, ridge, bias_rate
        self.sketch, self.scaled = sketch, scaled
        self.found = [SlowSet(room) for _ in range(n_margins)]
        self.bias, self.bias_scale = np.zeros(n_margins), np.zeros(n_margins)
        self.totals = Totals()
        self.means, self.weight_so_far = dict.fromkeys(centred, 0.0), 0.0

    def centre(self, ids, values, importance):
        """Let a row begin with the centred ids, as distances from means that move."""
        self.weight_so_far += importance
        away, moves = [], []
        for number in self.means:
            value = values[ids == number].sum()
            moves.append((value - self.means[number]) * importance / self.weight_so_far)
            self.means[number] += moves[-1]
            away.append(value - self.means[number])
        own = np.array(list(self.means), np.uint64)
        others = ~np.isin(ids, own)
        return np.r_[own, ids[others]], np.r_[away, values[others]], moves

    @property
    def ridge(self):
        return np.float32(self.relative_ridge * self.totals.mean_norm)

    def size(self, number):
        """An id's scale."""
        if not self.scaled:
            return np.float32(1.0)
        scale = self.sketch.scale(number, self.step == NEWTON)[0]
        return max(scale, np.float32(1e-15))

    def square(self, number):
        """Square of an id's scale."""
        return self.size(number) * self.size(number)

    def explore(self, loss, block):
        for ids, x, y, importance in rows_of(block):
            if importance > 0:
                self._learn(loss, ids, x, y, importance)

    def _learn(self, loss, ids, values, y, importance):
        ids, values, moves = self.centre(ids, values, importance)
        x = values.astype(np.float32)
        were = [self.sketch.scale(number, self.step == NEWTON)[0] for number in ids]
        if self.scaled:
            for number, value in zip(ids, x, strict=True):
                scale = self.sketch.scale(number, self.step == NEWTON)
                scale[0] = max(scale[0], abs(value))
        squares = np.array([self.square(number) for number in ids], np.float32)
        margins = range(len(self.bias))
        w = [
            np.array([self.sketch.estimate(number, c) for number in ids], np.float32)
            for c in margins
        ]
        if self.scaled:
            for c in margins:
                w[c] = self.follow_scales(c, ids, w[c], were)
        for c in margins:
            for moved, weight in zip(moves, w[c], strict=False):
                self.bias[c] += weight * moved
        z = np.array([self.bias[c] + total(x * w[c]) for c in margins])
        norm = total(values * values)
        if self.scaled:
            norm = 0.0
            for value, square in zip(values, squares, strict=True):
                norm += value * value / float(square)
        self.totals.count_norm(norm, importance)
        if self.bias_rate == 0 and self.bias_scale[0] == 0:
            pulls, curvatures = ask(loss, y, z, importance)
        else:
            pulls, curvatures = judge(loss, y, z, importance, self.totals)
        pulls, curvatures = bias_step(
            loss,
            y,
            importance,
            self.bias_rate,
            self.bias,
            self.bias_scale,
            z,
            pulls,
            curvatures,
        )
        if self.step == NEWTON:
            curvatures = on_the_way(loss, y, z, self.bias, importance, curvatures)
        known = [
            np.array([self.sketch.known(number)[c] for number in ids], np.float32)
            for c in margins
        ]
        mean_norm = self.totals.mean_norm
        give = np.full(len(z), norm / mean_norm)
        if self.step == NEWTON:
            softness = [x * x / (known[c] + self.ridge * squares) for c in margins]
            give = np.array([total(terms) for terms in softness])
        cautious = not np.isfinite(loss.smoothness)
        if cautious or self.step == NEWTON:
            pulls, curvatures = shorten(loss, y, z, importance, give, pulls, curvatures)
        else:
            pulls = pulls / (mean_norm + curvatures * norm)
        if cautious and self.step == GRADIENT:
            pulls = pulls / mean_norm
        for c in margins:
            if pulls[c] != 0:
                evidence = np.float32(pulls[c]), np.float32(curvatures[c])
                self._step(c, ids, x, squares, w[c], known[c], evidence)

    def follow_scales(self, c, ids, w, were):
        """Weights in the sketch, and as they were read, as growing scales leave them."""
        w = w.copy()
        for t, (number, was) in enumerate(zip(ids, were, strict=True)):
            now = self.sketch.scale(number, self.step == NEWTON)[0]
            if 0 < was < now:
                was = max(was, np.float32(1e-15))
                kept = was * was / self.square(number)
                if self.step == NEWTON:
                    known = self.sketch.known(number)[c]
                    kept = (known + self.ridge * was * was) / (
                        known + self.ridge * self.square(number)
                    )
                step = w[t] * (kept - np.float32(1))
                w[t] += step
                self.sketch.add(number, c, step)
        return w

    def _step(self, c, ids, x, squares, w, known, evidence):
        pull, curvature = evidence
        if self.step == GRADIENT:
            steps = pull * x / squares
            before = w * w * squares
            scores = (w + steps) * (w + steps) * squares
        else:
            new = curvature * x * x
            stiff = known + self.ridge * squares
            sizes = np.array([self.size(number) for number in ids], np.float32)
            before = w * w * sizes * np.sqrt(stiff)
            stiff = stiff + new
            steps = pull * x / stiff
            scores = (w + steps) * (w + steps) * sizes * np.sqrt(stiff)
            for number, more in zip(ids, new, strict=True):
                self.sketch.known(number)[c] += more
        for number, step in zip(ids, steps, strict=True):
            self.sketch.add(number, c, step)
        least = self.found[c].tau  # a cut on the way may lower it
        everyone = least == 0 or self.totals.rows % 8 == 0
        for number, was, score in zip(ids, before, scores, strict=True):
            if score >= least and (everyone or was < least):
                self._nominate(c, number, score)

    def _nominate(self, c, number, score):
        found = self.found[c]
        if score <= 0 or score < found.tau or number in found.listed():
            return
        if len(found.listed()) >= 2 * found.room:
            found.cut([self.score(known, c) for known in found.listed()])
            if score < found.tau:
                return
        found.add(number)

    def score(self, number, c):
        """Score of an id as the sketch is now."""
        w, square = self.sketch.estimate(number, c), self.square(number)
        if self.step == GRADIENT:
            return w * w * square
        known = self.sketch.known(number)[c]
        return w * w * (self.size(number) * np.sqrt(known + self.ridge * square))


def rows_of(block):
    """Ids, values, label and importance of each row."""
    for i in range(block.n_rows):
        inside = slice(block.indptr[i], block.indptr[i + 1])
        yield block.ids[inside], block.values[inside], block.y[i], block.weight[i]


def make_block(rows, y=None, weight=None):
    """Block of rows given as lists of (id, value)."""
    y = np.zeros(len(rows)) if y is None else np.asarray(y, float)
    weight = np.ones(len(rows)) if weight is None else np.asarray(weight, float)
    return RowBlock(
        np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64),
        np.array([number for row in rows for number, _ in row], np.uint64),
        np.array([value for row in rows for _, value in row], np.float64),
        y,
        weight,
        0,
        len(rows),
    )


def random_block(seed, target="real", n_rows=40, n_ids=50, n_classes=3):
    """Block with every oddity: no nonzeros, repeated ids, zero weights, extreme ids."""
    rng = np.random.default_rng(seed)
    pool = rng.integers(0, 2**64, n_ids, np.uint64)
    pool[:2] = 0, 2**64 - 1
    rows = [
        list(zip(rng.choice(pool, n), rng.normal(size=n), strict=True))
        for n in rng.integers(0, 9, n_rows)
    ]
    y = {
        "real": rng.normal(size=n_rows) * 2,
        "sign": rng.choice([-1.0, 1.0], n_rows),
        "count": rng.poisson(2.0, n_rows),
        "class": rng.integers(0, n_classes, n_rows),
    }[target]
    return make_block(rows, y, rng.choice([0.0, 0.5, 1.0, 2.0], n_rows))


def split(block, cuts):
    """Split the rows of a block at these places, each part with arrays of its own."""
    ends = sorted({0, block.n_rows, *(cut for cut in cuts if cut < block.n_rows)})
    parts = []
    for begin, end in pairwise(ends):
        inside = slice(block.indptr[begin], block.indptr[end])
        parts.append(
            RowBlock(
                block.indptr[begin : end + 1] - block.indptr[begin],
                block.ids[inside].copy(),
                block.values[inside].copy(),
                block.y[begin:end].copy(),
                block.weight[begin:end].copy(),
                begin,
                end,
            )
        )
    return parts
