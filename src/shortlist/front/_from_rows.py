"""Choose from rows: in memory or as they come, with a budget given or to be found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from shortlist._protocols import (
    Ints,
    Observer,
    RowBlock,
    RowSource,
    ShortlistError,
)
from shortlist._shortlist import Shortlist
from shortlist._suspects import LOOK_ROWS, leak_notes
from shortlist.evaluate._held_rows import HeldRows
from shortlist.evaluate._to_split import ToSplit, in_hand
from shortlist.front._budgets import find_budget, with_curve
from shortlist.front._order import Order, run_order
from shortlist.front._warned import warned

Say = Callable[[str], None]


def select_from_rows(
    rows: RowSource,
    order: Order,
    budget: int | Sequence[int],
    *,
    to_split: ToSplit | None = None,
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
    to_split : ToSplit, default=None
        What a budget is found by; None: the same rows. If they are, whoever chooses hears
        of their groups.
    in_memory : bool, default=True
        Whether all rows may be held.
    observe : callable, default=None
    say : callable
        Told what was decided, a line each.
    beyond : mapping, default=None
        As of ``SecondLook``: what else is asked for.
    """
    to_split = ToSplit(rows) if to_split is None else to_split
    groups = to_split.groups if to_split.rows is rows else None
    if isinstance(budget, int):
        return _run(rows, order, budget, groups, observe, beyond)
    if beyond and not rows.reiterable and not in_memory:
        raise ShortlistError(
            f"{rows.name}: stability needs a number for k where rows pass by once"
        )
    if in_memory:
        same = to_split.rows is rows
        to_split = to_split._replace(rows=in_hand(to_split.rows))
        rows = to_split.rows if same else rows
    curve, chosen = find_budget(
        to_split, order, budget, in_memory=in_memory, observe=observe
    )
    say(curve.line())
    if chosen is None or rows.reiterable:
        chosen = _run(rows, order, curve.k, groups, observe, beyond)
    return with_curve(chosen, curve)


def _run(
    rows: RowSource,
    order: Order,
    k: int,
    groups: Ints | None,
    observe: Observer | None,
    beyond: Mapping[str, Any] | None,
) -> Shortlist:
    """Choose k features, and look for leaks among them."""
    if rows.reiterable:
        chosen = run_order(order, k, rows, groups, observe, beyond)
        return warned(chosen, lambda: leak_notes(chosen, rows))
    keeping = _Keeping(rows)
    chosen = run_order(order, k, keeping, groups, observe, beyond)
    return warned(chosen, lambda: leak_notes(chosen, HeldRows(rows, keeping.kept)))


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
