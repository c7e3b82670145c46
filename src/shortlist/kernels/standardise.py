"""Columns brought to mean 0 and, if wanted, to unit variance."""

import numpy as np

from shortlist.kernels._jit import kernel

#: A centred column this small beside its mean is rounding error of a constant.
_CONSTANT = 64 * np.finfo(np.float64).eps


@kernel(fastmath={"reassoc", "nsz", "contract"})
def standardise(values, share, scales, center, scale):
    """Centre each row of values in place; divide it by its spread if ``scales``.

    ``share`` are weights of the examples, which sum to 1. Writes what was subtracted into
    ``center`` and what was divided by into ``scale``. A row that does not vary becomes 0,
    and its scale too. An example of weight 0 becomes 0 in all rows.
    """
    n = values.shape[1]
    for j in range(values.shape[0]):
        row = values[j]
        center[j] = 0.0
        for _ in range(2):  # the second mean is what rounding left of the first
            mean = 0.0
            for i in range(n):
                mean += share[i] * row[i]
            for i in range(n):
                row[i] = row[i] - mean if share[i] > 0.0 else 0.0
            center[j] += mean
        square, largest = 0.0, 0.0
        for i in range(n):
            square += share[i] * row[i] * row[i]
            largest = max(largest, abs(row[i]))
        varies = largest > _CONSTANT * abs(center[j]) and square > 0.0
        scale[j] = 0.0 if not varies else (np.sqrt(square) if scales else 1.0)
        factor = 1.0 / scale[j] if varies else 0.0
        if factor != 1.0:
            for i in range(n):
                row[i] *= factor
