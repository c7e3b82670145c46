"""What GSR minimises, and what many minimisations of it share."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from shortlist._protocols import Floats, Ints
from shortlist.table._gsr_table import ScaledTable

#: A unit survives if its norm is larger than this share of the largest.
SURVIVES = 1e-3


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

    def kernel(self, table: ScaledTable) -> Floats:
        """AA', with which every run of the dual form starts."""
        if self._kernel is None:
            self._kernel = table.kernel(np.ones(table.shape[1]), None)
        return self._kernel


@dataclass(frozen=True)
class GsrProblem:
    """What is given: columns and targets, centred if there is an intercept."""

    table: ScaledTable
    Y: Floats  #: shape (n_samples, n_outputs), in the table's precision
    weight: Floats  #: of rows, above 0
    unit_of: Ints  #: unit of each column, numbered from 0 without gaps
    kept: np.ndarray  #: of each unit, whether it is always in
    moments: Moments = field(default_factory=Moments)

    @property
    def n_units(self) -> int:
        """Number of features, or of groups."""
        return len(self.kept)

    @cached_property
    def in_double(self) -> GsrProblem:
        """The same in double precision."""
        table, Y = self.table.in_double(), self.Y.astype(np.float64)
        return replace(self, table=table, Y=Y, moments=Moments())

    def of_rows(self, rows: Ints) -> GsrProblem:
        """The same columns with some of the rows."""
        return replace(
            self,
            table=self.table.of_rows(rows),
            Y=self.Y[rows],
            weight=self.weight[rows],
            moments=Moments(),
        )


def times_rows(d: Floats, rows: Floats) -> Floats:
    product: Floats = d.astype(rows.dtype, copy=False)[:, np.newaxis] * rows
    return product
