"""The group of all commands: loads each when it is asked for, turns errors to lines."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import click

from shortlist.cli._command import Group, is_debugging
from shortlist.cli._failures import CANNOT_SKIP, explain

COMMANDS = {
    "select": "shortlist.cli.select:select",
    "predict": "shortlist.cli.predict:predict",
    "transform": "shortlist.cli.transform:transform",
    "compare": "shortlist.cli.compare:compare",
    "merge": "shortlist.cli.merge:merge",
    "inspect": "shortlist.cli.inspect:inspect",
    "report": "shortlist.cli.report:report",
    "sensors": "shortlist.cli.sensors:sensors",
    "cache": "shortlist.cli.cache:cache",
}

ROOMS = {
    "table": "the whole table, in memory",
    "columns": "features one by one, more than memory holds",
    "rows": "examples one by one, ids that fit an array",
    "sketch": "examples one by one, features without end",
}


def open_rooms() -> list[str]:
    """Rooms that can be used now.

    The registry knows, but importing it loads NumPy, which help should not wait for:
    a room is open if its package is there. A test holds the two against each other.
    """
    return [room for room in ROOMS if find_spec(f"shortlist.{room}") is not None]


class App(Group):
    """The outermost group."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the commands, in the order of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Name the rooms, then give the examples."""
        opened = open_rooms()
        with formatter.section("Rooms, by how the data reach you"):
            formatter.write_dl(
                [
                    (room, f"{text} ({'available' if room in opened else 'not yet'})")
                    for room, text in ROOMS.items()
                ]
            )
        super().format_epilog(ctx, formatter)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what goes wrong becomes a line and an exit code."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()  # here, where a reader who has left can be forgiven
            return result
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except (Exception, KeyboardInterrupt) as error:
            failure = explain(error, self._can_skip(ctx))
            if isinstance(error, BrokenPipeError):
                _forget_stdout()
            elif is_debugging(ctx):
                traceback.print_exc()
            if failure.line is not None:
                _complain(failure.line)
            raise click.exceptions.Exit(failure.code) from error

    def _can_skip(self, ctx: click.Context) -> bool:
        """Whether the command that was run can pass over bad lines."""
        command = self.get_command(ctx, ctx.invoked_subcommand or "")
        if command is None or ctx.meta.get(CANNOT_SKIP):
            return False
        return any(p.name == "on_error" for p in command.params)

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        standalone_mode: bool = True,
        **options: Any,
    ) -> Any:
        """Run the command line and exit, or return the exit code."""
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(AttributeError, ValueError):
                # Names come from anybody's data: none may stop the output.
                stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        try:
            code = super().main(args, prog_name, standalone_mode=False, **options)
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            code = error.exit_code
        except click.ClickException as error:
            _complain(_with_hint(error))
            code = error.exit_code
        except (click.Abort, KeyboardInterrupt):
            code = 130
        code = code if isinstance(code, int) else 0
        if standalone_mode:
            sys.exit(code)
        return code


def _complain(line: str) -> None:
    click.echo(f"shortlist: error: {line}", err=True)


def _with_hint(error: click.ClickException) -> str:
    """Click's message in one line, with where to read on."""
    line = " ".join(error.format_message().split()).removesuffix(".")
    ctx = getattr(error, "ctx", None)
    return line if ctx is None else f"{line}; see {ctx.command_path} --help"


def _forget_stdout() -> None:
    """Keep Python from flushing, on exit, what nobody will read."""
    with contextlib.suppress(OSError, AttributeError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@click.command(
    "shortlist",
    cls=App,
    no_args_is_help=True,
    examples=(
        "shortlist select data.svm -k 20 -o model.shortlist",
        "shortlist predict model.shortlist new.svm > labels.txt",
        "shortlist transform model.shortlist data.svm -o small.csv",
    ),
)
@click.version_option(package_name="shortlist", prog_name="shortlist")
def cli() -> None:
    """Pick the k features that matter, by name, under a hard budget.

    Results go to standard output, everything else to standard error. Exit codes: 0
    done, 1 bad data, 2 bad usage, 130 interrupted (what was learned so far is kept).
    """
