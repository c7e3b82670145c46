"""The directive ``results``: a table made of a committed CSV while the site is built.

    ```{results} benchmarks/results/filters.csv
    :by: data, method
    :mean: accuracy
    :median: seconds
    :count: trials
    ```

Without ``by`` the lines are shown as they are. With it there is a line for each of its
values, in the order of the file, with means (and standard deviations), medians, and the
number of lines; ``across`` makes a column of each value of another one, for the one
``mean`` or ``median`` there is. The file may be a pattern: each that fits has its table.
"""

from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from papers.results import read_lines
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from tabulating import tabulate

ROOT = Path(__file__).resolve().parents[2]


def names(text: str) -> list[str]:
    """Names of columns, between commas."""
    return [name.strip() for name in text.split(",")]


class Results(SphinxDirective):
    """A table of each file that fits the pattern."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {  # noqa: RUF012
        "by": names,
        "mean": names,
        "median": names,
        "count": directives.unchanged,
        "across": directives.unchanged,
        "where": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        """Read the files and make the tables."""
        paths = sorted(ROOT.glob(self.arguments[0]))
        found = [node for path in paths for node in self._of(path)]
        return found or [nodes.paragraph("", "No results have been committed yet.")]

    def _of(self, path: Path) -> list[nodes.Node]:
        self.env.note_dependency(str(path))
        lines = read_lines(path)
        if where := self.options.get("where"):
            column, _, value = where.partition("=")
            lines = [line for line in lines if line[column.strip()] == value.strip()]
        table = tabulate(
            lines,
            self.options.get("by", ()),
            self.options.get("mean", ()),
            self.options.get("median", ()),
            self.options.get("count", ""),
            self.options.get("across", ""),
        )
        said = nodes.caption("", "", nodes.literal("", str(path.relative_to(ROOT))))
        return [nodes.container("", said, as_node(*table), classes=["results"])]


def as_node(header: list[str], rows: list[list[str]]) -> nodes.table:
    """Make a table for docutils."""
    group = nodes.tgroup(cols=len(header))
    group += [nodes.colspec(colwidth=1) for _ in header]
    head, body = nodes.thead(), nodes.tbody()
    head += as_row(header)
    body += [as_row(row) for row in rows]
    group += [head, body]
    table = nodes.table()
    table += group
    return table


def as_row(cells: list[str]) -> nodes.row:
    """Make a row of a table."""
    row = nodes.row()
    row += [nodes.entry("", nodes.paragraph("", cell)) for cell in cells]
    return row


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("results", Results)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
