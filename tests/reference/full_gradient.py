"""MISSION with full gradients, entry by entry, as sections 5.1 and 9 have it."""

import numpy as np

from reference.sketch import SlowSketch


def top(sums, k):
    """Places of the k largest sizes."""
    return sorted(sorted(range(len(sums)), key=lambda j: -abs(sums[j]))[:k])


def slow_full_gradient(X, y, k, step, gamma, decay, n_iter, keys=None, width=None):
    """Run n_iter iterations; return the support and the weights after each."""
    n, p = X.shape
    sums = [0.0] * p
    sketch = None if keys is None else SlowSketch(keys, width)
    beta = [0.0] * p
    path = []
    for _ in range(n_iter):
        residual = [y[i] - sum(X[i, j] * beta[j] for j in range(p)) for i in range(n)]
        for j in range(p):
            gradient = step * sum(X[i, j] * residual[i] for i in range(n))
            if sketch is None:
                sums[j] += gradient
            else:
                sketch.add(j, 0, gradient)
        if sketch is not None:
            sums = [sketch.estimate(j, 0) for j in range(p)]
        support = top(sums, k)
        beta = [sums[j] if j in support else 0.0 for j in range(p)]
        if sketch is None:
            sums = [s if j in support else gamma * s for j, s in enumerate(sums)]
        else:
            sketch.table *= np.float32(gamma)
            for j in support:
                sketch.add(j, 0, (1 - gamma) * beta[j])
        gamma *= decay
        path.append((support, [beta[j] for j in support]))
    return path
