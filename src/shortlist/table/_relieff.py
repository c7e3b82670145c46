"""ReliefF and RReliefF: features in which near rows differ if their labels do."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import Capabilities, Floats, Ints, ShortlistError
from shortlist._targets import Target
from shortlist.kernels.neighbours import (
    Compressed,
    add_dense_differences,
    add_sparse_differences,
    dense_distances,
    nearest,
    sparse_distances,
)
from shortlist.table._filters import (
    LOSSES,
    Filter,
    Ranking,
    best_columns,
    filter_learner_of,
)
from shortlist.table._gather import Table

CAPABILITIES = Capabilities(
    method="relieff",
    room="table",
    summary="ReliefF: features that tell near rows of different labels apart, exactly k",
    algorithm="shortlist.table._relieff:relieff_learner",
    estimator="shortlist.table:ReliefF",
    losses=LOSSES,
    citation=(
        "Robnik-Sikonja, Kononenko (2003). Theoretical and Empirical Analysis of ReliefF "
        "and RReliefF. Mach. Learn. 53."
    ),
    options=("n_neighbors",),
    nested=True,
)

# Distances that differ by less, as a share of the largest there can be, are the same: sums
# of the same differences in another order differ by rounding, and ties should stay ties.
_SAME = 2.0**-34

# Distances of a block of rows to all rows: a megabyte, which stays in a core's cache.
_BLOCK_CELLS = 1 << 17


@dataclass(frozen=True)
class ReliefSettings:
    """What ReliefF is asked for; see the estimator."""

    k: int
    n_neighbors: int = 10
    n_samples: int | None = None
    seed: int = 0


def check_relieff(settings: ReliefSettings) -> None:
    """Refuse settings that make no sense."""
    for name, missing in (("n_neighbors", False), ("n_samples", True)):
        came = getattr(settings, name)
        if came is None and missing:
            continue
        if not isinstance(came, Integral) or isinstance(came, bool) or came < 1:
            raise ShortlistError(
                f"{name} should be a whole number from 1, got {came!r}"
            )


def relieff_filter(settings: ReliefSettings) -> Filter:
    """Return ReliefF with these settings; bad ones raise."""
    check_relieff(settings)

    def run(
        table: Table,
        target: Target,
        n_chosen: int,
        *,
        candidates: NDArray[np.bool_],
        always: tuple[int, ...],
        categorical: NDArray[np.bool_],
    ) -> Ranking:
        if table.weight is not None and (table.weight != table.weight[0]).any():
            raise ShortlistError(
                "relieff: expected rows of equal weight (a neighbour counts whole), got "
                f"weights from {table.weight.min():g} to {table.weight.max():g}"
            )
        near = Near(table.X, categorical, settings.n_neighbors)
        probes = np.arange(len(table.y))
        if settings.n_samples is not None and settings.n_samples < len(probes):
            rng = np.random.default_rng(settings.seed)
            probes = np.sort(rng.choice(probes, settings.n_samples, replace=False))
        of = scores_of_numbers if target.classes is None else scores_of_classes
        scores = of(near, table.y, probes)
        columns = best_columns(scores, n_chosen, candidates, always)
        return Ranking(columns, scores[columns], scores)

    return Filter(CAPABILITIES, settings.k, run, asdict(settings))


class Near:
    """A table with its columns scaled, ready to find neighbours in.

    Dense tables are copied once; memory beyond that is a block of distances.
    """

    def __init__(
        self, X: Any, categorical: NDArray[np.bool_], n_neighbors: int
    ) -> None:
        self.n_rows, self.n_columns = X.shape
        self.n_neighbors = max(1, min(n_neighbors, self.n_rows - 1))
        self._categorical = categorical
        self._n_numbers = self.n_columns - int(categorical.sum())
        self._order = np.argsort(categorical, kind="stable")  # numbers first, if dense
        low, high = (
            np.asarray(side.toarray() if hasattr(side, "toarray") else side, np.float64)
            for side in (X.min(axis=0), X.max(axis=0))
        )
        span = (high - low).ravel()
        per_span = np.ones(self.n_columns)
        np.divide(1.0, span, out=per_span, where=(span > 0.0) & ~categorical)
        self._rows = self._columns = None
        if hasattr(X, "tocsr"):
            rows = X.tocsr()
            values = rows.data * per_span[rows.indices]
            scaled = type(rows)((values, rows.indices, rows.indptr), shape=rows.shape)
            self._rows = _compressed(scaled)
            self._columns = _compressed(scaled.tocsc())
        else:
            self._dense = np.ascontiguousarray(X[:, self._order], np.float64)
            self._dense *= per_span[self._order]

    def differences(
        self, group: Ints, probes: Ints, factors: Callable[..., Floats], n_sums: int
    ) -> Floats:
        """Sum up, for each column, how probes differ from their neighbours.

        Parameters
        ----------
        group : ndarray of shape (n_rows,)
            Neighbours are sought in each group apart.
        probes : ndarray of shape (n_probes,)
        factors : callable
            Called with a block of probes, their neighbours (n_probes, n_groups,
            n_neighbors) and how many there are (n_probes, n_groups); returns what each
            difference counts for, (n_sums, n_probes, n_groups, n_neighbors).
        n_sums : int

        Returns
        -------
        sums : ndarray of shape (n_sums, n_columns)
        """
        n_groups = int(group.max()) + 1
        sums = np.zeros((n_sums, self.n_columns))
        step = min(max(8, _BLOCK_CELLS // self.n_rows), 64)
        # a power of 2: what ties, multiples of simple fractions, is not halfway between
        unit = _SAME * 2.0 ** math.ceil(math.log2(max(self.n_columns, 1)))
        for first in range(0, len(probes), step):
            block = probes[first : first + step]
            far = np.empty((len(block), self.n_rows))
            found = np.empty((len(block), n_groups, self.n_neighbors), np.int64)
            count = np.empty((len(block), n_groups), np.int64)
            self._distances(block, far)
            far /= unit
            np.rint(far, out=far)
            nearest(far, group, block, found, count)
            factor = factors(block, found, count).reshape(n_sums, len(block), -1)
            self._add(block, found.reshape(len(block), -1), factor, sums)
        if self._rows is None:
            sums[:, self._order] = sums.copy()
        return sums

    def _distances(self, probes: Ints, out: Floats) -> None:
        if self._rows is None:
            dense_distances(self._dense, self._n_numbers, probes, out)
        else:
            kinds = self._categorical
            sparse_distances(self._rows, self._columns, kinds, probes, out)

    def _add(self, probes: Ints, found: Ints, factor: Floats, out: Floats) -> None:
        if self._rows is None:
            numbers = self._n_numbers
            add_dense_differences(self._dense, numbers, probes, found, factor, out)
        else:
            kinds = self._categorical
            add_sparse_differences(self._rows, kinds, probes, found, factor, out)


def _compressed(matrix: Any) -> Compressed:
    return Compressed(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        matrix.data.astype(np.float64),
    )


def scores_of_classes(near: Near, y: Floats, probes: Ints) -> Floats:
    """W of ReliefF: differences to misses, by the share of their class, less to hits.

    Where a class has fewer rows than neighbours are asked for, all of them count, as
    much as if they were enough.
    """
    _, group = np.unique(y, return_inverse=True)
    share = np.bincount(group) / len(group)

    def factors(block: Ints, found: Ints, count: Ints) -> Floats:
        own = group[block]
        others = np.maximum(1.0 - share[own], np.finfo(np.float64).tiny)
        part = share / others[:, np.newaxis]
        part[np.arange(len(block)), own] = -1.0
        part /= np.maximum(count, 1)
        return np.repeat(part[:, :, np.newaxis], found.shape[2], axis=2)[np.newaxis]

    return np.asarray(near.differences(group, probes, factors, 1)[0] / len(probes))


def scores_of_numbers(near: Near, y: Floats, probes: Ints) -> Floats:
    """W of RReliefF, with neighbours of equal influence; zeros if y is constant."""
    span = np.ptp(y)
    scaled = (y - y.min()) / (span if span > 0.0 else 1.0)
    n_dc = 0.0

    def factors(block: Ints, found: Ints, count: Ints) -> Floats:
        nonlocal n_dc
        even = np.broadcast_to(
            1.0 / np.maximum(count, 1)[:, :, np.newaxis], found.shape
        )
        apart = even * np.abs(scaled[found] - scaled[block][:, np.newaxis, np.newaxis])
        n_dc += float(apart.sum())
        return np.stack([even, apart])

    group = np.zeros(len(y), np.int64)
    n_da, n_both = near.differences(group, probes, factors, 2)
    alike = len(probes) - n_dc
    differ = n_both / n_dc if n_dc > 0.0 else np.zeros_like(n_da)
    same = (n_da - n_both) / alike if alike > 0.0 else np.zeros_like(n_da)
    return np.asarray(differ - same)


#: The algorithm that an engine runs; parameters are those of ReliefF.
relieff_learner = filter_learner_of(
    lambda k, **asked: relieff_filter(ReliefSettings(k, **asked))
)
