"""``shortlist compare``: every suitable method against every budget, on the user's data."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from shortlist.cli._command import Command
from shortlist.cli._dna import dna_options
from shortlist.cli._options import (
    files_argument,
    input_format_option,
    label_map_option,
    named_feature_options,
    on_error_option,
    quiet_option,
    table_options,
)
from shortlist.cli._output import check_output
from shortlist.cli._plotting import picture
from shortlist.cli._progress import progress_bar
from shortlist.cli._reading import (
    need_not_leave_out_groups,
    open_asked,
    reader_of_groups,
)
from shortlist.cli._stopping import stopping

if TYPE_CHECKING:
    from shortlist._protocols import RowSource
    from shortlist.evaluate import CompareDisplay


def _numbers(ctx: click.Context, param: click.Parameter, value: str) -> tuple[int, ...]:
    try:
        budgets = tuple(int(word) for word in value.split(","))
    except ValueError:
        budgets = ()
    if not budgets or min(budgets) < 1:
        raise click.BadParameter(
            f"expected whole numbers as in 5,10,20, got {value!r}", ctx, param
        )
    return budgets


@click.command(
    cls=Command,
    examples=(
        "shortlist compare patients.csv -k 5,10,20 --target outcome",
        "shortlist compare visits.csv --target bought --sample-groups user",
        "shortlist compare genes.parquet --target y --methods foba,mrmr --plot it.png",
        "shortlist compare people.csv --target ill --metric auc --never id",
    ),
)
@files_argument()
@click.option(
    "-k",
    "ks",
    default="5,10,20,50,100",
    metavar="K,K,...",
    callback=_numbers,
    help="Budgets: how many features methods may choose.",
)
@click.option(
    "--methods",
    default="auto",
    metavar="NAME,NAME,...",
    help="Methods, as of select --method; auto: the best of each family, but for those "
    "that would take too long. The yardsticks l1 (the first K features of an L1 path) and "
    "random come along.",
)
@click.option(
    "--metric",
    type=click.Choice(["accuracy", "auc", "log_loss", "r2", "rmse"]),
    help="What to rank and draw by. By default accuracy for classes, r2 for numbers.",
)
@click.option(
    "--cv",
    type=click.IntRange(min=2),
    metavar="FOLDS",
    help="Folds of the cross-validation. By default 5, or 3 from 5,000 rows on; fewer if "
    "a class has fewer rows, or if there are fewer groups.",
)
@click.option(
    "--sample-groups",
    metavar="COLUMN",
    help="Rows with the same value in this column (a patient, a user) are never on both "
    "sides of a split; it is no feature.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, help="Of folds and methods."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv"]),
    default="table",
    help="table: means over folds, the best first; csv: every fold, all digits.",
)
@click.option(
    "--overlap-at",
    type=click.IntRange(min=1),
    metavar="K",
    help="Budget at which the table says how much methods agree. By default the largest.",
)
@click.option("--plot", metavar="FILE", help="Draw curves to a PNG, SVG or PDF file.")
@named_feature_options()
@table_options()
@dna_options()
@label_map_option()
@input_format_option()
@on_error_option()
@quiet_option()
@click.pass_context
def compare(ctx: click.Context, /, **options: Any) -> None:
    """Compare methods at several budgets on the rows of FILE..., by cross-validation.

    In each fold every method chooses features by the rows to learn from; a logistic or
    linear model of these features, its ridge chosen within the same rows, is judged by the
    others. Files are those of select, and have to fit into memory.

    Ctrl-C ends it early: the folds that all methods have been through are printed, said to
    be incomplete, and the exit code is 130.
    """
    need_not_leave_out_groups(options)
    at, ks = options["overlap_at"], options["ks"]
    if at is not None and at not in ks:
        raise click.BadParameter(
            f"expected one of the budgets of -k, got {at}",
            ctx,
            param_hint="--overlap-at",
        )
    check_output(options["plot"], options["files"], option="--plot")
    display, interrupted = _compared(open_asked(options), options)
    if options["plot"] is not None:
        with picture(options["plot"], 8.0, 4.5) as axes:
            display.plot(ax=axes)
    if options["form"] == "csv":
        click.echo(_as_csv(display), nl=False)
    else:
        click.echo(f"{_about(display)}\n\n{display.as_text(overlap_at=at)}")
    if not options["quiet"]:
        for note in display.notes:
            click.echo(note, err=True)
        for method, reason in display.left_out.items():
            click.echo(f"left out: {method}: {reason}", err=True)
    if interrupted:
        click.echo("interrupted: the comparison is incomplete", err=True)
        ctx.exit(interrupted)


def _compared(
    source: RowSource, options: Mapping[str, Any]
) -> tuple[CompareDisplay, int]:
    """What was found, and the exit code if a signal ended it."""
    from shortlist._protocols import Progress
    from shortlist.engines import Interrupted
    from shortlist.evaluate import compare as run
    from shortlist.evaluate._to_split import settled

    column = options["sample_groups"]
    again = None if column is None else reader_of_groups(options)
    rows, groups, _ = settled(source, column, in_memory=True, again=again)[1]
    methods = [name.strip() for name in options["methods"].split(",")]
    with progress_bar(options["quiet"]) as observe, stopping(defer=False) as stop:

        def watch(what: str, done: int, total: int) -> None:
            observe(Progress(0, what, done, total, "fits", 0, float("nan")))

        try:
            display = run(
                rows,
                ks=options["ks"],
                methods="auto" if methods == ["auto"] else methods,
                metric=options["metric"],
                cv=options["cv"],
                groups=groups,
                always=options["always"],
                never=options["never"],
                seed=options["seed"],
                watch=watch,
            )
        except Interrupted as stopped:
            return stopped.result, stop.exit_code
        except KeyboardInterrupt:
            click.echo("interrupted before any method had been judged", err=True)
            raise
    return display, 0


def _about(display: CompareDisplay) -> str:
    """How much there was to compare on, and how much of it was done."""
    folds = f"{display.n_folds} fold{'s' * (display.n_folds != 1)}"
    rest = ", incomplete" if display.is_partial else ""
    return f"{display.n_rows:,} rows, {display.n_features:,} features, {folds}{rest}"


def _as_csv(display: CompareDisplay) -> str:
    """Every fold, all digits."""
    text, records = io.StringIO(), display.records()
    writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()
