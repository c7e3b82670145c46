"""FoBa on planted supports: against its peers, and FoBa-gdt against FoBa-obj.

    python -m papers.foba.synthetic [--quick]

Run it from the project's root. Every fit is a process of its own with one thread (see
benchmarks/table.py); weights are refitted alike for all methods before errors are taken.
Writes ``results/synthetic.csv``, a line a fit, as it goes; lines that are there already
are not measured again. ``--quick`` tries one small design and writes nothing.
"""

import argparse
import csv
import sys
from pathlib import Path

from benchmarks.table import measure

RESULTS = Path(__file__).parent / "results" / "synthetic.csv"
PEERS = ("foba", "foba_paper", "forward", "abess", "omp", "l1")
#: Design, methods and seeds, the quick ones first.
PLAN = [
    ("logistic_small", ("foba", "foba_paper", "foba_obj", "abess"), 10),
    ("logistic_hard", ("foba", "foba_paper", "foba_obj"), 10),
    ("k20", ("foba", "foba_paper", "abess", "omp", "l1"), 10),
    ("k20", ("skscope_foba", "scope"), 10),
    ("ar9", PEERS, 10),
    ("gauss", PEERS, 10),
    ("small", PEERS, 10),
    ("logistic", ("foba", "foba_paper", "forward", "abess"), 10),
    ("big", ("foba", "abess"), 10),
    ("ar9", ("scope", "skscope_foba"), 10),
    ("big", ("omp", "l1"), 10),
    ("logistic", ("l1",), 10),
]
FIELDS = (
    "design",
    "method",
    "seed",
    "recall",
    "extra",
    "missed",
    "estimation",
    "objective",
    "oracle",
    "cpu",
    "wall",
    "warm_up",
    "memory",
)


def done_already():
    if not RESULTS.exists():
        return set()
    with RESULTS.open() as lines:
        return {
            (line["design"], line["method"], int(line["seed"]))
            for line in csv.DictReader(lines)
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    if parser.parse_args().quick:
        for method in ("foba", "foba_paper"):
            print(method, measure(method, "k20", 0))
        return
    RESULTS.parent.mkdir(exist_ok=True)
    known = done_already()
    with RESULTS.open("a", newline="") as out:
        lines = csv.DictWriter(out, FIELDS, lineterminator="\n")
        if not known:
            lines.writeheader()
        for design, methods, seeds in PLAN:
            for seed in range(seeds):
                for method in methods:
                    if (design, method, seed) in known:
                        continue
                    found = measure(method, design, seed)
                    if isinstance(found, str):
                        print(f"{design} {method} {seed}: {found}", file=sys.stderr)
                        continue
                    row = {key: f"{value:.6g}" for key, value in found.items()}
                    row |= {"design": design, "method": method, "seed": seed}
                    lines.writerow(row)
                    out.flush()


if __name__ == "__main__":
    main()
