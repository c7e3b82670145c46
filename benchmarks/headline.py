"""The comparison at the top of the README, from results that are committed.

    python -m benchmarks.headline [--write]

Run it from the project's root. Measures nothing: it reads the CSVs that other scripts here
and in ``papers`` have written, and prints a table in Markdown; ``--write`` puts it into
README.md. After new results, run it again: a test holds the README against it. Where the
results have no line of a peer, it is left out.
"""

import argparse
import re
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

from papers.results import read_lines

ROOT = Path(__file__).parents[1]
BENCHMARKS, FOBA = ROOT / "benchmarks" / "results", ROOT / "papers" / "foba" / "results"
START, END = "<!-- headline -->\n", "<!-- end of headline -->"
COST = "{:.1f} s of CPU, memory {:.1f} x table"


class Line(NamedTuple):
    """Who, how well and at what cost."""

    who: str
    quality: str
    cost: str


class Part(NamedTuple):
    """A task, what wrote its results, and how everybody did."""

    task: str
    script: str
    lines: list[Line]


def means(lines, column):
    return fmean(float(line[column]) for line in lines)


def medians(lines, column):
    return median(float(line[column]) for line in lines)


def some(lines, **values):
    """Lines with these values."""
    return [x for x in lines if all(x[key] == value for key, value in values.items())]


def of_each(who, lines, key, describe):
    """A line for each of those who have results, in the order of ``who``."""
    found = [(name, some(lines, **{key: method})) for method, name in who.items()]
    return [Line(name, *describe(group)) for name, group in found if group]


def planted():
    who = {
        "foba": "**FoBa**",
        "abess": "abess",
        "omp": "orthogonal matching pursuit (scikit-learn)",
        "l1": "L1 path (celer), refitted",
    }
    lines = some(read_lines(FOBA / "synthetic.csv"), design="big")

    def describe(group):
        cost = COST.format(means(group, "cpu"), means(group, "memory"))
        return f"{means(group, 'recall'):.3f} found", cost

    task = "100 planted among 50,000 columns, 5,000 rows"
    return Part(task, "papers.foba.synthetic", of_each(who, lines, "method", describe))


def expression():
    who = {"foba": "**FoBa**", "abess": "abess", "l1_refit": "L1 path, refitted"}
    lines = some(read_lines(FOBA / "real.csv"), k="10")
    sets = sorted({line["set"] for line in lines})

    def describe(group):
        each = [means(some(group, set=name), "accuracy") for name in sets]
        return f"{100 * fmean(each):.1f} % right", ""

    task = f"10 genes, mean of {len(sets)} sets of expression data, held out"
    return Part(task, "papers.foba.real", of_each(who, lines, "method", describe))


def filters():
    who = {
        "gsr": "**GSR**",
        "rfe": "RFE with a linear SVM (scikit-learn)",
        "mrmr-selection": "mRMR (mrmr-selection)",
        "skrebate": "ReliefF (skrebate)",
    }
    lines = some(read_lines(BENCHMARKS / "filters.csv"), data="isolet", k="50")

    def describe(group):
        cost = f"{medians(group, 'seconds'):.2f} s of CPU"
        return f"{100 * means(group, 'accuracy'):.1f} % right", cost

    task = "50 of 617 columns for 26 spoken letters (ISOLET), held out"
    return Part(task, "benchmarks.filters", of_each(who, lines, "method", describe))


def clicks():
    sizes = {int(p.stem[7:-2]): p for p in BENCHMARKS.glob("sketch_*MB.csv")}
    size = max(sizes)
    who = {
        "shortlist refit, k=1000": "**MISSION**, 1000 features",
        "shortlist newton, k=1000": "**MISSION** in one pass, 1000 features",
    }
    lines = read_lines(sizes[size])
    methods = [line["method"] for line in lines if "shortlist" not in line["method"]]
    # with as many features, or all of them
    peers = [name for name in methods if name.partition("k=")[2] in ("", "1000")]
    who |= {peer: peer for peer in peers} | {
        "Vowpal Wabbit": "Vowpal Wabbit, all features"
    }

    def describe(group):
        (line,) = group
        cost = "" if line["seconds"] == "nan" else "{seconds} s, {memory MB} MB"
        quality = f"{100 * float(line['accuracy']):.1f} % right"
        return quality, cost.format(**line)

    task = f"a click log, {size:,} MB of text, test part"
    return Part(task, "benchmarks.sketch", of_each(who, lines, "method", describe))


def stream():
    who = {
        "B-ARDA, k = 100": "**B-ARDA**, 100 features",
        "Vowpal Wabbit": "Vowpal Wabbit, all features",
        "SGDClassifier": "SGDClassifier (scikit-learn), all features",
    }
    lines = some(read_lines(BENCHMARKS / "rows_peers.csv"), data="parsed")

    def describe(group):
        quality = f"{100 * means(group, 'accuracy'):.1f} % right"
        return quality, f"{medians(group, 'us'):.1f} µs of CPU a row"

    task = "a stream of a million features, parsed, each row predicted first"
    return Part(task, "benchmarks.rows_peers", of_each(who, lines, "method", describe))


def table():
    """All parts as Markdown."""
    rows = [
        "| task | who | how well | at what cost | script |",
        "|---|---|---|---|---|",
    ]
    for part in (planted(), expression(), filters(), clicks(), stream()):
        for place, line in enumerate(part.lines):
            task, script = ("", "") if place else (part.task, f"`{part.script}`")
            rows.append(f"| {task} | {' | '.join(line)} | {script} |")
    return "\n".join(rows) + "\n"


def put_into(page, text):
    """The page with the text between its marks."""
    marks = f"({re.escape(START)}).*?({re.escape(END)})"
    return re.sub(marks, lambda m: f"{m[1]}\n{text}\n{m[2]}", page, flags=re.DOTALL)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="put it into README.md")
    readme = ROOT / "README.md"
    if parser.parse_args().write:
        readme.write_text(put_into(readme.read_text(), table()))
    else:
        print(table(), end="")


if __name__ == "__main__":
    main()
