"""Methods that go through columns, for rows that are in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from shortlist._protocols import Capabilities, Ids, ShortlistError
from shortlist._shortlist import Shortlist
from shortlist._targets import Target
from shortlist.engines import Interrupted
from shortlist.table._gather import Table, TableLearner

#: The one that exchanges columns until none is better, whatever order they come in.
METHOD = "online_substitution"


def algorithm_for_rows(capabilities: Capabilities) -> Callable[..., Any]:
    """What makes a learner for engines that go through rows, of any method that may."""
    if capabilities.room != "columns":
        make: Callable[..., Any] = capabilities.load("algorithm")
        return make
    if capabilities.method != METHOD:
        raise ShortlistError(
            f"{capabilities.method} needs columns, and these are rows; {METHOD} goes "
            "through both"
        )
    return by_columns


def by_columns(
    k: int,
    *,
    loss: Any = "auto",
    classes: Sequence[Any] | None = None,
    always: Sequence[str] = (),
    never: Sequence[str] = (),
    seed: int = 0,
    reiterable: bool = True,
    **settings: Any,
) -> TableLearner:
    """Make a learner that gathers rows, then goes through their columns.

    Parameters
    ----------
    k : int
    loss, classes, always, never
        As of all selectors.
    seed, reiterable
        As of all selectors; nothing is drawn by one worker, and rows are read once.
    **settings
        Settings of ``OnlineSubstitution``, without workers.
    """

    def solve(
        table: Table,
        target: Target,
        wanted: Sequence[int],
        barred: Sequence[int],
        names: Callable[[Ids], list[str]],
    ) -> Shortlist:
        called = names(table.ids)
        return _solved(table, target, called, wanted, barred, k, settings)

    return TableLearner(k, solve, loss, classes, always, never, settings)


def _solved(
    table: Table,
    target: Target,
    names: Sequence[str],
    wanted: Sequence[int],
    barred: Sequence[int],
    k: int,
    settings: Mapping[str, Any],
) -> Shortlist:
    from shortlist.columns._select import select_from_table

    def as_of_rows(chosen: Shortlist) -> Shortlist:
        place = {name: j for j, name in enumerate(names)}
        ids = table.ids[[place[name] for name in chosen.names]]
        return replace(chosen, ids=ids, n_features=table.n_features)

    try:
        chosen = select_from_table(
            table.X,
            target,
            table.y,
            table.weight,
            names,
            k,
            always=[names[j] for j in wanted],
            never=[names[j] for j in barred],
            **settings,
        )
    except Interrupted as stop:
        raise Interrupted(as_of_rows(stop.result)) from None
    return as_of_rows(chosen)
