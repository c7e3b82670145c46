"""MISSION as its paper has it: stochastic gradients, a sketch and an exact top k.

For each example (Algorithm 1): the margin from the k weights that are active, the gradient
of the loss, a plain step for every nonzero feature added to the sketch, and all features of
the example offered to the top k with what the sketch now says of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from shortlist._online import Found, bias_rate
from shortlist._protocols import Floats, Ids, RowBlock
from shortlist._steps import N_TOTALS, bias_step, count_norm, judge, mean_norm
from shortlist._targets import Target
from shortlist.kernels._jit import kernel
from shortlist.kernels.count_sketch import (
    CountSketch,
    add_located,
    count_sketch,
    estimate,
    locate,
    medians,
)
from shortlist.kernels.top_set import TopSet, offer, top_set, weight_of
from shortlist.losses import n_margins
from shortlist.sketch._memory import cells_in_row

#: Learning rate, in units of one over the mean squared norm of an example.
LEARNING_RATE = 1.0


class PaperState(NamedTuple):
    """All that one pass over a stream leaves behind."""

    sketch: CountSketch
    top: TopSet
    bias: np.ndarray  #: float64, (n_margins,)
    bias_scale: np.ndarray  #: float64, (n_margins,)
    totals: np.ndarray  #: float64, see ``shortlist._steps``


@kernel
def descend(loss, rates, state, block):  # type: ignore[no-untyped-def]
    """Learn from a block of examples, in order."""
    sketch, top, totals = state.sketch, state.top, state.totals
    learning_rate, bias_rate = rates
    flat = sketch.table.reshape(-1)
    rows, margins = sketch.table.shape[0], n_margins(loss, sketch.table.shape[2])
    longest = 0
    for i in range(block.y.shape[0]):
        longest = max(longest, block.indptr[i + 1] - block.indptr[i])
    cells = np.empty(longest * rows, np.uint64)
    signs = np.empty(longest * rows, np.float32)
    weights, steps = np.empty((longest, margins)), np.empty(longest)
    z, pulls, curvatures = np.empty(margins), np.empty(margins), np.empty(margins)

    for i in range(block.y.shape[0]):
        importance = block.weight[i]
        if importance == 0.0:
            continue
        first, length = block.indptr[i], block.indptr[i + 1] - block.indptr[i]
        ids, x = block.ids[first : first + length], block.values[first : first + length]
        norm = 0.0
        for c in range(margins):
            z[c] = state.bias[c]
            for t in range(length):
                z[c] += weight_of(top, c, ids[t]) * x[t]
        for t in range(length):
            norm += x[t] * x[t]
        count_norm(totals, norm, importance)
        rate = learning_rate / mean_norm(totals)
        judge(loss, block.y[i], z, importance, totals, pulls, curvatures)
        example = (block.y[i], importance)
        bias_step(
            loss, example, bias_rate, state.bias, state.bias_scale, z, pulls, curvatures
        )
        locate(sketch, ids, cells, signs)
        for c in range(margins):
            if pulls[c] != 0.0:
                for t in range(length):
                    steps[t] = rate * pulls[c] * x[t]
                add_located(flat, rows, cells, signs, c, steps[:length])
        medians(flat, rows, cells, signs, weights[:length])
        for c in range(margins):
            for t in range(length):
                offer(top, c, ids[t], weights[t, c])


@dataclass(frozen=True)
class PaperRule:
    """Weights in a Count-Sketch, the k largest of them active."""

    k: int
    memory: str | int
    rows: int
    seed: int

    def create(self, target: Target, n_features: int | None) -> PaperState:
        """Fresh sketch and top k, within the memory given."""
        margins = target.n_margins
        top = top_set(self.k, margins)
        slots = sum(array.size for array in top)
        width = cells_in_row(self.memory, self.rows, margins, slots)
        if n_features is not None:
            # Cells beyond this many a feature would hardly ever be touched.
            width = min(width, 64 * max(n_features, 16))
        return PaperState(
            count_sketch(self.rows, width, margins, self.seed),
            top,
            np.zeros(margins),
            np.zeros(margins),
            np.zeros(N_TOTALS),
        )

    def learn(self, model: PaperState, target: Target, block: RowBlock) -> None:
        """Learn from a block, in place."""
        rates = (LEARNING_RATE, bias_rate(target))
        descend(target.loss, rates, model, block)

    def totals(self, model: PaperState) -> Floats:
        """Running totals."""
        return model.totals

    def found(self, model: PaperState, target: Target, always: Ids) -> Found:
        """Active features of every margin, and those asked for always."""
        parts: list[tuple[Any, ...]] = []
        for c in range(target.n_margins):
            active = model.top.ids[c, : model.top.count[c]]
            ids = np.union1d(active, always)
            now, spread = (np.empty((len(ids), target.n_margins)) for _ in range(2))
            estimate(model.sketch, ids, now, spread)
            weight = now[:, c]
            # The active have the weight that margins are made with.
            place = np.searchsorted(ids, active)
            weight[place] = model.top.weights[c, : model.top.count[c]]
            margin = np.full(len(ids), c)
            parts.append((ids, margin, weight, np.abs(weight), spread[:, c]))
        ids, margin, weight, score, error = map(
            np.concatenate, zip(*parts, strict=True)
        )
        return Found(ids, margin, weight, score, error, model.bias.copy())
