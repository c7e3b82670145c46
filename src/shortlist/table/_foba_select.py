"""FoBa from a table to a Shortlist, and as an algorithm for engines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import (
    Capabilities,
    Fit,
    Floats,
    Ids,
    Ints,
    ShortlistError,
)
from shortlist._shortlist import Shortlist
from shortlist._targets import Target
from shortlist.losses import spell
from shortlist.table._foba import Settings, Units, foba
from shortlist.table._foba_fit import TableProblem, foba_path, table_problem
from shortlist.table._gather import Table, TableLearner

CAPABILITIES = Capabilities(
    method="foba",
    room="table",
    summary="FoBa: forward-backward greedy, exactly k, the whole path",
    algorithm="shortlist.table._foba_select:foba_learner",
    estimator="shortlist.table:FoBa",
    losses=(
        "squared",
        "logistic",
        "softmax",
        "squared_hinge",
        "huber",
        "poisson",
    ),
    citation=(
        "Liu, Fujimaki, Ye (2014). Forward-Backward Greedy Algorithms for General Convex "
        "Smooth Functions over A Cardinality Constraint. ICML."
    ),
    groups=True,
    outputs=True,
)

Names = Callable[[Ids], list[str]]


class PathStep(NamedTuple):
    """The best support of its size, as entries of a Shortlist."""

    ids: Ids
    margin: Ints
    weights: Floats  #: of the columns as they are
    scores: Floats  #: size of the standardised weights
    intercept: Floats
    objective: float


class Selected(NamedTuple):
    """All that a run of FoBa leaves behind; holds on to none of the data."""

    steps: dict[int, PathStep]  #: best, by number of units, those always in counted
    latest: dict[int, PathStep]  #: reached last, likewise
    loss: str
    target: Target | None  #: None: an objective of the user's own
    grouped: bool
    n_examples: int
    n_features: int | None

    def best_size(self, k: int) -> int:
        """Size of the best support of at most k units; of equals, the largest.

        It is k unless the search stopped before.
        """
        within = sorted((size for size in self.steps if size <= k), reverse=True)
        return min(within, key=lambda size: self.steps[size].objective)

    def best(self, k: int) -> PathStep:
        """Best support of at most k units."""
        return self.steps[self.best_size(k)]

    def at(self, k: int, names: Names, params: dict[str, Any]) -> Shortlist:
        """Publish the best support of at most k units."""
        step = self.best(k)
        n_distinct = len(np.unique(step.ids))
        target = self.target
        notes = [] if target is None or target.note is None else [target.note]
        if self.grouped:
            notes.append(f"k = {k} counts groups; they hold {n_distinct} features")
        return Shortlist(
            method=CAPABILITIES.method,
            room=CAPABILITIES.room,
            loss=self.loss,
            k=max(1, n_distinct) if self.grouped else k,
            ids=step.ids,
            names=tuple(names(step.ids)),
            margin=step.margin,
            weights=step.weights,
            scores=step.scores,
            intercept=step.intercept,
            classes=None if target is None else target.classes,
            n_examples=self.n_examples,
            n_features=self.n_features,
            params=params | {"objective": step.objective},
            notes=tuple(notes),
        )


def select(
    table: Table,
    target: Target,
    settings: Settings,
    *,
    unit_of: np.ndarray | None = None,
    always: tuple[int, ...] = (),
    never: tuple[int, ...] = (),
    **options: Any,
) -> Selected:
    """Run FoBa on a table; ``always`` and ``never`` are units, ``always`` count in k."""
    _check_always(always, settings)
    if target.n_outputs == 1 and target.loss.name not in CAPABILITIES.losses:
        known = ", ".join(CAPABILITIES.losses)
        raise ShortlistError(f"foba works with loss={known}, got {target.loss.name!r}")
    problem = table_problem(
        table.X, table.y, target, sample_weight=table.weight, **options
    )
    free = replace(settings, k=settings.k - len(always))

    def entries(fit: Fit) -> PathStep:
        return _entries(problem, fit, table.ids)

    path = foba_path(problem, free, unit_of=unit_of, always=always, never=never)
    best, latest = (
        {size + len(always): entries(step.fit) for size, step in steps.items()}
        for steps in (path.best, path.latest)
    )
    loss, grouped = spell(target.loss), unit_of is not None
    return Selected(best, latest, loss, target, grouped, len(table.y), table.n_features)


def select_coordinates(
    objective: Any,
    settings: Settings,
    *,
    unit_of: Ints | None = None,
    always: tuple[int, ...] = (),
    never: tuple[int, ...] = (),
) -> tuple[Selected, dict[int, Fit]]:
    """Run FoBa on an objective of a user's own; return its fits too, by size."""
    _check_always(always, settings)
    free = replace(settings, k=settings.k - len(always))
    units = Units(objective.n_coordinates, unit_of)
    path = foba(objective, units, free, always=always, never=never)

    def entries(fit: Fit) -> PathStep:
        ids, sizes = fit.support.astype(np.uint64), np.abs(fit.weights)
        zeros = np.zeros(len(ids), np.int64)
        return PathStep(ids, zeros, fit.weights, sizes, np.zeros(1), float(fit.value))

    best, latest = (
        {size + len(always): entries(step.fit) for size, step in steps.items()}
        for steps in (path.best, path.latest)
    )
    fits = {size + len(always): step.fit for size, step in path.best.items()}
    name, grouped = type(objective).__name__, unit_of is not None
    n_examples = int(getattr(objective, "n_samples", 0))
    selected = Selected(
        best, latest, name, None, grouped, n_examples, objective.n_coordinates
    )
    return selected, fits


def _check_always(always: tuple[int, ...], settings: Settings) -> None:
    if len(always) > settings.k:
        raise ShortlistError(
            f"always= names {len(always)} features, more than the budget k={settings.k}"
        )


def _entries(problem: TableProblem, fit: Fit, ids: Ids) -> PathStep:
    weights, intercept = problem.raw(fit)
    feature, margin = np.divmod(fit.support, problem.n_outputs)
    scores = np.abs(weights) * problem.scale[feature]
    return PathStep(ids[feature], margin, weights, scores, intercept, fit.value)


def foba_learner(
    k: int,
    *,
    loss: Any = "auto",
    classes: Sequence[Any] | None = None,
    always: Sequence[str] = (),
    never: Sequence[str] = (),
    seed: int = 0,
    reiterable: bool = True,
    **settings: Any,
) -> TableLearner:
    """Make the algorithm that an engine runs: gather the rows, then FoBa.

    Other parameters are those of :class:`shortlist.table.FoBa`. Neither ``seed`` nor
    ``reiterable`` matters: nothing is drawn, and the data are read once.
    """
    chosen = Settings(k, **settings)
    params = asdict(chosen)

    def solve(
        table: Table,
        target: Target,
        kept: tuple[int, ...],
        barred: tuple[int, ...],
        names: Names,
    ) -> Shortlist:
        selected = select(table, target, chosen, always=kept, never=barred)
        return selected.at(k, names, params)

    return TableLearner(k, solve, loss, classes, always, never, params)
