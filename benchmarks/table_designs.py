"""Tables with a planted support, each fixed by its name and a seed."""

from typing import NamedTuple

import numpy as np


class Design(NamedTuple):
    """How a table is made: columns are an AR(1) process with unit variance."""

    n: int
    p: int
    s: int  #: features in the planted support
    rho: float = 0.0  #: correlation of neighbouring columns
    noise: float = 0.1  #: standard deviation; not used for labels
    pm1: bool = False  #: planted weights are +1 or -1; otherwise normal
    logistic: bool = False  #: labels drawn with P(y = 1) = 1 / (1 + exp(-Xw))


DESIGNS = {
    "gauss": Design(n=1315, p=2000, s=100),
    "small": Design(n=600, p=2000, s=100, pm1=True),
    "ar9": Design(n=800, p=2000, s=50, rho=0.9, noise=0.5, pm1=True),
    "k20": Design(n=500, p=2000, s=20, pm1=True, noise=0.5),
    "big": Design(n=5000, p=50_000, s=100),
    "logistic": Design(n=2000, p=20_000, s=50, rho=0.7, pm1=True, logistic=True),
    "logistic_small": Design(n=1000, p=1000, s=20, rho=0.5, pm1=True, logistic=True),
    "logistic_hard": Design(n=500, p=1000, s=20, rho=0.9, pm1=True, logistic=True),
}


class Planted(NamedTuple):
    """A table and the truth about it."""

    X: np.ndarray
    y: np.ndarray
    support: np.ndarray
    weights: np.ndarray  #: of the support


def make(design, seed):
    """Draw a table; ``design`` is a name or a Design."""
    design = DESIGNS[design] if isinstance(design, str) else design
    rng = np.random.default_rng([7, seed])
    X = np.empty((design.n, design.p), order="F")
    previous = np.zeros(design.n)
    for j in range(design.p):
        fresh = rng.standard_normal(design.n)
        if j and design.rho:
            fresh = design.rho * previous + np.sqrt(1 - design.rho**2) * fresh
        X[:, j] = previous = fresh
    for j in range(design.p):
        X[:, j] /= X[:, j].std()
    support = np.sort(rng.choice(design.p, design.s, replace=False))
    weights = rng.standard_normal(design.s)
    if design.pm1:
        weights = np.sign(weights)
    z = X[:, support] @ weights
    if design.logistic:
        y = np.where(rng.random(design.n) < 1 / (1 + np.exp(-z)), 1, 0)
    else:
        y = z + design.noise * rng.standard_normal(design.n)
    return Planted(X, y, support, weights)
