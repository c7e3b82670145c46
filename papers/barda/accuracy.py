"""Figures 1 to 3: test accuracy against the number of features.

    python -m papers.barda.accuracy [--set dexter ...] [--method ofs ...] [--orders 10]

Budgeted methods get k, with the settings that ``tune`` found for the set at k = 50; naive
truncation those of its method. l1-ARDA and Ada-Fobos have no budget: their penalty goes
through a grid, with the step of B-ARDA and of B-AMD, and what comes of it is drawn where
its number of features is. ``default`` is ``BARDA(k)``: rows scaled to length 1, one pass,
nothing tuned. ``ofs_own`` and ``sofs_own`` are tuned anew at each k up to 100.

Writes ``results/accuracy.csv``, a line a fit, as it goes, all methods and sizes of an order
of the rows before the next order; lines that are there are not measured again.
"""

import argparse
from pathlib import Path

from papers.barda.methods import NAMES, accuracies, fitted
from papers.barda.tasks import SETS, tasks
from papers.barda.tune import open_ledger, tune
from papers.results import Ledger

from shortlist._protocols import ShortlistError

RESULTS = Path(__file__).parent / "results" / "accuracy.csv"
KEYS = ("set", "order", "method", "k", "lam")
FACTS = ("online", "refit", "features")
SMALL, LARGE = (10, 20, 50, 100, 150, 200), (500, 1000, 2000, 4000)
#: Orders of the rows in which large budgets, where little is at stake, are tried.
LARGE_ORDERS = 3
#: Penalties of l1-ARDA and Ada-Fobos, and whose step they take.
PENALTIES = tuple(10.0 ** (-quarter / 4) for quarter in range(-16, 13))
SAME_STEP = {"l1arda": "barda", "adafobos": "bamd"}
OWN = {"ofs_own": "ofs", "sofs_own": "sofs"}
OWN_SIZES = (10, 20, 50, 100)
METHODS = (*NAMES, *OWN)


def wanted(method, order, sizes):
    """Budgets and penalties that a method is tried with."""
    if method in SAME_STEP:
        return [(0, lam) for lam in PENALTIES] if order < LARGE_ORDERS else []
    if method in OWN:
        return [(k, "") for k in sizes if k in OWN_SIZES]
    return [(k, "") for k in sizes if k <= 200 or order < LARGE_ORDERS]


def settings_of(method, k, lam, task, tuning):
    """Tuned settings of a method."""
    if method == "default":
        return {}
    if method in OWN:
        return tune(task, OWN[method], tuning, k)
    if method in SAME_STEP:
        return tune(task, SAME_STEP[method], tuning) | {"lam": lam}
    return tune(task, method.partition("_")[0], tuning)


def measure(task, order, method, sizes, ledger, tuning):
    """Add what is not in the ledger."""
    for k, lam in wanted(method, order, sizes):
        spelled = f"{lam:.4g}" if lam else ""
        place = (task.name, order, method, k, spelled)
        if place in ledger:
            continue
        settings = settings_of(method, k, lam, task, tuning)
        # without a budget all weights that are left count
        budget = k or task.X.shape[1]
        try:
            found = fitted(OWN.get(method, method), budget, settings, task, order)
            ledger.add(place, accuracies(found, task))
        except ShortlistError as error:
            print(f"left out: {place}: {error}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", choices=SETS, action="append")
    parser.add_argument("--method", choices=METHODS, action="append")
    parser.add_argument("--k", type=int, action="append")
    parser.add_argument("--orders", type=int, default=10)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    names, sizes = asked.set or SETS, asked.k or SMALL + LARGE
    ledger, tuning = Ledger(asked.out, KEYS, FACTS), open_ledger()
    methods = asked.method or METHODS
    if asked.quick:
        print("barda, quick")
        ledger, tuning = Ledger(None, KEYS, FACTS), open_ledger(None)
        names, sizes, methods, asked.orders = ("small",), (5,), ("default", "sofs"), 1
    for task in tasks(names):
        for order in range(asked.orders):
            for method in methods:
                measure(task, order, method, sizes, ledger, tuning)


if __name__ == "__main__":
    main()
