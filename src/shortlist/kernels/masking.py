"""Rows restricted to some ids: what refits, predictions and transforms work on."""

from typing import NamedTuple

import numpy as np

from shortlist.kernels._jit import kernel
from shortlist.kernels.hashing import mix
from shortlist.kernels.id_table import IdIndex, index_ids, place_of

#: Bits of a mask for each id, so that few others share one, as long as all of them fit
#: into the cache next to the core.
_BITS_AN_ID = 32
_MOST_BITS = 20
_U1, _U6, _U32, _U63 = (np.uint64(n) for n in (1, 6, 32, 63))


class MaskedRows(NamedTuple):
    """Sparse rows over the positions of indexed ids."""

    indptr: np.ndarray  #: int64
    columns: np.ndarray  #: int32, positions in the indexed array of ids
    values: np.ndarray  #: float64
    y: np.ndarray  #: float64
    weight: np.ndarray  #: float64


class Mask(NamedTuple):
    """A set of ids, made for asking about many that are not in it."""

    index: IdIndex
    bits: np.ndarray  #: uint64: bit h is set if an id whose hash begins with h is in


def mask_of(ids):
    """Make the mask of an array of distinct uint64 ids."""
    ids = np.ascontiguousarray(ids, np.uint64)
    n_bits = max(64, 1 << min(_MOST_BITS, (_BITS_AN_ID * len(ids)).bit_length()))
    bits = np.zeros(n_bits // 64, np.uint64)
    _set_bits(bits, ids)
    return Mask(index_ids(ids), bits)


@kernel(forceinline=True)
def _bit_of(bits, number):
    """Word and bit that stand for an id."""
    # the upper half of the hash: the index goes by the lower
    h = (mix(number) >> _U32) & np.uint64(64 * bits.shape[0] - 1)
    return h >> _U6, h & _U63


@kernel
def _set_bits(bits, ids):
    for number in ids:
        word, bit = _bit_of(bits, number)
        bits[word] |= _U1 << bit


@kernel
def _restrict(mask, block, indptr, columns, values):
    bits, index, n = mask.bits, mask.index, 0
    for i in range(block.y.shape[0]):
        first = n
        for t in range(block.indptr[i], block.indptr[i + 1]):
            # No branch: nobody can guess which of many ids are in.
            word, bit = _bit_of(bits, block.ids[t])
            columns[n] = t - block.indptr[i]
            n += np.int64((bits[word] >> bit) & _U1)
        last, n = n, first
        for s in range(first, last):
            t = block.indptr[i] + columns[s]
            place = place_of(index, block.ids[t])
            columns[n] = place
            values[n] = block.values[t]
            n += place >= 0
        indptr[i + 1] = n
    return n


def restrict(mask, block):
    """Keep of a block the nonzeros whose ids are in a mask."""
    indptr = np.zeros(block.y.shape[0] + 1, np.int64)
    columns = np.empty(block.ids.shape[0] + 1, np.int32)
    values = np.empty(block.ids.shape[0] + 1)
    n = _restrict(mask, block, indptr, columns, values)
    return MaskedRows(
        indptr, columns[:n].copy(), values[:n].copy(), block.y, block.weight
    )


@kernel
def _renumber(places, rows, indptr, columns, values):
    n = 0
    for i in range(rows.y.shape[0]):
        for t in range(rows.indptr[i], rows.indptr[i + 1]):
            place = places[rows.columns[t]]
            columns[n] = place
            values[n] = rows.values[t]
            n += place >= 0
        indptr[i + 1] = n
    return n


def renumber(places, rows):
    """Keep the columns c with places[c] >= 0, and number them so."""
    indptr = np.zeros_like(rows.indptr)
    columns = np.empty(len(rows.columns) + 1, np.int32)
    values = np.empty(len(rows.values) + 1)
    n = _renumber(places, rows, indptr, columns, values)
    return rows._replace(
        indptr=indptr, columns=columns[:n].copy(), values=values[:n].copy()
    )


@kernel
def _drop(mask, block, indptr, ids, values):
    n = 0
    for i in range(block.y.shape[0]):
        for t in range(block.indptr[i], block.indptr[i + 1]):
            if place_of(mask.index, block.ids[t]) < 0:
                ids[n] = block.ids[t]
                values[n] = block.values[t]
                n += 1
        indptr[i + 1] = n
    return n


def drop(mask, block):
    """Keep of a block the nonzeros whose ids are not in a mask."""
    indptr = np.zeros(block.y.shape[0] + 1, np.int64)
    ids, values = np.empty_like(block.ids), np.empty_like(block.values)
    n = _drop(mask, block, indptr, ids, values)
    return block._replace(indptr=indptr, ids=ids[:n].copy(), values=values[:n].copy())


def some_rows(rows, which):
    """Masked rows at the true places of ``which``."""
    lengths = np.diff(rows.indptr)
    entries = np.repeat(which, lengths)
    indptr = np.concatenate([[0], np.cumsum(lengths[which])]).astype(np.int64)
    columns, values = rows.columns[entries], rows.values[entries]
    return MaskedRows(indptr, columns, values, rows.y[which], rows.weight[which])


def part_at(rows, n):
    """The first n of masked rows, and the others."""
    indptr, columns, values, y, weight = rows
    end = indptr[n]
    first = MaskedRows(indptr[: n + 1], columns[:end], values[:end], y[:n], weight[:n])
    rest = MaskedRows(indptr[n:] - end, columns[end:], values[end:], y[n:], weight[n:])
    return first, rest


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
