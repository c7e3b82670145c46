"""What ``select`` decides by itself: the method, the budget, which rows to hold out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from shortlist.cli._holdout import FEWEST_ROWS, Split, has_parts, hold_out, too_few
from shortlist.cli._learner import classes_of, given_options, own_options
from shortlist.cli._progress import progress_bar
from shortlist.cli._running import Outcome, with_note

if TYPE_CHECKING:
    from shortlist._protocols import RowSource
    from shortlist.evaluate._choose_k import BudgetCurve
    from shortlist.front import Choice
    from shortlist.front._order import Order

F = TypeVar("F", bound=Callable[..., Any])

AUTO = "auto"
#: Where a setting comes from that no user has given.
_DECIDED = click.core.ParameterSource.DEFAULT_MAP
#: With these options rows go by: they are never all in memory.
_STREAMING = ("checkpoint", "resume", "shard", "like")


class Budget(click.IntRange):
    """A whole number in a range, or the word auto."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        return value if value == AUTO else super().convert(value, param, ctx)


def front_options() -> Callable[[F], F]:
    """--sample-groups, as ``compare`` has it, and --trial."""

    def decorate(command: F) -> F:
        command = click.option(
            "--trial/--no-trial",
            default=True,
            help="Without --method and for tables that fit in memory: let several methods "
            "choose from parts of the rows to learn from, 4,000 at most, and take the one "
            "whose features predict the other parts best.",
        )(command)
        return click.option(
            "--sample-groups",
            metavar="COLUMN",
            help="Rows with the same value in this column (a patient, a user) are never "
            "on both sides of a split; it is no feature. Rows are then held in memory.",
        )(command)

    return decorate


def pick_method(ctx: click.Context, source: RowSource) -> Choice | None:
    """Pick a method unless one is named, and have the options name it."""
    options = ctx.params
    if options["method"] != AUTO:
        return None
    from shortlist._protocols import ShortlistError
    from shortlist._registry import selectors
    from shortlist.evaluate._choose_k import BUDGETS
    from shortlist.front import choose
    from shortlist.front._facts import facts_of_rows

    given = given_options(ctx)
    streams = any(options[name] is not None for name in _STREAMING)
    if given and not streams:
        tables = [c for c in selectors().values() if c.room == "table"]
        streams = not any(set(given) <= set(c.options) for c in tables)
    facts = facts_of_rows(
        source,
        loss=options["loss"],
        classes=classes_of(options, source),
        k=100 if options["k"] == AUTO else options["k"],
        n_budgets=len(BUDGETS) if options["k"] == AUTO else 1,
        settings=frozenset(given),
        must_stream=streams,
        holds_rows=options["substitutes"] is not None,
    )
    try:
        choice = choose(facts)
    except ShortlistError as error:
        raise click.UsageError(str(error), ctx) from None
    options["method"] = choice.method
    count_all_classes(ctx)
    return choice


def announce(ctx: click.Context, *decided: str | None) -> None:
    """Say on standard error what was decided, a line each."""
    for line in decided:
        if line is not None and not ctx.params["quiet"]:
            click.echo(line, err=True)


def count_all_classes(ctx: click.Context) -> None:
    """Have k count distinct features, unless told otherwise, as nobody named a method."""
    from shortlist._registry import selector

    knows = "budget" in selector(ctx.params["method"]).options
    if knows and "budget" not in given_options(ctx):
        ctx.params["budget"] = "shared"
        ctx.set_parameter_source("budget", _DECIDED)
    elif not knows and ctx.get_parameter_source("budget") is _DECIDED:
        # for a method that was picked before this one
        ctx.set_parameter_source("budget", click.core.ParameterSource.DEFAULT)


def split_rows(ctx: click.Context, source: RowSource) -> tuple[RowSource, Split]:
    """Hold rows out, by groups if there are any; return the rows without their groups."""
    options = ctx.params
    fraction, seed, column = (options[n] for n in ("holdout", "seed", "sample_groups"))
    if column is None:
        return source, hold_out(source, fraction, seed)
    import numpy as np

    from shortlist.front._held_rows import held, without_groups
    from shortlist.kernels.csr import draw_rows

    rows, groups = without_groups(held(source), column)
    ctx.meta["groups"] = groups
    if fraction == 0.0:
        return rows, Split(rows, None, None)
    number = np.unique(groups, return_inverse=True)[1]
    drawn = draw_rows(0, int(number.max()) + 1, seed, fraction)[number].astype(bool)
    if drawn.sum() < FEWEST_ROWS or drawn.all():
        return rows, Split(rows, None, too_few(int(drawn.sum())))
    ctx.meta["groups"] = groups[~drawn]
    train, test = (rows.part(np.flatnonzero(some)) for some in (~drawn, drawn))
    return rows, Split(train, test, None)


