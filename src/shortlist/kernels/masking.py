"""Rows restricted to some ids: what refits, predictions and transforms work on."""

from typing import NamedTuple

import numpy as np

from shortlist.kernels._jit import kernel
from shortlist.kernels.id_table import place_of


class MaskedRows(NamedTuple):
    """Sparse rows over the positions of indexed ids."""

    indptr: np.ndarray  #: int64
    columns: np.ndarray  #: int32, positions in the indexed array of ids
    values: np.ndarray  #: float64
    y: np.ndarray  #: float64
    weight: np.ndarray  #: float64


@kernel
def _restrict(index, block, indptr, columns, values):
    n = 0
    for i in range(block.y.shape[0]):
        for t in range(block.indptr[i], block.indptr[i + 1]):
            place = place_of(index, block.ids[t])
            if place >= 0:
                columns[n] = place
                values[n] = block.values[t]
                n += 1
        indptr[i + 1] = n
    return n


def restrict(index, block):
    """Keep of a block the nonzeros whose ids are indexed."""
    indptr = np.zeros(block.y.shape[0] + 1, np.int64)
    columns = np.empty(block.ids.shape[0], np.int32)
    values = np.empty(block.ids.shape[0])
    n = _restrict(index, block, indptr, columns, values)
    return MaskedRows(
        indptr, columns[:n].copy(), values[:n].copy(), block.y, block.weight
    )


@kernel
def _drop(index, block, indptr, ids, values):
    n = 0
    for i in range(block.y.shape[0]):
        for t in range(block.indptr[i], block.indptr[i + 1]):
            if place_of(index, block.ids[t]) < 0:
                ids[n] = block.ids[t]
                values[n] = block.values[t]
                n += 1
        indptr[i + 1] = n
    return n


def drop(index, block):
    """Keep of a block the nonzeros whose ids are not indexed."""
    indptr = np.zeros(block.y.shape[0] + 1, np.int64)
    ids, values = np.empty_like(block.ids), np.empty_like(block.values)
    n = _drop(index, block, indptr, ids, values)
    return block._replace(indptr=indptr, ids=ids[:n].copy(), values=values[:n].copy())


def join(parts):
    """Stack masked rows."""
    ends = np.cumsum([part.indptr[-1] for part in parts])
    indptr = [parts[0].indptr]
    indptr += [
        part.indptr[1:] + end for part, end in zip(parts[1:], ends, strict=False)
    ]
    rest = (
        np.concatenate(column) for column in zip(*(p[1:] for p in parts), strict=True)
    )
    return MaskedRows(np.concatenate(indptr), *rest)
