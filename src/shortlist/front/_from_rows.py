"""Choose from rows: in memory or as they come, with a budget given or to be found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shortlist._protocols import (
    Observer,
    RowBlock,
    RowSource,
    ShortlistError,
)
from shortlist._registry import selector
from shortlist._shortlist import Shortlist
from shortlist._suspects import LOOK_ROWS, first_rows, leak_notes
from shortlist.engines import Interrupted, run
from shortlist.evaluate._choose_k import BudgetCurve, choose_k, judge_ranking
from shortlist.evaluate._compare import are_classes
from shortlist.evaluate._whole_table import (
    are_weighted,
    labels_of,
    whole_table,
    with_labels,
)
from shortlist.front._choice import Choice
from shortlist.front._held_rows import HeldRows, held, without_groups
from shortlist.front._order import Order, chooser, ranking, run_order, watching
from shortlist.front._trial import after_trial, try_methods
from shortlist.sources import ArraySource, split_holdout, take

#: Share of the rows of a stream that budgets are judged by, and how many at most.
HELD_OUT, MOST_HELD_OUT = 0.2, 20_000

Say = Callable[[str], None]


def settled(
    source: RowSource, groups: Any, *, in_memory: bool
) -> tuple[RowSource, np.ndarray | None]:
    """Rows without their column of groups, if it is one, and the group of each row.

    Rows are read once, if they are to be in memory.
    """
    if isinstance(groups, str):
        return without_groups(held(source), groups)
    rows = in_hand(source) if in_memory else source
    return rows, None if groups is None else np.asarray(groups)


def in_hand(rows: RowSource) -> RowSource:
    """The same rows in memory."""
    return rows if isinstance(rows, (ArraySource, HeldRows)) else held(rows)


def select_from_rows(
    rows: RowSource,
    order: Order,
    budget: int | Sequence[int],
    *,
    cv: Any = None,
    groups: np.ndarray | None = None,
    in_memory: bool = True,
    observe: Observer | None = None,
    say: Say = lambda line: None,
    beyond: Mapping[str, Any] | None = None,
) -> Shortlist:
    """Choose from a source of rows.

    Parameters
    ----------
    rows : RowSource
    order : Order
    budget : int or sequence of int
        k, or those to find the best of.
    cv
        As for ``select``.
    groups : ndarray, default=None
        Group of each row.
    in_memory : bool, default=True
        Whether all rows may be held.
    observe : callable, default=None
    say : callable
        Told what was decided, a line each.
    beyond : mapping, default=None
        As of ``SecondLook``: what else is asked for.
    """
    if isinstance(budget, int):
        return _run(rows, order, budget, observe, beyond)
    if beyond and not rows.reiterable:
        raise ShortlistError(
            f"{rows.name}: stability needs a number for k where rows pass by once"
        )
    if in_memory and rows.reiterable:
        rows = in_hand(rows)
    elif groups is not None:
        raise ShortlistError(
            "groups: rows that stream by cannot be split by groups; k needs a number"
        )
    curve, largest = find_budget(
        rows,
        order,
        budget,
        cv=cv,
        groups=groups,
        in_memory=in_memory,
        observe=observe,
    )
    say(curve.line())
    if largest is not None and not rows.reiterable:
        note = f"weights are those of a fit of {largest.k} features, of which the best stay"
        cut = largest.top(curve.k)
        chosen = replace(cut, notes=(*cut.notes, note))
    else:
        chosen = _run(rows, order, curve.k, observe, beyond)
    return with_curve(chosen, curve)


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
        named = replace_names(order, table.names)
        curve = choose_k(
            chooser(named, table.names),
            table.X,
            table.y,
            classes=_are_classes(order, table.y),
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
        classes=_are_classes(order, y),
        budgets=budgets,
        seed=order.seed,
    )
    return curve, largest


def tried(
    rows: RowSource,
    order: Order,
    choice: Choice,
    budgets: Sequence[int],
    *,
    groups: np.ndarray | None = None,
    observe: Observer | None = None,
) -> Choice:
    """Let the methods that come into question choose from parts of rows in memory."""
    blocks, known = with_labels(list(rows.blocks()))
    if groups is not None:
        if len(groups) != len(known):
            raise ShortlistError(
                f"groups should have one entry a row ({len(known)}), got {len(groups)}"
            )
        groups = groups[known]
    if not known.any() or are_weighted(blocks):  # the judge would count all rows alike
        return choice
    table = whole_table(rows, blocks)
    classes, n_columns = _are_classes(order, table.y), table.X.shape[1]
    if not n_columns:
        return choice
    named = replace(replace_names(order, table.names), classes=None)
    if order.loss == "auto" and not classes:
        named = replace(named, loss="squared")  # few rows may look like classes
    contestants = {
        name: chooser(replace(named, capabilities=selector(name)), table.names)
        for name in choice.rivals
    }
    try:
        standings = try_methods(
            contestants,
            table.X,
            table.y,
            [k for k in budgets if k <= n_columns] or [n_columns],
            classes=classes,
            groups=groups,
            seed=order.seed,
            watch=watching(observe, "fits"),
        )
    except Interrupted:  # what a method had found in a part of the rows is no result
        raise KeyboardInterrupt from None
    return after_trial(choice, standings)


def replace_names(order: Order, names: Sequence[str]) -> Order:
    """The same order without features that no row has: a table of them has no column."""
    known = set(names)
    always, never = (
        tuple(name for name in part if name in known)
        for part in (order.always, order.never)
    )
    return replace(order, always=always, never=never)


def with_curve(shortlist: Shortlist, curve: BudgetCurve) -> Shortlist:
    """Have a result carry how its budget was found."""
    found = {"metric": curve.metric, "rule": "one standard error"}
    return replace(
        shortlist,
        trace={**shortlist.trace, **curve.trace()},
        params={**shortlist.params, "k_auto": found},
        notes=(*shortlist.notes, curve.line()),
    )


def _run(
    rows: RowSource,
    order: Order,
    k: int,
    observe: Observer | None,
    beyond: Mapping[str, Any] | None,
) -> Shortlist:
    """Choose k features, and look for leaks among them."""
    if rows.reiterable:
        return _warned(run_order(order, k, rows, observe, beyond), rows)
    keeping = _Keeping(rows)
    chosen = run_order(order, k, keeping, observe, beyond)
    return _warned(chosen, HeldRows(rows, keeping.kept))


def _warned(shortlist: Shortlist, rows: RowSource) -> Shortlist:
    return replace(shortlist, notes=(*shortlist.notes, *leak_notes(shortlist, rows)))


def _are_classes(order: Order, y: np.ndarray) -> bool:
    from shortlist.losses import get_loss

    if order.loss == "auto":
        return order.classes is not None or are_classes(y)
    return bool(get_loss(order.loss).is_classifier)


class _Keeping:
    """A source that passes by once, of which the first rows are remembered."""

    def __init__(self, base: RowSource) -> None:
        self.base = base
        self.kept: list[RowBlock] = []

    def __getattr__(self, attribute: str) -> Any:
        if attribute == "base":  # not there yet: a copy is being made
            raise AttributeError(attribute)
        return getattr(self.base, attribute)

    def blocks(self) -> Iterator[RowBlock]:
        n = 0
        for block in self.base.blocks():
            if n < LOOK_ROWS:
                self.kept.append(block)
            n += block.n_rows
            yield block
