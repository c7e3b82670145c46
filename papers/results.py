"""What scripts write under ``results``, and take up again."""

import argparse
import csv
from pathlib import Path


def read_lines(path):
    """Lines of a CSV, by column; none if it was not made."""
    if not path.exists():
        return []
    with path.open() as lines:
        return list(csv.DictReader(lines))


class Ledger:
    """A CSV that grows by a line a measurement; what is there is not measured again.

    The first columns, ``keys``, say what was measured, the others, ``facts``, what came
    of it. With no path lines are printed, and nothing is known.
    """

    def __init__(self, path, keys, facts):
        self.path, self._keys, self._fields = path, keys, (*keys, *facts)
        lines = read_lines(path) if path else []
        self._known = {tuple(line[key] for key in keys) for line in lines}

    def __contains__(self, place):
        return tuple(map(str, place)) in self._known

    def add(self, place, facts):
        """Write a line, at once: a run may be cut short at any time."""
        line = dict(zip(self._keys, place, strict=True)) | {
            name: f"{fact:.6g}" if isinstance(fact, float) else fact
            for name, fact in facts.items()
        }
        self._known.add(tuple(map(str, place)))
        if not self.path:
            print(*(f"{name}={value}" for name, value in line.items()), flush=True)
            return
        self.path.parent.mkdir(exist_ok=True)
        fresh = not self.path.exists()
        with self.path.open("a", newline="") as out:
            lines = csv.DictWriter(out, self._fields, lineterminator="\n")
            if fresh:
                lines.writeheader()
            lines.writerow(line)


def report_all(makers, description, folder):
    """Make tables and pictures, CSV by CSV, of whatever results there are."""
    import matplotlib.pyplot as plt

    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--results", type=Path, default=folder)
    results = parser.parse_args().results
    for name, make in makers.items():
        if rows := read_lines(results / name):
            print(f"\n{name}\n")
            make(rows, (results / name).with_suffix(".png"))
            plt.close("all")
