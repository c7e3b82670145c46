"""Figure 5: how small the Count-Sketch may be, with Batch IHT beside it.

    python -m papers.mission.tradeoff [--set newsgroups20 ...] [--splits 3]

The ratio is that of the paper: cells for each class and row of the sketch, to k. With
ratio 1 and three rows there are 3 k numbers a class. Batch IHT has, as in the paper, a
table for 16 k features a class at any ratio, and SGD-IHT its k weights: one line each,
ratio 0. Batches end when the table is full.

Writes ``results/tradeoff.csv``, a line a fit, as it goes; lines that are there are not
measured again.
"""

import argparse
import sys
from pathlib import Path

from papers.mission.rivals import accuracies, cells_for_ids, fitted, rival
from papers.mission.tasks import splits_of
from papers.results import Ledger

from shortlist import ShortlistError

RESULTS = Path(__file__).parent / "results" / "tradeoff.csv"
KEYS = ("set", "split", "coverage", "k", "ratio", "method")
RATIOS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8)
SKETCHED, FIXED = ("mission_paper", "mission_refit"), ("sgd_iht", "batch_iht")
#: k, and the room of Batch IHT in units of it: 8,388,608 to 500,000 in the paper.
SETS = {"newsgroups20": 200, "dna": 16384, "small": 16}
ROOM = 16
ROWS = 3


def measure(task, coverage, ratios, ledger):
    """Fit all that is not in the ledger."""
    k, margins = SETS[task.name], task.n_margins
    shown = coverage if "dna" in task.name else ""
    asked = [(method, ratio) for method in SKETCHED for ratio in ratios]
    for method, ratio in asked + [(method, 0) for method in FIXED]:
        place = (task.name, task.split, shown, k, ratio, method)
        if place in ledger:
            continue
        # Tables round down to a power of two; k * ROOM need not be one.
        cells = cells_for_ids(1 << (k * ROOM - 1).bit_length(), margins)
        if method in SKETCHED:
            cells = int(ROWS * margins * ratio * k)
        estimator = rival(method, k, task, cells=cells)
        if method == "batch_iht":
            estimator.set_params(batch=10**9)
        try:
            fitted(estimator, task)
        except ShortlistError as error:  # blocks of classes want more than a few cells
            print(f"left out: {method}, ratio {ratio}: {error}", file=sys.stderr)
            continue
        facts = {"cells": 0 if method == "sgd_iht" else cells}
        ledger.add(place, facts | accuracies(estimator, task))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", choices=SETS, action="append")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--coverage", type=float, default=1.0, help="of DNA")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    facts = ("cells", "test", "held_out", "same")
    ledger = Ledger(None if asked.quick else asked.out, KEYS, facts)
    names, splits, ratios = asked.set or ("newsgroups20", "dna"), asked.splits, RATIOS
    if asked.quick:
        names, splits, ratios = ("small",), 1, (1, 8)
    for task in splits_of(names, splits, coverage=asked.coverage):
        measure(task, asked.coverage, ratios, ledger)


if __name__ == "__main__":
    main()
