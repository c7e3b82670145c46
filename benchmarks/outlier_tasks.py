"""Several regressions on shared features, some of whose rows have the wrong sign.

The design of section 5.1 of the GSR-FS paper (Peng, Fan 2017): two blocks of informative
features, one of mixtures of both, and features that say nothing.
"""

from typing import NamedTuple

import numpy as np


class OutlierTasks(NamedTuple):
    """A table, its targets and the truth about them."""

    X: np.ndarray
    Y: np.ndarray
    support: np.ndarray  #: informative features
    flipped: np.ndarray  #: rows of Y whose sign is wrong


def make(seed, *, n=2000, block=100, irrelevant=700, outputs=5, share=0.1):
    """Draw a table with ``2 * block`` informative and ``block`` redundant features.

    Informative and redundant features are normal, irrelevant ones uniform on [-1, 1]; all
    weights are uniform on [0, 1], and noise has variance 1/2.
    """
    rng = np.random.default_rng([4, seed])
    first, second = rng.normal(size=(n, block)), rng.normal(size=(n, block))
    mixed = (first + second) / 2 + np.sqrt(0.1) * rng.normal(size=(n, block))
    nothing = rng.uniform(-1.0, 1.0, size=(n, irrelevant))
    informative = np.hstack([first, second])
    weights = rng.uniform(size=(2 * block, outputs))
    Y = informative @ weights + np.sqrt(0.5) * rng.normal(size=(n, outputs))
    flipped = np.sort(rng.choice(n, round(share * n), replace=False))
    Y[flipped] *= -1.0
    X = np.hstack([informative, mixed, nothing])
    return OutlierTasks(X, Y, np.arange(2 * block), flipped)
