"""Figure 6: accuracy over rounds, with lazy updates of the top k and without.

    python -m papers.mission.rounds [--set clicks ...] [--splits 3]

A round is a pass over the same rows (the paper draws fresh fragments for each). Where
the features that labels were made with are known, the share of them among those chosen
is noted as well. Why that share falls with the passes of Algorithm 1 is what ``drift``
is about.

Writes ``results/rounds.csv``, a line a fit, as it goes; each number of rounds is a fit of
its own. Lines that are there are not measured again.
"""

import argparse
from pathlib import Path

from papers.mission.rivals import accuracies, fitted, rival, share_found
from papers.mission.tasks import CLICK_ROWS, splits_of
from papers.results import Ledger

RESULTS = Path(__file__).parent / "results" / "rounds.csv"
KEYS = ("set", "split", "coverage", "rows", "k", "method", "rounds")
METHODS = ("mission_refit", "mission_paper", "mission_lazy", "sgd_iht", "hashed")
ROUNDS = (1, 2, 3, 5, 8)
#: Features for each class.
SETS = {"clicks": 1000, "newsgroups20": 100, "dna": 16384, "small": 5}


def measure(task, methods, rounds, settings, ledger):
    """Fit all that is not in the ledger."""
    k = SETS[task.name]
    coverage = settings["coverage"] if task.name == "dna" else ""
    rows = settings["n_rows"] if task.name == "clicks" else ""
    for passes in rounds:
        for method in methods:
            place = (task.name, task.split, coverage, rows, k, method, passes)
            if place not in ledger:
                estimator = rival(method, k, task, passes=passes)
                facts = {"seconds": fitted(estimator, task)}
                facts |= accuracies(estimator, task)
                facts["planted"] = share_found(estimator, task)
                ledger.add(place, facts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", choices=SETS, action="append")
    parser.add_argument("--method", choices=METHODS, action="append")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--coverage", type=float, default=0.25, help="of DNA")
    parser.add_argument("--rows", type=int, default=CLICK_ROWS, help="of clicks")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    facts = ("seconds", "test", "held_out", "same", "planted")
    ledger = Ledger(None if asked.quick else asked.out, KEYS, facts)
    names, splits, rounds = asked.set or list(SETS)[:3], asked.splits, ROUNDS
    if asked.quick:
        names, splits, rounds = ("small",), 1, (1, 2)
    settings = {"coverage": asked.coverage, "n_rows": asked.rows}
    for task in splits_of(names, splits, **settings):
        measure(task, asked.method or METHODS, rounds, settings, ledger)


if __name__ == "__main__":
    main()
