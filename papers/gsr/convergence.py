"""Theorem 3: order of convergence, for the weights as a whole and for rows that vanish.

    python -m papers.gsr.convergence [--quick]

The order is the slope of log error after a step against log error before it, while errors
are between 1e-10 and 1e-2 of the largest row. For the weights as a whole the error is the
distance to where the iteration ends; a row that vanishes is its own error. Nothing is
dropped. Prints a line for each r and p, medians over the tables, and writes
``results/convergence.csv``.
"""

import argparse
import csv
from pathlib import Path

import numpy as np

from shortlist.table._gsr import reweight
from shortlist.table._gsr_problem import GsrProblem, GsrSettings
from shortlist.table._gsr_table import DenseTable

RESULTS = Path(__file__).parent / "results" / "convergence.csv"
FIELDS = ("r", "p", "claimed", "whole", "vanishing")


def table(seed, n=200, m=12, s=4, outputs=3, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    Y = X[:, :s] @ rng.normal(size=(s, outputs)) + noise * rng.normal(size=(n, outputs))
    Y /= np.sqrt(np.mean(np.sum(Y**2, axis=1)))
    ones, free = np.ones(n), np.zeros(m, bool)
    return GsrProblem(DenseTable(np.asfortranarray(X)), Y, ones, np.arange(m), free)


def order(errors):
    """Slope of log errors against those before them; NaN with fewer than three."""
    before, after = errors[:-1], errors[1:]
    used = (before < 1e-2) & (after > 1e-10) & (after < before)
    if np.count_nonzero(used) < 3:
        return np.nan
    return float(np.polyfit(np.log(before[used]), np.log(after[used]), 1)[0])


def orders(problem, r, p, lam, n_iter=120):
    """Orders of the whole and, a median, of the rows that vanish."""
    points = [
        reweight(problem, GsrSettings(r, p, t, 0.0, 0.0, 1e-13), lam).W
        for t in range(1, n_iter + 1)
    ]
    size = np.linalg.norm(points[-1], axis=1).max()
    whole = [np.linalg.norm(W - points[-1]) / size for W in points[: n_iter // 2]]
    rows = np.array([np.linalg.norm(W, axis=1) / size for W in points])
    vanish = rows[:, rows[-1] < 1e-6]
    found = np.array([order(row) for row in vanish.T])
    found = found[~np.isnan(found)]
    return order(np.array(whole)), float(np.median(found)) if len(found) else np.nan


def line(r, p, seeds, n_iter=120):
    lam = 40.0 * (0.3 if r < 2 else 1.0)
    found = [orders(table(seed), r, p, lam, n_iter) for seed in range(seeds)]
    whole, vanishing = (
        np.median([x for x in part if not np.isnan(x)] or [np.nan])
        for part in zip(*found, strict=True)
    )
    return {
        "r": r,
        "p": p,
        "claimed": min(2 - r, 2 - p),
        "whole": f"{whole:.2f}",
        "vanishing": f"{vanishing:.2f}",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    if parser.parse_args().quick:
        print("gsr", line(1.0, 0.5, 1, 40))
        return
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as out:
        lines = csv.DictWriter(out, FIELDS, lineterminator="\n")
        lines.writeheader()
        for r in (2.0, 1.0, 0.5):
            for p in (1.0, 0.75, 0.5, 0.25):
                row = line(r, p, 3)
                lines.writerow(row)
                print(row)


if __name__ == "__main__":
    main()
