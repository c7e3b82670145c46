"""Progress on standard error, if somebody is there to see it.

Without a terminal nothing is drawn and rich is not imported. With one, the bar is
redrawn ten times a second at most, so that it costs nothing.
"""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shortlist._protocols import Observer, Progress, RowBlock, RowSource

_SECONDS_BETWEEN = 0.1
_ONE_PASS = 0  # number of a pass that no other follows


@contextlib.contextmanager
def progress_bar(quiet: bool, prints: bool = False) -> Iterator[Observer]:
    """Give an observer that draws a bar, or one that does nothing.

    Parameters
    ----------
    quiet : bool
        Whether silence was asked for.
    prints : bool, default=False
        Whether results go to standard output meanwhile: on a terminal they would mix.
    """
    if quiet or not sys.stderr.isatty() or (prints and sys.stdout.isatty()):
        yield _ignore
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=10),
        TextColumn("{task.fields[detail]}"),
        console=Console(file=sys.stderr),
        auto_refresh=False,
        transient=True,
    )
    with bar:
        yield _Drawing(bar).observe


def _ignore(progress: Progress) -> None:
    """Nobody looks."""


def watched(source: RowSource, observe: Observer, stage: str) -> RowSource:
    """Source that reports each block it gives to an observer."""
    from shortlist._protocols import Progress
    from shortlist.cli._input import TappedSource

    rows = 0

    def report(block: RowBlock) -> RowBlock:
        nonlocal rows
        rows += block.n_rows
        place = (block.position, source.size, source.unit)
        observe(Progress(_ONE_PASS, stage, *place, rows, math.nan))
        return block

    return TappedSource(source, report)


class _Drawing:
    """A rich bar, and what has to be remembered between two drawings."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar
        self._task = bar.add_task("starting", total=None, detail="")
        self._drawn = 0.0
        self._pass: tuple[int, str] | None = None
        self._begun = self._first_position = 0.0
        self._first_rows = 0

    def observe(self, progress: Progress) -> None:
        """Draw, unless it was done a moment ago."""
        now = time.monotonic()
        this_pass = (progress.pass_number, progress.stage)
        if this_pass != self._pass:
            # Rates are measured from the end of a pass's first block: the time before
            # it may have gone into compiling.
            self._pass, self._begun = this_pass, now
            self._first_position = progress.position
            self._first_rows = progress.rows
        elif now - self._drawn < _SECONDS_BETWEEN:
            return
        self._drawn = now
        seconds = now - self._begun
        self._bar.update(
            self._task,
            description=title(progress),
            completed=progress.position,
            total=progress.size,
            detail=detail(
                progress,
                (progress.position - self._first_position) / seconds
                if seconds
                else 0.0,
                (progress.rows - self._first_rows) / seconds if seconds else 0.0,
            ),
        )
        self._bar.refresh()


def title(progress: Progress) -> str:
    """What the running pass is for, and its number if there may be several."""
    if progress.pass_number == _ONE_PASS:
        return progress.stage
    return f"{progress.stage}, pass {progress.pass_number}"


def detail(progress: Progress, speed: float, row_speed: float) -> str:
    """Numbers beside the bar: share, speeds, time left, loss, accuracy.

    Parameters
    ----------
    progress : Progress
    speed : float
        In units of the source a second; 0 if nobody knows yet.
    row_speed : float
        Rows a second.
    """
    parts = []
    if progress.size:
        parts.append(f"{100 * progress.position / progress.size:.0f}%")
    if speed > 0 and progress.unit == "bytes":
        parts.append(f"{speed / 1e6:.3g} MB/s")
    things = "columns" if progress.unit == "columns" else "examples"
    if row_speed > 0:
        parts.append(f"{_thousands(row_speed)} {things}/s")
    if speed > 0 and progress.size:
        left = max(0.0, (progress.size - progress.position) / speed)
        parts.append(f"{duration(left)} left")
    elif not progress.size:
        parts.append(f"{progress.rows:,} {things}")
    if math.isfinite(progress.loss):
        parts.append(f"loss {progress.loss:.3g}")
    if math.isfinite(progress.accuracy):
        parts.append(f"accuracy {100 * progress.accuracy:.1f}%")
    return "  ".join(parts)


def _thousands(number: float) -> str:
    return f"{number:.0f}" if number < 10_000 else f"{number / 1000:,.0f}k"


def duration(seconds: float) -> str:
    """Write a time for people.

    Examples
    --------
    >>> duration(0.2), duration(75), duration(8000)
    ('<1 s', '1 min 15 s', '2 h 13 min')
    """
    if seconds < 1:
        return "<1 s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
