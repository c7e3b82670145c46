"""Whether the tables in the READMEs of the papers are those of the committed results.

    python -m papers.readme [--write] [PAPER ...]

Each paper's ``report`` prints its tables from the results there are. A table in a README
whose head is also printed should be the printed one: of several with the same head, the
first in the README is the first that is printed, and so on. Other tables (what was claimed
and what was found) are written by hand. ``--write`` puts what is printed into the READMEs;
a test holds them against it.
"""

import argparse
import contextlib
import io
import shutil
import sys
import tempfile
from collections import defaultdict
from importlib import import_module
from itertools import groupby
from pathlib import Path
from unittest import mock

HERE = Path(__file__).parent
PAPERS = ("barda", "foba", "gsr", "mission", "os")


def printed(paper, only=None):
    """What the report of a paper prints; ``only``: of one CSV."""
    report = import_module(f"papers.{paper}.report")
    results = HERE / paper / "results"
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:  # pictures are none of our business
        for path in [results / only] if only else results.glob("*.csv"):
            shutil.copy(path, folder)
        words = ["report", "--results", folder]
        with mock.patch.object(sys, "argv", words), contextlib.redirect_stdout(said):
            report.main()
    return said.getvalue()


def tables_of(text):
    """Lines of each table, by its first line, in the order in which they come."""
    tables = defaultdict(list)
    for inside, lines in groupby(text.splitlines(), lambda line: line.startswith("|")):
        if inside:
            head, *rest = lines
            tables[head].append([head, *rest])
    return tables


def refreshed(page, text):
    """The page with the tables of a text in place of its own."""
    fresh = {head: iter(tables) for head, tables in tables_of(text).items()}
    out = []
    for inside, lines in groupby(page.splitlines(), lambda line: line.startswith("|")):
        own = list(lines)
        out += next(fresh.get(own[0], iter(())), own) if inside else own
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put tables into READMEs")
    parser.add_argument("papers", nargs="*", default=PAPERS, metavar="PAPER")
    asked = parser.parse_args()
    for paper in asked.papers:
        path = HERE / paper / "README.md"
        page = path.read_text()
        fresh = refreshed(page, printed(paper))
        print(f"{paper}: {'as the results' if fresh == page else 'not as the results'}")
        if asked.write:
            path.write_text(fresh)


if __name__ == "__main__":
    main()
