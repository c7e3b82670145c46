"""A result on standard output, and what there is to say about it on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from shortlist._shortlist import Shortlist


def present(
    shortlist: Shortlist, unsaid: Sequence[str], options: Mapping[str, Any]
) -> None:
    """Save and print a result of columns or of sequences."""
    out, form = options["out"], options["form"]
    try:
        if out is not None:
            shortlist.save(out)
    finally:
        say(shortlist, form, unsaid)
    if not options["quiet"]:
        for note in notes_for_stderr(unsaid, shown=form == "table"):
            click.echo(f"note: {note}", err=True)
        if out is not None:
            click.echo(f"model saved to {out}", err=True)


def say(shortlist: Shortlist, form: str, unsaid: Sequence[str]) -> None:
    """Print a shortlist; names in CSV are data, whatever a terminal makes of them."""
    is_data = form == "csv"
    color = True if is_data else None  # else what looks like a colour is left out
    click.echo(rendered(shortlist, form, unsaid), nl=not is_data, color=color)


def notes_for_stderr(notes: Sequence[str], *, shown: bool) -> list[str]:
    """Notes that have not been shown, and warnings where nobody may look at the table."""
    if shown and sys.stdout.isatty():
        return []
    return [note for note in notes if not shown or note.startswith("leak?")]


def rendered(shortlist: Shortlist, form: str, unsaid: Sequence[str]) -> str:
    """Write a shortlist in the form asked for; below a table, notes that are news."""
    if form == "json":
        return json.dumps(shortlist.to_dict(), indent=2)
    if form == "csv":
        return shortlist.to_csv_text()
    return str(replace(shortlist, notes=tuple(unsaid)))
