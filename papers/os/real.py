"""Figure 4 in kind: few training rows of real images and spectra, many features.

    python -m papers.os.real [--seeds 30] [--set arcene]

The paper trains on 1 % of 6,914 images with 7,488 features; these are not here. In their
place: mnist_4v9 with 1 % of the rows, arcene with a quarter of its own (a hundredth would
be one). The rest is the test set, drawn anew with each seed. Error of the squared hinge,
fitted again on the support, against s, passes and workers (simulated, stale by as many
pushes).

Writes ``results/real.csv``, a line a fit.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from benchmarks.data import Missing, load
from papers.os.designs import Problem
from papers.os.methods import NAMES, batch, estimator, grafted
from papers.os.naive import projected, proximal
from papers.results import Ledger
from sklearn.svm import LinearSVC

from shortlist import OnlineSubstitution

RESULTS = Path(__file__).parent / "results" / "real.csv"
KEYS = ("set", "part", "seed", "method", "s", "x")
FACTS = ("error", "cpu")
SHARES = {"mnist_4v9": 0.01, "arcene": 0.25}
METHODS = tuple(
    method for method in NAMES if method not in ("os_letter", "os_logistic")
)
SIZES, PASSES, WORKERS, MIDDLE = (5, 10, 20, 40), (1, 2, 3, 4, 6), (1, 2, 4, 8), 20


def split(X, y, share, seed):
    """Some rows to learn from, standardised columns, all others to test on."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    few = max(20, round(share * len(y)))
    train, test = order[:few], order[few:]
    X = np.asarray(X.todense()) if hasattr(X, "todense") else X
    varies = X[train].std(axis=0) > 0
    center, scale = X[train].mean(axis=0), X[train].std(axis=0)
    Z = (X[:, varies] - center[varies]) / scale[varies]
    signs = np.where(y == np.unique(y)[1], 1.0, -1.0)
    A = np.asfortranarray(Z[train])
    return Problem(A, signs[train], None, None, Z[test], signs[test])


def support_of(method, problem, s):
    X, y = problem.X, problem.y
    if method == "l1":
        return batch("classes", X, y, s)[0]
    if method == "grafting":
        return grafted("classes", X, y, s)
    if method == "naive_projected":
        return projected("classes", X, y, s, 2)
    if method == "naive_proximal":
        return proximal("classes", X, y, s, 2, batch("classes", X, y, s)[1])
    found = estimator(method, s, "squared_hinge", X).fit(X, y)
    return found.get_support(indices=True)


def steps(s, **settings):
    """OS by gradient steps; its support."""
    selector = OnlineSubstitution(s, loss="squared_hinge", **settings)
    return lambda problem: selector.fit(problem.X, problem.y).get_support(indices=True)


def cases():
    """Part, method, s, x and what finds the support."""
    for s in SIZES:
        for method in METHODS:
            yield "s", method, s, 0, lambda q, m=method, s=s: support_of(m, q, s)
    for n in PASSES:
        yield "passes", "os", MIDDLE, n, steps(MIDDLE, passes=n)
        settings = {"passes": n, "exchange": "gradient"}
        yield "passes", "os_steps", MIDDLE, n, steps(MIDDLE, **settings)
    for n in WORKERS:
        settings = {"n_workers": n, "staleness": n, "exchange": "gradient"}
        yield "workers", "os_steps", MIDDLE, n, steps(MIDDLE, **settings)


def measure(name, X, y, seed, ledger):
    """Add what is not in the ledger."""
    problem = split(X, y, SHARES.get(name, 0.3), seed)
    for part, method, s, x, find in cases():
        place = (name, part, seed, method, s, x)
        if place in ledger:
            continue
        begin = time.process_time()
        support = find(problem)
        spent = time.process_time() - begin
        model = LinearSVC(dual=False, C=1.0).fit(problem.X[:, support], problem.y)
        error = 1.0 - model.score(problem.X_test[:, support], problem.y_test)
        ledger.add(place, {"error": float(error), "cpu": spent})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--set", choices=SHARES, action="append")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    if asked.quick:
        print("os, quick")
        rng = np.random.default_rng(0)
        X = rng.normal(size=(120, 60))
        measure("small", X, np.sign(X[:, 1] - X[:, 2]), 0, Ledger(None, KEYS, FACTS))
        return
    ledger = Ledger(asked.out, KEYS, FACTS)
    for seed in range(asked.seeds):
        for name in asked.set or SHARES:
            try:
                X, y = load(name)
            except Missing as reason:
                print(reason)
                continue
            measure(name, X, y, seed, ledger)


if __name__ == "__main__":
    main()
