"""What GSR minimises, and what many minimisations of it share."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from shortlist._protocols import Floats, Ints
from shortlist.table._gsr_table import ScaledTable

#: A unit survives if its norm is larger than this share of the largest.
SURVIVES = 1e-3
#: Penalty of the squared norm of units that are always in: enough to solve with.
KEPT_RIDGE = 1e-3
#: Rows whose places differ by less than this share of their range are the same.
SAME_ROW = 1e-9


@dataclass(frozen=True)
class GsrSettings:
    """How to minimise; see ``GSR`` for the meaning of each."""

    r: float = 2.0
    p: float = 0.5
    max_iter: int = 100
    tol: float = 1e-5
    drop: float = SURVIVES  #: share of the largest norm below which units go; 0: none
    smoothing: float = 1e-6  #: length of rows of W that is taken for 0
    moving: bool = False  #: minimise over b in each weighted problem; else it is 0
    softening: float | None = None  #: the same of residuals; None: no other

    @property
    def sigma_of_rows(self) -> float:
        """What is added to squared norms of rows of W."""
        return self.smoothing**2

    @property
    def sigma_of_residuals(self) -> float:
        """What is added to squared norms of residuals."""
        return (self.smoothing if self.softening is None else self.softening) ** 2


class Moments:
    """A'A and A'Y for the rows' own weights, and AA', kept: many solves use them."""

    def __init__(self) -> None:
        self._kernel: Floats | None = None
        self._columns: Ints | None = None
        self._member = np.zeros(0, bool)  #: of each column, whether it is one of these
        self._gram: Floats = np.empty((0, 0))
        self._cross: Floats = np.empty((0, 0))

    def covers(self, columns: Ints) -> bool:
        """Whether nothing has to be computed for these columns."""
        return self._columns is not None and bool(self._member[columns].all())

    def of(
        self,
        part: ScaledTable,
        columns: Ints,
        n_columns: int,
        weight: Floats,
        Y: Floats,
    ) -> tuple[Floats, Floats]:
        """Both, for ``part``, which holds these of the columns."""
        if self._columns is None or not self.covers(columns):
            self._columns = columns
            self._member = np.zeros(n_columns, bool)
            self._member[columns] = True
            self._gram = part.gram(weight, None)
            self._cross = part.transposed_times(times_rows(weight, Y))
        if len(columns) == len(self._columns):
            return self._gram, self._cross
        place = np.searchsorted(self._columns, columns)
        return self._gram[np.ix_(place, place)], self._cross[place]

    def kernel(self, table: ScaledTable, spread: Floats) -> Floats:
        """AA', for the spreads with which every run of the dual form starts."""
        if self._kernel is None:
            self._kernel = table.kernel(spread, None)
        return self._kernel


@dataclass(frozen=True)
class GsrProblem:
    """What is given: columns and targets, centred if there is an intercept."""

    table: ScaledTable
    Y: Floats  #: shape (n_samples, n_outputs), in the table's precision
    weight: Floats  #: of rows, above 0
    unit_of: Ints  #: unit of each column, numbered from 0 without gaps
    kept: np.ndarray  #: of each unit, whether it is always in
    centred: bool = True  #: whether there is an intercept
    moments: Moments = field(default_factory=Moments)
    groups: Ints | None = None  #: of rows, as of patients, if anybody has told

    @property
    def n_units(self) -> int:
        """Number of features, or of groups."""
        return len(self.kept)

    @cached_property
    def places(self) -> Floats:
        """Place of each row along a fixed random direction; copies of a row share it."""
        shape = len(self.unit_of), 1
        direction = np.random.default_rng(0).normal(size=shape)
        return self.table.times(direction.astype(self.table.dtype))[:, 0]

    @property
    def n_distinct_rows(self) -> int:
        """Number of rows, copies not counted."""
        gaps = np.diff(np.sort(self.places))
        return 1 + int(np.count_nonzero(gaps > SAME_ROW * np.ptp(self.places)))

    @cached_property
    def in_double(self) -> GsrProblem:
        """The same in double precision."""
        table, Y = self.table.in_double(), self.Y.astype(np.float64)
        return replace(self, table=table, Y=Y, moments=Moments())

    @cached_property
    def evenly(self) -> Floats:
        """Spreads of columns to start with: even, but for units that are always in."""
        return np.where(self.kept[self.unit_of], 1.0 / KEPT_RIDGE, 1.0)

    @cached_property
    def unexplained(self) -> Floats:
        """What least squares on the units that are always in leave of Y."""
        columns = np.flatnonzero(self.kept[self.unit_of])
        if not len(columns):
            return self.Y
        part = self.table.take(columns)
        gram = part.gram(self.weight, None)
        cross = part.transposed_times(times_rows(self.weight, self.Y))
        W: Floats = np.linalg.lstsq(gram, cross)[0].astype(self.Y.dtype)
        rest: Floats = self.Y - part.times(W)
        return rest

    def divided(self, train: Ints, test: Ints) -> tuple[GsrProblem, GsrProblem, Floats]:
        """Rows to learn from, centred by themselves, and others, from which the same is
        taken off; and what that is of Y.
        """
        share = np.zeros((len(self.weight), 1), self.table.dtype)
        if self.centred:
            share[train, 0] = self.weight[train] / self.weight[train].sum()
        mean = self.table.transposed_times(share)[:, 0]
        level = self.Y.T @ share[:, 0]

        def part(rows: Ints) -> GsrProblem:
            table, weight = self.table.of_rows(rows, mean), self.weight[rows]
            Y = self.Y[rows] - level
            groups = None if self.groups is None else self.groups[rows]
            own = replace(self, table=table, Y=Y, weight=weight, groups=groups)
            return replace(own, moments=Moments())

        return part(train), part(test), level


def times_rows(d: Floats, rows: Floats) -> Floats:
    product: Floats = d.astype(rows.dtype, copy=False)[:, np.newaxis] * rows
    return product
