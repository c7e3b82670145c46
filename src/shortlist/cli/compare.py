"""``shortlist compare``: every suitable method against every budget, on the user's data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from shortlist.cli._command import Command
from shortlist.cli._options import (
    files_argument,
    given_table_options,
    input_format_option,
    label_map_option,
    on_error_option,
    quiet_option,
    table_options,
)
from shortlist.cli._output import check_output
from shortlist.cli._plotting import picture
from shortlist.cli._progress import progress_bar

if TYPE_CHECKING:
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
    "--cv",
    type=click.IntRange(min=2),
    metavar="FOLDS",
    help="Folds of the cross-validation. By default 5, or 3 from 5,000 rows on.",
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
@click.option("--plot", metavar="FILE", help="Draw curves to a PNG, SVG or PDF file.")
@table_options()
@label_map_option()
@input_format_option()
@on_error_option()
@quiet_option()
def compare(**options: Any) -> None:
    """Compare methods at several budgets on the rows of FILE..., by cross-validation.

    In each fold every method chooses features by the rows to learn from; a logistic or
    linear model of these features, its ridge chosen within the same rows, is judged by the
    others. Files are those of select, and have to fit into memory.
    """
    files, plot, quiet = options["files"], options["plot"], options["quiet"]
    check_output(plot, files, option="--plot")
    from shortlist._protocols import Progress
    from shortlist.cli._whole_table import read_whole
    from shortlist.evaluate import compare as run

    table, groups, n_unlabelled = read_whole(options, given_table_options(options))
    if n_unlabelled and not quiet:
        click.echo(f"left out: {n_unlabelled:,} rows without a label", err=True)
    methods = options["methods"]
    cv = options["cv"] or (5 if len(table.y) < 5000 else 3)
    with progress_bar(quiet) as observe:

        def watch(what: str, done: int, total: int) -> None:
            observe(Progress(0, what, done, total, "fits", 0, float("nan")))

        display = run(
            table.X,
            table.y,
            ks=options["ks"],
            methods="auto" if methods == "auto" else methods.split(","),
            cv=cv,
            groups=groups,
            sample_weight=table.weight,
            feature_names=table.names,
            seed=options["seed"],
            watch=watch,
        )
    if plot is not None:
        with picture(plot, 7.0, 4.5) as axes:
            display.plot(ax=axes)
    if options["form"] == "csv":
        click.echo(display.frame.to_csv(index=False), nl=False)
        return
    n_rows, n_features = table.X.shape
    click.echo(f"{n_rows:,} rows, {n_features:,} features, {cv} folds\n")
    click.echo(as_text(display))
    if not quiet:
        for method, reason in display.left_out.items():
            click.echo(f"left out: {method}: {reason}", err=True)


def as_text(display: CompareDisplay) -> str:
    """A table a budget, the best method first, and what the best is."""
    main = display.main_metric
    others = [name for name in display.metrics if name != main]
    lines = []
    frame = display.summary()
    for k, part in frame.groupby("k"):
        heads = [main.replace("_", " "), "+-", *(n.replace("_", " ") for n in others)]
        columns = [*heads, "overlap", "CPU s", "MB"]
        lines.append(f"k = {k:<16}" + "".join(f"{head:>10}" for head in columns))
        for row in part.to_dict("records"):
            numbers = [row[main], row["error"], *(row[name] for name in others)]
            cells = [f"{number:.3f}" for number in [*numbers, row["overlap"]]]
            cells += [f"{row['seconds']:.2f}", f"{row['megabytes']:.0f}"]
            lines.append(f"  {row['method']:<18}" + "".join(f"{c:>10}" for c in cells))
        lines.append("")
    return "\n".join(lines).rstrip()
