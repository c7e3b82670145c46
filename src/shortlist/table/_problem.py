"""A table as a problem: the objective for its loss, its units, its weights as they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shortlist._protocols import Fit, Floats, Ints, ShortlistError
from shortlist._targets import Target
from shortlist.losses import Squared, SquaredVector
from shortlist.objectives import GramObjective, LinearObjective, NonNegative
from shortlist.objectives.checks import as_table
from shortlist.objectives.gram import BLOCK as GRAM_BLOCK
from shortlist.objectives.moments import mean_and_spread
from shortlist.table._foba import Path, Step, Units

#: Ridge of standardised weights where classes may be separable, in units of one
#: example's loss: weights of about 1/2, before any example is seen.
AUTO_RIDGE = 5.0
#: While a support is searched for, that many times as much: with few examples a greedy
#: choice that is held back errs less (papers/foba has the figures).
SEARCH_RIDGE = 10.0
#: Share of the ridge that features which are always in keep: too little to notice, enough
#: for a minimum where they separate the classes.
ALWAYS_RIDGE = 1e-10
#: Least squares of a sparse table go without Gram columns if some blocks of these, which
#: are dense, would take more memory than so many tables (or than nobody minds).
GRAM_LIMIT = 4.0
_BLOCKS, _SMALL = 4, 1 << 24


@dataclass(frozen=True)
class TableProblem:
    """An objective over the columns of a table, and how to read its fits."""

    objective: Any  #: what a search goes by
    final: Any  #: what the weights of the supports it finds minimise
    n_outputs: int
    scale: Floats  #: of each column; weights times it are standardised
    constant: np.ndarray  #: columns that say nothing
    is_standardised: bool  #: whether the objective's own weights are so already
    row_groups: Ints | None = None  #: for methods that hold rows out for themselves

    def raw(self, fit: Fit) -> tuple[Floats, Floats]:
        """Weights for the columns as they are, and the intercepts."""
        weights = fit.weights
        if self.is_standardised:
            weights = weights / self.scale[fit.support // self.n_outputs]
        none = np.zeros(self.n_outputs)
        return weights, fit.nuisance if len(fit.nuisance) else none

    def weighed(self, path: Path) -> Path:
        """The same supports with the weights that count, and their objective."""
        if self.final is self.objective:
            return path
        by_units: dict[tuple[int, ...], Step] = {}
        for step in (*path.best.values(), *path.latest.values()):
            if step.units not in by_units:
                fit = self.final.refit(step.fit.support, step.fit)
                by_units[step.units] = replace(step, fit=fit)
        best, latest = (
            {size: by_units[step.units] for size, step in steps.items()}
            for steps in (path.best, path.latest)
        )
        return replace(path, best=best, latest=latest)

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
    search_l2: float | str | None = None,
    positive: bool = False,
    gram: bool = True,
    always: Ints | None = None,
    **limits: Any,
) -> TableProblem:
    """Set up the objective for a table with encoded labels.

    ``search_l2``: penalty while supports are searched for, if not l2 ("auto": as FoBa
    has it). ``gram``: least squares by columns of the Gram matrix, for methods whose
    supports change by few features at a time. ``always``: columns that are not penalised.
    ``limits``: ``dense_limit`` and ``tol`` of LinearObjective.
    """
    X = as_table(X)
    if positive and target.n_margins > 1:
        raise ShortlistError(
            "positive=True goes with two classes or one number to predict, got "
            f"{target.n_margins} {'outputs' if target.classes is None else 'classes'}"
        )
    squared = isinstance(target.loss, Squared | SquaredVector)
    weight = np.ones(len(y)) if sample_weight is None else sample_weight
    penalty = 0.0 if squared else auto_l2(weight)
    if not isinstance(l2, str):
        penalty = float(l2)
    of_search = penalty
    if search_l2 == "auto" and isinstance(l2, str):
        of_search = SEARCH_RIDGE * penalty
    elif search_l2 is not None and not isinstance(search_l2, str):
        of_search = float(search_l2)
    common = {"sample_weight": sample_weight, "fit_intercept": fit_intercept}
    gram = gram and squared and _has_room(X)
    if gram:

        def make(l2: float) -> Any:
            penalties = _penalties(l2, X.shape[1], always)
            return GramObjective(X, y, l2=penalties, standardize=standardize, **common)

        own = make(of_search)
        n_outputs, scale, flat = own.n_outputs, own.scale, ~own.usable
    else:
        _, spread = mean_and_spread(X, weight / weight.sum(), center=fit_intercept)
        flat = spread == 0.0
        scale = np.where(flat | (not standardize), 1.0, spread)
        n_margins = target.n_margins if target.loss.is_vector else None
        common |= {"n_outputs": n_margins, **limits}

        def make(l2: float) -> Any:
            penalties = _penalties(l2, X.shape[1], always) * scale**2
            return LinearObjective(target.loss, X, y, l2=penalties, **common)

        own = make(of_search)
        n_outputs = own.n_outputs
    if positive:
        own = NonNegative(own)
    final = own
    if of_search != penalty:
        final = NonNegative(make(penalty)) if positive else make(penalty)
    return TableProblem(
        own,
        final,
        n_outputs,
        scale,
        flat,
        is_standardised=gram,
    )


def _penalties(l2: float, n_features: int, always: Ints | None) -> float | Floats:
    """Ridge of each standardised weight."""
    if always is None or not len(always) or l2 == 0.0:
        return l2
    penalties = np.full(n_features, l2)
    penalties[always] = ALWAYS_RIDGE * l2
    return penalties


def _has_room(X: Any) -> bool:
    """Whether Gram columns, which are dense, are no heavier than the table deserves."""
    if not hasattr(X, "tocsr"):
        return True
    held = X.data.nbytes + X.indices.nbytes
    needed = 8 * _BLOCKS * GRAM_BLOCK * X.shape[1]
    return bool(needed <= max(GRAM_LIMIT * held, _SMALL))


def auto_l2(weight: Floats) -> float:
    """Penalty for losses other than the squared one.

    Weights of examples count as repetitions, but not those that only add up to little.
    """
    n_examples = max(float(weight.sum()), float(np.count_nonzero(weight)))
    return AUTO_RIDGE / n_examples
