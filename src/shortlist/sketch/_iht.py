"""Hard thresholding of stochastic gradients: MISSION's peers without a sketch.

Weights outlast a batch of examples only for the features that are kept. Gradient steps are
gathered in an exact table; when the batch ends,

    w = the largest of  w + gathered steps,

and everything else is forgotten. Within a batch what was gathered counts in the margins.
SGD-IHT is the batch of one example. Batch IHT, as the paper of MISSION has it, gathers as
many features as there is memory for; here a batch also ends after a number of examples.

References
----------
Aghazadeh, Spring, LeJeune, Dasarathy, Shrivastava, Baraniuk. MISSION: Ultra Large-Scale
Feature Selection using Count-Sketches. ICML 2018, section 6.1.
Blumensath, Davies. Iterative Hard Thresholding for Compressed Sensing. ACHA 2009.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from shortlist._class_weight import ClassWeight, as_params, check_class_weight
from shortlist._online import OnlineLearner
from shortlist._preparing import Preparing
from shortlist._protocols import Capabilities, Floats, Ids, RowBlock, ShortlistError
from shortlist._rules import Found
from shortlist._run_settings import check_run
from shortlist._steps import N_TOTALS
from shortlist._targets import Target
from shortlist.kernels._jit import kernel
from shortlist.kernels.count_sketch import CountSketch, add_located, number_at
from shortlist.kernels.exact_store import (
    Addresses,
    clear,
    exact_table,
    id_at,
    ids_in,
    settle_in,
)
from shortlist.kernels.top_set import TopSet, is_member, offer, top_set, weight_of
from shortlist.losses import n_margins
from shortlist.sketch._example import (
    active_margins,
    longest_row,
    steps_for,
    weight_pulls,
)
from shortlist.sketch._memory import exact_ids
from shortlist.sketch._mission import CAPABILITIES as MISSION
from shortlist.sketch._mission import RIDGE, n_candidates

RECIPES = ("auto", "refit", "paper")

#: Examples in a batch, unless told otherwise.
BATCH = 1000

SGD_IHT = Capabilities(
    method="sgd_iht",
    room="sketch",
    summary="SGD-IHT: a gradient step, then only the largest weights stay",
    algorithm="shortlist.sketch._iht:sgd_iht",
    estimator="shortlist.sketch:SGDIHT",
    losses=MISSION.losses,
    citation=(
        "Blumensath, Davies (2009). Iterative Hard Thresholding for Compressed Sensing. "
        "Appl. Comput. Harmon. Anal. 27(3)."
    ),
    options=(
        "memory",
        "recipe",
        "budget",
        "passes",
        "log1p",
        "normalize",
        "class_weight",
    ),
)

BATCH_IHT = Capabilities(
    method="batch_iht",
    room="sketch",
    summary="Batch IHT: gradients gathered exactly over a batch, then cut",
    algorithm="shortlist.sketch._iht:batch_iht",
    estimator="shortlist.sketch:BatchIHT",
    losses=MISSION.losses,
    citation=MISSION.citation,
    options=(*SGD_IHT.options, "batch"),
)


class IhtState(NamedTuple):
    """The weights that are kept, and the gradient of the batch so far."""

    top: TopSet
    gradient: CountSketch  #: one row of exact cells: sums of steps
    addresses: Addresses
    batch_rows: np.ndarray  #: int64, (1,): examples in the batch so far
    bias: np.ndarray  #: float64, (n_margins,)
    bias_scale: np.ndarray  #: float64, (n_margins,)
    totals: np.ndarray  #: float64, see ``shortlist._steps``


@kernel
def gather(loss, steps, batch, state, block):  # type: ignore[no-untyped-def]
    """Learn from a block of examples, in order; return how many.

    Fewer than there are means that the next one has more features than there is room.
    """
    top, gradient, addresses = state.top, state.gradient, state.addresses
    flat = gradient.table.reshape(-1)
    margins = n_margins(loss, gradient.table.shape[2])
    longest = longest_row(block)
    places = np.empty((longest, 1), np.uint32)
    moves = np.empty(longest)
    z, pulls, curvatures = np.empty(margins), np.empty(margins), np.empty(margins)

    for i in range(block.y.shape[0]):
        importance = block.weight[i]
        if importance == 0.0:
            continue
        first, length = block.indptr[i], block.indptr[i + 1] - block.indptr[i]
        ids, x = block.ids[first : first + length], block.values[first : first + length]
        if addresses.count[0] + length > addresses.order.shape[0]:
            threshold(state)
        if not settle_in(gradient, addresses, ids, places):
            return i
        active_margins(top, state.bias, ids, x, z)
        for t in range(length):
            for c in range(margins):
                z[c] += number_at(flat, places[t, 0], np.uint64(c)) * x[t]
        example = (block.y[i], importance)
        weight_pulls(loss, steps, state, example, x, z, pulls, curvatures)
        for c in range(margins):
            if pulls[c] != 0.0:
                for t in range(length):
                    moves[t] = pulls[c] * x[t]
                add_located(flat, places, c, moves[:length])
        state.batch_rows[0] += 1
        if state.batch_rows[0] == batch:
            threshold(state)
    return block.y.shape[0]


@kernel
def threshold(state):  # type: ignore[no-untyped-def]
    """Add what was gathered, keep the largest weights, forget the rest.

    Members step first: who then comes in is compared with weights as they are now.
    """
    top, table, addresses = state.top, state.gradient.table, state.addresses
    for c in range(table.shape[2]):
        for i in range(addresses.count[0]):
            slot = addresses.order[i]
            number = id_at(addresses, slot)
            if is_member(top, c, number):
                weight = weight_of(top, c, number) + table[0, slot, c]
                offer(top, c, number, weight)
                table[0, slot, c] = np.float32(0.0)  # it has had its step
        for i in range(addresses.count[0]):
            slot = addresses.order[i]
            if table[0, slot, c] != 0.0:
                offer(top, c, id_at(addresses, slot), np.float64(table[0, slot, c]))
    clear(state.gradient, addresses)
    state.batch_rows[0] = 0


def _copied(parts: Any) -> Any:
    """The same tuple of tuples with arrays of its own."""
    if isinstance(parts, tuple):
        return type(parts)(*map(_copied, parts))
    return parts.copy() if isinstance(parts, np.ndarray) else parts


@dataclass(frozen=True)
class IhtRule:
    """Weights of ``n_kept`` features a margin, thresholded after each batch."""

    n_kept: int
    batch: int
    memory: str | int
    damped: bool

    def create(
        self, target: Target, n_features: int | None, rows: Sequence[RowBlock] = ()
    ) -> IhtState:
        """No weights yet, and a table for gradients within the memory given."""
        margins, n_kept = target.n_margins, self.n_kept
        if n_features is not None:
            n_kept = min(n_kept, n_features)
        top = top_set(n_kept, margins)
        room = exact_ids(self.memory, margins, sum(a.size for a in top), None)
        if n_features is not None:
            room = min(room, n_features)
        gradient, addresses = exact_table(room, margins)
        return IhtState(
            top,
            gradient,
            addresses,
            np.zeros(1, np.int64),
            np.zeros(margins),
            np.zeros(margins),
            np.zeros(N_TOTALS),
        )

    def learn(self, model: IhtState, target: Target, block: RowBlock) -> None:
        """Learn from a block, in place."""
        steps = steps_for(target, damped=self.damped)
        learned = gather(target.loss, steps, self.batch, model, block)
        if learned < block.n_rows:
            raise ShortlistError(
                f"row {block.first_row + learned}: memory={self.memory!r} has room for "
                f"the gradient of {len(model.addresses.order):,} features, and this row "
                "has more; try more memory"
            )

    def totals(self, model: IhtState) -> Floats:
        """Running totals."""
        return model.totals

    def candidates(self, model: IhtState) -> Ids:
        """Kept features of every margin, and those that the batch has gathered."""
        counts = enumerate(model.top.count.tolist())
        kept = [model.top.ids[c, :n] for c, n in counts]
        return np.concatenate([*kept, ids_in(model.addresses)])

    def found(self, model: IhtState, target: Target, always: Ids) -> Found:
        """Kept features of every margin, as if the batch ended here."""
        if model.batch_rows[0]:
            model = _copied(model)
            threshold(model)
        top = model.top
        parts: list[tuple[Any, ...]] = []
        for c in range(target.n_margins):
            kept = top.ids[c, : top.count[c]]
            ids = np.union1d(kept, always)
            weight = np.zeros(len(ids))
            weight[np.searchsorted(ids, kept)] = top.weights[c, : top.count[c]]
            parts.append((ids, np.full(len(ids), c), weight))
        ids, margin, weight = map(np.concatenate, zip(*parts, strict=True))
        unknown = np.full(len(ids), np.nan)
        return Found(ids, margin, weight, np.abs(weight), unknown, model.bias.copy())


def iht(
    capabilities: Capabilities,
    k: int,
    *,
    batch: int,
    loss: Any = "auto",
    classes: Sequence[Any] | None = None,
    memory: str | int = "16MB",
    recipe: str = "auto",
    budget: str = "per_class",
    passes: int = 1,
    log1p: bool = False,
    normalize: str | None = None,
    class_weight: ClassWeight = None,
    always: Sequence[str] = (),
    never: Sequence[str] = (),
    seed: int = 0,
    reiterable: bool = True,
) -> OnlineLearner:
    """Make the algorithm that an engine runs.

    Parameters are those of :class:`shortlist.sketch.BatchIHT`; ``reiterable`` says
    whether the data can be read again, which is what recipe="auto" goes by. Nothing here
    is random: ``seed`` is for callers that give one to every method.
    """
    if recipe not in RECIPES:
        raise ShortlistError(f"recipe should be one of {RECIPES}, got {recipe!r}")
    if not isinstance(batch, Integral) or isinstance(batch, bool) or batch < 1:
        raise ShortlistError(f"batch should be a whole number from 1, got {batch!r}")
    check_run(budget, passes, seed)
    preparing = Preparing(log1p, normalize)
    preparing.check()
    check_class_weight(class_weight)
    if recipe == "auto":
        recipe = "refit" if reiterable else "paper"
    refit = recipe == "refit"
    rule = IhtRule(n_candidates(k) if refit else k, int(batch), memory, damped=refit)
    params = {"k": k, "memory": memory, "recipe": recipe, "passes": passes}
    if "batch" in capabilities.options:
        params["batch"] = int(batch)
    return OnlineLearner(
        method=capabilities.method,
        room=capabilities.room,
        rule=rule,
        k=k,
        loss=loss,
        classes=classes,
        passes=passes,
        refit=refit,
        budget=budget,
        ridge=RIDGE,
        always=always,
        never=never,
        preparing=preparing,
        class_weight=class_weight,
        params={**params, **as_params(class_weight)},
    )


def sgd_iht(k: int, **asked: Any) -> OnlineLearner:
    """SGD-IHT as an algorithm: batches of one example; see ``iht``."""
    return iht(SGD_IHT, k, batch=1, **asked)


def batch_iht(k: int, *, batch: int = BATCH, **asked: Any) -> OnlineLearner:
    """Batch IHT as an algorithm; see ``iht``."""
    return iht(BATCH_IHT, k, batch=batch, **asked)
