"""Find the smallest budget as good as the best, of rows in memory or of a stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shortlist._protocols import Ints, Observer, RowSource, ShortlistError
from shortlist._shortlist import Shortlist
from shortlist._splits import cv_among
from shortlist._suspects import first_rows
from shortlist.engines import run
from shortlist.evaluate._choose_k import (
    BudgetCurve,
    choose_k,
    judge_chosen,
    usual_budgets,
)
from shortlist.evaluate._examples import weights_that_differ
from shortlist.evaluate._held_rows import HeldRows
from shortlist.evaluate._to_split import ToSplit
from shortlist.evaluate._whole_table import labels_of, whole_table, with_labels
from shortlist.front._order import Order, chooser, watching
from shortlist.sources import split_holdout, take
from shortlist.sources.holdout import split_rows

#: Share of the rows of a stream that budgets are judged by, and how many at most.
HELD_OUT, MOST_HELD_OUT = 0.2, 20_000


def find_budget(
    to_split: ToSplit,
    order: Order,
    budgets: Sequence[int],
    *,
    in_memory: bool = True,
    observe: Observer | None = None,
) -> tuple[BudgetCurve, Shortlist | None]:
    """Find the smallest budget that is as good as the best; see ``evaluate._choose_k``.

    Of a stream one choice, of the largest budget, is made from most rows; the best k of it
    are judged by folds of the others. These come back too, as a pipe cannot be read again
    to choose k.
    """
    rows, groups, cv = to_split
    if in_memory and rows.reiterable:
        blocks, known = with_labels(list(rows.blocks()))
        table = whole_table(rows, blocks)
        groups = None if groups is None else groups[known]
        cv = cv_among(cv, known)
        named = order.among(table.names)
        curve = choose_k(
            chooser(named, table.names),
            table.X,
            table.y,
            classes=order.has_classes(table.y),
            budgets=named.budgets(budgets, len(table.names), table.names),
            cv=cv,
            groups=groups,
            weight=table.weight,
            seed=order.seed,
            watch=watching(observe, "folds"),
        )
        return curve, None
    one_pass = OnePass(to_split, order, budgets)
    learner = order.learner(
        max(one_pass.budgets), reiterable=rows.reiterable, groups=one_pass.groups
    )
    largest: Shortlist = run(learner, one_pass.train, observe)
    curve = one_pass.curve(largest)
    return curve, one_pass.cut(largest, curve.k)


class OnePass:
    """Rows of a stream, most of them to choose from and a fifth to judge budgets by.

    Parameters
    ----------
    to_split : ToSplit
    order : Order
    budgets : sequence of int

    Attributes
    ----------
    budgets : list of int
        Those there are features for.
    train : RowSource
        Rows that the largest of them is to be chosen from.
    groups : ndarray of shape (n_rows,) or None
        Groups of these.
    """

    def __init__(self, to_split: ToSplit, order: Order, budgets: Sequence[int]) -> None:
        self._rows, groups, self._cv = to_split
        self._order = order
        if self._cv is not None and not isinstance(self._cv, int):
            raise ShortlistError(
                "cv: of rows that stream by some are held out by lot and judged by folds; "
                f"expected a number of these, got {self._cv!r}"
            )
        self.budgets = order.budgets(budgets, self._rows.n_features)
        self.train, self._test, drawn = _held_out(self._rows, groups, order.seed)
        self.groups = None if groups is None else groups[~drawn]
        self._test_groups = None if groups is None else groups[drawn]

    def curve(self, largest: Shortlist) -> BudgetCurve:
        """Judge the best k of what was chosen; ``train`` has to have been read."""
        rows, order, groups = self._rows, self._order, self._test_groups
        found = np.unique(largest.ids)
        if not len(found):
            raise ShortlistError(f"{rows.name}: k='auto' found no feature; say k")
        chosen = {
            k: np.flatnonzero(np.isin(found, self.cut(largest, k).ids))
            for k in usual_budgets(self.budgets, len(found))
        }
        judging, known = with_labels(first_rows(self._test, MOST_HELD_OUT))
        X, codes = take(HeldRows(rows, judging), found, dense=True)
        y = labels_of(rows, codes)
        weight = np.concatenate([np.empty(0), *(block.weight for block in judging)])
        if len(y) < 10:
            raise ShortlistError(
                f"{rows.name}: k='auto' judges by a fifth of the rows, got {len(y)}; say k"
            )
        return judge_chosen(
            X,
            y,
            chosen,
            classes=order.has_classes(y),
            cv=self._cv,
            groups=None if groups is None else groups[: len(known)][known],
            weight=weights_that_differ(weight),
            seed=order.seed,
        )

    def cut(self, largest: Shortlist, k: int) -> Shortlist:
        """The best k of what was chosen, if nobody can read the rows again."""
        cut = largest.top(k, self._rows.ids(self._order.always))
        fitted, stayed = (len(np.unique(chosen.ids)) for chosen in (largest, cut))
        if fitted == stayed:
            return cut
        note = (
            f"weights are those of a fit of {fitted} features, of which the best stay"
        )
        return replace(cut, notes=(*cut.notes, note))


def _held_out(
    rows: RowSource, groups: Ints | None, seed: int
) -> tuple[RowSource, RowSource, np.ndarray]:
    """Rows to choose from, rows to judge by, and by groups which of all rows these are."""
    if groups is None:
        sides = split_holdout(rows, HELD_OUT, seed, max_rows=MOST_HELD_OUT)
        return *sides, np.empty(0, bool)
    every = np.unique(groups)
    n_groups = len(every)
    if n_groups < 4:  # two on each side
        raise ShortlistError(
            f"{rows.name}: k='auto' of rows that stream by needs 4 groups, got {n_groups}; "
            "say k"
        )
    order = np.random.default_rng(seed).permutation(every)
    drawn = np.isin(groups, order[: max(2, round(HELD_OUT * n_groups))])
    return *split_rows(rows, drawn, max_rows=MOST_HELD_OUT), drawn


def with_curve(shortlist: Shortlist, curve: BudgetCurve) -> Shortlist:
    """Have a result carry how its budget was found."""
    found = {"metric": curve.metric, "rule": "one standard error"}
    return replace(
        shortlist,
        trace={**shortlist.trace, **curve.trace()},
        params={**shortlist.params, "k_auto": found},
        notes=(*shortlist.notes, curve.line()),
    )
