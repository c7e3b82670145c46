"""Figure 2: features found, and errors, where some rows have the wrong sign.

    python -m papers.gsr.outliers [--seeds 3] [--quick]

For shares of 0, 1 and 10 % of flipped rows: of the 200 informative features among 1000,
how many are among the 200 that GSR chooses with r = 2, 1, 0.5 and "auto", and the root mean
squared error, on as many new rows without outliers, of least squares refitted to the
features chosen and to the rows learned from (those flipped left out, so that the error
tells of the features alone). For r = 2 also with the best lam of a grid, told by the truth.
Writes ``results/outliers.csv``.
"""

import argparse
import csv
from pathlib import Path

import numpy as np
from benchmarks.outlier_tasks import make

from shortlist import GSR

RESULTS = Path(__file__).parent / "results" / "outliers.csv"
FIELDS = ("share", "seed", "method", "found", "rmse", "r", "lam")
SHARES = (0.0, 0.01, 0.1)
EXPONENTS = (2.0, 1.0, 0.5, "auto")
#: Multiples of the lam that GSR finds by itself.
GRID = (0.1, 0.3, 1.0, 3.0, 10.0)


def measure(method, train, test, **options):
    """What a choice is worth."""
    k = len(train.support)
    fitted = GSR(k, **options).fit(train.X, train.Y)
    chosen = fitted.get_support(indices=True)
    clean = np.setdiff1d(np.arange(len(train.Y)), train.flipped)
    W = np.linalg.lstsq(train.X[np.ix_(clean, chosen)], train.Y[clean])[0]
    missed = test.X[:, chosen] @ W - test.Y
    return {
        "method": method,
        "found": len(np.intersect1d(chosen, train.support)),
        "rmse": f"{np.sqrt(np.mean(missed**2)):.4g}",
        "r": fitted.r_,
        "lam": f"{fitted.lam_:.5g}",
    }


def split(design, n):
    """Rows to learn from, and the rest, without wrong signs, to test on."""
    Y = design.Y.copy()
    Y[design.flipped] *= -1.0
    kept = design.flipped[design.flipped < n]
    train = design._replace(X=design.X[:n], Y=design.Y[:n], flipped=kept)
    return train, design._replace(X=design.X[n:], Y=Y[n:], flipped=kept[:0])


def rows(share, seed, grid=True, **size):
    n = size.pop("n", 2000)
    train, test = split(make(seed, n=2 * n, share=share, **size), n)
    for r in EXPONENTS:
        yield measure(f"r={r}", train, test, r=r)
    if grid:
        own = GSR(len(train.support), r=2.0).fit(train.X, train.Y).lam_
        tried = [
            measure("r=2, best lam", train, test, r=2.0, lam=own * times)
            for times in GRID
        ]
        yield max(tried, key=lambda row: row["found"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if options.quick:
        for row in rows(0.1, 0, n=300, block=10, irrelevant=70):
            print("gsr", row)
        return
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as out:
        lines = csv.DictWriter(out, FIELDS, lineterminator="\n")
        lines.writeheader()
        for share in SHARES:
            for seed in range(options.seeds):
                for row in rows(share, seed):
                    lines.writerow({"share": share, "seed": seed} | row)
                    out.flush()


if __name__ == "__main__":
    main()
