"""The directive ``cli-reference``: what ``--help`` says, of every command there is.

The texts come from the commands themselves while the site is built, so they cannot be
out of date.
"""

import click
from cli_help import commands
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


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
