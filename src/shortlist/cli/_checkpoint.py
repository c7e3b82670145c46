"""Runs that can be taken up again: --checkpoint, --every, --resume."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from shortlist.cli._output import check_output
from shortlist.cli._reproduce import command_line
from shortlist.cli._same_files import Fingerprint, changed, doubtful, fingerprints
from shortlist.cli._stopping import Stop, stopping

if TYPE_CHECKING:
    from shortlist._protocols import Capabilities, RowSource
    from shortlist.engines import Keeper, Snapshot
    from shortlist.sources._files import TextFile

F = TypeVar("F", bound=Callable[..., Any])

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_TIME = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([smh]?)")
#: What does not change the result may differ between a run and its continuation.
_FREE = {
    "checkpoint",
    "every",
    "resume",
    "out",
    "shard",
    "form",
    "quiet",
    "dry_run",
    "files",
}


def checkpoint_options() -> Callable[[F], F]:
    """--checkpoint FILE, --every TIME, --resume FILE."""

    def add(command: F) -> F:
        command = click.option(
            "--resume",
            metavar="FILE",
            help="Go on from a checkpoint, with the same files and options as before.",
        )(command)
        command = click.option(
            "--every",
            metavar="TIME",
            default="60s",
            callback=_read_time,
            help="Time between checkpoints: 30s, 5m, 1h.",
        )(command)
        return click.option(
            "--checkpoint",
            metavar="FILE",
            help="File to keep the state of the run in, so that --resume can go on from "
            "it after a stop of any kind. It is removed when the run is done.",
        )(command)

    return add


def _read_time(ctx: click.Context, param: click.Parameter, value: str) -> float:
    match = _TIME.fullmatch(value.strip())
    if match is None:
        raise click.BadParameter(f"expected a time such as 60s or 5m, got {value!r}")
    return float(match[1]) * _UNITS[match[2]]


@dataclass
class Checkpoint:
    """The checkpoint of one run; without a path there is none."""

    path: str | None = None
    resume_command: str = ""
    keeper: Keeper | None = None
    snapshot: Snapshot | None = None

    @contextlib.contextmanager
    def guarded(self) -> Iterator[Stop]:
        """Let signals stop the run between two blocks if a checkpoint can be written."""
        with stopping(defer=self.keeper is not None) as stop:
            if self.keeper is not None:
                self.keeper.wants_stop = stop.is_wanted
            yield stop

    def kept_line(self) -> tuple[str, ...]:
        """Say how to go on, if there is a checkpoint to go on from."""
        if self.path is None or not os.path.exists(self.path):
            return ()
        return (f"to go on from here: {self.resume_command}",)

    def done(self) -> None:
        """The run is complete and its result is out: nobody needs the state any more."""
        if self.path is not None:
            with contextlib.suppress(OSError):
                os.remove(self.path)


def open_checkpoint(
    ctx: click.Context, capabilities: Capabilities, source: RowSource
) -> Checkpoint:
    """Read what to go on from and say where to; refuse before any work what cannot be."""
    options = ctx.params
    resume = options["resume"]
    path = options["checkpoint"] or resume
    if path is None:
        return Checkpoint()
    if capabilities.room not in ("sketch", "rows"):
        raise click.UsageError(
            f"{capabilities.method} holds all rows in memory and has no checkpoints"
        )
    if not source.reiterable or any(f.size is None for f in _files(options)):
        raise click.UsageError(
            f"{source.name} cannot be read again, so a run on it cannot be resumed; "
            "save it to a file, or leave out --checkpoint"
        )
    option = "--resume" if options["checkpoint"] is None else "--checkpoint"
    check_output(path, options["files"], option=option)
    from shortlist.engines import Keeper, load_snapshot

    settings = _settings(ctx)
    if resume is None and os.path.exists(path):
        raise click.UsageError(
            f"{path} exists; --resume {shlex.quote(path)} goes on from it, or delete it"
        )
    names = _all_files(options)
    marks = fingerprints(names)

    def check_files(before: list[Fingerprint]) -> None:
        _check_files(resume, names, before, marks, options["quiet"])

    snapshot = None if resume is None else load_snapshot(resume, settings, check_files)
    again = f"{command_line(ctx, shown=True)} --resume {shlex.quote(path)}"
    keeper = Keeper(path, settings, options["every"], data=marks)
    return Checkpoint(path, again, keeper, snapshot)


def _settings(ctx: click.Context) -> dict[str, Any]:
    """All that the result depends on: options, and which files there are."""
    from shortlist import __version__

    return {
        **{name: value for name, value in ctx.params.items() if name not in _FREE},
        "version": __version__,
        "files": [[os.path.basename(f.name), f.size] for f in _files(ctx.params)],
    }


def _all_files(options: Mapping[str, Any]) -> list[str]:
    """Paths of all that is read: data, and maps of labels."""
    maps = (options["label"], options["label_map"])
    return [
        *(file.path for file in _files(options)),
        *(path for path in maps if path and os.path.isfile(path)),
    ]


def _check_files(
    checkpoint: str,
    names: list[str],
    before: list[Fingerprint],
    now: list[Fingerprint],
    quiet: bool,
) -> None:
    """Refuse files that are not what they were; say so if nobody can be sure."""
    from shortlist._protocols import ShortlistError

    other = changed(names, before, now)
    if other is not None:
        raise ShortlistError(
            f"{checkpoint}: {other} has changed since the run began, so going on would "
            "mix what it was and what it is; begin anew without --resume"
        )
    touched = doubtful(names, before, now)
    if touched is not None and not quiet:
        click.echo(
            f"note: {touched} was written to since the run began; beginning, end and "
            "pieces in between are what they were, so the run goes on",
            err=True,
        )


def _files(options: Mapping[str, Any]) -> list[TextFile]:
    from shortlist.sources._files import find_files

    return find_files(options["files"])
