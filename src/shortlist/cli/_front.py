"""What ``select`` decides by itself: the method, the budget, which rows to hold out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from shortlist.cli._deciding import deciding
from shortlist.cli._failures import INTERRUPTED
from shortlist.cli._holdout import FEWEST_ROWS, Split, hold_out, too_few
from shortlist.cli._learner import classes_of, given_options, own_options
from shortlist.cli._reading import reader_of_groups
from shortlist.cli._running import Outcome, with_note

if TYPE_CHECKING:
    from shortlist._protocols import ColumnSource, RowSource
    from shortlist._shortlist import Shortlist
    from shortlist.evaluate._choose_k import BudgetCurve
    from shortlist.evaluate._to_split import ToSplit
    from shortlist.front import Choice, Facts
    from shortlist.front._order import Order

F = TypeVar("F", bound=Callable[..., Any])

AUTO = "auto"
#: What names another method.
HOW = "--method"
#: What Ctrl-C may end, and how to do without.
LOOKING_FOR_K = "looking for k", "-k with a number goes straight to the choice"
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
    """--sample-groups and --cv, as ``compare`` has them, and --trial."""

    def decorate(command: F) -> F:
        command = click.option(
            "--trial/--no-trial",
            default=True,
            help="Without --method and for tables that fit in memory: let several methods "
            "choose from parts of the rows to learn from, 4,000 at most, and take the one "
            "whose features predict the other parts best.",
        )(command)
        command = click.option(
            "--cv",
            type=click.IntRange(min=2),
            metavar="FOLDS",
            help="Folds by which -k auto and the trial split the rows to learn from. By "
            "default 5, and 3. With --columns each fold chooses anew; by default the first "
            "of 5 only, unless there are few groups, or rows of a class.",
        )(command)
        return click.option(
            "--sample-groups",
            metavar="COLUMN",
            help="Rows with the same value in this column (a patient, a user) are never "
            "on both sides of a split; it is no feature. Rows are then held in memory, but "
            "for --columns.",
        )(command)

    return decorate


def check_cv(ctx: click.Context) -> None:
    """Refuse folds where nothing is split."""
    options = ctx.params
    tries = options["method"] == AUTO and options["trial"] and not options["columns"]
    if options["cv"] is not None and options["k"] != AUTO and not tries:
        raise click.UsageError(
            "--cv: nothing is split, as -k is a number and there is no trial; -k auto "
            "splits rows",
            ctx,
        )


def pick_method(ctx: click.Context, source: RowSource) -> Choice | None:
    """Pick a method unless one is named, and have the options name it."""
    options = ctx.params
    if options["method"] != AUTO:
        return None
    from shortlist._registry import selectors
    from shortlist.front._facts import facts_of_rows

    given = given_options(ctx)
    streams = any(options[name] is not None for name in _STREAMING)
    if given and not streams:
        tables = [c for c in selectors().values() if c.room == "table"]
        streams = not any(set(given) <= set(c.options) for c in tables)
    facts = facts_of_rows(
        source,
        classes=classes_of(options, source),
        must_stream=streams,
        holds_rows=options["substitutes"] is not None,
        **_asked(ctx),
    )
    choice = _chosen(ctx, facts)
    count_all_classes(ctx)
    return choice


def pick_method_for_columns(ctx: click.Context, source: ColumnSource) -> Choice | None:
    """Pick a method for columns unless one is named, and have the options name it."""
    if ctx.params["method"] != AUTO:
        return None
    from shortlist.front._facts import facts_of_columns

    return _chosen(ctx, facts_of_columns(source, **_asked(ctx)))


def _asked(ctx: click.Context) -> dict[str, Any]:
    """What the options ask for, whatever the data."""
    from shortlist.evaluate._choose_k import BUDGETS

    k = ctx.params["k"]
    return {
        "k": max(BUDGETS) if k == AUTO else k,
        "n_budgets": len(BUDGETS) if k == AUTO else 1,
        "loss": ctx.params["loss"],
        "settings": frozenset(given_options(ctx)),
    }


def _chosen(ctx: click.Context, facts: Facts) -> Choice:
    from shortlist._protocols import ShortlistError
    from shortlist.front import choose

    try:
        choice = choose(facts)
    except ShortlistError as error:
        raise click.UsageError(str(error), ctx) from None
    ctx.params["method"] = choice.method
    return choice


def announce(ctx: click.Context, *decided: str) -> None:
    """Say on standard error what was decided, a line each."""
    for line in decided:
        if not ctx.params["quiet"]:
            click.echo(line, err=True)


def in_lines(choice: Choice | None, curve: BudgetCurve | None = None) -> list[str]:
    """What was decided: which method and why, which budget and how good."""
    picked = [] if choice is None else [choice.line(HOW)]
    return picked if curve is None else [*picked, curve.line()]


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
        split = hold_out(source, fraction, seed)
        if options["stability"] is not None:
            from shortlist._protocols import rows_apart

            train, ctx.meta["groups"] = rows_apart(split.train)
            split = split._replace(train=train)
        return source, split
    import numpy as np

    from shortlist.evaluate._held_rows import held
    from shortlist.evaluate._row_groups import without_groups
    from shortlist.kernels.csr import draw_rows

    rows, groups = without_groups(held(source), column, reader_of_groups(options))
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
    if choice is None or not has_trial(ctx, choice) or options["dry_run"]:
        return choice, split
    from shortlist._protocols import DataError
    from shortlist.evaluate._choose_k import BUDGETS
    from shortlist.front._trial import tried

    try:
        train, to_split = settled_rows(ctx, split.train, in_memory=True)
    except DataError:  # whoever learns from these rows will say so, and keep the others
        return choice, split
    split = split._replace(train=train)
    ctx.meta["to_split"] = to_split
    instead = "--method names a method, --no-trial goes by the kind of data alone"
    with deciding(ctx, "trying methods", instead) as observe:
        choice = tried(
            to_split,
            asked_order(ctx, split.train),
            choice,
            BUDGETS if options["k"] == AUTO else [options["k"]],
            observe=observe,
        )
    options["method"] = choice.method
    count_all_classes(ctx)
    return choice, split


def has_trial(ctx: click.Context, choice: Choice | None) -> bool:
    """Whether several methods come into question, and are to be tried."""
    return choice is not None and ctx.params["trial"] and len(choice.rivals) > 1


def settled_rows(
    ctx: click.Context, train: RowSource, *, in_memory: bool
) -> tuple[RowSource, ToSplit]:
    """Rows to learn from, and those to split, which differ where rows overlap."""
    from shortlist.evaluate._to_split import settled

    groups = ctx.meta.get("groups")
    rows, to_split = settled(train, groups, in_memory=in_memory)
    return rows, to_split._replace(cv=ctx.params["cv"])


def asked_order(ctx: click.Context, rows: RowSource) -> Order:
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


def find_k(ctx: click.Context, split: Split) -> BudgetCurve | None:
    """Find the budget, if it is to be found, from the rows to learn from."""
    options = ctx.params
    if options["k"] != AUTO:
        return None
    count_all_classes(ctx)
    from shortlist.evaluate._choose_k import BUDGETS
    from shortlist.evaluate._held_rows import HeldRows
    from shortlist.front._budgets import find_budget

    rows = split.train
    if options["dry_run"]:  # the largest takes longest
        options["k"] = max(BUDGETS)
        return None
    if not rows.reiterable:  # while they are learned from, see _one_pass
        return None
    order = asked_order(ctx, rows)
    in_memory = order.capabilities.room in ("table", "columns")
    to_split = ctx.meta.get("to_split")
    if to_split is None:
        to_split = settled_rows(ctx, rows, in_memory=in_memory)[1]
    with deciding(ctx, *LOOKING_FOR_K) as observe:
        curve, _ = find_budget(
            to_split,
            order,
            BUDGETS,
            in_memory=in_memory or isinstance(to_split.rows, HeldRows),
            observe=observe,
        )
    options["k"] = curve.k
    return curve


def told(
    outcome: Outcome, split: Split, choice: Choice | None, curve: BudgetCurve | None
) -> Outcome:
    """Have a result say what was decided and why, and warn of leaks among its features."""
    from shortlist._leaks import UNSEARCHED
    from shortlist._suspects import leak_notes

    shortlist = with_decisions(outcome.shortlist, choice, curve)
    if not (outcome.interrupted or outcome.broken):
        rows = split.test if split.test is not None else split.train
        try:
            found = leak_notes(shortlist, rows) if rows.reiterable else ()
        except KeyboardInterrupt:
            kept = with_note(shortlist, UNSEARCHED)
            return outcome._replace(shortlist=kept, interrupted=INTERRUPTED)
        for note in found:
            shortlist = with_note(shortlist, note)
    return outcome._replace(shortlist=shortlist)


def with_decisions(
    shortlist: Shortlist, choice: Choice | None, curve: BudgetCurve | None
) -> Shortlist:
    """Have a result say which method was picked and how its budget was found."""
    if curve is not None:
        from shortlist.front._budgets import with_curve

        shortlist = with_curve(shortlist, curve)
    if choice is not None:
        from shortlist.front._choice import with_choice

        shortlist = with_choice(shortlist, choice, HOW)
    return shortlist


def unsaid_notes(
    ctx: click.Context,
    shortlist: Shortlist,
    choice: Choice | None,
    curve: BudgetCurve | None,
) -> list[str]:
    """Notes of a result, but for what ``announce`` has said."""
    said = [] if ctx.params["quiet"] else in_lines(choice, curve)
    return [n for n in shortlist.notes if n.removeprefix("picked ") not in said]
