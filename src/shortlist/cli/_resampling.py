"""--stability and --substitutes: a second look at the data after a choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from shortlist.cli._options import all_of
from shortlist.cli._progress import progress_bar
from shortlist.cli._running import Outcome

if TYPE_CHECKING:
    from shortlist._protocols import Capabilities, RowSource

F = TypeVar("F", bound=Callable[..., Any])

#: Rooms whose methods, for rows, hold all of them.
_IN_MEMORY = ("table", "columns")


def resampling_options() -> Callable[[F], F]:
    """--stability N, --substitutes N."""
    return all_of(
        [
            click.option(
                "--stability",
                type=click.IntRange(min=1),
                metavar="N",
                help="Cut the rows into two halves N times (50 is usual), choose from "
                "each, and say what share of the halves chose each feature. Rooms rows and "
                "sketch do it in the same pass, with 2 N models in memory, and so does "
                "--columns.",
            ),
            click.option(
                "--substitutes",
                type=click.IntRange(min=1),
                metavar="N",
                help="Name up to N features that could take the place of each chosen one "
                "at little loss; for methods that hold all rows in memory, and with "
                "--columns.",
            ),
        ]
    )


class Resampling:
    """What the options ask for beyond a choice.

    Attributes
    ----------
    learner : object
        What to run: an algorithm that does as the one given, and as much more as it can in
        the same passes.
    """

    def __init__(
        self, ctx: click.Context, capabilities: Capabilities, learner: Any
    ) -> None:
        options = ctx.params
        self._quiet = options["quiet"]
        self.learner, self._look = learner, None
        if not (options["stability"] or options["substitutes"]):
            return
        _check(ctx, capabilities)
        from shortlist.resampling._second_look import SecondLook

        self._look = SecondLook(
            learner,
            n_pairs=options["stability"] or 0,
            n_substitutes=options["substitutes"] or 0,
            groups=ctx.meta.get("groups"),
            seed=options["seed"],
        )
        self.learner = self._look.learner

    def finish(self, outcome: Outcome, rows: RowSource) -> Outcome:
        """Add what has to be done after the choice; Ctrl-C keeps what there is."""
        look = self._look
        if look is None or outcome.interrupted or outcome.failure is not None:
            return outcome
        from shortlist._protocols import Progress
        from shortlist.engines import Interrupted

        with progress_bar(self._quiet) as observe:

            def watch(what: str, done: int, total: int) -> None:
                observe(Progress(0, what, done, total, "fits", 0, float("nan")))

            try:
                shortlist = look.finish(outcome.shortlist, rows, watch)
            except Interrupted as stop:
                return outcome._replace(shortlist=stop.result, interrupted=130)
        return outcome._replace(shortlist=shortlist)


def _check(ctx: click.Context, capabilities: Capabilities) -> None:
    """Refuse what cannot be had, before any work."""
    options = ctx.params
    if options["substitutes"] and capabilities.room not in _IN_MEMORY:
        raise click.UsageError(
            f"--substitutes needs all rows in memory, and {capabilities.method} has not: "
            "choose a --method of room table, such as foba",
            ctx,
        )
    for name in ("checkpoint", "resume", "shard", "like"):
        if options[name] is not None:
            raise click.UsageError(f"--stability does not go with --{name}", ctx)
    if options["interactions"] is not None:
        raise click.UsageError("--stability does not go with --interactions", ctx)
