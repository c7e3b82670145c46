"""Columns brought to mean 0 and, if wanted, to unit variance."""

import numpy as np

from shortlist.kernels._jit import kernel

#: A centred column this small beside its mean is rounding error of a constant.
_CONSTANT = 64 * np.finfo(np.float64).eps


@kernel
def _reaches(row, share, size, square):
    """Whether a number of the row is larger than ``size``; its mean square mostly tells."""
    largest = 0.0
    if square <= size * size:
        for i in range(row.shape[0]):
            if share[i] > 0.0:
                largest = max(largest, abs(row[i]))
    return square > size * size or largest > size


@kernel(fastmath={"reassoc", "nsz", "contract"})
def standardise(values, share, scales, center, scale, squares):
    """Centre each row of values in place; divide it by its spread if ``scales``.

    ``share`` are weights of the examples, which sum to 1. Writes what was subtracted into
    ``center``, what was divided by into ``scale``, and the mean square of what is left into
    ``squares``. A row that does not vary becomes 0, and its scale too. An example of weight
    0 becomes 0 in all rows.
    """
    n = values.shape[1]
    for j in range(values.shape[0]):
        row = values[j]
        first = 0.0
        for i in range(n):
            first += share[i] * row[i]
        # the second mean is what rounding left of the first
        second, square = 0.0, 0.0
        for i in range(n):
            x = row[i] - first
            row[i] = x
            second += share[i] * x
            square += share[i] * x * x
        square -= second * second
        center[j] = first + second
        varies = square > 0.0 and _reaches(
            row, share, _CONSTANT * abs(center[j]), square
        )
        scale[j] = 0.0 if not varies else (np.sqrt(square) if scales else 1.0)
        factor = 1.0 / scale[j] if varies else 0.0
        squares[j] = square * factor * factor
        for i in range(n):
            row[i] = (row[i] - second) * factor if share[i] > 0.0 else 0.0
