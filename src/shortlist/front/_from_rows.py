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
from shortlist._shortlist import Shortlist
from shortlist._suspects import LOOK_ROWS, leak_notes
from shortlist.front._budgets import find_budget, with_curve
from shortlist.front._held_rows import HeldRows, held, without_groups
from shortlist.front._order import Order, run_order
from shortlist.sources import ArraySource

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
