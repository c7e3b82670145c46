"""``shortlist predict``: labels or numbers for new rows, one a line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from shortlist.cli._command import Command
from shortlist.cli._dna import dna_options, dna_settings_of
from shortlist.cli._holdout import describe
from shortlist.cli._input import (
    TappedSource,
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
    label_map_option,
    model_argument,
    on_error_option,
    quiet_option,
    table_options,
)
from shortlist.cli._output import STDOUT, check_output, open_output, shortest
from shortlist.cli._progress import progress_bar, watched
from shortlist.cli._tables import NO_FEATURE_MET, Chosen

if TYPE_CHECKING:
    from shortlist._protocols import RowBlock, RowSource
    from shortlist._scoring import Predictor, Score
    from shortlist._shortlist import Shortlist


@click.command(
    cls=Command,
    examples=(
        "shortlist predict model.shortlist new.svm > labels.txt",
        "shortlist predict model.shortlist new.svm --proba --format csv -o p.csv",
        "zcat new.svm.gz | shortlist predict model.shortlist -",
    ),
)
@model_argument()
@files_argument()
@click.option(
    "-o",
    "out",
    metavar="OUT",
    default=STDOUT,
    help="File to write, complete or not at all; - is standard output.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "csv", "json"]),
    default="text",
    help="text: bare predictions (with --proba a header and tabs); csv: with a header; "
    "json: an object a line.",
)
@click.option(
    "--proba",
    is_flag=True,
    help="Add the probability of each class; for the losses logistic and softmax.",
)
@table_options(of_model=True)
@dna_options(of_model=True)
@label_map_option()
@input_format_option()
@on_error_option()
@quiet_option()
def predict(
    model: str,
    files: tuple[str, ...],
    out: str,
    form: str,
    proba: bool,
    input_format: str,
    on_error: str,
    quiet: bool,
    label_map: str | None,
    **reading: Any,
) -> None:
    """Predict the labels of FILE... with a saved MODEL.

    One prediction a line, in the order of the rows. Rows are read and forgotten, so
    pipes of any length will do. Labels in FILE are not used, but where the model knows
    them the predictions are scored, on standard error.
    """
    check_output(out, files, [model])
    shortlist = load_model(model)
    given = given_table_options(reading)
    options = table_options_of(
        shortlist, files, input_format, given, label_map=label_map
    )
    options |= dna_settings_of(shortlist, reading, files, input_format)
    opened = open_rows(files, input_format, on_error, options, label_map, strict=False)
    from shortlist.sources._columns import require_columns
    from shortlist.sources.pairs import with_pairs_as

    require_columns(opened, shortlist.names)
    source = with_pairs_as(shortlist.params, opened)
    writer = _Writer(shortlist, form, proba)
    with open_output(out) as stream:
        stream.write(writer.header())

        def write(block: RowBlock) -> None:
            stream.write(writer.lines(block))
            stream.flush()
            forget_names(source, block.position)

        with progress_bar(quiet, prints=out == STDOUT) as observe:
            rows_seen = watched(source, observe, "predict")
            score, rows, scored = predict_all(shortlist, rows_seen, write)
    if quiet:
        return
    strangers = None if writer.met_a_feature or not rows else NO_FEATURE_MET
    for line in (skipped_line(source), strangers, _verdict(score, rows, scored)):
        if line is not None:
            click.echo(line, err=True)


def predict_all(
    shortlist: Shortlist,
    source: RowSource,
    write: Callable[[RowBlock], None],
) -> tuple[Score | None, int, int]:
    """Hand every block to ``write`` and score the rows whose labels are known.

    Returns
    -------
    score : Score or None
    n_rows, n_scored : int
    """
    from shortlist._protocols import DataError, ShortlistError
    from shortlist._scoring import evaluate, target_for
    from shortlist.kernels.csr import take_rows

    try:
        target = target_for(shortlist, source)
    except ShortlistError:  # classes that labels of text can never be
        n_rows = 0
        for block in source.blocks():
            write(block)
            n_rows += block.n_rows
        return None, n_rows, 0
    n_rows = n_scored = 0

    def tap(block: RowBlock) -> RowBlock:
        nonlocal n_rows, n_scored
        write(block)
        labelled = target.knows(block.y).nonzero()[0]
        n_rows, n_scored = n_rows + block.n_rows, n_scored + len(labelled)
        return take_rows(block, labelled)

    try:
        return evaluate(shortlist, TappedSource(source, tap)), n_rows, n_scored
    except DataError:
        raise
    except ShortlistError:  # no row had a label that the model knows
        return None, n_rows, n_scored


def _verdict(score: Score | None, n_rows: int, n_scored: int) -> str:
    if n_rows == 0:
        return "no rows, so nothing was predicted"
    if score is None:
        return f"not scored: none of {n_rows:,} rows has a label that the model knows"
    line, unknown = f"scored: {describe(**score._asdict())}", n_rows - n_scored
    if unknown == 0:
        return line
    others = "row with another label" if unknown == 1 else "rows with other labels"
    return f"{line}; {unknown:,} {others} not scored"


class _Writer:
    """Predictions of blocks as text."""

    def __init__(self, shortlist: Shortlist, form: str, proba: bool) -> None:
        from shortlist._scoring import Predictor

        self._predictor: Predictor = Predictor(shortlist)
        self._classes = shortlist.classes
        self._form, self._proba = form, proba
        self._chosen, self.met_a_feature = Chosen(shortlist), len(shortlist) == 0
        if proba and not (self._classes and self._predictor.loss.has_probability):
            raise click.BadParameter(
                f"a model with loss {shortlist.loss} gives no probabilities; select "
                "with --loss logistic or softmax, or leave this out",
                param_hint="--proba",
            )
        labels = [f"p({label})" for label in self._classes or ()] if proba else []
        self._columns = ["prediction", *labels]

    def header(self) -> bytes:
        """First line, if there is one."""
        if self._form == "json" or (self._form == "text" and not self._proba):
            return b""
        return self._rows([self._columns])

    def lines(self, block: RowBlock) -> bytes:
        """One line a row."""
        self.met_a_feature = self.met_a_feature or self._chosen.occurs_in(block)
        records = list(self._records(block))
        if self._form == "json":
            keys = self._columns
            objects = (dict(zip(keys, record, strict=True)) for record in records)
            return "".join(json.dumps(one) + "\n" for one in objects).encode()
        return self._rows([list(map(_spelled, record)) for record in records])

    def _records(self, block: RowBlock) -> Iterator[tuple[Any, ...]]:
        margins = self._predictor.margins(block)
        if self._classes is None:
            return zip(self._predictor.responses(margins)[:, 0].tolist(), strict=True)
        codes = self._predictor.codes(margins).tolist()
        labels = [self._classes[code] for code in codes]
        if not self._proba:
            return zip(labels, strict=True)
        chances = self._predictor.responses(margins)
        if chances.shape[1] == 1:  # of the last class; the other has the rest
            shares = [[1.0 - p, p] for p in chances[:, 0].tolist()]
        else:
            shares = chances.tolist()
        return ((label, *row) for label, row in zip(labels, shares, strict=True))

    def _rows(self, rows: Sequence[Sequence[str]]) -> bytes:
        if len(self._columns) == 1 and self._form == "text":
            return "".join(f"{row[0]}\n" for row in rows).encode()
        text = io.StringIO()
        delimiter = "," if self._form == "csv" else "\t"
        csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
        return text.getvalue().encode()


def _spelled(value: Any) -> str:
    return shortest(value) if isinstance(value, float) else str(value)
