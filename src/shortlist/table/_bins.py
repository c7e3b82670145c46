"""Values cut into bins of about equal weight."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import Floats


def cut(values: Floats, weight: Floats, bins: int) -> NDArray[np.int64]:
    """Codes of bins of about equal weight; at most ``bins`` values are their own bins."""
    distinct, place = np.unique(values, return_inverse=True)
    if len(distinct) <= bins:
        return np.asarray(place, np.int64)
    return bins_of(np.bincount(place, weight).astype(np.float64), bins)[place]


def bins_of(weight: Floats, bins: int) -> NDArray[np.int64]:
    """Bin of each distinct value, in their order, from their weights.

    A bin ends with the value at which its share of the weight is reached, so equal
    values stay together and a row of weight 2 counts as two rows. The largest value
    never shares a bin with all others: a column that varies stays one that varies.
    """
    if len(weight) <= bins:
        return np.arange(len(weight))
    reached = np.cumsum(weight)
    shares = np.arange(1, bins) * reached[-1] / bins
    ends = np.minimum(np.searchsorted(reached, shares), len(weight) - 2)
    return np.asarray(
        np.searchsorted(np.unique(ends), np.arange(len(weight))), np.int64
    )
