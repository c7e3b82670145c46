"""FoBa on a table: the objective for its loss, and the path as weights of its columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shortlist._protocols import Fit, Floats, Ints
from shortlist._targets import Target
from shortlist.losses import Squared
from shortlist.objectives import GramObjective, LinearObjective
from shortlist.objectives.columns import column_moments
from shortlist.table._foba import Path, Settings, Units, foba

#: Ridge of standardised weights where classes may be separable, per example's loss.
AUTO_L2 = 1e-4


@dataclass(frozen=True)
class TableProblem:
    """An objective over the columns of a table, and how to read its fits."""

    objective: Any
    n_outputs: int
    scale: Floats  #: of each column; weights times it are standardised
    constant: np.ndarray  #: columns that say nothing

    def raw(self, fit: Fit) -> tuple[Floats, Floats]:
        """Weights for the columns as they are, and the intercepts."""
        if hasattr(self.objective, "raw"):
            weights, intercept = self.objective.raw(fit)
            return weights, intercept
        return fit.weights, fit.nuisance


def table_problem(
    X: Any,
    y: Floats,
    target: Target,
    *,
    sample_weight: Any = None,
    standardize: bool = True,
    fit_intercept: bool = True,
    l2: float | str = "auto",
) -> TableProblem:
    """Set up the objective for a table with encoded labels."""
    penalty = float(l2) if not isinstance(l2, str) else None
    if isinstance(target.loss, Squared):
        gram = GramObjective(
            X,
            y,
            l2=penalty or 0.0,
            sample_weight=sample_weight,
            fit_intercept=fit_intercept,
            standardize=standardize,
        )
        return TableProblem(gram, 1, gram.scale, ~gram.usable)
    weight = np.ones(len(y)) if sample_weight is None else sample_weight
    mean, square = column_moments(X, weight / weight.sum())
    spread = np.sqrt(np.maximum(square - mean**2 * fit_intercept, 0.0))
    flat = spread <= 1e-7 * np.sqrt(square)
    scale = np.where(flat | (not standardize), 1.0, spread)
    objective = LinearObjective(
        target.loss,
        X,
        y,
        l2=(AUTO_L2 if penalty is None else penalty) * scale**2,
        sample_weight=sample_weight,
        fit_intercept=fit_intercept,
        n_outputs=target.n_margins if target.loss.is_vector else None,
    )
    return TableProblem(objective, objective.n_outputs, scale, flat)


def foba_path(
    problem: TableProblem,
    settings: Settings,
    *,
    unit_of: Ints | None = None,
    always: tuple[int, ...] = (),
    never: tuple[int, ...] = (),
) -> Path:
    """Run FoBa on a table; units are features, or groups of them, over all margins."""
    n_features = len(problem.scale)
    if unit_of is None:
        barred = {*never, *np.flatnonzero(problem.constant).tolist()} - set(always)
        never = tuple(barred)
        if problem.n_outputs > 1:
            unit_of = np.arange(n_features)
    if unit_of is not None:
        unit_of = np.repeat(unit_of, problem.n_outputs)
    scale = None
    if not isinstance(problem.objective, GramObjective):
        scale = np.repeat(problem.scale, problem.n_outputs)
    units = Units(n_features * problem.n_outputs, unit_of, scale)
    return foba(problem.objective, units, settings, always=always, never=never)
