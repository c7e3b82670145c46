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
    across = weight_of_levels(other, n_levels, weight)
    counts = np.empty((levels.max(), n_levels)) if len(levels) else np.empty((0, 0))
    for j in range(len(levels)):
        counts[: levels[j]] = 0.0
        for i in range(len(other)):
            counts[codes[j, i], other[i]] += weight[i]
        out[j] = told(counts, levels[j], across)


@kernel
def sparse_information_into(columns, other, n_levels, weight, out):
    """Mutual information of columns that mostly hold one code each (``SparseCodes``).

    Only the other codes are counted: of the usual one is what they leave of each level.
    """
    levels, usual = columns.levels, columns.usual
    across = weight_of_levels(other, n_levels, weight)
    counts = np.empty((levels.max(), n_levels)) if len(levels) else np.empty((0, 0))
    for j in range(len(levels)):
        counts[: levels[j]] = 0.0
        for t in range(columns.first[j], columns.first[j + 1]):
            i = columns.row[t]
            counts[columns.code[t], other[i]] += weight[i]
        for b in range(n_levels):
            left = across[b]
            for a in range(levels[j]):
                left -= counts[a, b]
            # what rounding leaves of nothing is nothing
            counts[usual[j], b] = left if left > 1e-12 * across[b] else 0.0
        out[j] = told(counts, levels[j], across)


@kernel
def weight_of_levels(other, n_levels, weight):
    """Weight of each code in ``other``."""
    across = np.zeros(n_levels)
    for i in range(len(other)):
        across[other[i]] += weight[i]
    return across


@kernel
def told(counts, n_codes, across):
    """Mutual information of a table of counts whose columns have these sums."""
    total, answer = across.sum(), 0.0
    for a in range(n_codes):
        down = counts[a].sum()
        for b in range(len(across)):
            both = counts[a, b]
            if both > 0.0:
                answer += both * math.log(both * total / (down * across[b]))
    return answer / total
