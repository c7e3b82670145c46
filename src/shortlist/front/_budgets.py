"""Find the smallest budget as good as the best, of rows in memory or of a stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shortlist._protocols import Observer, RowSource, ShortlistError
from shortlist._shortlist import Shortlist
from shortlist._suspects import first_rows
from shortlist.engines import run
from shortlist.evaluate._choose_k import BudgetCurve, choose_k, judge_ranking
from shortlist.evaluate._whole_table import labels_of, whole_table, with_labels
from shortlist.front._held_rows import HeldRows
from shortlist.front._order import Order, chooser, ranking, watching
from shortlist.sources import split_holdout, take

#: Share of the rows of a stream that budgets are judged by, and how many at most.
HELD_OUT, MOST_HELD_OUT = 0.2, 20_000


def find_budget(
    rows: RowSource,
    order: Order,
    budgets: Sequence[int],
    *,
    cv: Any = None,
    groups: np.ndarray | None = None,
    in_memory: bool = True,
    observe: Observer | None = None,
) -> tuple[BudgetCurve, Shortlist | None]:
    """Find the smallest budget that is as good as the best; see ``evaluate._choose_k``.

    Of a stream one choice, of the largest budget, is made from most rows; its first k are
    judged by folds of the others. That choice comes back too, as a pipe cannot be read
    again to make one of k.
    """
    if in_memory and rows.reiterable:
        blocks, known = with_labels(list(rows.blocks()))
        table = whole_table(rows, blocks)
        groups = None if groups is None else groups[known]
        named = order.among(table.names)
        curve = choose_k(
            chooser(named, table.names),
            table.X,
            table.y,
            classes=order.has_classes(table.y),
            budgets=budgets,
            cv=cv,
            groups=groups,
            seed=order.seed,
            watch=watching(observe, "folds"),
        )
        return curve, None
    train, test = split_holdout(rows, HELD_OUT, order.seed, max_rows=MOST_HELD_OUT)
    learner = order.learner(max(budgets), reiterable=rows.reiterable)
    largest: Shortlist = run(learner, train, observe)
    ranked = ranking(largest)
    if not len(ranked):
        raise ShortlistError(f"{rows.name}: k='auto' found no feature; say k")
    X, codes = take(HeldRows(rows, first_rows(test, MOST_HELD_OUT)), ranked, dense=True)
    known = np.isfinite(codes)
    y = labels_of(rows, codes[known])
    if len(y) < 10:
        raise ShortlistError(
            f"{rows.name}: k='auto' judges by a fifth of the rows, got {len(y)}; say k"
        )
    curve = judge_ranking(
        X[known],
        y,
        np.arange(len(ranked)),
        classes=order.has_classes(y),
        budgets=budgets,
        seed=order.seed,
    )
    return curve, largest


def with_curve(shortlist: Shortlist, curve: BudgetCurve) -> Shortlist:
    """Have a result carry how its budget was found."""
    found = {"metric": curve.metric, "rule": "one standard error"}
    return replace(
        shortlist,
        trace={**shortlist.trace, **curve.trace()},
        params={**shortlist.params, "k_auto": found},
        notes=(*shortlist.notes, curve.line()),
    )
