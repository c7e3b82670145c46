"""Theorems 1 and 2: descent for eta < 1 / L_F, and how staleness bounds the step.

    python -m papers.os.theory [--seeds 10]

``descent``: the algorithm one feature at a time, m = 1, squared loss, n = 600, p = 400, s =
40. L_F is the largest eigenvalue of the Gram matrix of any s + 1 columns that were in
together, found in the run itself. How often the objective rises from one arrival to the
next, by how much in all, and the last one, for eta from .25 to 4 over L_F.

``staleness``: eight simulated workers, m = 1, n = 600, p = 2000, s = 40: the objective
after four passes for a grid of eta, stale by up to 64 pushes. The bound is Delta > 0 of
Theorem 2, with L_f the largest eigenvalue of the Gram matrix of all columns.

Writes ``results/theory.csv``, a line a run.
"""

import argparse
from pathlib import Path

import numpy as np
from papers.os.designs import draw
from papers.results import Ledger

from shortlist import OnlineSubstitution

RESULTS = Path(__file__).parent / "results" / "theory.csv"
KEYS = ("part", "seed", "eta", "staleness")
FACTS = ("rises", "risen", "objective", "recall", "bound")
RATIOS = (0.25, 0.5, 0.9, 1.0, 1.5, 2.0, 4.0)
ETAS = (0.03, 0.06, 0.125, 0.25, 0.5, 1.0, 2.0)
STALE = (0, 4, 16, 64)
WORKERS = 8


def substitution(X, y, s, eta, passes):
    """Algorithm 1 with m = 1: support, objectives after each arrival, largest L_F."""
    n = len(y)
    inside, w, largest = [], np.zeros(0), 0.0
    objectives = [0.5 * (y @ y) / n]
    for _ in range(passes):
        for j in range(X.shape[1]):
            if j in inside:
                continue
            g = (X[:, inside] @ w - y) / n
            w = np.append(w - eta * (X[:, inside].T @ g), -eta * (X[:, j] @ g))
            inside = [*inside, j]
            if len(inside) > s:
                largest = max(largest, edge(X[:, inside]))
                weakest = int(np.abs(w).argmin())
                w, inside = np.delete(w, weakest), np.delete(inside, weakest).tolist()
            miss = X[:, inside] @ w - y
            objectives.append(0.5 * (miss @ miss) / n)
            if not objectives[-1] < 1e6:  # it diverges
                return inside, np.array(objectives), largest
    return inside, np.array(objectives), largest


def edge(A):
    """Largest eigenvalue of the Gram matrix, divided by the number of rows."""
    return float(np.linalg.norm(A.T @ A, 2) / len(A))


def descent(seed, ratios, ledger, *, n=600, p=400, s=40, passes=2):
    """Rises of the objective against eta L_F."""
    problem = draw("regression", p, seed, s=s, n=n)
    # the columns that meet hardly matter for L_F: as many others as are in at once
    scale = substitution(problem.X, problem.y, s, 0.5, 1)[2]
    for ratio in ratios:
        if ("descent", seed, ratio, 0) in ledger:
            continue
        run = substitution(problem.X, problem.y, s, ratio / scale, passes)
        steps = np.diff(run[1])
        rises = steps[steps > 1e-12 * run[1][:-1]]
        hits = len(np.intersect1d(run[0], problem.support)) / s
        found = {
            "rises": len(rises),
            "risen": float(rises.sum()),
            "objective": float(run[1][-1]),
            "recall": hits,
            "bound": run[2] / scale,
        }
        ledger.add(("descent", seed, ratio, 0), found)


def allowed(X, s, tau):
    """Largest eta for which Delta of Theorem 2 is positive (m = 1)."""
    n, p = X.shape
    whole = edge(X.T) * p / n  # the same eigenvalue, of the smaller Gram matrix
    retained = (1.0 + np.sqrt((s + 1) / n)) ** 2
    drag = (1.0 / (2 * WORKERS) + 1.0 / (2 * (p - s))) * whole**2 / retained * tau
    return 1.0 / (2.0 * (retained + drag))


def staleness(seed, etas, stale, ledger, *, n=600, p=2000, s=40):
    """Where eight workers get to, against eta and staleness."""
    problem = draw("regression", p, seed, s=s, n=n)
    for tau in stale:
        bound = allowed(problem.X, s, tau)
        for eta in etas:
            place = ("staleness", seed, eta, tau)
            if place in ledger:
                continue
            selector = OnlineSubstitution(
                s,
                exchange="gradient",
                eta=eta,
                m=1.0,
                n_workers=WORKERS,
                staleness=tau,
                refit=False,
            )
            with np.errstate(all="ignore"):
                selector.fit(problem.X, problem.y)
            hits = np.intersect1d(selector.get_support(indices=True), problem.support)
            objective = float(selector.shortlist_.params["objective"])
            ledger.add(
                place,
                {
                    "rises": "",
                    "risen": "",
                    "objective": objective,
                    "recall": len(hits) / s,
                    "bound": bound,
                },
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    if asked.quick:
        print("os, quick")
        ledger = Ledger(None, KEYS, FACTS)
        descent(0, (0.5, 4.0), ledger, n=100, p=30, s=5, passes=1)
        staleness(0, (0.1,), (0, 4), ledger, n=100, p=50, s=16)
        return
    ledger = Ledger(asked.out, KEYS, FACTS)
    for seed in range(asked.seeds):
        descent(seed, RATIOS, ledger)
        staleness(seed, ETAS, STALE, ledger)


if __name__ == "__main__":
    main()
