"""MISSION as its paper has it: stochastic gradients, a sketch and an exact top k.

For each example (Algorithm 1): the margin from the k weights that are active, the gradient
of the loss, a plain step for every nonzero feature added to the sketch, and all features of
the example offered to the top k with what the sketch now says of them.

What the paper adds to it:

* ``gamma`` (section 5.1): after each example all that is in the sketch but the top k is
  multiplied by gamma. The sketch is linear, so this is gamma S plus the sketch of
  (1 - gamma) times the active weights. Cells are held in units of a running scale, so that
  a step costs no more than the example and the k together.
* an identity sketch (section 5.1): exact weights, see ``kernels.exact_store``.
* ``lazy`` (section 7): a weight that has changed by less since the top k last heard of it
  is not offered.

With no top k at all every weight is active: with a sketch of one row that is feature
hashing (see ``_hashed.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import Floats, Ids, RowBlock, ShortlistError
from shortlist._rules import Found
from shortlist._steps import N_TOTALS
from shortlist._targets import Target
from shortlist.kernels._jit import kernel
from shortlist.kernels.count_sketch import (
    CountSketch,
    add_located,
    count_sketch,
    estimate,
    medians,
)
from shortlist.kernels.exact_store import (
    SKETCH,
    Addresses,
    exact_array,
    exact_table,
    hashed,
    read_exactly,
    settle_in,
)
from shortlist.kernels.top_set import TopSet, offer, top_set, weight_of
from shortlist.losses import n_margins
from shortlist.sketch._example import (
    active_margins,
    longest_row,
    steps_for,
    weight_pulls,
)
from shortlist.sketch._memory import cells_in_row, exact_ids

# Cells are multiplied out when their unit is smaller: single precision ends at 1e38.
_SMALLEST_UNIT = 1e-18


class Forgetting(NamedTuple):
    """What is let go of; constants of a run."""

    gamma: float = 1.0  #: factor of all weights but the top k, after each example
    lazy: float = 0.0  #: smaller changes of a weight are not offered to the top k


#: Nothing is let go of: Algorithm 1.
NOTHING = Forgetting()


class PaperState(NamedTuple):
    """All that one pass over a stream leaves behind."""

    sketch: CountSketch
    unit: np.ndarray  #: float64, (1,): what 1 in a cell stands for
    addresses: Addresses
    top: TopSet
    bias: np.ndarray  #: float64, (n_margins,)
    bias_scale: np.ndarray  #: float64, (n_margins,)
    totals: np.ndarray  #: float64, see ``shortlist._steps``


def paper_state(
    sketch: CountSketch, addresses: Addresses, top: TopSet, margins: int
) -> PaperState:
    """Fresh state around a store of weights."""
    return PaperState(
        sketch,
        np.ones(1),
        addresses,
        top,
        np.zeros(margins),
        np.zeros(margins),
        np.zeros(N_TOTALS),
    )


@kernel
def descend(loss, steps, forgetting, state, block):  # type: ignore[no-untyped-def]
    """Learn from a block of examples, in order; return how many.

    Fewer than there are means that exact weights had no room for the features of the
    next one.
    """
    sketch, top, unit = state.sketch, state.top, state.unit
    gamma, lazy = forgetting
    flat = sketch.table.reshape(-1)
    rows, margins = sketch.table.shape[0], n_margins(loss, sketch.table.shape[2])
    hears_all = top.ids.shape[1] == 0
    longest = max(longest_row(block), top.ids.shape[1])
    places = np.empty((longest, rows), np.uint32)
    weights, moves = np.empty((longest, margins)), np.empty(longest)
    z, pulls, curvatures = np.empty(margins), np.empty(margins), np.empty(margins)

    for i in range(block.y.shape[0]):
        importance = block.weight[i]
        if importance == 0.0:
            continue
        first, length = block.indptr[i], block.indptr[i + 1] - block.indptr[i]
        ids, x = block.ids[first : first + length], block.values[first : first + length]
        if not settle_in(sketch, state.addresses, ids, places):
            return i
        active_margins(top, state.bias, ids, x, z)
        if hears_all:
            medians(flat, places, weights[:length])
            for t in range(length):
                for c in range(margins):
                    z[c] += weights[t, c] * unit[0] * x[t]
        example = (block.y[i], importance)
        weight_pulls(loss, steps, state, example, x, z, pulls, curvatures)
        for c in range(margins):
            if pulls[c] != 0.0:
                for t in range(length):
                    moves[t] = pulls[c] * x[t] / unit[0]
                add_located(flat, places, c, moves[:length])
        if hears_all:
            continue
        medians(flat, places, weights[:length])
        for c in range(margins):
            for t in range(length):
                weight = weights[t, c] * unit[0]
                if lazy == 0.0 or abs(weight - weight_of(top, c, ids[t])) >= lazy:
                    offer(top, c, ids[t], weight)
        if gamma < 1.0:
            fade(gamma, state, places, moves)
    return block.y.shape[0]


@kernel
def fade(gamma, state, places, moves):  # type: ignore[no-untyped-def]
    """Multiply all weights but the active ones by gamma."""
    sketch, top, unit = state.sketch, state.top, state.unit
    flat = sketch.table.reshape(-1)
    unit[0] *= gamma
    for c in range(state.bias.shape[0]):
        n = top.count[c]
        settle_in(sketch, state.addresses, top.ids[c, :n], places)
        for t in range(n):
            moves[t] = (1.0 - gamma) * top.weights[c, t] / unit[0]
        add_located(flat, places, c, moves[:n])
    if unit[0] < _SMALLEST_UNIT:
        for i in range(flat.shape[0]):
            flat[i] = np.float32(flat[i] * unit[0])
        unit[0] = 1.0


@dataclass(frozen=True)
class PaperRule:
    """Weights in a Count-Sketch, or exact ones, the k largest of them active."""

    k: int
    memory: str | int
    rows: int
    seed: int
    sketch: str = "count"
    forgetting: Forgetting = NOTHING

    def create(
        self, target: Target, n_features: int | None, rows: Sequence[RowBlock] = ()
    ) -> PaperState:
        """Fresh weights and top k, within the memory given."""
        margins = target.n_margins
        top = top_set(self.k, margins)
        slots = sum(array.size for array in top)
        if self.sketch == "identity":
            room = exact_ids(self.memory, margins, slots, n_features)
            fits = room == n_features
            sketch, addresses = (
                exact_array(room, margins) if fits else exact_table(room, margins)
            )
            return paper_state(sketch, addresses, top, margins)
        width = cells_in_row(self.memory, self.rows, margins, slots)
        if n_features is not None:
            # Cells beyond this many a feature would hardly ever be touched.
            width = min(width, 64 * max(n_features, 16))
        sketch = count_sketch(self.rows, width, margins, self.seed)
        return paper_state(sketch, hashed(), top, margins)

    def learn(self, model: PaperState, target: Target, block: RowBlock) -> None:
        """Learn from a block, in place."""
        steps = steps_for(target, damped=False)
        learned = descend(target.loss, steps, self.forgetting, model, block)
        if learned < block.n_rows:
            raise ShortlistError(
                f"row {block.first_row + learned}: sketch='identity' with memory="
                f"{self.memory!r} has room for {len(model.addresses.order):,} features, "
                "and more came; try more memory or sketch='count'"
            )

    def totals(self, model: PaperState) -> Floats:
        """Running totals."""
        return model.totals

    def candidates(self, model: PaperState) -> Ids:
        """The active features of all margins."""
        counts = enumerate(model.top.count.tolist())
        return np.concatenate([model.top.ids[c, :n] for c, n in counts])

    def found(self, model: PaperState, target: Target, always: Ids) -> Found:
        """Active features of every margin, and those asked for always."""
        parts: list[tuple[Any, ...]] = []
        for c in range(target.n_margins):
            active = model.top.ids[c, : model.top.count[c]]
            ids = np.union1d(active, always)
            now = np.zeros((len(ids), target.n_margins))
            if model.addresses.kind == SKETCH:
                estimate(model.sketch, ids, now, np.empty_like(now))
            else:
                read_exactly(model.sketch, model.addresses, ids, now)
            weight = now[:, c] * model.unit[0]
            # The active have the weight that margins are made with.
            place = np.searchsorted(ids, active)
            weight[place] = model.top.weights[c, : model.top.count[c]]
            parts.append((ids, np.full(len(ids), c), weight))
        ids, margin, weight = map(np.concatenate, zip(*parts, strict=True))
        # Gradient steps tell nothing of noise, and collisions alone would say too little.
        unknown = np.full(len(ids), np.nan)
        return Found(ids, margin, weight, np.abs(weight), unknown, model.bias.copy())
