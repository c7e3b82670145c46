"""``shortlist report``: all about a model, on a page for browsers."""

from __future__ import annotations

import json
import sys

import click

from shortlist.cli._command import Command
from shortlist.cli._input import load_model
from shortlist.cli._options import model_argument, quiet_option
from shortlist.cli._output import STDOUT, check_output, open_output


@click.command(
    cls=Command,
    examples=(
        "shortlist report model.shortlist -o report.html",
        "shortlist report model.shortlist --json > summary.json",
    ),
)
@model_argument()
@click.option(
    "-o",
    "out",
    metavar="OUT",
    default=STDOUT,
    help="File to write, - for standard output.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Write what the page tells as JSON, in place of the page.",
)
@quiet_option()
def report(model: str, out: str, as_json: bool, quiet: bool) -> None:
    """Tell all about a saved MODEL on a page for browsers.

    The page is one file that needs no network: what was asked, what was chosen, what
    smaller budgets would give, how the run went, how to make it again, whom to cite.
    """
    check_output(out, (), [model])
    if out == STDOUT and not as_json and sys.stdout.isatty():
        raise click.UsageError("a page is for a browser; give -o report.html")
    shortlist = load_model(model)
    from shortlist.report import Report

    told = Report(shortlist)
    text = json.dumps(told.summary, indent=2) + "\n" if as_json else told.html
    with open_output(out) as stream:
        stream.write(text.encode("utf-8"))
    if out != STDOUT and not quiet:
        click.echo(f"report written to {out}", err=True)
