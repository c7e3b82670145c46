"""Margins of a single example by the weights as they are.

Handing all that a method keeps to a compiled function takes longer than reading a few
weights from it, so there is one call, with what it needs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shortlist._preparing import Preparing, prepare
from shortlist._protocols import Floats, Ints
from shortlist.kernels._jit import kernel
from shortlist.kernels.slots import look_up
from shortlist.rows._rule import RowsModel
from shortlist.rows._slope_unit import weight_unit
from shortlist.rows._step_rules import add_margins


class _Held(NamedTuple):
    """The part of a ``RowsState`` that margins are made of."""

    cells: np.ndarray
    place: np.ndarray
    shrunk: np.ndarray
    clock: np.ndarray
    bias: np.ndarray
    unit: np.ndarray


@kernel
def _margins(method, held, slots, row, prepares):  # type: ignore[no-untyped-def]
    numbers, values = row
    n = numbers.shape[0]
    ends = np.zeros(2, np.int64)
    ends[1] = n
    prepare(ends, values, prepares[0], prepares[1])
    ids, x, known = np.empty(n, np.uint64), np.empty(n), 0
    for t in range(n):
        if numbers[t] >= 0:
            ids[known], x[known] = np.uint64(numbers[t]), values[t]
            known += 1
    places = np.empty(known, np.int64)
    look_up(slots, ids[:known], places)
    met = 0
    for t in range(known):
        if places[t] >= 0:
            places[met], x[met] = places[t], x[t]
            met += 1
    z = held.bias.copy()
    unit = weight_unit(method.unit, held.unit)
    add_margins(method, held, places[:met], x[:met], unit, z)
    return z


def margins_of_row(
    model: RowsModel, preparing: Preparing, numbers: Ints, values: Floats
) -> Floats:
    """Margins of an example as it comes.

    Parameters
    ----------
    model : RowsModel
    preparing : Preparing
    numbers : ndarray of shape (n,)
        Ids of features; those below 0, and those that never came, have no weight.
    values : ndarray of shape (n,)
        Theirs; they are prepared in place.
    """
    state = model.state
    held = _Held(
        state.cells, state.place, state.shrunk, state.clock, state.bias, state.unit
    )
    prepares = bool(preparing.log1p), preparing.normalize == "l2"
    z: Floats = _margins(model.method, held, model.slots, (numbers, values), prepares)
    return z
