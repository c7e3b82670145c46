"""The largest tail that a unimodal law of a given mean can have, by brute force."""

import numpy as np
from scipy.optimize import linprog


def largest_tail(n, t, mean):
    """Most probability of t, ..., n under unimodal laws on 0, ..., n of at most that mean.

    For each mode, the laws are a polytope: probabilities that rise up to it and fall after.
    """
    numbers = np.arange(n + 1)
    best = 0.0
    for mode in range(n + 1):
        rises = np.zeros((n, n + 1))
        for i in range(n):
            low, high = (i, i + 1) if i < mode else (i + 1, i)
            rises[i, low], rises[i, high] = 1.0, -1.0
        found = linprog(
            -(numbers >= t).astype(float),
            A_ub=np.vstack([rises, numbers]),
            b_ub=np.append(np.zeros(n), mean),
            A_eq=np.ones((1, n + 1)),
            b_eq=[1.0],
        )
        if found.success:
            best = max(best, -found.fun)
    return best
