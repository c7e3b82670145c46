"""A block of columns meets those that are retained, on inner products."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import Floats
from shortlist.kernels.substitution import (
    Arriving,
    Kept,
    Rule,
    seat,
    seat_exactly,
    substitute,
    substitute_exactly,
)

_UNKNOWN = np.zeros((0, 0))


def meet(
    kept: Kept,
    products: Floats,
    squares: Floats,
    corr: Floats,
    status: NDArray[np.int64],
    rule: Rule,
    own: Callable[[], Floats],
    *,
    exact: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Let a block arrive; return ``holder`` and ``taken`` (see ``substitute``).

    ``products``, ``squares``, ``corr`` and ``status`` as in ``Arriving``. ``own`` is called
    for the inner products of the block with itself when a column comes in: late in a run
    hardly any does, and they cost as much as all the rest.
    """
    b, k = products.shape
    work = substitute_exactly if exact else substitute
    holder, taken = np.full(k, -1), np.zeros((b, 2), np.int64)
    block = Arriving(products, squares, _UNKNOWN, corr, status)
    done = work(kept, block, rule, holder, taken, 0)
    if done and taken[done - 1, 0] >= 0:
        block = block._replace(own=own())
        (seat_exactly if exact else seat)(
            kept, block, done - 1, taken[done - 1, 0], holder
        )
        work(kept, block, rule, holder, taken, done)
    return holder, taken
