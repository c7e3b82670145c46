"""One pass over the retained columns: margins, slopes and all inner products with them.

Rows are worked on in short runs, so that the margins of a run, and the retained columns
that make them, are still in the cache when their inner products with the slopes are due:
memory is read once instead of twice.
"""

from typing import Any, NamedTuple

import numpy as np

from shortlist.kernels._jit import kernel
from shortlist.losses import curvature_into
from shortlist.losses.arrays import slopes_into

#: Rows of a run.
_RUN = 256

#: Rows of ``sums``: the slope in the intercept; slope and curvature in the newcomer.
SLOPES, SLOPE_OF_NEWCOMER, OWN = range(3)


class Linear(NamedTuple):
    """A linear model of the retained columns."""

    values: Any  #: (k, n_rows)
    weights: Any  #: (k, C)
    bias: Any  #: (C,)
    others: Any  #: (n_rows, C) margins that other workers are responsible for


class Examples(NamedTuple):
    """What is to be predicted."""

    y: Any
    share: Any


class Swept(NamedTuple):
    """Sums over rows; those of several parts add up."""

    slopes: Any  #: (k, C) inner products of the retained columns with the slopes
    sums: Any  #: (3, C) see above
    steepest: Any  #: (1,) the largest curvature, which does not add up


@kernel(fastmath={"reassoc", "nsz", "contract"})
def sweep(loss, model, n, examples, newcomer, part, out):
    """Go over some rows: ``part`` is the first of them and the one after the last.

    ``n`` columns are retained; ``newcomer`` is the column that arrives.
    """
    C = model.bias.shape[0]
    margins, g = np.empty((C, _RUN)), np.empty((C, _RUN))
    Z, G, H = np.empty((_RUN, C)), np.empty((_RUN, C)), np.empty(C)
    out.slopes[:n] = 0.0
    out.sums[:] = 0.0
    out.steepest[0] = 0.0
    for first in range(part[0], part[1], _RUN):
        size = min(_RUN, part[1] - first)
        rows = slice(first, first + size)
        y, share = examples.y[rows], examples.share[rows]
        x, others = newcomer[rows], model.others[rows]
        for c in range(C):
            for i in range(size):
                margins[c, i] = model.bias[c] + others[i, c]
        for a in range(n):
            column = model.values[a, rows]
            for c in range(C):
                weight, row = model.weights[a, c], margins[c]
                for i in range(size):
                    row[i] += weight * column[i]
        for i in range(size):
            for c in range(C):
                Z[i, c] = margins[c, i]
        slopes_into(loss, y, Z[:size], share, G[:size])
        for i in range(size):
            if share[i] > 0.0:
                curvature_into(loss, y[i], Z[i], H)
                for c in range(C):
                    out.steepest[0] = max(out.steepest[0], H[c])
                    out.sums[OWN, c] += share[i] * H[c] * x[i] * x[i]
            for c in range(C):
                g[c, i] = G[i, c]
        for c in range(C):
            row = g[c]
            total, own = 0.0, 0.0
            for i in range(size):
                total += row[i]
                own += row[i] * x[i]
            out.sums[SLOPES, c] += total
            out.sums[SLOPE_OF_NEWCOMER, c] += own
        for a in range(n):
            column = model.values[a, rows]
            for c in range(C):
                row = g[c]
                total = 0.0
                for i in range(size):
                    total += row[i] * column[i]
                out.slopes[a, c] += total
