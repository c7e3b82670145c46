"""What the six methods keep, and the constants that tell them apart.

A *cell* belongs to a feature and a margin; it is two numbers, whose meaning is the step
rule's. Features live in slots (see ``kernels.slots``), cells in flat arrays by slot, then
by margin.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shortlist._steps import N_TOTALS
from shortlist.kernels.slots import grown
from shortlist.kernels.stays import Stays, no_stays

#: Step rules: what an example does to the cells of its features.
DUAL, MIRROR, PLAIN, CONFIDENT = range(4)
#: Truncation rules: which weights are not 0 after it.
LAZY_TOP, TOP, SHRINK = range(3)
#: What weights and slopes are multiples of: 1, or the slopes of the first examples.
UNITLESS, REAL, COUNT = range(3)

#: Buckets of H by powers of two, from 2^-64 on (see ``_lazy_top``).
N_BUCKETS = 256

#: Places in ``RowsState.clock``: time, unit of sums; next mark of xi, its sum so far, the
#: example of the last mark, how many marks there are.
TIME, FADE, NEXT_XI, XI_SUM, XI_ROWS, N_XI = range(6)
_XI_MARKS = 1024


class Method(NamedTuple):
    """A step rule, a truncation rule and their constants."""

    step: int
    truncation: int
    k: int
    reserve: int  #: places for the best outsiders, LAZY_TOP
    eta: float
    lam: float
    delta: float
    gamma: float  #: CONFIDENT
    rho: float  #: share of the past that an example leaves, 1 for all
    naive: bool  #: rank by |z| alone
    bias_rate: float
    unit: int

    @property
    def n_places(self) -> int:
        """Members and reserves of a margin."""
        if self.truncation == SHRINK:
            return 0
        return self.k + (self.reserve if self.truncation == LAZY_TOP else 0)


class Pool(NamedTuple):
    """Members, then reserves; a row a margin, a column a place."""

    slot: np.ndarray  #: int64
    number: np.ndarray  #: uint64, the id
    first: np.ndarray  #: float64, copy of the cell, LAZY_TOP
    second: np.ndarray  #: float64, likewise
    score: np.ndarray  #: float64
    entered: np.ndarray  #: int64, example after which it became a member
    touched: np.ndarray  #: int64, example that last touched it
    size: np.ndarray  #: int64, (n_margins,): places that are taken
    ends: np.ndarray  #: int64, (n_margins, 2): weakest member, best reserve; -1: look
    bound: np.ndarray  #: float64, (n_margins, N_BUCKETS), see ``_lazy_top``
    used: np.ndarray  #: int64, (n_margins, 2): first and last bucket in use


class RowsState(NamedTuple):
    """All that has been learned, but for the ids of the slots."""

    cells: np.ndarray  #: float64, two a cell
    place: np.ndarray  #: int32, place + 1 of a cell in its pool; 0: outside
    shrunk: np.ndarray  #: float64, time up to which a cell is shrunk; MIRROR, SHRINK
    pool: Pool
    stays: Stays
    bias: np.ndarray
    bias_scale: np.ndarray
    totals: np.ndarray  #: see ``shortlist._steps``
    unit: np.ndarray  #: float64, (2,): slopes of the first examples squared; how many
    clock: np.ndarray  #: float64, see the constants
    xi: np.ndarray  #: float64, (marks, 2): examples so far, truncation error


def fresh_state(method: Method, n_margins: int, n_slots: int) -> RowsState:
    """Nothing learned yet, with room for this many features."""
    shape, n_cells = (n_margins, method.n_places), n_slots * n_margins
    pool = Pool(
        np.zeros(shape, np.int64),
        np.zeros(shape, np.uint64),
        np.zeros(shape),
        np.zeros(shape),
        np.zeros(shape),
        np.zeros(shape, np.int64),
        np.zeros(shape, np.int64),
        np.zeros(n_margins, np.int64),
        np.full((n_margins, 2), -1),
        np.full((n_margins, N_BUCKETS), -1.0),
        np.tile(np.array([N_BUCKETS, -1]), (n_margins, 1)),
    )
    return RowsState(
        np.zeros(2 * n_cells),
        np.zeros(n_cells, np.int32),
        np.zeros(n_cells if _shrinks_lazily(method) else 0),
        pool,
        no_stays(),
        np.zeros(n_margins),
        np.zeros(n_margins),
        np.zeros(N_TOTALS),
        np.zeros(2),
        np.array([0.0, 1.0, 1.0, 0.0, 0.0, 0.0]),
        np.zeros((_XI_MARKS, 2)),
    )


def _shrinks_lazily(method: Method) -> bool:
    return (method.step, method.truncation) == (MIRROR, SHRINK)


def with_room_for(method: Method, state: RowsState, n_slots: int) -> RowsState:
    """The same state with cells for this many features."""
    n_cells = n_slots * len(state.bias)
    if n_cells > len(state.place):
        state = state._replace(
            cells=grown(state.cells, 2 * n_cells), place=grown(state.place, n_cells)
        )
        if _shrinks_lazily(method):
            state = state._replace(shrunk=grown(state.shrunk, n_cells))
    return state


def bytes_a_slot(method: Method, n_margins: int) -> int:
    """Memory that another feature takes, its place in a table of ids included."""
    cell = 20 + 8 * _shrinks_lazily(method)
    return n_margins * cell + 12 + 4 * 12
