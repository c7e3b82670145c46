"""Figure 4: accuracy against k, for MISSION, hard thresholding and feature hashing.

    python -m papers.mission.topk [--set dna ...] [--method sgd_iht ...] [--splits 3]

k features for each class. One pass, the same rows in the same order for all methods;
sketches have the same size as hashing has buckets (see ``rivals``). Hashing uses all
features and is no selector: one line, k = 0.

Writes ``results/topk.csv``, a line a fit and part tested on, as it goes; lines that are
there are not measured again.
"""

import argparse
from pathlib import Path

from papers.mission.rivals import NAMES, WITHOUT_K, accuracies, fitted, rival
from papers.mission.tasks import TEXT, splits_of
from papers.results import Ledger

RESULTS = Path(__file__).parent / "results" / "topk.csv"
KEYS = ("set", "split", "coverage", "k", "method")
#: Features for each class, most of which a set of text has no more than that of.
SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000)
DNA_SIZES = (256, 1024, 4096, 16384, 65536, 262144)
METHODS = tuple(method for method in NAMES if method != "mission_lazy")
SETS = (*TEXT, "dna")


def sizes_for(name):
    """Values of k that a set is tried with."""
    if name.startswith("small"):
        return (5,)
    return DNA_SIZES if name == "dna" else SIZES


def measure(task, methods, sizes, coverage, ledger):
    """Fit all that is not in the ledger."""
    shown = coverage if "dna" in task.name else ""
    for method in methods:
        for k in (0,) if method in WITHOUT_K else sizes:
            place = (task.name, task.split, shown, k, method)
            if place not in ledger:
                estimator = rival(method, k, task)
                fitted(estimator, task)
                ledger.add(place, accuracies(estimator, task))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", choices=SETS, action="append")
    parser.add_argument("--method", choices=METHODS, action="append")
    parser.add_argument("--k", type=int, action="append")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--coverage", type=float, default=1.0, help="of DNA")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    facts = ("test", "held_out", "same")
    ledger = Ledger(None if asked.quick else asked.out, KEYS, facts)
    names, splits, methods = asked.set or SETS, asked.splits, asked.method or METHODS
    if asked.quick:
        names, splits, methods = ("small",), 1, ("mission_refit", "sgd_iht", "hashed")
    for task in splits_of(names, splits, coverage=asked.coverage):
        sizes = asked.k or sizes_for(task.name)
        measure(task, methods, sizes, asked.coverage, ledger)


if __name__ == "__main__":
    main()
