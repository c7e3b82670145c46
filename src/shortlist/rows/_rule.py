"""What the six methods of this room are to ``OnlineLearner``: a rule with cells in arrays.

Arrays grow with the number of different features that come; ids may be any 64-bit numbers,
such as hashed names. Whoever has more features than memory wants ``shortlist.sketch``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shortlist._protocols import NOT_SAVED, DataError, Floats, Ids, Ints, RowBlock
from shortlist._rules import Found, bias_rate
from shortlist._steps import ROWS
from shortlist._targets import Target
from shortlist.kernels.slots import (
    Slots,
    are_increasing,
    no_slots,
    settle,
    with_room,
)
from shortlist.kernels.stays import ENTERED, LEFT, MARGIN
from shortlist.rows._kernels import learn_rows
from shortlist.rows._slope_unit import weight_unit
from shortlist.rows._state import (
    CONFIDENT,
    COUNT,
    LAZY_TOP,
    N_XI,
    REAL,
    SHRINK,
    TOP,
    UNITLESS,
    Method,
    RowsState,
    bytes_a_slot,
    fresh_state,
    with_room_for,
)
from shortlist.rows._step_rules import all_weights

#: Memory for what is kept of features, in bytes.
MOST_BYTES = 4 << 30

#: Features that were members longest, whose names a result has though they left.
MOST_REMEMBERED = 64

_UNITS = {"real": REAL, "count": COUNT}


@dataclass
class RowsModel:
    """A state that is replaced by a larger one when features come that are new."""

    method: Method
    slots: Slots
    state: RowsState
    #: room for the slots of a block
    numbers: np.ndarray | None = field(default=None, metadata=NOT_SAVED)

    @property
    def ids(self) -> Ids:
        """Features that have come, by slot."""
        ids: Ids = self.slots.ids[: self.slots.count[0]]
        return ids

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return _n_bytes((self.slots, self.state))


def _settled(model: RowsModel, block: RowBlock) -> tuple[Ints, np.ndarray, Floats]:
    """Where rows begin, slots of their features, each once a row, and values."""
    n = len(block.ids)
    if model.numbers is None or n > len(model.numbers):
        # kept from block to block: memory that is new has to be cleared by the system
        model.numbers = np.empty(2 * n, np.int32)
    numbers = model.numbers[:n]
    if are_increasing(block.indptr, block.ids):
        settle(model.slots, block, block.indptr, numbers, np.empty(0))
        return block.indptr, numbers, block.values
    indptr, values = np.zeros(block.n_rows + 1, np.int64), np.empty(n)
    settle(model.slots, block, indptr, numbers, values)
    return indptr, numbers, values


def _n_bytes(part: Any) -> int:
    return sum(map(_n_bytes, part)) if isinstance(part, tuple) else int(part.nbytes)


@dataclass(frozen=True)
class RowsRule:
    """A method, before the target is known.

    Parameters
    ----------
    method : Method
        Its ``bias_rate`` and ``unit`` are those of the target, found out in ``create``.
    most_bytes : int
        Memory beyond which new features are refused.
    """

    method: Method
    most_bytes: int = MOST_BYTES

    def create(
        self, target: Target, n_features: int | None, rows: Sequence[RowBlock] = ()
    ) -> RowsModel:
        """Nothing learned yet."""
        unit = _UNITS.get(target.loss.target, UNITLESS)
        k = self.method.k if n_features is None else min(self.method.k, n_features)
        method = self.method._replace(k=k, bias_rate=bias_rate(target), unit=unit)
        slots = no_slots(n_features)
        state = fresh_state(method, target.n_margins, len(slots.ids))
        return RowsModel(method, slots, state)

    def learn(self, model: RowsModel, target: Target, block: RowBlock) -> None:
        """Learn from a block, in place."""
        model.slots = with_room(model.slots, block.ids)
        room = len(model.slots.ids)
        model.state = with_room_for(model.method, model.state, room)
        rows = (*_settled(model, block), block.y, block.weight)
        self._check_memory(model, target, block)
        learn_rows(target.loss, model.method, model.state, model.ids, rows)

    def _check_memory(self, model: RowsModel, target: Target, block: RowBlock) -> None:
        count = len(model.ids)
        if count * bytes_a_slot(model.method, target.n_margins) > self.most_bytes:
            raise DataError(
                f"row {block.first_row + block.n_rows}: {count:,} different features so "
                f"far, more than {self.most_bytes / 1e9:.3g} GB have room for; the method "
                "mission needs no more memory for more features"
            )

    def totals(self, model: RowsModel) -> Floats:
        """Running totals."""
        return model.state.totals

    def candidates(self, model: RowsModel) -> Ids:
        """Members; all that came where others may return without being seen again."""
        state = model.state
        if model.method.truncation == TOP:
            counts = enumerate(state.pool.size.tolist())
            return np.concatenate([state.pool.number[c, :n] for c, n in counts])
        return model.ids

    def found(self, model: RowsModel, target: Target, always: Ids) -> Found:
        """Members of every margin, and the features asked for always."""
        parts: list[tuple[Any, ...]] = []
        for c in range(target.n_margins):
            kept, weight, score = _best(model, c)
            missing = np.setdiff1d(always, kept)
            zeros = np.zeros(len(missing))
            ids = np.concatenate([kept, missing])
            order = np.argsort(ids)
            weight = np.concatenate([weight, zeros])[order]
            score = np.concatenate([score, zeros])[order]
            parts.append((ids[order], np.full(len(ids), c), weight, score))
        ids, margin, weight, score = map(np.concatenate, zip(*parts, strict=True))
        unknown = np.full(len(ids), np.nan)
        bias = model.state.bias.copy()
        return Found(ids, margin, weight, score, unknown, bias)

    def remembered(self, model: RowsModel) -> Ids:
        """Features that were members longest, of all margins together."""
        if model.method.truncation == SHRINK:
            return np.empty(0, np.uint64)
        stays = _membership(model)
        ids, which = np.unique(stays["stay_ids"], return_inverse=True)
        time = np.bincount(which, stays["stay_left"] - stays["stay_entered"], len(ids))
        longest: Ids = ids[np.argsort(-time, kind="stable")[:MOST_REMEMBERED]]
        return longest

    def history(self, model: RowsModel, target: Target) -> dict[str, np.ndarray]:
        """What a result's trace says besides loss: weights, members, truncation error."""
        online = self.found(model, target, np.empty(0, np.uint64))
        out = {
            "online_ids": online.ids,
            "online_margin": online.margin,
            "online_weights": online.weight,
            "online_bias": online.bias,
        }
        if len(xi := model.state.xi[: int(model.state.clock[N_XI])]):
            out |= {"xi_rows": xi[:, 0].astype(np.int64), "xi": xi[:, 1].copy()}
        if model.method.truncation != SHRINK:
            out |= _membership(model)
        return out


