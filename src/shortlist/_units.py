"""Whether features come in units so different that one step size cannot suit them all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from shortlist._protocols import Floats, RowBlock
from shortlist.kernels.csr import row_slice

#: Nonzeros that are looked at, of the first rows, and rows, of which some may have none.
HEAD_NONZEROS = 1 << 16
#: Features with fewer nonzeros among them tell nothing about their unit.
_LEAST_SEEN = 10
#: How far the units of most nonzeros may lie apart: words, pixels and spectra lie closer,
#: and are learned from better as they are; years and hours beside categories do not.
#: benchmarks/scaling.py prints it for real data, with what scaling does to them.
_FAR_APART = 20.0


def first_rows(blocks: Iterable[RowBlock]) -> tuple[RowBlock, ...]:
    """Parts of blocks that have the first rows, until there are so many nonzeros or rows.

    At least the first row, and however rows are cut into blocks, the same ones.
    """
    parts: list[RowBlock] = []
    left = rows_left = HEAD_NONZEROS
    for block in blocks:
        n = int(np.searchsorted(block.indptr[1:], left, "right"))
        n = min(max(n, int(not parts and block.n_rows > 0)), rows_left)
        if n:
            parts.append(row_slice(block, 0, n))
        if n < block.n_rows:
            break
        left, rows_left = left - int(block.indptr[-1]), rows_left - n
    return tuple(parts)


def units_differ(rows: Sequence[RowBlock]) -> bool:
    """Whether values of different features are not of one size: see ``unit_spread``.

    Examples
    --------
    >>> from shortlist.sources import open_source
    >>> years, share = [[30.0, 0.2], [60.0, 0.5]] * 10, [[0.3, 0.2], [0.6, 0.5]] * 10
    >>> units_differ(list(open_source((years, [0, 1] * 10)).blocks()))
    True
    >>> units_differ(list(open_source((share, [0, 1] * 10)).blocks()))
    False
    """
    return unit_spread(rows) >= _FAR_APART


def unit_spread(rows: Sequence[RowBlock]) -> float:
    """How many times larger the large units are than the small ones; 1 if nothing tells.

    The unit of a feature is the median size of its nonzeros; compared are the 5th and the
    95th percentile of the units of all nonzeros, not of all features, as a column of
    numbers has one name where a column of categories has hundreds.

    Examples
    --------
    >>> from shortlist.sources import open_source
    >>> years = [[30.0, 0.25], [30.0, 0.25]] * 10
    >>> unit_spread(list(open_source((years, [0, 1] * 10)).blocks()))
    120.0
    """
    if not rows:
        return 1.0
    ids = np.concatenate([block.ids for block in rows])
    sizes = np.abs(np.concatenate([block.values for block in rows]))
    ids, sizes = ids[sizes > 0.0], sizes[sizes > 0.0]
    distinct, counts = np.unique(ids, return_counts=True)
    often = distinct[counts >= _LEAST_SEEN]
    if not len(often):
        return 1.0
    # few of many words come often: only their sizes need to be put in order
    place = np.minimum(np.searchsorted(often, ids), len(often) - 1)
    known = often[place] == ids
    place, sizes = place[known], sizes[known]
    counts = np.bincount(place)
    middle = np.cumsum(counts) - counts + counts // 2
    units: Floats = sizes[np.lexsort((sizes, place))][middle]
    low, high = np.quantile(np.repeat(units, counts), (0.05, 0.95))
    return float(high / low)
