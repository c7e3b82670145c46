"""FoBa on tables, and as an algorithm for engines."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np

from shortlist._protocols import Capabilities, Fit, Ints
from shortlist.table._foba import Path, Settings, Units, foba
from shortlist.table._problem import TableProblem
from shortlist.table._selected import (
    Found,
    PathStep,
    Search,
    Selected,
    by_size,
    check_always,
    search_learner_of,
)

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
    options=("criterion", "overshoot", "l2", "groups"),
    path=True,
)


def foba_search(
    settings: Settings, search_l2: float | str | None = "auto", **asked: Any
) -> Search:
    """FoBa with these settings, for ``select``; others are those of the problem."""

    def run(problem: TableProblem, k: int, **units: Any) -> Found:
        return Found(foba_path(problem, replace(settings, k=k), **units))

    params = {**asdict(settings), "search_l2": search_l2, **asked}
    asked |= {"tol": settings.tol}
    return Search(
        CAPABILITIES, settings.k, run, params, search_l2=search_l2, asked=asked
    )


def foba_path(
    problem: TableProblem,
    settings: Settings,
    *,
    unit_of: Ints | None = None,
    always: tuple[int, ...] = (),
    never: tuple[int, ...] = (),
) -> Path:
    """Run FoBa on a table; ``unit_of`` is the group of each feature."""
    units, never = problem.units(unit_of, always, never)
    return foba(problem.objective, units, settings, always=always, never=never)


def select_coordinates(
    objective: Any,
    settings: Settings,
    *,
    unit_of: Ints | None = None,
    always: tuple[int, ...] = (),
    never: tuple[int, ...] = (),
) -> tuple[Selected, dict[int, Fit]]:
    """Run FoBa on an objective of a user's own; return its fits too, by size."""
    check_always(always, settings.k)
    free = replace(settings, k=settings.k - len(always))
    units = Units(objective.n_coordinates, unit_of)
    path = foba(objective, units, free, always=always, never=never)

    def entries(fit: Fit) -> PathStep:
        ids, sizes = fit.support.astype(np.uint64), np.abs(fit.weights)
        zeros = np.zeros(len(ids), np.int64)
        return PathStep(ids, zeros, fit.weights, sizes, np.zeros(1), float(fit.value))

    best, latest = by_size(path, len(always), entries)
    fits = {size + len(always): step.fit for size, step in path.best.items()}
    name, grouped = type(objective).__name__, unit_of is not None
    n_examples = int(getattr(objective, "n_samples", 0))
    selected = Selected(
        CAPABILITIES,
        asdict(settings),
        best,
        latest,
        name,
        None,
        grouped,
        n_examples,
        objective.n_coordinates,
    )
    return selected, fits


def _asked(k: int, l2: float | str = "auto", **settings: Any) -> Search:
    return foba_search(Settings(k, **settings), l2=l2)


#: The algorithm that an engine runs; parameters are those of FoBa.
foba_learner = search_learner_of(_asked)
