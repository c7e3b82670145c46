"""MISSION: select from a feature space that only a sketch of can be kept.

The weights of all features live in a Count-Sketch of fixed size; candidates are those
whose estimates cross a threshold (see ``kernels.heavy_hitters``). This module holds the
rule and the function that makes an algorithm of it; the estimator lives elsewhere, so
that text can be selected from without importing scikit-learn.

References
----------
Aghazadeh, Spring, LeJeune, Dasarathy, Shrivastava, Baraniuk. MISSION: Ultra Large-Scale
Feature Selection using Count-Sketches. ICML 2018.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from shortlist._centring import centred_ids, ids_to_centre, led_by
from shortlist._class_weight import ClassWeight, as_params, check_class_weight
from shortlist._online import OnlineLearner
from shortlist._preparing import Preparing
from shortlist._protocols import Capabilities, Floats, Ids, RowBlock, ShortlistError
from shortlist._rules import ONLINE_LOSSES, Found, Rule, bias_rate
from shortlist._run_settings import check_run
from shortlist._steps import N_TOTALS, is_cautious, mean_norm
from shortlist._targets import Target
from shortlist._units import units_differ
from shortlist.kernels.block_sketch import (
    CELLS,
    block_size,
    block_sketch,
    locate,
    raise_scales,
    spreads,
)
from shortlist.kernels.count_sketch import MAX_ROWS
from shortlist.kernels.heavy_hitters import candidates, listed
from shortlist.kernels.id_table import n_slots
from shortlist.sketch._kernels import SketchState, explore, places_of, rescore
from shortlist.sketch._memory import blocks_within
from shortlist.sketch._paper import Forgetting, PaperRule
from shortlist.sketch._step_rules import (
    GRADIENT,
    NATURAL,
    NEWTON,
    Gradient,
    Natural,
    Newton,
    StepRule,
    is_informed,
    is_stacked,
)
from shortlist.sources.pairs import Interactions, check_interactions

CAPABILITIES = Capabilities(
    method="mission",
    room="sketch",
    summary="MISSION: weights in a Count-Sketch, for features without end",
    algorithm="shortlist.sketch._mission:mission",
    estimator="shortlist.sketch:Mission",
    losses=ONLINE_LOSSES,
    citation=(
        "Aghazadeh, Spring, LeJeune, Dasarathy, Shrivastava, Baraniuk (2018). MISSION: "
        "Ultra Large-Scale Feature Selection using Count-Sketches. ICML."
    ),
    options=(
        "memory",
        "rows",
        "recipe",
        "budget",
        "passes",
        "log1p",
        "normalize",
        "scale",
        "class_weight",
        "interactions",
        "sketch",
        "gamma",
        "lazy",
    ),
)

#: Ridge of steps and refits, in units of the mean squared norm of an example.
RIDGE = 0.2

RECIPES = ("auto", "refit", "newton", "shards", "paper")

_STEPS: dict[str, Gradient | Newton | Natural] = {
    "refit": GRADIENT,
    "newton": NEWTON,
    "shards": NATURAL,
}


def n_candidates(k: int) -> int:
    """How many candidates a margin keeps, of which a refit then chooses k."""
    return max(1024, 4 * k) if k <= 4096 else 2 * k


@dataclass(frozen=True)
class MissionRule:
    """Weights in a sketch, by gradient or by diagonal Newton steps.

    The latter in weights, or in sums that those of other runs can be added to.
    """

    k: int
    step: Gradient | Newton | Natural
    memory: str | int
    rows: int
    seed: int
    #: whether to keep the largest value of each feature; None: as the first rows suggest
    scaled: bool | None = False
    weighs_all: ClassVar[bool] = True

    def constants(self, target: Target) -> StepRule:
        """How to step, for a target."""
        return StepRule(self.step, RIDGE, bias_rate(target), is_cautious(target.loss))

    def stepping(self, target: Target, model: SketchState) -> StepRule:
        """The same for a model.

        Of a growing feature AdaGrad's bias would take up whatever the weight is wrong by,
        again and again; so where features are centred the bias takes Newton steps.
        """
        constants = self.constants(target)
        return constants if model.centres is None else constants._replace(bias_rate=0.0)

    def create(
        self, target: Target, n_features: int | None, rows: Sequence[RowBlock] = ()
    ) -> SketchState:
        """Fresh sketch and candidates, within the memory given."""
        scaled = units_differ(rows) if self.scaled is None else self.scaled
        margins, room = target.n_margins, n_candidates(self.k)
        if n_features is not None:
            room = min(room, max(self.k, n_features))
        slots = n_slots(2 * room) * margins
        extras = {
            "informed": is_informed(self.step),
            "stacked": is_stacked(self.step),
            "scaled": scaled,
        }
        numbers = block_size(self.rows, margins, **extras)
        n_blocks = blocks_within(self.memory, self.rows, numbers, slots)
        if n_features is not None:
            n_blocks = min(n_blocks, -(-max(n_features, 1) // CELLS))
        sketch = block_sketch(
            self.rows, n_blocks, margins, self.seed, n_ids=n_features, **extras
        )
        far, reach = ids_to_centre(rows if is_informed(self.step) else ())
        if scaled and len(far):
            # or the first steps would be as long as values are small
            places = np.empty(len(far), np.uint64)
            locate(sketch, far, places)
            raise_scales(sketch, places, reach.astype(np.float32))
        bias, totals = np.zeros(margins), np.zeros(N_TOTALS)
        members = candidates(room, margins)
        fresh = SketchState(sketch, members, bias, np.zeros(margins), totals)
        return centring(fresh, target, far)

    def learn(self, model: SketchState, target: Target, block: RowBlock) -> None:
        """Learn from a block, in place."""
        moves = None
        if model.centres is not None:
            block, moves = led_by(model.centres, block), model.centres.mean.copy()
        explore(target.loss, self.stepping(target, model), model, block, moves)

    def decided(self, model: SketchState) -> dict[str, Any]:
        """What the first rows have settled, for the result."""
        return {"scale": "max_abs" if model.sketch.scaled else None}

    def totals(self, model: SketchState) -> Floats:
        """Running totals."""
        return model.totals

    def candidates(self, model: SketchState) -> Ids:
        """All in the sets, which hold more than ``found`` gives between two cuts."""
        margins = range(len(model.found.count))
        return np.concatenate([listed(model.found, c) for c in margins])

    def found(self, model: SketchState, target: Target, always: Ids) -> Found:
        """Candidates of every margin, with their estimates as of now."""
        constants, margins = self.constants(target), target.n_margins
        ridge = RIDGE * float(mean_norm(model.totals))
        parts = []
        for c in range(margins):
            ids = np.union1d(listed(model.found, c), always)
            weight, score, information, square = rescore(constants, model, c, ids)
            # Between two cuts a set holds up to twice as many as there is room for.
            score[np.isin(ids, always)] = np.inf
            best = np.sort(np.lexsort((ids, -score))[: model.found.room])
            ids, square = ids[best], square[best].astype(float)
            # Collisions show in the spread of the rows, noise in the information.
            error, known = np.full(len(ids), np.nan), information[best] + ridge * square
            if is_informed(self.step):  # whose steps tell nothing of noise
                spreads(model.sketch, places_of(model, ids), c, error)
            if is_stacked(self.step):
                error /= known
            weight, score = weight[best].astype(float), np.sqrt(score[best])
            margin = np.full(len(ids), c)
            parts.append((ids, margin, weight, score, error, np.sqrt(square), known))
        ids, margin, weight, score, error, scale, known = map(
            np.concatenate, zip(*parts, strict=True)
        )
        bias = self._bias(model, target)
        return Found(ids, margin, weight, score, error, bias, scale, known)

    def _bias(self, model: SketchState, target: Target) -> Floats:
        """Biases for values as they come."""
        bias: Floats = model.bias.copy()
        if model.centres is not None:
            ids, mean = model.centres.ids, model.centres.mean
            for c in range(len(bias)):
                weight = rescore(self.constants(target), model, c, ids)[0]
                bias[c] -= weight.astype(float) @ mean
        return bias


def centring(model: SketchState, target: Target, ids: Ids) -> SketchState:
    """A model that has learned nothing yet, which is to centre some features."""
    bias_scale = np.zeros(len(model.bias))
    if not len(ids):
        return model._replace(centres=None, bias_scale=bias_scale)
    if target.loss.target != "real":  # what suits the first label alone may be infinite
        bias_scale[:] = 1.0
    return model._replace(centres=centred_ids(ids), bias_scale=bias_scale)


def mission(
    k: int,
    *,
    loss: Any = "auto",
    classes: Sequence[Any] | None = None,
    memory: str | int = "16MB",
    rows: int = 3,
    recipe: str = "auto",
    budget: str = "per_class",
    passes: int = 1,
    log1p: bool = False,
    normalize: str | None = None,
    scale: str | None = "auto",
    class_weight: ClassWeight = None,
    interactions: Interactions = None,
    sketch: str = "count",
    gamma: float | None = None,
    lazy: float = 0.0,
    always: Sequence[str] = (),
    never: Sequence[str] = (),
    seed: int = 0,
    reiterable: bool = True,
) -> OnlineLearner:
    """Make the algorithm that an engine runs.

    Parameters are those of :class:`shortlist.sketch.Mission`; ``reiterable`` says
    whether the data can be read again, which is what recipe="auto" goes by. With
    ``interactions`` the source to run on should be a PairSource.
    """
    if recipe not in RECIPES:
        raise ShortlistError(f"recipe should be one of {RECIPES}, got {recipe!r}")
    is_whole = isinstance(rows, Integral) and not isinstance(rows, bool)
    if not is_whole or rows not in range(1, MAX_ROWS + 1, 2):
        raise ShortlistError(f"rows should be odd, from 1 to {MAX_ROWS}, got {rows!r}")
    check_run(budget, passes, seed)
    preparing = Preparing(log1p, normalize)
    preparing.check()
    check_class_weight(class_weight)
    pairs = check_interactions(interactions)
    if recipe == "auto":
        recipe = "refit" if reiterable else "newton"
    scaled = _is_scaled(scale, recipe)
    forgetting = _check_variant(recipe, sketch, gamma, lazy)
    variant = {"sketch": sketch, "gamma": gamma, "lazy": lazy}
    rule: Rule
    if recipe == "paper":
        rule = PaperRule(k, memory, rows, seed, sketch, forgetting)
    else:
        rule = MissionRule(k, _STEPS[recipe], memory, rows, seed, scaled)
    return OnlineLearner(
        method=CAPABILITIES.method,
        room=CAPABILITIES.room,
        rule=rule,
        k=k,
        loss=loss,
        classes=classes,
        passes=passes,
        refit=recipe == "refit",
        budget=budget,
        ridge=RIDGE,
        always=always,
        never=never,
        preparing=preparing,
        class_weight=class_weight,
        params={
            "k": k,
            "memory": memory,
            "rows": rows,
            "recipe": recipe,
            "passes": passes,
            "seed": seed,
            **as_params(class_weight),
            **({} if pairs is None else {"interactions": pairs}),
            **(variant if recipe == "paper" else {}),
        },
    )


def _is_scaled(scale: str | None, recipe: str) -> bool | None:
    """Whether features are to be scaled; None if the first rows should tell."""
    if scale not in ("auto", "max_abs", None):
        raise ShortlistError(
            f"scale should be 'auto', 'max_abs' or None, got {scale!r}"
        )
    if recipe == "paper" and scale == "max_abs":
        raise ShortlistError("recipe='paper' knows no scales, got scale='max_abs'")
    return None if scale == "auto" else scale == "max_abs"


def _check_variant(
    recipe: str, sketch: str, gamma: float | None, lazy: float
) -> Forgetting:
    """Refuse variants of the paper that make no sense, or that another recipe lacks."""
    if sketch not in ("count", "identity"):
        raise ShortlistError(f"sketch should be 'count' or 'identity', got {sketch!r}")
    if gamma is not None and not (isinstance(gamma, Real) and 0.0 < gamma < 1.0):
        raise ShortlistError(
            f"gamma should be None or lie between 0 and 1, got {gamma!r}"
        )
    if not (isinstance(lazy, Real) and 0.0 <= lazy < math.inf):
        raise ShortlistError(f"lazy should be at least 0 and finite, got {lazy!r}")
    plain = sketch == "count" and gamma is None and lazy == 0.0
    if recipe != "paper" and not plain:
        raise ShortlistError(
            "sketch, gamma and lazy are variants of recipe='paper', got recipe="
            f"{recipe!r} with sketch={sketch!r}, gamma={gamma!r}, lazy={lazy!r}"
        )
    return Forgetting(1.0 if gamma is None else float(gamma), float(lazy))
