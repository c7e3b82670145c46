"""Table 3: CPU time of the methods, as ratios to GSR-FS with p = .5.

    python -m papers.gsr.timing [--set isolet ...] [--repeats 3] [--quick]

As in the paper: lam = 1, r = 2 for GSR-FS, iterations until the objective falls by less
than 1e-4, filters until 100 features are chosen; 60 % of the rows, standardised, as a trial
of ``papers.gsr.accuracy`` has them. Timed is the minimisation alone, from centred tables
on, without refit; of filters the choice. One thread, the least of the repeats, nothing
compiled.

RFS and E-RFS are here twice: as GSR with their exponents, and by the algorithm of their
papers (*own*), which takes residuals for unknowns and solves a system as large as the rows
at each step. RK1U's rank-one updates were not written; as GSR it is r = 2, p = .5, the unit
itself. MTFS, likewise, is r = 2, p = 1. Writes ``results/timing.csv``.
"""

import argparse
import csv
import os
import sys
import time
from pathlib import Path

for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"  # before numpy is loaded

import numpy as np  # noqa: E402
from benchmarks.data import Missing  # noqa: E402
from papers.gsr.accuracy import SETS, loss_for, rows_of  # noqa: E402
from scipy.linalg import cho_factor, cho_solve  # noqa: E402
from sklearn.model_selection import train_test_split  # noqa: E402

from shortlist import MRMR, ReliefF  # noqa: E402
from shortlist.table._gsr import reweight  # noqa: E402
from shortlist.table._gsr_problem import GsrProblem, GsrSettings  # noqa: E402
from shortlist.table._gsr_table import DenseTable  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "timing.csv"
FIELDS = ("set", "rows", "features", "method", "seconds", "iterations", "ratio")
FALL, MAX_ITER, N_FILTERED = 1e-4, 100, 100
#: With more rows than this the algorithm of RFS's paper is left out: it takes n^3 a step.
FEW_ROWS = 2500


def targets(y):
    """Classes as -1 and +1, centred; two are one column."""
    codes = np.arange(y.max() + 1) if y.max() > 1 else np.array([1])
    Y = np.where(y[:, np.newaxis] == codes, 1.0, -1.0)
    return Y - Y.mean(axis=0)


def by_gsr(r, p):
    """GSR's steps; its tolerance is relative, here to the loss where nothing is fitted."""

    def run(X, y):
        Y = targets(y)
        ones, free = np.ones(len(X)), np.zeros(X.shape[1], bool)
        table = DenseTable(np.asfortranarray(X))
        problem = GsrProblem(table, Y, ones, np.arange(X.shape[1]), free)
        drop = 1e-3 if p < 1.0 else 0.0
        tol = FALL / np.sum(np.sum(Y**2, axis=1) ** (r / 2))
        found = reweight(problem, GsrSettings(r, p, MAX_ITER, tol, drop), 1.0)
        return len(found.values)

    return run


def by_constraint(p, sigma=1e-12):
    """The algorithm of RFS (p = 1) and E-RFS: min ||U||_{2,p}^p subject to [X, I] U = Y.

    U holds W and the residuals, both reweighted alike; lam = 1.
    """

    def run(X, y):
        Y = targets(y)
        n, m = X.shape
        spread = np.ones(n + m)
        last = np.inf
        for t in range(1, MAX_ITER + 1):
            K = (X * spread[:m]) @ X.T
            K[np.diag_indices(n)] += spread[m:]
            V = cho_solve(cho_factor(K, check_finite=False), Y, check_finite=False)
            U = spread[:, np.newaxis] * np.vstack([X.T @ V, V])
            norms = np.sum(U**2, axis=1) + sigma
            value = np.sum(norms ** (p / 2))
            if last - value < FALL:
                return t
            last, spread = value, (2 / p) * norms ** (1 - p / 2)
        return MAX_ITER

    return run


def by_mrmr(X, y):
    MRMR(min(N_FILTERED, X.shape[1]), loss=loss_for(y), refit=False).fit(X, y)


def by_relieff(X, y):
    ReliefF(min(N_FILTERED, X.shape[1]), loss=loss_for(y), refit=False).fit(X, y)


METHODS = {
    "gsr p=.5": by_gsr(2.0, 0.5),
    "gsr p=1": by_gsr(2.0, 1.0),
    "gsr p=.75": by_gsr(2.0, 0.75),
    "gsr p=.25": by_gsr(2.0, 0.25),
    "rfs": by_gsr(1.0, 1.0),
    "erfs": by_gsr(0.5, 0.5),
    "rfs, own": by_constraint(1.0),
    "erfs, own": by_constraint(0.5),
    "mrmr": by_mrmr,
    "relieff": by_relieff,
}


def measure(X, y, repeats):
    """Seconds, steps and the ratio of each method."""
    unit = None
    for method, run in METHODS.items():
        if method.endswith("own") and len(X) > FEW_ROWS:
            continue
        seconds = []
        for _ in range(repeats):
            begin = time.process_time()
            steps = run(X, y)
            seconds.append(time.process_time() - begin)
        unit = min(seconds) if unit is None else unit
        yield {
            "method": method,
            "seconds": f"{min(seconds):.4g}",
            "iterations": steps,
            "ratio": f"{min(seconds) / unit:.3g}",
        }


def learned_from(name):
    """The rows of the first trial."""
    X, y = rows_of(name)
    few, _ = train_test_split(
        np.arange(len(y)), train_size=0.6, stratify=y, random_state=0
    )
    spread = X[few].std(axis=0)
    A = (X[few] - X[few].mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    return A, y[few]


def small():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    return rng.normal(size=(60, 20)) + 2.0 * np.eye(3, 20)[y], y


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", choices=SETS, action="append")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if options.quick:
        for row in measure(*small(), 1):
            print("gsr", row)
        return
    list(measure(*small(), 1))  # imports and compiles
    options.out.parent.mkdir(exist_ok=True)
    with options.out.open("w", newline="") as out:
        lines = csv.DictWriter(out, FIELDS, lineterminator="\n")
        lines.writeheader()
        for name in options.set or SETS:
            try:
                X, y = learned_from(name)
            except Missing as missing:
                print(f"left out: {missing}", file=sys.stderr)
                continue
            place = {"set": name, "rows": len(X), "features": X.shape[1]}
            for row in measure(X, y, options.repeats):
                lines.writerow(place | row)
                out.flush()


if __name__ == "__main__":
    main()
