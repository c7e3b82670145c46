"""Runs on parts of the data, added up: what recipe="shards" is for.

Such a run stores natural parameters, sums over examples. Sums of two runs are added, as if
one had seen the examples of both, if both started alike: the same hashes and sizes, the
same ridge. The ridge is a share of the mean squared norm of the first examples, which no
two shards have in common, so a run can be told to start as another one did (``Alike``).

What one run found is never handed to another that is still learning: examples would count
twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import reduce
from typing import Any

import numpy as np

from shortlist._centring import CentredIds
from shortlist._late_rows import LateRows
from shortlist._online import OnlineLearner, OnlineState
from shortlist._protocols import Head, Ids, RowSource, ShortlistError
from shortlist._steps import (
    NORM,
    NORM_FROZEN_AFTER,
    NORM_ROWS,
    NORM_WEIGHT,
    WEIGHT,
    mean_norm,
)
from shortlist.kernels.block_sketch import CELLS
from shortlist.kernels.heavy_hitters import Candidates, candidates, listed
from shortlist.kernels.id_table import put
from shortlist.losses import spell
from shortlist.sketch._kernels import SketchState, rescore
from shortlist.sketch._mission import MissionRule, centring
from shortlist.sketch._step_rules import is_stacked
from shortlist.sources._meaning import Meaning, difference

_NORMS = [NORM_ROWS, NORM_WEIGHT, NORM]
#: Settings that shards may differ in, as what classes, losses and scales came out as is
#: compared between states; and those that are compared part by part.
_FREE = ("classes", "loss", "params", "scaled", "rule", "preparing", "step")


def check_mergeable(learner: OnlineLearner) -> MissionRule:
    """Give the rule of a learner whose states add up; others raise."""
    rule = getattr(learner, "rule", None)
    if not isinstance(rule, MissionRule) or not is_stacked(rule.step):
        recipe = getattr(learner, "params", {}).get("recipe", "another method")
        raise ShortlistError(
            f"only runs of mission with recipe='shards' can be merged, got {recipe!r}"
        )
    return rule


class Alike:
    """A learner that starts as another run did: same classes, units and ridge."""

    def __init__(self, learner: OnlineLearner, first: OnlineState) -> None:
        rule = check_mergeable(learner)
        sketch, target = first.model.sketch, first.target
        self._first = first
        self.plain = replace(
            learner,
            rule=replace(rule, scaled=sketch.scaled),
            loss=target.loss,
            classes=target.classes,
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plain, name)

    def start(self, source: RowSource, head: Head) -> OnlineState:
        """Fresh state, but for what the first examples would have settled."""
        return start_alike(self.plain.start(source, head), self._first)


def start_alike(fresh: OnlineState, first: OnlineState) -> OnlineState:
    """Let a state that has learned nothing yet go by the norms of another."""
    totals = fresh.model.totals
    totals[_NORMS] = first.model.totals[_NORMS]
    totals[NORM_ROWS] = max(totals[NORM_ROWS], NORM_FROZEN_AFTER)
    far = first.model.centres
    ids = np.empty(0, np.uint64) if far is None else far.ids
    fresh.model = centring(fresh.model, fresh.target, ids)
    return fresh


def merged(learner: OnlineLearner, states: Sequence[OnlineState]) -> OnlineState:
    """Add states of runs that started alike; all stay as they are."""
    rule = check_mergeable(learner)
    first = states[0]
    for other in states[1:]:
        _check_alike(first, other)
    models = [state.model for state in states]
    totals = np.sum([model.totals for model in models], axis=0)
    totals[_NORMS] = first.model.totals[_NORMS]
    shares = np.array([model.totals[WEIGHT] for model in models])
    if not shares.any():
        shares[:] = 1.0
    model = SketchState(
        _added(models),
        first.model.found,
        np.average([model.bias for model in models], axis=0, weights=shares),
        np.sum([model.bias_scale for model in models], axis=0),
        totals,
        _centres(models, shares),
    )
    model = model._replace(found=_candidates(rule, first, model, models))
    trace, so_far = first.trace, first.model.totals
    for state in states[1:]:
        trace = trace.followed_by(so_far, state.trace)
        so_far = so_far + state.model.totals
    return replace(
        first,
        model=model,
        class_totals=_class_totals(learner, states),
        class_counts=np.sum([state.class_counts for state in states], axis=0),
        n_examples=sum(state.n_examples for state in states),
        n_skipped=sum(state.n_skipped for state in states),
        trace=trace,
        unmet=reduce(np.intersect1d, [state.unmet for state in states]),
        late=LateRows([block for state in states for block in state.late.last()]),
    )


def _check_alike(first: OnlineState, other: OnlineState) -> None:
    """Refuse states whose sums are not about the same things."""
    if first.model.sketch.keys.tolist() != other.model.sketch.keys.tolist():
        raise ShortlistError("shards should share the seed of hashes to be merged")
    for (what, mine), yours in zip(
        _facts(first).items(), _facts(other).values(), strict=True
    ):
        if mine != yours:
            raise ShortlistError(
                f"shards should share {what} to be merged, got {mine} and {yours}; "
                "start the others like the first: branch(), or --like"
            )


def _facts(state: OnlineState) -> dict[str, str]:
    """What the sums of a state are about, in words."""
    sketch, target, far = state.model.sketch, state.target, state.model.centres
    classes = "numbers" if target.classes is None else list(target.classes)
    norm = float(mean_norm(state.model.totals))
    return {
        "the loss": spell(target.loss),
        "classes": str(classes),
        "the number of outputs": str(sketch.n_margins),
        "the rows of the sketch": str(sketch.rows),
        "scales": "max_abs" if sketch.scaled else "none",
        "the size of the sketch": f"{sketch.n_blocks:,} blocks of {sketch.stride} numbers",
        "cells": "one a feature" if sketch.is_direct else "shared by features",
        "centred features": str([] if far is None else far.ids.tolist()),
        "m, the mean squared norm that the ridge goes by,": repr(norm),
    }


def check_settings(first: OnlineLearner, other: OnlineLearner) -> None:
    """Refuse learners whose states mean different things."""
    mine, yours = _settings(first), _settings(other)
    for name in mine:
        if mine[name] != yours[name]:
            raise ShortlistError(
                "shards should be learned alike, got "
                f"{name} = {mine[name]!r} and {yours[name]!r}"
            )


def check_rows(mine: Meaning, yours: Meaning) -> None:
    """Refuse rows that stand for different things, as far as anybody knows."""
    what = difference(mine, yours)
    if what is not None:
        raise ShortlistError(
            f"shards should be learned from files read alike, got {what}"
        )


def _settings(learner: OnlineLearner) -> dict[str, Any]:
    """Settings of a learner one by one, as its user knows them."""
    rule = check_mergeable(learner)
    own = {field.name: getattr(learner, field.name) for field in fields(learner)}
    of_rule = {field.name: getattr(rule, field.name) for field in fields(rule)}
    pairs = {"interactions": learner.params.get("interactions")}
    flat = {**own, **learner.preparing._asdict(), **of_rule, **pairs}
    return {name: value for name, value in flat.items() if name not in _FREE}


def _added(models: Sequence[SketchState]) -> Any:
    """Sum of sums and information; scales are largest values."""
    sketch = models[0].sketch
    blocks = np.zeros((sketch.n_blocks, sketch.stride), np.float32)
    n_sums = 2 * sketch.rows * sketch.n_margins * CELLS
    for model in models:
        theirs = model.sketch.cells.reshape(blocks.shape)
        blocks[:, :n_sums] += theirs[:, :n_sums]
        np.maximum(blocks[:, n_sums:], theirs[:, n_sums:], out=blocks[:, n_sums:])
    return sketch._replace(cells=blocks.reshape(-1))


def _centres(models: Sequence[SketchState], shares: Any) -> CentredIds | None:
    """Means over all shards, which the mean of their biases belongs to."""
    every = [model.centres for model in models if model.centres is not None]
    if not every:
        return None
    means = np.average([one.mean for one in every], axis=0, weights=shares)
    weight = np.sum([one.weight for one in every], axis=0)
    return every[0]._replace(mean=means, weight=weight)


def _candidates(
    rule: MissionRule,
    state: OnlineState,
    model: SketchState,
    models: Sequence[SketchState],
) -> Candidates:
    """The best of all candidates, by what they score now."""
    constants = rule.constants(state.target)
    found: Candidates = candidates(model.found.room, len(model.bias))
    for c in range(len(model.bias)):
        ids: Ids = np.unique(np.concatenate([listed(m.found, c) for m in models]))
        scores = rescore(constants, model, c, ids)[1]
        best = np.lexsort((ids, -scores))[: found.room]
        for number in ids[best]:
            found.count[c] += put(found.keys[c], number)
        if len(ids) > found.room:
            found.tau[c] = scores[best].min()
    return found


def _class_totals(learner: OnlineLearner, states: Sequence[OnlineState]) -> Any:
    """Counts of balanced classes, each of which starts from 1; weights stay."""
    first = states[0].class_totals
    if learner.class_weight != "balanced":
        return first
    return first + sum(state.class_totals - 1.0 for state in states[1:])
