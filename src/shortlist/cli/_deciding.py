"""A bar while something is decided before the choice; Ctrl-C is told what it ended."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from shortlist.cli._failures import INTERRUPTED
from shortlist.cli._progress import progress_bar, title

if TYPE_CHECKING:
    from shortlist._protocols import Observer, Progress


@contextlib.contextmanager
def deciding(ctx: click.Context, what: str, instead: str) -> Iterator[Observer]:
    """Give an observer that draws a bar; on Ctrl-C say what was going on, and exit.

    What a method had found in a part of the rows is no result.

    Parameters
    ----------
    ctx : click.Context
        Of a command with ``--quiet``.
    what : str
        What is being done: "looking for k".
    instead : str
        How to do without.
    """
    stage = ""
    try:
        with progress_bar(ctx.params["quiet"]) as draw:

            def observe(progress: Progress) -> None:
                nonlocal stage
                stage = f" ({title(progress)})"
                draw(progress)

            yield observe
    except KeyboardInterrupt:
        line = (
            f"interrupted while {what}{stage}: nothing has been chosen yet; {instead}"
        )
        click.echo(line, err=True)
        ctx.exit(INTERRUPTED)
