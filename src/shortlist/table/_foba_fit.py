"""FoBa on a table: the objective for its loss, and the path as weights of its columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shortlist._protocols import Fit, Floats, Ints, ShortlistError
from shortlist._targets import Target
from shortlist.losses import Squared, SquaredVector
from shortlist.objectives import GramObjective, LinearObjective, NonNegative
from shortlist.objectives.gram import mean_and_spread
from shortlist.table._foba import Path, Settings, Units, foba

#: Ridge of standardised weights where classes may be separable, in units of one
#: example's loss: weights of about 1/2, before any example is seen.
AUTO_RIDGE = 5.0


@dataclass(frozen=True)
class TableProblem:
    """An objective over the columns of a table, and how to read its fits."""

    objective: Any
    n_outputs: int
    scale: Floats  #: of each column; weights times it are standardised
    constant: np.ndarray  #: columns that say nothing
    is_standardised: bool  #: whether the objective's own weights are so already

    def raw(self, fit: Fit) -> tuple[Floats, Floats]:
        """Weights for the columns as they are, and the intercepts."""
        weights = fit.weights
        if self.is_standardised:
            weights = weights / self.scale[fit.support // self.n_outputs]
        none = np.zeros(self.n_outputs)
        return weights, fit.nuisance if len(fit.nuisance) else none


def table_problem(
    X: Any,
    y: Floats,
    target: Target,
    *,
    sample_weight: Any = None,
    standardize: bool = True,
    fit_intercept: bool = True,
    l2: float | str = "auto",
    positive: bool = False,
) -> TableProblem:
    """Set up the objective for a table with encoded labels."""
    if positive and target.n_margins > 1:
        raise ShortlistError(
            "positive=True goes with two classes or one number to predict, got "
            f"{target.n_margins} {'outputs' if target.classes is None else 'classes'}"
        )
    penalty = float(l2) if not isinstance(l2, str) else None
    own: Any
    if isinstance(target.loss, Squared | SquaredVector):
        gram = GramObjective(
            X,
            y,
            l2=penalty or 0.0,
            sample_weight=sample_weight,
            fit_intercept=fit_intercept,
            standardize=standardize,
        )
        own = NonNegative(gram) if positive else gram
        return TableProblem(own, gram.n_outputs, gram.scale, ~gram.usable, True)
    weight = np.ones(len(y)) if sample_weight is None else sample_weight
    _, spread = mean_and_spread(X, weight / weight.sum(), center=fit_intercept)
    flat = spread == 0.0
    scale = np.where(flat | (not standardize), 1.0, spread)
    objective = LinearObjective(
        target.loss,
        X,
        y,
        l2=(auto_l2(weight) if penalty is None else penalty) * scale**2,
        sample_weight=sample_weight,
        fit_intercept=fit_intercept,
        n_outputs=target.n_margins if target.loss.is_vector else None,
    )
    own = NonNegative(objective) if positive else objective
    return TableProblem(own, objective.n_outputs, scale, flat, False)


def auto_l2(weight: Floats) -> float:
    """Penalty for losses other than the squared one.

    Weights of examples count as repetitions, but not those that only add up to little.
    """
    n_examples = max(float(weight.sum()), float(np.count_nonzero(weight)))
    return AUTO_RIDGE / n_examples


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
    own = np.arange(n_features) if unit_of is None else unit_of
    constant = set(own.tolist()) - set(own[~problem.constant].tolist())
    never = tuple({*never, *constant} - set(always))
    if unit_of is not None or problem.n_outputs > 1:
        unit_of = np.repeat(own, problem.n_outputs)
    scale = None
    if not problem.is_standardised:
        scale = np.repeat(problem.scale, problem.n_outputs)
    units = Units(n_features * problem.n_outputs, unit_of, scale)
    return foba(problem.objective, units, settings, always=always, never=never)
