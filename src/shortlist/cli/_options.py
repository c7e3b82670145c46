"""Arguments and options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

import click

from shortlist.cli._failures import CANNOT_SKIP

F = TypeVar("F", bound=Callable[..., Any])

_OF_LISTS = frozenset("[](){}'\"")


def files_argument() -> Callable[[F], F]:
    """FILE...: what to read."""
    return click.argument(
        "files", nargs=-1, required=True, metavar="FILE...", callback=_check_files
    )


def _check_files(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...]:
    if value.count("-") > 1:
        raise click.BadParameter("standard input (-) can be read only once", ctx, param)
    return value


def as_interactions(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> int | list[str] | None:
    """Read what --interactions asks for."""
    if value is None or value == "2":
        return None if value is None else 2
    pairs = value.split(",")
    # what looks like a list of Python would be about namespaces that no row has
    is_plain = not _OF_LISTS.intersection(value)
    if is_plain and all(pair.count("*") == 1 for pair in pairs):
        return pairs
    raise click.BadParameter(
        "expected 2, or pairs of namespaces as user*ad,user*page without brackets or "
        f"quotes, got {value!r}",
        ctx,
        param,
    )


def model_argument() -> Callable[[F], F]:
    """MODEL: a shortlist that was saved."""
    return click.argument("model", metavar="MODEL")


def input_format_option() -> Callable[[F], F]:
    """--input-format: how files are to be read."""
    return click.option(
        "--input-format",
        type=click.Choice(
            ["auto", "libsvm", "vw", "csv", "tsv", "parquet", "arrow", "jsonl", "fasta"]
        ),
        default="auto",
        help="What FILE holds. auto: what it ends in (.vw, .csv, .tsv, .jsonl, "
        ".fasta, .fastq and such, also packed as .csv.gz, .bz2, .zst; .parquet, .pq, "
        ".arrow, .feather), else libsvm text, as for standard input.",
    )


def all_of(decorators: Sequence[Callable[[F], F]]) -> Callable[[F], F]:
    """One decorator that does what all of these do, the first outermost."""

    def decorate(command: F) -> F:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


def refuse_others(ctx: click.Context, known: Collection[str], option: str) -> None:
    """Refuse options that were given and mean nothing beside one of them."""
    default = click.core.ParameterSource.DEFAULT
    for param in ctx.command.params:
        name = param.name or ""
        given = name in ctx.params and ctx.get_parameter_source(name) is not default
        if given and name not in known:
            off = ctx.params[name] is False and param.secondary_opts
            other = (off or param.opts)[0]
            raise click.UsageError(f"{other} does not go with {option}", ctx)
    ctx.meta[CANNOT_SKIP] = "on_error" not in known


#: Options of ``table_options``, by the names that sources have for them.
TABLE_OPTIONS = ("target", "weight", "missing", "text", "delimiter", "quote", "header")


def table_options(of_model: bool = False) -> Callable[[F], F]:
    """--target and others: what the columns of a table are."""
    default = " By default as in MODEL." if of_model else ""
    decorators = [
        click.option(
            "--target",
            metavar="COLUMN",
            help="Column of a table that holds the labels; tables are CSV, TSV, Parquet "
            f"and Arrow files, and JSON lines, of which it is a key or a.b.{default}",
        ),
        click.option(
            "--weight",
            metavar="COLUMN",
            help=f"Column of a table that holds the importance of each row.{default}",
        ),
        click.option(
            "--missing",
            type=click.Choice(
                ["zero", "category", "error", *([] if of_model else ["mean"])]
            ),
            help="What a missing value of a table does: leave the feature out, make a "
            "feature column=missing, or end the run."
            + (
                default
                or " By default zero. With --columns it counts as zero or as the mean of "
                "its column, or ends the run, which is the default there."
            ),
        ),
        click.option(
            "--text",
            metavar="COLUMN",
            multiple=True,
            help="Column of a table whose numbers are codes: each makes a feature "
            f"column=value. May be repeated.{default}",
        ),
        click.option(
            "--delimiter",
            metavar="CHARACTER",
            callback=_spelled_delimiter,
            help="What separates the cells of CSV; tab may be spelled so. By default the "
            "first rows tell.",
        ),
        click.option(
            "--quote",
            metavar="CHARACTER|none",
            help="What quotes the cells of CSV; none: quotes are characters like any other."
            + (default or ' By default ".'),
        ),
        click.option(
            "--header/--no-header",
            default=None,
            help="Whether the first row of CSV names the columns; if it is data, they are "
            "called x0, x1, ... By default it names them, unless it has numbers where the "
            "rows below have numbers.",
        ),
    ]
    return all_of(decorators)


def given_table_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the table options that have been given."""
    chosen = {name: options[name] for name in TABLE_OPTIONS}
    return {name: one for name, one in chosen.items() if one not in (None, ())}


def _spelled_delimiter(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> str | None:
    return "\t" if value in ("tab", "\\t") else value


def named_feature_options() -> Callable[[F], F]:
    """--always and --never: features that are chosen, or left out, in any case."""
    return all_of(
        [
            click.option(
                "--always",
                metavar="NAME",
                multiple=True,
                help="Feature to choose in any case; counts in K. May be repeated.",
            ),
            click.option(
                "--never",
                metavar="NAME",
                multiple=True,
                help="Feature to leave out of everything, or column of text, or key of "
                "JSON lines, of which no value is to be a feature. May be repeated.",
            ),
        ]
    )


def label_map_option() -> Callable[[F], F]:
    """--label-map: classes in the place of labels."""
    return click.option(
        "--label-map",
        metavar="FILE",
        help="Lines of label, tab, class: labels become the names of their classes, and "
        "several may have the same one.",
    )


def on_error_option() -> Callable[[F], F]:
    """--on-error: what a bad line does."""
    return click.option(
        "--on-error",
        type=click.Choice(["raise", "skip"]),
        default="raise",
        help="What a line that cannot be read does: end the run, or be left out and "
        "counted.",
    )


def result_format_option() -> Callable[[F], F]:
    """--format: how a shortlist is printed."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(["table", "json", "csv"]),
        default="table",
        help="Form of the result on standard output.",
    )


def quiet_option() -> Callable[[F], F]:
    """--quiet: silence on standard error."""
    return click.option(
        "-q",
        "--quiet",
        is_flag=True,
        callback=_hush,
        help="Say nothing on standard error but what went wrong.",
    )


def _hush(ctx: click.Context, _: click.Parameter, value: bool) -> bool:
    if value:
        os.environ["SHORTLIST_QUIET"] = "1"  # kernels that compile announce it
    return value
