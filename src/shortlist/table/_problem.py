"""A table as a problem: the objective for its loss, its units, its weights as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shortlist._protocols import Fit, Floats, Ints, ShortlistError
from shortlist._targets import Target
from shortlist.losses import Squared, SquaredVector
from shortlist.objectives import GramObjective, LinearObjective, NonNegative
from shortlist.objectives.gram import mean_and_spread
from shortlist.table._foba import Units

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

    def units(
        self,
        unit_of: Ints | None = None,
        always: tuple[int, ...] = (),
        never: tuple[int, ...] = (),
    ) -> tuple[Units, tuple[int, ...]]:
        """Features, or groups of them, over all margins; and those to leave out.

        The latter are ``never`` and what says nothing, unless it is ``always`` in.
        """
        n_features = len(self.scale)
        own = np.arange(n_features) if unit_of is None else unit_of
        constant = set(own.tolist()) - set(own[~self.constant].tolist())
        if unit_of is not None or self.n_outputs > 1:
            unit_of = np.repeat(own, self.n_outputs)
        scale = None
        if not self.is_standardised:
            scale = np.repeat(self.scale, self.n_outputs)
        units = Units(n_features * self.n_outputs, unit_of, scale)
        return units, tuple({*never, *constant} - set(always))


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
    gram: bool = True,
) -> TableProblem:
    """Set up the objective for a table with encoded labels.

    ``gram``: least squares by columns of the Gram matrix, for methods whose supports
    change by few features at a time.
    """
    if positive and target.n_margins > 1:
        raise ShortlistError(
            "positive=True goes with two classes or one number to predict, got "
            f"{target.n_margins} {'outputs' if target.classes is None else 'classes'}"
        )
    penalty = float(l2) if not isinstance(l2, str) else None
    own: Any
    squared = isinstance(target.loss, Squared | SquaredVector)
    if squared and gram:
        grams = GramObjective(
            X,
            y,
            l2=penalty or 0.0,
            sample_weight=sample_weight,
            fit_intercept=fit_intercept,
            standardize=standardize,
        )
        own = NonNegative(grams) if positive else grams
        return TableProblem(own, grams.n_outputs, grams.scale, ~grams.usable, True)
    weight = np.ones(len(y)) if sample_weight is None else sample_weight
    _, spread = mean_and_spread(X, weight / weight.sum(), center=fit_intercept)
    flat = spread == 0.0
    scale = np.where(flat | (not standardize), 1.0, spread)
    if penalty is None:
        penalty = 0.0 if squared else auto_l2(weight)
    objective = LinearObjective(
        target.loss,
        X,
        y,
        l2=penalty * scale**2,
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
