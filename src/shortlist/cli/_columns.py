"""``shortlist select --columns``: choose from features that are read one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from shortlist.cli._deciding import deciding
from shortlist.cli._front import (
    AUTO,
    LOOKING_FOR_K,
    announce,
    in_lines,
    pick_method_for_columns,
    unsaid_notes,
    with_decisions,
)
from shortlist.cli._learner import check_loss, given_options, own_options
from shortlist.cli._options import all_of, refuse_others
from shortlist.cli._progress import progress_bar
from shortlist.cli._reproduce import command_line, how_to_repeat
from shortlist.cli._running import Unscored

if TYPE_CHECKING:
    from shortlist._protocols import Capabilities, Ints
    from shortlist.evaluate._choose_k import BudgetCurve

F = TypeVar("F", bound=Callable[..., Any])

#: Options that mean something for columns, besides those of the method.
_KNOWN = {
    *("files", "k", "method", "loss", "classes", "always", "never", "seed", "target"),
    *("missing", "columns", "workers", "engine", "out", "form", "quiet"),
    *("sample_groups", "cv", "stability", "substitutes"),
}


def columns_options() -> Callable[[F], F]:
    """--columns, --workers and --engine."""
    return all_of(
        [
            click.option(
                "--columns",
                is_flag=True,
                help="Read FILE, a table in .parquet, .arrow or .feather or a directory of "
                ".npy files, column by column, in memory for K of them; --target names "
                "the column to predict.",
            ),
            click.option(
                "--workers",
                type=click.IntRange(min=1),
                default=1,
                help="With --columns: threads that share the budget and work "
                "asynchronously.",
            ),
            click.option(
                "--engine",
                type=click.Choice(["threads", "ray"]),
                default="threads",
                help="With --columns: where workers are. ray: processes of a Ray cluster, "
                "the one at $RAY_ADDRESS or found here, or else one that is started.",
            ),
        ]
    )


def refuse_workers(ctx: click.Context) -> None:
    """Refuse what only columns have, for rows."""
    default = click.core.ParameterSource.DEFAULT
    for name in ("workers", "engine"):
        if ctx.get_parameter_source(name) is not default:
            raise click.UsageError(f"--{name} goes with --columns", ctx)


def choose_from_columns(ctx: click.Context) -> Unscored:
    """Pick a method unless one is named, and run it."""
    from shortlist._protocols import DataError
    from shortlist._registry import selector
    from shortlist.engines.serial import Broken, Interrupted
    from shortlist.front._from_columns import column_leak_notes, labelled_columns
    from shortlist.front._warned import warned
    from shortlist.sources.columns import TABLES, open_columns

    options = ctx.params
    given = command_line(ctx)
    method = options["method"]
    if method != AUTO and selector(method).room != "columns":
        raise click.UsageError(
            f"{method} reads rows; --columns goes with online_substitution or grafting",
            ctx,
        )
    refuse_others(ctx, {*_KNOWN, *given_options(ctx)}, "--columns")
    _refuse_workers(ctx)
    if len(options["files"]) != 1:
        raise click.UsageError(
            f"--columns wants one FILE, got {len(options['files'])}", ctx
        )
    if options["target"] is None:
        raise click.UsageError("--columns wants --target, the column to predict", ctx)
    settings: dict[str, Any] = {"target": options["target"]}
    never = options["never"]
    if options["files"][0].lower().endswith(TABLES):
        # what is not read may be text
        settings["leave_out"], never = never, ()
    if options["missing"] is not None:
        settings["missing"] = options["missing"]
    groups = None
    if options["sample_groups"] is None:
        source = open_columns(options["files"][0], **settings)
    else:
        from shortlist._splits import group_numbers
        from shortlist.sources.forms import open_with_groups

        asked = options["files"][0], options["target"], options["sample_groups"]
        source, groups = open_with_groups(*asked, settings)
        groups = group_numbers(groups, source.n_rows)
    source, groups, _, notes = labelled_columns(source, groups)
    classes = options["classes"]
    interrupted = False
    choice = pick_method_for_columns(ctx, source)
    capabilities = selector(options["method"])
    own = own_options(ctx, capabilities)
    check_loss(capabilities, options["loss"])
    announce(ctx, *in_lines(choice))
    curve = _find_k(ctx, source, groups, capabilities, never, own)
    further = {}
    if options["stability"] or options["substitutes"]:
        from shortlist.resampling._column_substitutes import LookAtColumns

        look = LookAtColumns(
            n_pairs=options["stability"] or 0,
            n_substitutes=options["substitutes"] or 0,
            groups=groups,
            seed=options["seed"],
        )
        further["runner"] = look.run
    with progress_bar(options["quiet"]) as draw:
        try:
            shortlist = capabilities.load("algorithm")(
                source,
                options["k"],
                loss=options["loss"],
                classes=None if classes is None else classes.split(","),
                always=options["always"],
                never=never,
                seed=options["seed"],
                n_workers=options["workers"],
                engine=options["engine"],
                observe=draw,
                **further,
                **own,
            )
        except Interrupted as stop:
            shortlist, interrupted = stop.result, True
        except Broken as stop:
            raise DataError(str(stop)) from None
    if interrupted:
        note = "partial: interrupted"
        shortlist = replace(shortlist, notes=(*shortlist.notes, note))
    shortlist = replace(shortlist, notes=(*notes, *shortlist.notes))
    shortlist = with_decisions(shortlist, choice, curve)
    if not interrupted:
        chosen = shortlist
        try:
            shortlist = warned(chosen, lambda: column_leak_notes(chosen, source))
        except Interrupted as stop:
            shortlist, interrupted = stop.result, True
    params = {**shortlist.params, **how_to_repeat(ctx, given)}
    shortlist = replace(shortlist, params=params)
    unsaid = tuple(unsaid_notes(ctx, shortlist, choice, curve))
    return Unscored(shortlist, unsaid, interrupted)


def _find_k(
    ctx: click.Context,
    source: Any,
    groups: Ints | None,
    capabilities: Capabilities,
    never: tuple[str, ...],
    own: dict[str, Any],
) -> BudgetCurve | None:
    """Find the budget, if it is to be found."""
    options = ctx.params
    if options["k"] != AUTO:
        return None
    from shortlist.evaluate._choose_k import BUDGETS
    from shortlist.front._from_columns import find_columns_budget
    from shortlist.front._order import Order

    lists = options["always"], never, options["seed"]
    classes = None if options["classes"] is None else options["classes"].split(",")
    order = Order(capabilities, options["loss"], classes, *lists, own)
    with deciding(ctx, *LOOKING_FOR_K) as observe:
        curve = find_columns_budget(
            source, order, BUDGETS, cv=options["cv"], groups=groups, observe=observe
        )
    # the command that goes straight to this model has no splits
    options["k"], options["cv"] = curve.k, None
    announce(ctx, curve.line())
    return curve


def _refuse_workers(ctx: click.Context) -> None:
    """Refuse a second look where several workers share the columns."""
    options = ctx.params
    for asked in ("stability", "substitutes"):
        for name, only in (("workers", 1), ("engine", "threads")):
            if options[asked] is not None and options[name] != only:
                raise click.UsageError(f"--{asked} does not go with --{name}", ctx)
