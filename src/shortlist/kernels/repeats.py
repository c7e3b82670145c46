"""Whether a sparse matrix holds an entry in several parts."""

import numpy as np

from shortlist.kernels._jit import kernel


@kernel
def has_repeats(indptr, indices, n_places):
    """Whether a row (of CSR; a column of CSC) names one of its n_places twice.

    Rows need not be sorted: each leaves its number where it has been.
    """
    seen = np.full(n_places, -1)
    for i in range(len(indptr) - 1):
        for t in range(indptr[i], indptr[i + 1]):
            if seen[indices[t]] == i:
                return True
            seen[indices[t]] = i
    return False
