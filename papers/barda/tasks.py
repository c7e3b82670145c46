"""Sets of rows with the splits of the authors of B-ARDA, in orders of their own.

Gisette and pcmac, which the paper has besides, are not here.
"""

import sys
from typing import NamedTuple

import numpy as np
from benchmarks.data import Missing, folder, load
from scipy.sparse import csr_array

from shortlist.sources import ArraySource

SETS = ("arcene", "dexter", "basehock", "farm_ads")
#: Passes are cut here: arcene would have 200, of 5,400 nonzeros a row.
MOST_PASSES = {"arcene": 20}


class Shuffled:
    """Rows in a fresh order each time they are read, as the paper has its passes."""

    unit = "rows"
    reiterable = True
    label_names = None

    def __init__(self, X, y, seed):
        self._X, self._y = X, y
        self._rng = np.random.default_rng(seed)
        self._plain = ArraySource(X, y)
        self.name, self.names, self.ids = "rows", self._plain.names, self._plain.ids
        self.size, self.n_features = X.shape

    def blocks(self):
        """Yield all rows; no two calls agree on their order."""
        order = self._rng.permutation(len(self._y))
        return ArraySource(self._X[order], self._y[order]).blocks()


class Task(NamedTuple):
    """Rows to learn from and rows to test on."""

    name: str
    X: object
    y: np.ndarray
    test: ArraySource
    passes: int  #: of the paper: 2 d / n

    def train(self, seed):
        """Rows to learn from, in orders that follow from the seed."""
        return Shuffled(self.X, self.y, seed)


def _task(name, X, y, is_test):
    train = np.flatnonzero(~is_test)
    passes = -(-2 * X.shape[1] // len(train))
    passes = min(passes, MOST_PASSES.get(name, passes))
    test = ArraySource(X[is_test], y[is_test])
    return Task(name, X[train], y[train], test, passes)


def small():
    """Words of two topics: nine in a hundred columns tell them apart."""
    rng = np.random.default_rng(0)
    y = rng.choice([-1, 1], 300)
    X = (rng.random((300, 100)) < 0.08).astype(float)
    X[:, :9] = rng.random((300, 9)) < np.where(y > 0, 0.5, 0.1)[:, np.newaxis]
    return _task("small", csr_array(X), y, np.arange(300) % 3 == 0)


def make(name):
    """Return the task of a set.

    Raises
    ------
    Missing
        If its file is not here.
    """
    if name == "small":
        return small()
    X, y = load(name)
    with np.load(folder() / f"{name}.npz", allow_pickle=False) as archive:
        return _task(name, X, y, archive["split"] == 1)


def tasks(names):
    """Yield tasks; name those whose data are missing."""
    for name in names:
        try:
            yield make(name)
        except Missing as missing:
            print(f"left out: {missing}", file=sys.stderr)
