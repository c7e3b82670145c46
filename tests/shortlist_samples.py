"""Results made by hand: two margins of three, and one margin."""

import numpy as np

from shortlist._shortlist import Shortlist


def make(**changes):
    """Two margins of three: class 'b' has ids 7 and 3, class 'a' has id 3."""
    values = {
        "method": "mission",
        "room": "sketch",
        "loss": "softmax",
        "k": 3,
        "budget": "shared",
        "ids": np.array([3, 7, 3]),
        "names": ("price", "size", "price"),
        "margin": np.array([1, 1, 0]),
        "weights": np.array([-0.5, 2.0, 1.25]),
        "scores": np.array([0.5, 2.0, 1.25]),
        "errors": np.array([0.1, np.nan, 0.3]),
        "intercept": np.array([0.0, 1.0, -1.0]),
        "classes": ("a", "b", "c"),
        "n_examples": 20_000,
        "n_features": 1_048_576,
        "params": {"step": 0.5, "inner": {"sizes": [1, 2]}},
        "trace": {"loss": np.array([1.0, 0.5, np.nan])},
        "notes": ("one pass",),
        "version": "0.0.1",
    }
    return Shortlist(**(values | changes))


def single(names, k=None, **changes):
    """One margin, the first name best, no classes."""
    n = len(names)
    values = {
        "k": k or max(n, 1),
        "ids": np.arange(n),
        "names": names,
        "margin": np.zeros(n, dtype=np.int64),
        "weights": np.arange(n, 0, -1.0),
        "scores": np.arange(n, 0, -1.0),
        "errors": None,
        "intercept": np.zeros(1),
        "classes": None,
        "loss": "squared",
        "notes": (),
    }
    return make(**(values | changes))
