"""Chosen columns of a whole source, in memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shortlist._protocols import Floats, RowBlock, RowSource


def take(
    source: RowSource, ids: ArrayLike, *, dense: bool = False
) -> tuple[Any, Floats]:
    """Gather some features of all rows of a source.

    Parameters
    ----------
    source : RowSource
        Read once from its start.
    ids : array-like of int
        Features, in the order of the columns wanted.
    dense : bool, default=False
        Whether to return a NumPy array.

    Returns
    -------
    X : scipy.sparse.csr_array or ndarray of shape (n_rows, len(ids))
        Values of an id that a row has more than once are added.
    y : ndarray of shape (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.sources import ArraySource
    >>> X, y = take(ArraySource(np.arange(6.0).reshape(2, 3), [0, 1]), [2, 0])
    >>> X.toarray()
    array([[2., 0.],
           [5., 3.]])
    """
    return take_from(source.blocks(), ids, dense=dense)


def take_from(
    blocks: Iterable[RowBlock], ids: ArrayLike, *, dense: bool = False
) -> tuple[Any, Floats]:
    """Gather some features of all rows of some blocks; see ``take``."""
    wanted = np.asarray(ids, np.uint64)
    sorted_ids, column_of = np.unique(wanted, return_inverse=True)
    columns, values, lengths, y = [], [], [], []
    for block in blocks:
        place = np.searchsorted(sorted_ids, block.ids)
        found = np.zeros(len(place), np.bool_)
        inside = place < len(sorted_ids)
        found[inside] = sorted_ids[place[inside]] == block.ids[inside]
        ends = np.concatenate([[0], np.cumsum(found)])[block.indptr]
        columns.append(place[found])
        values.append(block.values[found])
        lengths.append(np.diff(ends))
        y.append(block.y)
    entries, length = _join(values, np.float64), _join(lengths, np.int64)
    column, shape = _join(columns, np.int64), (len(length), len(sorted_ids))
    if dense:  # without scipy, which takes its time to be imported
        table = np.zeros(shape)
        np.add.at(table, (np.repeat(np.arange(len(length)), length), column), entries)
        return table[:, column_of], _join(y, np.float64)
    from scipy.sparse import csr_array

    indptr = np.concatenate([[0], np.cumsum(length)])
    X = csr_array((entries, column, indptr), shape)[:, column_of]
    X.sum_duplicates()
    return X, _join(y, np.float64)


def _join(parts: list[Any], dtype: type) -> Any:
    return np.concatenate([np.empty(0, dtype), *parts])
