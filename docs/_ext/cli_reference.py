"""The directive ``cli-reference``: what ``--help`` says, of every command there is.

The texts come from the commands themselves while the site is built, so they cannot be
out of date.
"""

from collections.abc import Iterator

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

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


class CliReference(SphinxDirective):
    """A section for each command, with its help."""

    def run(self) -> list[nodes.Node]:
        """Make the sections."""
        return [self._section(ctx) for ctx in commands()]

    def _section(self, ctx: click.Context) -> nodes.section:
        path = ctx.command_path
        section = nodes.section(ids=["help-" + nodes.make_id(path)], names=[path])
        section += nodes.title("", "", nodes.literal("", path))
        self.state.document.note_explicit_target(section)
        section += nodes.literal_block("", ctx.get_help(), language="text")
        return section


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("cli-reference", CliReference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
