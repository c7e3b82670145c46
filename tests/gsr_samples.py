"""Tables that GSR and its family are tried on."""

import numpy as np


def classes(seed=0, n=200, p=40, s=4):
    """X, names of three classes that s features tell apart, and these features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    support = np.sort(rng.choice(p, s, replace=False))
    W = np.array([rng.permutation([2.0, 0.0, -2.0]) for _ in support])
    margins = X[:, support] @ W + 0.3 * rng.normal(size=(n, 3))
    return X, np.array(["ant", "bee", "cat"])[margins.argmax(axis=1)], support


def numbers(seed=0, n=150, p=40, s=4, outputs=None, noise=0.2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    support = np.sort(rng.choice(p, s, replace=False))
    W = rng.choice([-1.0, 1.0], (s, outputs or 1)) * rng.uniform(1, 2, (s, 1))
    Y = X[:, support] @ W + noise * rng.normal(size=(n, outputs or 1))
    return X, Y if outputs else Y[:, 0], support