def try_rivals(
    ctx: click.Context, choice: Choice | None, split: Split
) -> tuple[Choice | None, Split]:
    """Let a trial on the rows to learn from have the last word about the method."""
    options = ctx.params
    # fragments of a sequence overlap: parts of them would know each other
    unwanted = not options["trial"] or options["dry_run"] or has_parts(split.train)
    if choice is None or len(choice.rivals) < 2 or unwanted:
        return choice, split
    from shortlist._protocols import DataError
    from shortlist.front._from_rows import in_hand
    from shortlist.front._trial import tried

    try:
        split = split._replace(train=in_hand(split.train))
    except DataError:  # whoever learns from these rows will say so, and keep the others
        return choice, split
    with progress_bar(options["quiet"]) as observe:
        choice = tried(
            split.train,
            _order(ctx, split.train),
            choice,
            _budgets(split.train) if options["k"] == AUTO else [options["k"]],
            groups=ctx.meta.get("groups"),
            observe=observe,
        )
    options["method"] = choice.method
    count_all_classes(ctx)
    return choice, split


def _order(ctx: click.Context, rows: RowSource) -> Order:
    """What is asked of the method that the options name."""
    from shortlist._registry import selector
    from shortlist.front._order import Order

    options, capabilities = ctx.params, selector(ctx.params["method"])
    own = own_options(ctx, capabilities)
    if ctx.get_parameter_source("budget") is _DECIDED:
        own.pop("budget", None)  # an order decides that for every method
    return Order(
        capabilities,
        options["loss"],
        classes_of(options, rows),
        options["always"],
        options["never"],
        options["seed"],
        own,
    )


def _budgets(rows: RowSource) -> list[int]:
    """Those to find the best of, as far as there are features for them."""
    from shortlist.evaluate._choose_k import BUDGETS, usual_budgets

    n = rows.n_features
    return list(BUDGETS) if n is None else usual_budgets(BUDGETS, n)


def find_k(ctx: click.Context, split: Split) -> BudgetCurve | None:
    """Find the budget, if it is to be found, from the rows to learn from."""
    options = ctx.params
    if options["k"] != AUTO:
        return None
    count_all_classes(ctx)
    from shortlist.evaluate._choose_k import BUDGETS
    from shortlist.front._budgets import find_budget
    from shortlist.front._held_rows import HeldRows, held

    rows = split.train
    if options["dry_run"]:  # the largest takes longest
        options["k"] = max(BUDGETS)
        return None
    if not rows.reiterable:
        raise click.UsageError(
            f"-k auto reads the data again, and {rows.name} passes by once; save it to a "
            "file first",
            ctx,
        )
    order = _order(ctx, rows)
    in_memory = order.capabilities.room in ("table", "columns")
    if in_memory and not isinstance(rows, HeldRows):
        rows = held(rows)
    with progress_bar(options["quiet"]) as observe:
        curve, _ = find_budget(
            rows,
            order,
            _budgets(rows),
            groups=ctx.meta.get("groups"),
            in_memory=in_memory or isinstance(rows, HeldRows),
            observe=observe,
        )
    options["k"] = curve.k
    return curve


def told(outcome: Outcome, split: Split, curve: BudgetCurve | None) -> Outcome:
    """Have a result say how its budget was found, and warn of leaks among its features.

    Which method was picked stands in it anyway, and in the command that gives it again.
    """
    from shortlist._suspects import leak_notes

    shortlist = outcome.shortlist
    if curve is not None:
        from shortlist.front._budgets import with_curve

        shortlist = with_curve(shortlist, curve)
    if not (outcome.interrupted or outcome.broken):
        rows = split.test if split.test is not None else split.train
        if rows.reiterable:
            for note in leak_notes(shortlist, rows):
                shortlist = with_note(shortlist, note)
    return outcome._replace(shortlist=shortlist)
