"""Mutual information of columns of codes, counted by weight."""

import math

import numpy as np

from shortlist.kernels._jit import kernel


@kernel
def information_into(codes, levels, other, n_levels, weight, out):
    """Mutual information, in nats, of each row of ``codes`` with ``other``.

    ``codes`` has a row a feature, so that a feature is read in one go; row j holds codes
    below ``levels[j]``, ``other`` below ``n_levels``.
    """
    total = 0.0
    across = np.zeros(n_levels)
    for i in range(len(other)):
        across[other[i]] += weight[i]
        total += weight[i]
    largest = 0
    for j in range(len(levels)):
        largest = max(largest, levels[j])
    counts = np.empty((largest, n_levels))
    for j in range(len(levels)):
        for a in range(levels[j]):
            for b in range(n_levels):
                counts[a, b] = 0.0
        for i in range(len(other)):
            counts[codes[j, i], other[i]] += weight[i]
        told = 0.0
        for a in range(levels[j]):
            down = 0.0
            for b in range(n_levels):
                down += counts[a, b]
            for b in range(n_levels):
                both = counts[a, b]
                if both > 0.0:
                    told += both * math.log(both * total / (down * across[b]))
        out[j] = told / total
