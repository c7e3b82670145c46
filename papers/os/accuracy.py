"""Figures 1 and 2: error and recall against p, passes and workers.

    python -m papers.os.accuracy [--seeds 30] [--part size] [--kind classes] [--method os]

s = 100 weights of p are not zero, n = 1.2 s log2 p rows, noise of deviation .1, or signs.
All supports are fitted again: by least squares, or by the squared hinge with a small ridge.
``size``: all methods. ``passes``: OS with its defaults and with gradient steps, p = 2000.
``workers``: simulated, stale by as many pushes as there are workers, p = 2000.

Writes ``results/accuracy.csv``, a line a fit, a seed after the other; lines that are there
are not measured again.
"""

import argparse
import time
from pathlib import Path

from papers.os.designs import S, draw
from papers.os.methods import LOSS, NAMES, chosen, facts
from papers.results import Ledger

from shortlist import OnlineSubstitution

RESULTS = Path(__file__).parent / "results" / "accuracy.csv"
KEYS = ("part", "kind", "p", "seed", "method", "x")
FACTS = ("recall", "error", "cpu")
SIZES = {"regression": (2000, 4000, 6000), "classes": (1000, 3000, 5000)}
PASSES, WORKERS = (1, 2, 3, 4, 6, 8), (1, 2, 4, 8, 16)
PARTS = ("size", "passes", "workers")


def cases(part, kind, methods):
    """What is measured on a problem: method, x, and what finds the support."""
    loss = LOSS[kind]

    def ours(s, **settings):
        return lambda problem: (
            OnlineSubstitution(s, loss=loss, **settings)
            .fit(problem.X, problem.y)
            .get_support(indices=True)
        )

    if part == "size":
        for method in methods:
            if method != "os_logistic" or kind == "classes":
                yield (
                    method,
                    0,
                    lambda problem, m=method: chosen(m, problem, len(problem.support)),
                )
    elif part == "passes":
        for passes in PASSES:
            yield "os", passes, lambda q, n=passes: ours(len(q.support), passes=n)(q)
            yield (
                "os_steps",
                passes,
                lambda q, n=passes: ours(len(q.support), passes=n, exchange="gradient")(
                    q
                ),
            )
    else:
        for count in WORKERS:
            yield (
                "os_steps",
                count,
                lambda q, n=count: ours(
                    len(q.support), n_workers=n, staleness=n, exchange="gradient"
                )(q),
            )


def measure(part, kind, p, seed, methods, ledger, s=S):
    """Add what is not in the ledger."""
    problem = None
    for method, x, find in cases(part, kind, methods):
        place = (part, kind, p, seed, method, x)
        if place in ledger:
            continue
        problem = problem or draw(kind, p, seed, s=s)
        begin = time.process_time()
        support = find(problem)
        spent = time.process_time() - begin
        ledger.add(place, facts(problem, support) | {"cpu": spent})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--kind", choices=LOSS, action="append")
    parser.add_argument("--method", choices=NAMES, action="append")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    methods = asked.method or NAMES
    if asked.quick:
        print("os, quick")
        ledger = Ledger(None, KEYS, FACTS)
        for kind in LOSS:
            measure("size", kind, 60, 0, NAMES, ledger, s=5)
        return
    ledger = Ledger(asked.out, KEYS, FACTS)
    for seed in range(asked.seeds):
        for kind in asked.kind or LOSS:
            for part in asked.part or PARTS:
                for p in SIZES[kind] if part == "size" else (2000,):
                    measure(part, kind, p, seed, methods, ledger)


if __name__ == "__main__":
    main()
