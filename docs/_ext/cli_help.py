"""Every command there is, with its help."""

from collections.abc import Iterator

import click

from shortlist.cli import cli

WIDTH = 84  # characters of a line of help


def commands(
    command: click.Command = cli, parent: click.Context | None = None
) -> Iterator[click.Context]:
    """Yield a context for each command, the group first."""
    name = "shortlist" if parent is None else command.name
    ctx = click.Context(
        command,
        parent=parent,
        info_name=name,
        **{**command.context_settings, "terminal_width": WIDTH},
    )
    yield ctx
    if isinstance(command, click.Group):
        for child in command.list_commands(ctx):
            found = command.get_command(ctx, child)
            assert found is not None
            yield from commands(found, ctx)
