"""``-k auto`` for rows that pass by once: k is found while they are learned from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from shortlist.cli._front import AUTO, asked_order, settled_rows
from shortlist.cli._holdout import Split

if TYPE_CHECKING:
    from shortlist._shortlist import Shortlist
    from shortlist.evaluate._choose_k import BudgetCurve
    from shortlist.front._budgets import OnePass

#: What needs a number for k, as it goes on with the rows or with what was learned.
_WITH_A_NUMBER = ("stability", "shard", "like")


class FoundOnTheWay:
    """A budget that is known once the rows have gone by.

    Attributes
    ----------
    curve : BudgetCurve or None
        How budgets did; None until then.
    """

    def __init__(self, one_pass: OnePass) -> None:
        self._one_pass = one_pass
        self.curve: BudgetCurve | None = None

    @property
    def largest(self) -> int:
        """How many features are to be chosen, of which the best stay."""
        return max(self._one_pass.budgets)

    def rows_of(self, split: Split) -> Split:
        """The split with the rows that budgets are judged by held out as well."""
        return split._replace(train=self._one_pass.train)

    def settle(self, shortlist: Shortlist) -> Shortlist:
        """Find k, and cut what was chosen to it."""
        self.curve = self._one_pass.curve(shortlist)
        return self._one_pass.cut(shortlist, self.curve.k)


def hold_for_k(ctx: click.Context, split: Split) -> Split:
    """Hold the rows of a pipe, if k is to be found for a method that needs them all."""
    options = ctx.params
    if options["k"] != AUTO or options["dry_run"] or split.train.reiterable:
        return split
    from shortlist._registry import selector
    from shortlist.evaluate._to_split import in_hand

    if selector(options["method"]).room not in ("table", "columns"):
        return split
    return split._replace(train=in_hand(split.train))


def find_on_the_way(ctx: click.Context, split: Split) -> FoundOnTheWay | None:
    """Prepare to find k among rows that pass by once; None: k is known."""
    options = ctx.params
    if options["k"] != AUTO:
        return None
    from shortlist.evaluate._choose_k import BUDGETS
    from shortlist.front._budgets import OnePass

    rows = split.train
    for name in _WITH_A_NUMBER:
        if options[name] is not None:
            raise click.UsageError(
                f"--{name} needs a number for -k where rows pass by once, as {rows.name} "
                "does",
                ctx,
            )
    to_split = settled_rows(ctx, rows, in_memory=False)[1]
    one_pass = OnePass(to_split, asked_order(ctx, rows), BUDGETS)
    ctx.meta["groups"] = one_pass.groups
    return FoundOnTheWay(one_pass)
