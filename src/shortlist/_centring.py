"""Columns far from zero, learned from as distances from a running mean.

Diagonal steps take a column whose values are all much alike for a copy of the bias: years,
times, ages, row numbers. Both then learn the same thing twice, and whatever is collected
about the weight is mostly about the bias. Without what they have in common they are columns
like any other. So the values of such columns become x_t - m_t, where m_t is the mean of all
rows so far, row t included; when the mean moves by d the bias moves by w d, so that no
margin changes. As in Welford's algorithm the sum of (x_t - m_t)^2 is the spread about the
final mean, but for factors t / (t - 1), also where a column grows from row to row.

Columns whose squared mean is a few times their variance are in more than two thirds of the
rows, so that writing them into all of them, zeros as well, costs little. All others are
left as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shortlist._protocols import Floats, Ids, RowBlock
from shortlist.kernels._jit import kernel, uncounted
from shortlist.kernels.csr import row_slice
from shortlist.kernels.masking import (
    Mask,
    MaskedRows,
    drop,
    join,
    mask_of,
    restrict,
)

#: Rows with fewer tell too little about means.
_LEAST_ROWS = 20
#: Rows of a stream by which it is decided.
_FIRST_ROWS = 1000
#: Variances that the squared mean of a column far from zero has at least. Numbers spread
#: evenly from zero up, as row numbers are, have three.
_FAR = 2.5


class Centres(NamedTuple):
    """Running means of some columns."""

    place: np.ndarray  #: int32, of each column among those that are centred, or -1
    columns: np.ndarray  #: int32, the columns that are centred
    mean: np.ndarray  #: float64, of each of these
    weight: np.ndarray  #: float64, (1,): of the rows so far


def spreads(rows: MaskedRows, n_columns: int) -> tuple[Floats, Floats]:
    """Weighted sums of squares of each column, and of squared distances from its mean.

    The bias takes up what the values of a column have in common. A column of years tells as
    much as one of years since the first, so its ridge should be the same: the less of its
    squares is spread, the smaller the ridge.
    """
    total = float(rows.weight.sum())
    row_weight = np.repeat(rows.weight, np.diff(rows.indptr))
    sums = np.bincount(rows.columns, row_weight * rows.values, n_columns)
    squares: Floats = np.bincount(
        rows.columns, row_weight * rows.values**2, n_columns
    ).astype(np.float64)
    about_means = squares - sums**2 / total if total > 0.0 else squares.copy()
    # what rounding leaves of a constant column is no spread
    about_means[about_means < 1e-12 * squares] = 0.0
    return squares, about_means


def ridge_shares(squares: Floats, about_means: Floats) -> Floats:
    """Part of the ridge that each column gets; all of it if nothing varies."""
    varies = about_means > 0.0
    share: Floats = np.where(varies, about_means, 1.0) / np.where(varies, squares, 1.0)
    return share


def centres_of(rows: MaskedRows, n_columns: int) -> Centres | None:
    """What to centre, by the first rows; None if no column lies far from zero."""
    if np.count_nonzero(rows.weight) < _LEAST_ROWS:
        return None
    squares, about_means = spreads(rows, n_columns)
    columns = np.flatnonzero(squares > (1.0 + _FAR) * about_means).astype(np.int32)
    if not len(columns):
        return None
    place = np.full(n_columns, -1, np.int32)
    place[columns] = np.arange(len(columns))
    total = float(rows.weight.sum())
    sizes = np.repeat(rows.weight, np.diff(rows.indptr)) * rows.values
    mean = np.bincount(rows.columns, sizes, n_columns)[columns] / total
    return Centres(place, columns, mean, np.array([total]))


@kernel
def _complete(centres, rows, indptr, columns, values):  # type: ignore[no-untyped-def]
    n, n_centred = 0, centres.columns.shape[0]
    for i in range(rows.y.shape[0]):
        first = n
        for j in range(n_centred):
            columns[n], values[n] = centres.columns[j], 0.0
            n += 1
        for t in range(rows.indptr[i], rows.indptr[i + 1]):
            j = centres.place[rows.columns[t]]
            if j >= 0:
                values[first + j] += rows.values[t]
            else:
                columns[n], values[n] = rows.columns[t], rows.values[t]
                n += 1
        indptr[i + 1] = n
    return n


def completed(centres: Centres, rows: MaskedRows) -> MaskedRows:
    """Copies of rows that all begin with the columns to be centred."""
    indptr = np.zeros_like(rows.indptr)
    most = len(rows.values) + len(rows.y) * len(centres.columns)
    columns, values = np.empty(most + 1, np.int32), np.empty(most + 1)
    n = _complete(centres, rows, indptr, columns, values)
    return rows._replace(indptr=indptr, columns=columns[:n], values=values[:n])


@uncounted
def move_means(centres, values, importance, moves):  # type: ignore[no-untyped-def]
    """Take a row into the means and centre its values; write by how much means moved."""
    centres.weight[0] += importance
    for j in range(centres.mean.shape[0]):
        moves[j] = (values[j] - centres.mean[j]) * importance / centres.weight[0]
        centres.mean[j] += moves[j]
        values[j] -= centres.mean[j]


class CentredIds(NamedTuple):
    """Running means of some features, where features are ids and not columns."""

    ids: Ids  #: increasing
    mask: Mask  #: of these
    mean: np.ndarray  #: float64, of each
    weight: np.ndarray  #: float64, (1,): of the rows so far


def centred_ids(ids: Ids) -> CentredIds:
    """Means of features that no row has been seen of."""
    return CentredIds(ids, mask_of(ids), np.zeros(len(ids)), np.zeros(1))


def _first(blocks: Sequence[RowBlock]) -> list[RowBlock]:
    """The first rows: how many more there are here depends on blocks."""
    parts, left = [], _FIRST_ROWS
    for block in blocks:
        parts.append(row_slice(block, 0, min(left, block.n_rows)))
        left -= parts[-1].n_rows
    return parts


def _frequent(blocks: Sequence[RowBlock]) -> Ids:
    """Features that are in enough rows to lie far from zero, and perhaps some more."""
    ids = np.concatenate([np.empty(0, np.uint64), *(block.ids for block in blocks)])
    weights = [block.weight for block in blocks]
    if any((weight != 1.0).any() for weight in weights):
        return np.unique(ids)
    distinct, counts = np.unique(ids, return_counts=True)
    # with a share f of all rows, the squared mean is at most f / (1 - f) variances
    least = _FAR / (1.0 + _FAR) * sum(map(len, weights))
    return distinct[counts >= least]


def ids_to_centre(blocks: Sequence[RowBlock]) -> tuple[Ids, Floats]:
    """Features that lie far from zero in the first rows, and how far they stray there."""
    ids = _frequent(blocks := _first(blocks))
    if not len(ids):
        return ids, np.empty(0)
    mask = mask_of(ids)
    rows = join([restrict(mask, block) for block in blocks])
    centres = centres_of(rows, len(ids))
    if centres is None:
        return ids[:0], np.empty(0)
    full = completed(centres, rows)
    leads = np.add.outer(full.indptr[:-1], np.arange(len(centres.columns)))
    reach: Floats = np.abs(full.values[leads] - centres.mean).max(axis=0)
    return ids[centres.columns], reach


@kernel
def _lead(block, centred, own, indptr, ids, values):  # type: ignore[no-untyped-def]
    n, n_centred = 0, centred.shape[0]
    for i in range(block.y.shape[0]):
        first = n
        for j in range(n_centred):
            ids[n], values[n] = centred[j], 0.0
            n += 1
        for t in range(own.indptr[i], own.indptr[i + 1]):
            values[first + own.columns[t]] += own.values[t]
        for t in range(block.indptr[i], block.indptr[i + 1]):
            ids[n], values[n] = block.ids[t], block.values[t]
            n += 1
        indptr[i + 1] = n


def led_by(centres: CentredIds, block: RowBlock) -> RowBlock:
    """Copy of a block whose rows all begin with the features to be centred."""
    own, others = restrict(centres.mask, block), drop(centres.mask, block)
    indptr = np.zeros_like(block.indptr)
    n = len(others.ids) + len(block.y) * len(centres.ids)
    ids, values = np.empty(n, np.uint64), np.empty(n)
    _lead(others, centres.ids, own, indptr, ids, values)
    return block._replace(indptr=indptr, ids=ids, values=values)
