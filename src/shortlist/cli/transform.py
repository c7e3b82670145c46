"""``shortlist transform``: the same rows with only the chosen features."""

from __future__ import annotations

import os
from contextlib import closing
from typing import Any

import click

from shortlist._in_words import counted
from shortlist.cli._command import Command
from shortlist.cli._dna import dna_options, dna_settings_of
from shortlist.cli._input import (
    forget_names,
    load_model,
    open_rows,
    skipped_line,
    table_options_of,
)
from shortlist.cli._options import (
    files_argument,
    given_table_options,
    input_format_option,
    model_argument,
    on_error_option,
    quiet_option,
    table_options,
)
from shortlist.cli._output import STDOUT, check_output, open_output
from shortlist.cli._progress import progress_bar, watched
from shortlist.cli._tables import NO_FEATURE_MET, WRITERS, Chosen

FORMATS = {
    ".svm": "svm",
    ".libsvm": "svm",
    ".txt": "svm",
    ".csv": "csv",
    ".parquet": "parquet",
}


@click.command(
    cls=Command,
    examples=(
        "shortlist transform model.shortlist data.svm -o small.svm",
        "shortlist transform model.shortlist 'day-*.svm.gz' -o small.parquet",
        "shortlist transform model.shortlist data.svm -o - | gzip > small.svm.gz",
    ),
)
@model_argument()
@files_argument()
@click.option(
    "-o",
    "out",
    metavar="OUT",
    required=True,
    help="File to write, complete or not at all; - is standard output.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["svm", "csv", "parquet"]),
    help="svm: label and original ids; csv, parquet: a column for the label and one "
    "for each feature. By default what OUT ends in says it (.svm, .libsvm, .txt, .csv, "
    ".parquet), and standard output is svm.",
)
@table_options(of_model=True)
@dna_options(of_model=True)
@input_format_option()
@on_error_option()
@quiet_option()
def transform(
    model: str,
    files: tuple[str, ...],
    out: str,
    form: str | None,
    input_format: str,
    on_error: str,
    quiet: bool,
    **reading: Any,
) -> None:
    """Write FILE... with only the features that MODEL chose.

    Every row stays, also one that has none of the features. Numbers are written so
    that they read back exactly. Columns are in the order of the shortlist.
    """
    if os.path.splitext(out)[1].lower() in (".gz", ".bz2", ".zst"):
        raise click.BadParameter(
            f"{out}: output is not compressed; write to a name without that ending, or "
            "to - and a pipe",
            param_hint="-o",
        )
    form = form or _format_of(out)
    check_output(out, files, [model])
    shortlist = load_model(model)
    given = given_table_options(reading)
    options = table_options_of(shortlist, files, input_format, given, keeps_labels=True)
    options |= dna_settings_of(shortlist, reading, files, input_format)
    opened = open_rows(files, input_format, on_error, options)
    from shortlist.sources._columns import require_columns
    from shortlist.sources.pairs import with_pairs_as

    require_columns(opened, shortlist.names)
    source = with_pairs_as(shortlist.params, opened)
    chosen, rows, values = Chosen(shortlist), 0, 0
    with (
        open_output(out) as stream,
        closing(WRITERS[form](stream, chosen, source.label_names)) as writer,
        progress_bar(quiet, prints=out == STDOUT) as observe,
    ):
        for block in watched(source, observe, "transform").blocks():
            kept = chosen.of(block)
            writer.write(kept)
            forget_names(source, block.position)
            rows, values = rows + block.n_rows, values + len(kept.values)
    if quiet:
        return
    place = "standard output" if out == STDOUT else out
    skipped = skipped_line(source)
    width = counted(len(chosen.names), "feature")
    done = f"{counted(rows, 'row')} with {width} written to {place}"
    strangers = NO_FEATURE_MET if rows and chosen.ids and not values else None
    for line in (skipped, strangers, done):
        if line is not None:
            click.echo(line, err=True)


def _format_of(out: str) -> str:
    if out == STDOUT:
        return "svm"
    suffix = os.path.splitext(out)[1].lower()
    if suffix not in FORMATS:
        raise click.BadParameter(
            f"{out} should end in {', '.join(FORMATS)}, or say --format",
            param_hint="-o",
        )
    return FORMATS[suffix]
