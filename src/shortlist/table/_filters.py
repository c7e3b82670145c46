"""From a table to a Shortlist by a filter: a method that ranks without a model.

A linear model is then fitted on the features that were chosen, so that a filter predicts
like any other selector; it has no say in the choice. Categories have no linear model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import Capabilities, Floats, Ints
from shortlist._shortlist import Shortlist
from shortlist._targets import Target
from shortlist.losses import spell
from shortlist.table._gather import Table, TableLearner
from shortlist.table._problem import TableProblem, table_problem
from shortlist.table._selected import Names, check_always, learner_of

#: What the model on the chosen features may be fitted by.
LOSSES = ("squared", "logistic", "softmax", "squared_hinge", "huber", "poisson")


class Ranking(NamedTuple):
    """What a filter leaves behind."""

    columns: Ints  #: chosen
    scores: Floats  #: of the chosen, larger is better
    every: Floats  #: what the filter says of each column of the table
    trace: Mapping[str, np.ndarray] = {}


@dataclass(frozen=True)
class Filter:
    """A filter, as it is asked for.

    Parameters
    ----------
    capabilities : Capabilities
    k : int
        The budget; features that are always in count.
    run : callable
        Called with a Table, the target, how many to choose, and the keywords
        ``candidates`` and ``categorical`` (masks of columns) and ``always`` (columns,
        which are to be among the chosen); returns a Ranking.
    params : mapping
        Settings, for the result.
    """

    capabilities: Capabilities
    k: int
    run: Callable[..., Ranking]
    params: Mapping[str, Any] = field(default_factory=dict)


def select_by(
    table: Table,
    target: Target,
    asked: Filter,
    names: Names,
    *,
    always: tuple[int, ...] = (),
    never: tuple[int, ...] = (),
    categorical: NDArray[np.bool_] | None = None,
    refit: bool = True,
    **options: Any,
) -> tuple[Shortlist, Ranking]:
    """Filter the columns of a table; ``options`` are those of the model's problem.

    Columns that do not vary are no candidates, as in every method of this room.
    """
    check_always(always, asked.k)
    problem = table_problem(
        table.X,
        table.y,
        target,
        sample_weight=table.weight,
        gram=False,
        always=np.array(always, np.int64),
        **options,
    )
    candidates = ~problem.constant
    candidates[list(never)] = False
    candidates[list(always)] = True
    if categorical is None:
        categorical = np.zeros(len(candidates), bool)
    ranking = asked.run(
        table,
        target,
        min(asked.k, int(candidates.sum())),
        candidates=candidates,
        always=always,
        categorical=categorical,
    )
    has_model = refit and not categorical.any()
    fitted = _fitted if has_model else _bare
    shortlist = Shortlist(
        method=asked.capabilities.method,
        room=asked.capabilities.room,
        k=asked.k,
        n_examples=len(table.y),
        n_features=table.n_features,
        trace=ranking.trace,
        **fitted(table, target, asked, ranking, problem, names),
    )
    return shortlist, ranking


def _fitted(
    table: Table,
    target: Target,
    asked: Filter,
    ranking: Ranking,
    problem: TableProblem,
    names: Names,
) -> dict[str, Any]:
    """Parts of a Shortlist with a model: an entry for each feature and margin."""
    order = np.argsort(ranking.columns)
    columns, scores = ranking.columns[order], ranking.scores[order]
    n_margins = problem.n_outputs
    support = columns[:, np.newaxis] * n_margins + np.arange(n_margins)
    fit = problem.final.refit(support.ravel())
    weights, intercept = problem.raw(fit)
    ids = np.repeat(table.ids[columns], n_margins)
    return {
        "loss": spell(target.loss),
        "ids": ids,
        "names": tuple(names(ids)),
        "margin": np.tile(np.arange(n_margins), len(columns)),
        "weights": weights,
        "scores": np.repeat(scores, n_margins),
        "intercept": intercept,
        "classes": target.classes,
        "params": {**asked.params, "objective": fit.value},
        "notes": () if target.note is None else (target.note,),
    }


def _bare(
    table: Table,
    target: Target,
    asked: Filter,
    ranking: Ranking,
    problem: TableProblem,
    names: Names,
) -> dict[str, Any]:
    """Parts of a Shortlist without a model: an entry for each feature, no loss."""
    ids = table.ids[ranking.columns]
    return {
        "loss": "none",
        "ids": ids,
        "names": tuple(names(ids)),
        "margin": np.zeros(len(ids), np.int64),
        "scores": ranking.scores,
        "intercept": np.zeros(1),
        "params": asked.params,
        "notes": ("chosen by a filter; there is no model to predict with",),
    }


def best_columns(
    scores: Floats,
    n_chosen: int,
    candidates: NDArray[np.bool_],
    always: tuple[int, ...],
) -> Ints:
    """Columns with the largest scores, and those always in; of equals the first."""
    first = np.zeros(len(scores), bool)
    first[list(always)] = True
    order = np.lexsort((-scores, ~first, ~candidates))
    return np.asarray(order[:n_chosen], np.int64)


def filter_learner_of(make: Callable[..., Filter]) -> Callable[..., TableLearner]:
    """``learner_of`` for filters."""

    def publish(
        asked: Filter, table: Table, target: Target, names: Names, **units: Any
    ) -> Shortlist:
        return select_by(table, target, asked, names, **units)[0]

    return learner_of(make, publish)
