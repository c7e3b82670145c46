"""What every command has: examples below its options, ``--debug``, ``-h``.

Examples are data, not prose in a docstring, so that a command without one cannot be
made and tests can find them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

CONTEXT = {
    "help_option_names": ["-h", "--help"],
    "show_default": True,
    "max_content_width": 88,
}

_DEBUG = "shortlist.debug"


def is_debugging(ctx: click.Context) -> bool:
    """Whether ``--debug`` stood anywhere on the command line."""
    return bool(ctx.meta.get(_DEBUG))


def _remember(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[_DEBUG] = True  # shared by a command and all its parents


def debug_option() -> click.Option:
    """Make the option, for one command."""
    return click.Option(
        ["--debug"],
        is_flag=True,
        expose_value=False,
        callback=_remember,
        help="Show the traceback of an error.",
    )


def _equipped(options: dict[str, Any], examples: Sequence[str]) -> dict[str, Any]:
    """Add to the options of a command what every command has."""
    title = "Example:" if len(examples) == 1 else "Examples:"
    lines = [title, *(f"  {example}" for example in examples)]
    return {
        "context_settings": CONTEXT,
        **options,
        "params": [*(options.get("params") or ()), debug_option()],
        "epilog": "\b\n" + "\n".join(lines),  # \b: click is not to fill the lines
    }


class Command(click.Command):
    """A command with examples and ``--debug``."""

    def __init__(self, *args: Any, examples: Sequence[str], **options: Any) -> None:
        super().__init__(*args, **_equipped(options, examples))
        self.examples = tuple(examples)


class Group(click.Group):
    """A group of such commands."""

    def __init__(self, *args: Any, examples: Sequence[str], **options: Any) -> None:
        super().__init__(*args, **_equipped(options, examples))
        self.examples = tuple(examples)
