"""From a table to what GSR minimises: targets, centring and units of measurement.

GSR works with targets whose rows have length 1 on average, and with columns of unit
spread: where it starts, what it takes for zero and where it stops are then the same in
whatever units a user measures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import Floats, Ints
from shortlist.objectives.moments import mean_and_spread
from shortlist.table._gsr_copies import copies
from shortlist.table._gsr_problem import GsrProblem
from shortlist.table._gsr_table import scaled_table
from shortlist.table._problem import TableProblem

#: A target whose spread is this share of its mean, or less, is a constant.
_CONSTANT = 1e-12


class Prepared(NamedTuple):
    """A problem in GSR's units, and the way back."""

    problem: GsrProblem
    columns: Ints  #: of the table
    units: Ints  #: in the table's numbers
    copies: Ints  #: units that are others again, and do not take part
    level: Floats | None  #: what was taken off targets that stand for classes
    y_scale: float
    x_scale: float  #: common to all columns; 1 where these are standardised

    @property
    def weight_unit(self) -> float:
        """A user's norm of weights over ours."""
        return self.y_scale / self.x_scale

    def lam_unit(self, r: float, p: float) -> float:
        """A user's lam over ours."""
        return float(self.y_scale**r / self.weight_unit**p)

    def lam_for(self, lam: float, p: float) -> Callable[[float], float]:
        """A user's lam in our units, for each r."""
        return lambda r: lam / self.lam_unit(r, p)


def prepare(
    problem: TableProblem, own: Ints, always: tuple[int, ...], never: tuple[int, ...]
) -> Prepared | None:
    """Gather what GSR needs; None if there is nothing to explain, or to explain it by.

    Parameters
    ----------
    problem : TableProblem
        Its objective is a LinearObjective.
    own : ndarray of shape (n_features,)
        Unit of each feature.
    always, never : tuple of int
        Units.
    """
    objective = problem.objective
    columns = np.flatnonzero(~np.isin(own, never))
    rows = np.flatnonzero(objective.sample_weight > 0.0)
    weight = objective.sample_weight[rows]
    Y = _targets(objective)[rows]
    level = weight @ Y / weight.sum() * objective.fit_intercept
    Y = Y - level
    y_scale = float(np.sqrt(weight @ np.sum(Y**2, axis=1) / weight.sum()))
    if not len(columns) or y_scale <= _CONSTANT * np.abs(level).max():
        return None
    share = objective.sample_weight / objective.sample_weight.sum()
    mean, spread = mean_and_spread(objective.X, share, center=objective.fit_intercept)
    single = columns[np.bincount(own)[own[columns]] == 1]
    again = copies(
        objective.X,
        single,
        np.isin(own[single], always),
        objective.sample_weight > 0.0,
        (mean, spread, problem.scale),
        centred=objective.fit_intercept,
    )
    copied = own[single[again]]
    columns = np.setdiff1d(columns, single[again])
    ratios = (spread / problem.scale)[columns]
    ratios = ratios[ratios > 0.0]
    x_scale = float(np.sqrt(np.mean(ratios**2))) if len(ratios) else 1.0
    scale = x_scale * problem.scale[columns]
    table = scaled_table(objective.X, columns, rows, mean[columns], scale)
    units, unit_of = np.unique(own[columns], return_inverse=True)
    Y = (Y / y_scale).astype(table.dtype)
    kept, centred = np.isin(units, always), bool(objective.fit_intercept)
    groups = None if problem.row_groups is None else problem.row_groups[rows]
    gsr = GsrProblem(table, Y, weight, unit_of, kept, centred, groups=groups)
    of_classes = level / y_scale if objective.loss.is_classifier else None
    return Prepared(gsr, columns, units, copied, of_classes, y_scale, x_scale)


def _targets(objective: Any) -> Floats:
    """What is fitted: numbers as they are, classes as -1 and +1."""
    y: Floats = objective.y
    if objective.loss.target == "class":
        codes = np.arange(objective.n_outputs)
        return np.where(y[:, np.newaxis] == codes, 1.0, -1.0)
    return y if y.ndim == 2 else y[:, np.newaxis]
