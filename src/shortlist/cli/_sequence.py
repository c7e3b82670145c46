"""``shortlist select --sequence``: choose sensors from rows that follow each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from shortlist.cli._front import (
    AUTO,
    announce,
    in_lines,
    unsaid_notes,
    with_decisions,
)
from shortlist.cli._input import as_params
from shortlist.cli._options import refuse_others
from shortlist.cli._progress import progress_bar
from shortlist.cli._reading import open_asked
from shortlist.cli._reproduce import command_line, how_to_repeat
from shortlist.cli._running import Unscored

if TYPE_CHECKING:
    from shortlist._protocols import RowSource
    from shortlist.cli._sensor_table import SensorColumns
    from shortlist.front import Choice

F = TypeVar("F", bound=Callable[..., Any])

#: Options that mean something for sequences.
_KNOWN = {
    *("files", "k", "method", "never", "seed", "target", "missing", "text", "l2"),
    *("delimiter", "quote", "header", "label_map", "input_format", "sequence"),
    *("out", "form", "quiet"),
}
#: What there is instead of some of the others.
_INSTEAD = {
    "holdout": "no rows are held out; shortlist sensors has held-out errors",
    "cv": "shortlist sensors --cv has held-out errors",
    "weight": "rows of a sequence all weigh the same",
    "always": "no sensor can be chosen beforehand",
}


def sequence_option() -> Callable[[F], F]:
    """--sequence."""
    return click.option(
        "--sequence",
        metavar="COLUMN",
        help="Column of a table that says which sequence (day, person) a row belongs to, "
        "if rows follow each other in time; rows of a sequence stand together. K sensors "
        "are then chosen for what goes on (--method sensors, as shortlist sensors does); "
        "no rows are held out.",
    )


def refuse_sensors(ctx: click.Context) -> None:
    """Refuse the method for sequences where there are none."""
    from shortlist._registry import SENSORS

    if ctx.params["method"] == SENSORS:
        raise click.UsageError(
            f"--method {SENSORS} wants --sequence, the column that says which sequence a "
            "row belongs to",
            ctx,
        )


def choose_from_sequences(ctx: click.Context) -> Unscored:
    """Choose sensors for the activities of sequences, as ``select(sequence=)`` does."""
    from shortlist.cli._sensor_table import naming_columns, remarks_on, sensor_name
    from shortlist.engines import Interrupted
    from shortlist.front._from_sequence import (
        Steps,
        select_from_steps,
        sensor_selector,
        tell,
    )

    options = ctx.params
    given = command_line(ctx)
    choice = _choice(ctx)
    _refuse_others(ctx)
    source, table = _opened(options)
    settings = {} if options["l2"] is None else {"l2": options["l2"]}
    sensors = list(map(sensor_name, table.names))
    selector = sensor_selector(options["k"], {"sensors": sensors, **settings})
    announce(ctx, *in_lines(choice), *remarks_on(table, None, ()))
    ids = source.ids(table.names)
    steps = Steps(table.X, table.y, table.sequence, table.names, ids)
    columns = {"y": options["target"], "sequence": options["sequence"]}
    interrupted = False
    with (
        progress_bar(options["quiet"]) as observe,
        naming_columns(table.origin, columns),
    ):
        tell(selector, observe)
        try:
            shortlist = select_from_steps(selector, steps)
        except Interrupted as stop:
            shortlist, interrupted = stop.result, True
    shortlist = with_decisions(shortlist, choice, None)
    known = {"sequence": options["sequence"], **_table_params(source, options)}
    params = {**shortlist.params, **known, **how_to_repeat(ctx, given)}
    shortlist = replace(shortlist, params=params)
    return Unscored(
        shortlist, tuple(unsaid_notes(ctx, shortlist, choice, None)), interrupted
    )


def _choice(ctx: click.Context) -> Choice | None:
    """Pick the one method that looks at the order of rows, unless it is named."""
    from shortlist._registry import selector
    from shortlist.front import Facts, choose

    choice, method = choose(Facts("sequence")), ctx.params["method"]
    if method == choice.method:
        return None
    if method != AUTO:
        selector(method)  # a name that there is not is another mistake
        raise click.UsageError(
            f"--sequence: {method} does not look at the order of rows; {choice.method} "
            "does",
            ctx,
        )
    ctx.params["method"] = choice.method
    return choice


def _refuse_others(ctx: click.Context) -> None:
    """Refuse options that were given and mean nothing for sequences."""
    options, default = ctx.params, click.core.ParameterSource.DEFAULT
    if options["k"] == AUTO:
        raise click.UsageError(
            "-k auto does not go with --sequence; shortlist sensors has errors by the "
            "number of sensors",
            ctx,
        )
    for name, instead in _INSTEAD.items():
        if ctx.get_parameter_source(name) is not default:
            raise click.UsageError(
                f"--{name} does not go with --sequence: {instead}", ctx
            )
    refuse_others(ctx, _KNOWN, "--sequence")
    for name, value in (("l2", AUTO), ("missing", "mean")):
        if options[name] == value:
            raise click.UsageError(f"--{name} {value} does not go with --sequence", ctx)
    if options["target"] == options["sequence"]:
        raise click.UsageError(
            "--target and --sequence should be two columns, got "
            f"{options['target']!r} for both",
            ctx,
        )


def _opened(options: Mapping[str, Any]) -> tuple[RowSource, SensorColumns]:
    """Read the files, the column of sequences as texts."""
    from shortlist.cli._sensor_table import table_of
    from shortlist.sources._formats import FORMATS, format_of

    name, _ = format_of(options["files"], options["input_format"])
    if "target" not in FORMATS[name].takes:
        raise click.UsageError(
            "--sequence goes with tables (csv, tsv, parquet, arrow, jsonl), and "
            f"{options['files'][0]} is {name}; --input-format says what it holds"
        )
    files, never, sequence = (options[key] for key in ("files", "never", "sequence"))

    def opened(changed: Mapping[str, Any]) -> RowSource:
        # a map says what labels are called, not what sequences are
        is_labelled = changed["target"] == options["target"]
        label_map = options["label_map"] if is_labelled else None
        return open_asked({**changed, "label_map": label_map})

    return table_of(opened, files, options["input_format"], options, sequence, never)


def _table_params(source: RowSource, options: Mapping[str, Any]) -> dict[str, Any]:
    """What a model knows about its table: rows to transform need no sequences."""
    params = as_params(source)
    table = {**params["table"], "text": tuple(options["text"])}
    return {"table": {name: one for name, one in table.items() if one}}