def _best(model: RowsModel, c: int) -> tuple[Ids, Floats, Floats]:
    """Ids, weights and scores of a margin's members."""
    method, state = model.method, model.state
    weight = np.empty(len(model.ids))
    all_weights(method, state, c, weight)
    weight *= weight_unit(method.unit, state.unit)
    if method.truncation == SHRINK:
        ids, score = model.ids, np.abs(weight)
        best = np.lexsort((ids, -score))[: method.k]
        best = best[score[best] > 0]
        return ids[best], weight[best], score[best]
    members = min(int(state.pool.size[c]), method.k)
    score = state.pool.score[c, :members].copy()
    if method.truncation == LAZY_TOP:  # H G^2 / (c + H)^2 so far
        score = method.eta * np.sqrt(score)
    weight = weight[state.pool.slot[c, :members]]
    # a weight that came to be exactly 0 is not on the shortlist
    some = np.flatnonzero((weight != 0.0) | (method.step == CONFIDENT))
    return state.pool.number[c, :members][some], weight[some], score[some]


def _membership(model: RowsModel) -> dict[str, np.ndarray]:
    """Stays of members; those of the present ones end now."""
    state, stays = model.state, model.state.stays
    n, now = int(stays.count[0]), int(state.totals[ROWS])
    ids: list[Ids] = [stays.ids[:n]]
    margin: list[Ints] = [stays.spans[:n, MARGIN]]
    entered: list[Ints] = [stays.spans[:n, ENTERED]]
    for c, count in enumerate(state.pool.size.tolist()):
        members = min(count, model.method.k)
        ids.append(state.pool.number[c, :members])
        margin.append(np.full(members, c))
        entered.append(state.pool.entered[c, :members])
    begun = np.concatenate(entered)
    left = np.concatenate([stays.spans[:n, LEFT], np.full(len(begun) - n, now)])
    who, where = np.concatenate(ids), np.concatenate(margin)
    order = np.lexsort((left, who, where, begun))
    return {
        "stay_ids": who[order],
        "stay_margin": where[order],
        "stay_entered": begun[order],
        "stay_left": left[order],
        "stays_forgotten": stays.count[1:].copy(),
    }
