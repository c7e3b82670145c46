"""The methods that MISSION's simulations compare; each returns the support it finds.

No intercept and no standardised columns: attenuated columns would be restored by that.
"""

import numpy as np

from shortlist import Mission, ShortlistError
from shortlist.sketch._full_gradient import full_gradient_mission
from shortlist.table import ITI, PHT, ProjectedGradient

#: Cells in each of the three rows of a Count-Sketch; together fewer than features.
WIDTH = 300

#: Passes of MISSION with single examples.
PASSES = 30


def mission(X, y, k):
    """Gathered gradients and gamma, with an identity sketch: section 5.1."""
    return full_gradient_mission(X, y, k, step=_step(X)).support


def mission_count(X, y, k):
    """The same with a Count-Sketch, whose collisions want a smaller gamma."""
    return _unless_it_diverges(X, y, k, step=_step(X), gamma=0.99, width=WIDTH)


def mission_sgd(X, y, k):
    """Algorithm 1: single examples and a Count-Sketch."""
    cells = 3 * WIDTH
    selector = Mission(k, loss="squared", recipe="paper", memory=cells, passes=PASSES)
    return selector.fit(X, y).get_support(indices=True)


def mission_refit(X, y, k):
    """The package's own recipe: columns in their own units, no intercept to speak of."""
    selector = Mission(k, loss="squared", recipe="refit", memory=3 * WIDTH, scale=None)
    return selector.fit(X, y).get_support(indices=True)


def iht(X, y, k):
    """Iterative hard thresholding with the same step: nothing is gathered."""
    return full_gradient_mission(X, y, k, step=_step(X), gamma=0.0).support


def iht_long(X, y, k):
    """The same with the step that Maleki and Donoho tuned, .65 for columns of length 1."""
    step = 0.65 / np.mean(np.sum(X * X, axis=0))
    return _unless_it_diverges(X, y, k, step=step, gamma=0.0, max_iter=1000)


def iht_normalized(X, y, k):
    return _table(ProjectedGradient(k, refit="never", **PLAIN), X, y)


def iti(X, y, k):
    return _table(ITI(k, **PLAIN), X, y)


def pht(X, y, k):
    return _table(PHT(k, exchange=1, **PLAIN), X, y)


PLAIN = {"standardize": False, "fit_intercept": False, "loss": "squared"}

METHODS = {
    method.__name__: method
    for method in (
        mission,
        mission_count,
        mission_sgd,
        mission_refit,
        iht,
        iht_long,
        iht_normalized,
        iti,
        pht,
    )
}
NAMES = {
    "mission": "MISSION",
    "mission_count": "MISSION, Count-Sketch",
    "mission_sgd": "MISSION, Count-Sketch, SGD",
    "mission_refit": "MISSION, refit (default)",
    "iht": "IHT, step of MISSION",
    "iht_long": "IHT, step .65",
    "iht_normalized": "normalized IHT",
    "iti": "ITI",
    "pht": "PHT",
}


def _unless_it_diverges(X, y, k, **settings):
    try:
        return full_gradient_mission(X, y, k, **settings).support
    except ShortlistError:
        return np.empty(0, int)


def _table(selector, X, y):
    return selector.fit(X, y).get_support(indices=True)


def _step(X):
    """One over the largest eigenvalue of X'X, which for Gaussian X is known."""
    n, p = X.shape
    energy = float(np.mean(X * X)) * n
    return 1.0 / (energy * (1.0 + np.sqrt(p / n)) ** 2)


def recovers(method, X, y, support):
    """Whether a method finds the planted support, and nothing else."""
    return np.array_equal(METHODS[method](X, y, len(support)), support)
