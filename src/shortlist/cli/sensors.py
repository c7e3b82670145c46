"""``shortlist sensors``: which sensors are enough to tell activities apart over time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from shortlist.cli._command import Command
from shortlist.cli._failures import INTERRUPTED
from shortlist.cli._front import announce
from shortlist.cli._options import files_argument, input_format_option, quiet_option
from shortlist.cli._output import check_output
from shortlist.cli._plotting import picture
from shortlist.cli._progress import progress_bar

if TYPE_CHECKING:
    from shortlist.cli._sensor_table import SensorColumns
    from shortlist.table import SensorSelector

_BAR = 30


@click.command(
    cls=Command,
    examples=(
        "shortlist sensors house.csv --label activity --sequence day -k 10",
        "shortlist sensors house.csv --label activity --sequence day --plot curve.png",
        "shortlist sensors house.parquet --label activity --separator : --format csv",
    ),
)
@files_argument()
@click.option(
    "--label", metavar="COLUMN", required=True, help="Column that holds the activity."
)
@click.option(
    "--sequence",
    metavar="COLUMN",
    help="Column that says which sequence (day, person) a row belongs to; rows of a "
    "sequence stand together. By default all rows are one sequence.",
)
@click.option(
    "-k",
    "k",
    type=click.IntRange(min=1),
    default=10,
    metavar="K",
    help="How many sensors, or weights with --unit feature.",
)
@click.option(
    "--unit",
    type=click.Choice(["sensor", "feature"]),
    default="sensor",
    help="What K counts: whole sensors, or weights of a column for an activity.",
)
@click.option(
    "--direction",
    type=click.Choice(["forward", "both", "backward"]),
    default="both",
    help="Add sensors; add and drop; or begin with all and drop.",
)
@click.option(
    "--separator",
    metavar="TEXT",
    help="Columns with the same name up to TEXT are one sensor, as door:opened and "
    "door:last with --separator :.",
)
@click.option(
    "--never", metavar="COLUMN", multiple=True, help="Column to leave out, as the time."
)
@click.option(
    "--unlabelled",
    metavar="LABEL",
    multiple=True,
    help="Label that means that nobody knows, besides an empty cell.",
)
@click.option("--l2", type=float, default=1e-4, help="Penalty of the weights.")
@click.option(
    "--cv",
    type=click.IntRange(min=0),
    metavar="FOLDS",
    help="Folds for held-out errors, by sequence; 0: none. By default 5, or as many as "
    "there are sequences.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv"]),
    default="table",
    help="table: sensors by rank, the curve of errors, and errors of activities; csv: "
    "the curve, all digits.",
)
@click.option(
    "--plot", metavar="FILE", help="Draw the curve to a PNG, SVG or PDF file."
)
@input_format_option()
@quiet_option()
@click.pass_context
def sensors(
    ctx: click.Context,
    /,
    files: tuple[str, ...],
    label: str,
    sequence: str | None,
    k: int,
    separator: str | None,
    never: tuple[str, ...],
    unlabelled: tuple[str, ...],
    cv: int | None,
    form: str,
    plot: str | None,
    input_format: str,
    quiet: bool,
    **settings: Any,
) -> None:
    """Rank the sensors in FILE... by how well few of them tell activities apart.

    FILE is a table with a row for each step in time, in order. Empty cells of sensors
    (and NaN) count as 0; a column of texts is a sensor with a column for each text. Rows
    without an activity are not learned from and cut their sequence in two. Errors are
    shares of labelled rows; the macro error is the mean over activities, so that rare
    ones count as much as frequent ones.
    """
    check_output(plot, files, option="--plot")
    from shortlist.cli._sensor_table import (
        read_sensors,
        remarks_on,
        sensor_name,
        unlabelled_values,
    )
    from shortlist.table import SensorSelector

    table = read_sensors(files, label, sequence, never, input_format)
    nobody_knows = unlabelled_values(unlabelled, table.y)
    announce(ctx, *remarks_on(table, separator, nobody_knows))
    n_sequences = 1 if table.sequence is None else len(set(table.sequence))
    if cv is None:
        cv = min(5, n_sequences) if n_sequences > 1 else 0
    selector = SensorSelector(
        k,
        sensors=[sensor_name(name, separator) for name in table.names],
        unlabelled=nobody_knows,
        cv=cv,
        **settings,
    )
    interrupted = _search(selector, table, {"y": label, "sequence": sequence}, quiet)
    if plot is not None:
        with picture(plot, 6.4, 4.0) as axes:
            _draw(selector, axes)
    if form == "csv":
        click.echo(_csv(selector), nl=False)
    else:
        _print(selector, table.y, n_sequences)
    if interrupted:
        click.echo("interrupted: the result is partial", err=True)
        ctx.exit(INTERRUPTED)


def _search(
    selector: SensorSelector,
    table: SensorColumns,
    columns: dict[str, str | None],
    quiet: bool,
) -> bool:
    """Fit with a bar; return whether Ctrl-C ended it with something to show."""
    from shortlist.cli._sensor_table import naming_columns
    from shortlist.engines import Interrupted
    from shortlist.front._from_sequence import tell

    with progress_bar(quiet) as observe, naming_columns(table.origin, columns):
        tell(selector, observe)
        try:
            selector.fit(table.X, table.y, sequence=table.sequence)
        except Interrupted:
            return True
        except KeyboardInterrupt:
            click.echo("interrupted before anything was learned", err=True)
            raise
    return False


def _print(selector: SensorSelector, labels: Sequence[Any], n_sequences: int) -> None:
    """Write sensors by rank, the curve, and errors of activities."""
    n_labelled = selector.shortlist_.n_examples
    click.echo(
        f"{len(selector.sensors_)} of {len(selector.sensor_names_)} sensors for "
        f"{len(selector.classes_)} activities: {n_labelled:,} labelled rows, "
        f"{n_sequences:,} sequence{'s' * (n_sequences > 1)}\n"
    )
    click.echo("rank  sensor")
    for rank, name in enumerate(ranked(selector), 1):
        click.echo(f"{rank:>4}  {name}")
    click.echo(f"\n{curve(selector)}")
    click.echo(f"\n{activities(selector, labels)}")


def ranked(selector: SensorSelector) -> list[str]:
    """Sensors of the result, those first that are in the smallest supports."""
    sizes = [point.sensors for point in selector.path_.values()]
    first = {
        name: (next(i for i, names in enumerate(sizes) if name in names), name)
        for name in selector.sensors_
    }
    return sorted(first, key=lambda name: first[name])


def curve(selector: SensorSelector) -> str:
    """Errors of all sizes as text, with a bar for the macro error."""
    held_out = any(point.held_out is not None for point in selector.path_.values())
    head = f"{selector.unit + 's':>8}  error   macro"
    lines = [head + ("   held-out error   macro" if held_out else "")]
    for size, point in selector.path_.items():
        if size > selector.k:
            continue
        line = f"{size:>8}  {point.train.plain:.3f}   {point.train.macro:.3f}"
        shown = point.train.macro
        if held_out and point.held_out is not None:
            shown = point.held_out.macro
            line += f"   {point.held_out.plain:>14.3f}   {shown:.3f}"
        length = 0 if math.isnan(shown) else round(_BAR * shown)
        lines.append(f"{line}  {'#' * length}".rstrip())
    return "\n".join(lines)


def activities(selector: SensorSelector, labels: Sequence[Any]) -> str:
    """Errors of each activity for k, as text."""
    point = selector.path_[max(size for size in selector.path_ if size <= selector.k)]
    times = Counter(labels)
    names = [str(name) for name in selector.classes_.tolist()]
    width = max(len("activity"), *map(len, names))
    lines = [f"{'activity':<{width}}     rows  error"]
    if point.held_out is not None:
        lines[0] += "   held-out error"
    for code, (name, label) in enumerate(
        zip(names, selector.classes_.tolist(), strict=True)
    ):
        line = f"{name:<{width}}  {times[label]:>7,}  {point.train.by_label[code]:.3f}"
        if point.held_out is not None:
            line += f"   {point.held_out.by_label[code]:>14.3f}"
        lines.append(line)
    return "\n".join(lines)


def _csv(selector: SensorSelector) -> str:
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    fields = ("size", "sensors", "features", "objective", "error", "macro_error")
    writer.writerow([*fields, "held_out_error", "held_out_macro_error", "names"])
    for size, point in selector.path_.items():
        if size <= selector.k:
            held_out = ("", "") if point.held_out is None else point.held_out[:2]
            counts = (size, len(point.sensors), point.n_features, point.objective)
            names = "; ".join(point.sensors)
            writer.writerow([*counts, *point.train[:2], *held_out, names])
    return out.getvalue()


def _draw(selector: SensorSelector, axes: Any) -> None:
    """Errors in training and held out, against the number of sensors."""
    path = {size: p for size, p in selector.path_.items() if size <= selector.k}
    kinds = {"in training": [p.train for p in path.values()]}
    if held_out := [p.held_out for p in path.values() if p.held_out is not None]:
        kinds["held out"] = held_out
    for color, (kind, errors) in zip(
        ("tab:gray", "tab:blue"), kinds.items(), strict=False
    ):
        for which, style in (("macro", "o-"), ("plain", "s:")):
            shares = [getattr(each, which) for each in errors]
            label = f"{which} error {kind}"
            axes.plot([*path], shares, style, color=color, label=label, markersize=4)
    axes.set(xlabel=f"number of {selector.unit}s", ylabel="error", ylim=(0, None))
    axes.legend()
