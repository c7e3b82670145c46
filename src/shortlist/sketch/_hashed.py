"""Feature hashing: one weight a bucket, no names; the peer that cannot select.

A feature's weight is that of the bucket it is hashed to, with a sign of its own; the
weights of all features count. Which features a bucket stands for is not kept anywhere, so
there is nothing to make a Shortlist of: the result is a ``HashedModel``, which predicts.

References
----------
Weinberger, Dasgupta, Langford, Smola, Attenberg. Feature Hashing for Large Scale Multitask
Learning. ICML 2009.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shortlist._online import OUT_OF_RANGE, OnlineLearner, OnlineState
from shortlist._preparing import Preparing
from shortlist._protocols import (
    Capabilities,
    DataError,
    Floats,
    Ids,
    RowBlock,
    RowSource,
    ShortlistError,
)
from shortlist._rules import Found
from shortlist._run_settings import check_run
from shortlist._scoring import Responding
from shortlist._targets import Label, Target
from shortlist.kernels._jit import kernel
from shortlist.kernels.count_sketch import count_sketch, locate, number_at
from shortlist.kernels.exact_store import hashed
from shortlist.kernels.top_set import top_set
from shortlist.sketch._example import longest_row, steps_for
from shortlist.sketch._memory import cells_in_row
from shortlist.sketch._mission import CAPABILITIES as MISSION
from shortlist.sketch._paper import NOTHING, PaperState, descend, paper_state

#: What it can do; it is no selector, so the registry does not know it.
CAPABILITIES = Capabilities(
    method="hashed_sgd",
    room="sketch",
    summary="feature hashing: one weight a bucket, no names",
    algorithm="shortlist.sketch._hashed:hashed_sgd",
    estimator="shortlist.sketch:HashedSGD",
    losses=MISSION.losses,
    citation=(
        "Weinberger, Dasgupta, Langford, Smola, Attenberg (2009). Feature Hashing for "
        "Large Scale Multitask Learning. ICML."
    ),
    options=("memory", "passes", "log1p", "normalize"),
)


@kernel
def bucket_margins(sketch, bias, block, out):  # type: ignore[no-untyped-def]
    """Write the margins of rows to out[i, c], made with the weights of buckets."""
    longest = longest_row(block)
    places = np.empty((longest, 1), np.uint32)
    flat = sketch.table.reshape(-1)
    for i in range(out.shape[0]):
        first, last = block.indptr[i], block.indptr[i + 1]
        locate(sketch, block.ids[first:last], places)
        for c in range(out.shape[1]):
            out[i, c] = bias[c]
            for t in range(last - first):
                weight = number_at(flat, places[t, 0], np.uint64(c))
                out[i, c] += weight * block.values[first + t]


class HashedModel(Responding):
    """What feature hashing learns: weights of buckets, which predict."""

    def __init__(
        self,
        loss: Any,
        classes: tuple[Label, ...] | None,
        state: PaperState,
        preparing: Preparing,
    ) -> None:
        super().__init__(loss, classes)
        self._sketch, self._bias = state.sketch, state.bias.copy()
        self._preparing = preparing

    @property
    def params(self) -> dict[str, Any]:
        """Settings that predictions depend on."""
        return self._preparing.as_params()

    @property
    def n_buckets(self) -> int:
        """Number of weights for each margin."""
        return int(self._sketch.table.shape[1])

    @property
    def n_margins(self) -> int:
        """Number of margins."""
        return len(self._bias)

    @property
    def is_classifier(self) -> bool:
        """Whether it predicts classes."""
        return self.classes is not None

    def margins(self, block: RowBlock) -> Floats:
        """Shape (n_rows, n_margins)."""
        out = np.empty((block.n_rows, self.n_margins))
        bucket_margins(self._sketch, self._bias, self._preparing.apply(block), out)
        return out


@dataclass(frozen=True)
class HashedRule:
    """MISSION's loop with one row of cells, every weight active and no top k."""

    memory: str | int
    seed: int

    def create(
        self, target: Target, n_features: int | None, rows: Sequence[RowBlock] = ()
    ) -> PaperState:
        """Fresh buckets, within the memory given."""
        margins = target.n_margins
        width = cells_in_row(self.memory, 1, margins, 0)
        if n_features is not None:
            # Buckets beyond this many a feature would hardly ever be touched.
            width = min(width, 64 * max(n_features, 16))
        sketch = count_sketch(1, width, margins, self.seed)
        return paper_state(sketch, hashed(), top_set(0, margins), margins)

    def learn(self, model: PaperState, target: Target, block: RowBlock) -> None:
        """Learn from a block, in place."""
        steps = steps_for(target, damped=True)
        descend(target.loss, steps, NOTHING, model, block)

    def totals(self, model: PaperState) -> Floats:
        """Running totals."""
        return model.totals

    def candidates(self, model: PaperState) -> Ids:
        """None: buckets have no names."""
        return np.empty(0, np.uint64)

    def found(self, model: PaperState, target: Target, always: Ids) -> Found:
        """Refuse: buckets have no names."""
        raise ShortlistError(
            "feature hashing keeps no names: it can predict, not list features; "
            "Mission does both"
        )


@dataclass(frozen=True)
class HashedLearner(OnlineLearner):
    """The online loop, ending in a model instead of a Shortlist."""

    def result(self, state: OnlineState, source: RowSource) -> HashedModel:  # type: ignore[override]
        """What has been learned so far."""
        self._check_range(state)
        if not np.isfinite(state.model.sketch.table).all():
            raise DataError(f"{source.name}: {OUT_OF_RANGE}")
        # the weights may go on learning; a result stays as it is
        frozen = state.model._replace(
            sketch=state.model.sketch._replace(table=state.model.sketch.table.copy())
        )
        target = state.target
        return HashedModel(target.loss, target.classes, frozen, self.preparing)


def hashed_sgd(
    *,
    loss: Any = "auto",
    classes: Sequence[Any] | None = None,
    memory: str | int = "16MB",
    passes: int = 1,
    log1p: bool = False,
    normalize: str | None = None,
    seed: int = 0,
) -> HashedLearner:
    """Make the algorithm that an engine runs.

    Parameters are those of :class:`shortlist.sketch.HashedSGD`.
    """
    check_run("shared", passes, seed)
    preparing = Preparing(log1p, normalize)
    preparing.check()
    return HashedLearner(
        method=CAPABILITIES.method,
        room=CAPABILITIES.room,
        rule=HashedRule(memory, seed),
        k=0,
        loss=loss,
        classes=classes,
        passes=passes,
        refit=False,
        preparing=preparing,
    )
