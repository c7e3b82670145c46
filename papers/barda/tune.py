"""Settings by training performance, as section 5.2 of the paper has it.

    python -m papers.barda.tune [--set dexter ...] [--method ofs ...] [--k 100 ...]

eta and lambda from {10^-1, 10^-1.5, ... 10^-8}: eta first, with lambda = 10^-4, then lambda
with the best eta; 1 / gamma of SOFS from {10, ... 10^-8}. Whichever gives the highest
accuracy on the rows that were learned from, by the weights of the stream, with the passes
of the paper in one order of the rows; of equals the largest. Once for each set at k = 50,
as the paper seems to have it; ``--k`` for other budgets.

Writes ``results/tune.csv``, a line a fit, as it goes; lines that are there are not measured
again.
"""

import argparse
from pathlib import Path

from papers.barda.methods import BUDGETED, fitted
from papers.barda.tasks import SETS, tasks
from papers.results import Ledger, read_lines

from shortlist._protocols import ShortlistError
from shortlist._scoring import evaluate
from shortlist.sources import ArraySource

RESULTS = Path(__file__).parent / "results" / "tune.csv"
KEYS = ("set", "method", "k", "setting", "value", "others")
FACTS = ("train",)
K = 50
GRID = tuple(10.0 ** (-half / 2) for half in range(2, 17))
FIRST_LAM = 1e-4
GAMMAS = tuple(10.0**power for power in range(-1, 9))


def train_accuracy(method, k, settings, task):
    """Accuracy on the rows learned from; 0 if they cannot be learned from this way."""
    try:
        online, _ = fitted(method, k, settings, task, 0)
    except ShortlistError:  # steps so long that weights overflow
        return 0.0
    return evaluate(online, ArraySource(task.X, task.y)).value


def tried(task, method, k, setting, values, others, ledger):
    """Best value of one setting, the others being held."""
    spelled = " ".join(f"{name}={value:.3g}" for name, value in others.items())
    for value in values:
        place = (task.name, method, k, setting, f"{value:.3g}", spelled)
        if place not in ledger:
            settings = {setting: value, **others}
            ledger.add(place, {"train": train_accuracy(method, k, settings, task)})
    if ledger.path is None:
        return values[0]
    found = {
        float(line["value"]): float(line["train"])
        for line in read_lines(ledger.path)
        if [line[key] for key in KEYS if key != "value"]
        == [task.name, method, str(k), setting, spelled]
    }
    return max(found, key=lambda value: (found[value], value))


def tune(task, method, ledger, k=K):
    """Settings of a method for a set, measured now as far as they are not known."""
    if method == "sofs":
        return {"gamma": tried(task, method, k, "gamma", GAMMAS, {}, ledger)}
    eta = tried(task, method, k, "eta", GRID, {"lam": FIRST_LAM}, ledger)
    lam = tried(task, method, k, "lam", GRID, {"eta": eta}, ledger)
    return {"eta": eta, "lam": lam}


def open_ledger(path=RESULTS):
    """What has been tried so far."""
    return Ledger(path, KEYS, FACTS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", choices=SETS, action="append")
    parser.add_argument("--method", choices=BUDGETED, action="append")
    parser.add_argument("--k", type=int, action="append")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    ledger = open_ledger(None if asked.quick else asked.out)
    names = ("small",) if asked.quick else asked.set or SETS
    methods = ("sofs",) if asked.quick else asked.method or BUDGETED
    for task in tasks(names):
        for method in methods:
            for k in asked.k or (K,):
                found = tune(task, method, ledger, k)
                print("barda", task.name, method, k, found, flush=True)


if __name__ == "__main__":
    main()
