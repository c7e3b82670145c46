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

import math
import statistics
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from papers.results import read_lines
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]


def number(text: str | float, digits: int = 3) -> str:
    """Three digits that count, or the text as it is; nothing for what is not known."""
    try:
        value = float(text)
    except ValueError:
        return str(text)
    if math.isnan(value):
        return ""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value)}"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{places}f}"


def grouped(lines, by):
    """Lines by their values in some columns, in the order of the first of each."""
    groups: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for line in lines:
        groups.setdefault(tuple(line[column] for column in by), []).append(line)
    return groups


def values(lines, column):
    """What is known of a column, as numbers."""
    known = [float(line[column]) for line in lines if line[column]]
    return [value for value in known if not math.isnan(value)]


def mean(lines, column):
    """Mean, and how much values differ if there are several that do."""
    known = values(lines, column)
    if not known:
        return ""
    middle = number(statistics.fmean(known))
    spread = statistics.stdev(known) if len(known) > 1 else 0.0
    return f"{middle} ± {number(spread, 2)}" if spread else middle


def median(lines, column):
    """The middle value."""
    known = values(lines, column)
    return number(statistics.median(known)) if known else ""


def tabulate(lines, by=(), means=(), medians=(), count="", across=""):
    """Return the header and the rows of a table, all of them text."""
    if not by:
        header = list(lines[0])
        return header, [[number(line[column]) for column in header] for line in lines]
    summaries = [(name, mean) for name in means] + [(name, median) for name in medians]
    if across:
        ((name, summary),) = summaries
        columns = list(dict.fromkeys(line[across] for line in lines))
        header = [*by, *(f"{across} = {column}" for column in columns)]
        rows = []
        for key, group in grouped(lines, by).items():
            parts = {column: [] for column in columns} | grouped_by_one(group, across)
            rows.append([*key, *(summary(parts[column], name) for column in columns)])
        return header, rows
    header = [*by, *([count] if count else []), *(name for name, _ in summaries)]
    rows = [
        [
            *key,
            *([str(len(group))] if count else []),
            *(summary(group, name) for name, summary in summaries),
        ]
        for key, group in grouped(lines, by).items()
    ]
    return header, rows


def grouped_by_one(lines, column):
    """Lines by their value in one column."""
    return {key: group for (key,), group in grouped(lines, [column]).items()}


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
