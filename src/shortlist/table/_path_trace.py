"""The best supports of all sizes as arrays, small enough to be saved with a result.

Long form: ``path_sizes`` and ``path_objective`` have a value a size. The entries of size i,
each margin's best first, are those of ``path_ids``, ``path_margin`` and ``path_weights``
from ``path_ends[i - 1]`` to ``path_ends[i]``. ``left_ids`` and ``left_names`` name features
of the path that are not on the shortlist.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from shortlist._protocols import Floats, Ids

if TYPE_CHECKING:
    from shortlist.table._selected import PathStep

#: Entries that a result keeps of its path: all sizes up to about 200.
MOST_ENTRIES = 20_000


def path_trace(steps: Mapping[int, PathStep], k: int) -> dict[str, np.ndarray]:
    """Arrays of the steps of at most k units; none if there are fewer than two sizes."""
    sizes = sorted(size for size in steps if 0 < size <= k)
    if len(sizes) < 2:
        return {}
    sizes = _thinned(sizes, [len(steps[size].ids) for size in sizes])
    parts = [steps[size] for size in sizes]
    orders = [np.lexsort((p.ids, -p.scores, p.margin)) for p in parts]
    pairs = list(zip(parts, orders, strict=True))
    return {
        "path_sizes": np.array(sizes, np.int64),
        "path_objective": np.array([p.objective for p in parts], np.float64),
        "path_ends": np.cumsum([len(p.ids) for p in parts], dtype=np.int64),
        "path_ids": np.concatenate([p.ids[order] for p, order in pairs]),
        "path_margin": np.concatenate([p.margin[order] for p, order in pairs]),
        "path_weights": np.concatenate(
            [_single(p.weights[order]) for p, order in pairs]
        ),
    }


def _single(weights: Floats) -> np.ndarray:
    """Weights in single precision, the largest it has where they are larger."""
    most = np.finfo(np.float32).max
    return np.clip(weights, -most, most).astype(np.float32)


def left_behind(trace: Mapping[str, np.ndarray], chosen: Ids) -> Ids:
    """Ids of the features of a path that were not chosen in the end, increasing."""
    return np.setdiff1d(trace.get("path_ids", np.empty(0, np.uint64)), chosen)


def support_at(trace: Mapping[str, np.ndarray], k: int) -> Ids | None:
    """Features of the best support of at most k units; None if no size k is there."""
    sizes = trace.get("path_sizes", np.empty(0, np.int64))
    if k not in sizes:
        return None
    # of equals the largest, as ``Selected.best_size`` has it
    objective = trace["path_objective"][sizes <= k]
    i = len(objective) - 1 - int(np.argmin(objective[::-1]))
    ends = trace["path_ends"]
    return np.unique(trace["path_ids"][ends[i - 1] if i else 0 : ends[i]])


def _thinned(sizes: list[int], entries: list[int]) -> list[int]:
    """Sizes with few entries in all: every small one, the largest, and some between.

    Those between grow by a ratio, the smallest that leaves few enough.
    """
    totals = np.cumsum(entries)
    if totals[-1] <= MOST_ENTRIES:
        return sizes
    n_small = int(np.searchsorted(totals, MOST_ENTRIES // 4, side="right"))
    small, large = sizes[:n_small], sizes[n_small:]
    weight = dict(zip(sizes, entries, strict=True))
    left = MOST_ENTRIES - sum(weight[size] for size in small)
    for ratio in np.arange(1.05, 4.0, 0.05).tolist():
        between = _geometric(large, ratio)
        if sum(weight[size] for size in between) <= left:
            return small + between
    return small


def _geometric(sizes: list[int], ratio: float) -> list[int]:
    """The largest size, and below it each that is smaller by the ratio at least."""
    kept = [sizes[-1]]
    for size in reversed(sizes):
        if size * ratio <= kept[-1]:
            kept.append(size)
    return kept[::-1]
