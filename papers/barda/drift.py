"""What B-ARDA does when the features that matter are replaced half-way.

    python -m papers.barda.drift [--seeds 5]

Rows of d = 2000 features, of which 14 of 40 that may matter and 40 others are not zero; 20
features decide the label, and after 20,000 rows the other 20. One label in twenty is wrong.
Budget 40, no refit: error of predictions made before each row is learned from.

Writes ``results/drift.csv``: the error in windows of 1000 rows, for some ways to forget.
"""

import argparse
from pathlib import Path

import numpy as np
from papers.results import Ledger
from scipy.sparse import csr_array

from shortlist.rows import BAMD, BARDA, L1ARDA, OFS, SOFS, AdaFobos

RESULTS = Path(__file__).parent / "results" / "drift.csv"
KEYS, FACTS = ("seed", "method", "rows"), ("error",)
D, PLANTED, K, NOISE = 2000, 20, 40, 0.05
ROWS = 40_000
METHODS = {
    "B-ARDA": (BARDA, {}),
    "B-ARDA, forget=.9999": (BARDA, {"forget": 0.9999}),
    "B-ARDA, forget=.9995": (BARDA, {"forget": 0.9995}),
    "B-ARDA, forget=.999": (BARDA, {"forget": 0.999}),
    "B-ARDA, eta=.01": (BARDA, {"eta": 0.01}),
    "B-AMD, forget=.9995": (BAMD, {"forget": 0.9995}),
    "l1-ARDA, forget=.9995": (L1ARDA, {"forget": 0.9995}),
    "Ada-Fobos": (AdaFobos, {}),
    "OFS": (OFS, {}),
    "SOFS": (SOFS, {}),
}


def stream(seed, n_rows=ROWS):
    """Rows and labels; the features that decide change half-way."""
    rng = np.random.default_rng(seed)
    pool = rng.permutation(D)[: 2 * PLANTED]
    weights = np.zeros((2, D))
    for half in (0, 1):
        signs = rng.choice([-1.0, 1.0], PLANTED)
        decides = pool[half * PLANTED : (half + 1) * PLANTED]
        weights[half, decides] = signs * rng.uniform(0.5, 1.5, PLANTED)
    rows, columns = [], []
    for i in range(n_rows):
        some = rng.choice(pool, 14, replace=False)
        here = np.union1d(some, rng.integers(0, D, 40))
        columns.append(here)
        rows.append(np.full(len(here), i))
    where = np.concatenate(rows), np.concatenate(columns)
    X = csr_array((rng.normal(size=len(where[0])), where), shape=(n_rows, D))
    margins = np.concatenate(
        [X[: n_rows // 2] @ weights[0], X[n_rows // 2 :] @ weights[1]]
    )
    wrong = rng.random(n_rows) < NOISE
    return X, np.where((margins > 0) != wrong, 1, -1)


def measure(seed, names, n_rows, ledger):
    """Add the errors of all windows that are not in the ledger."""
    X, y = stream(seed, n_rows)
    for name in names:
        estimator, settings = METHODS[name]
        if (seed, name, n_rows) not in ledger:
            trace = estimator(K, refit=False, **settings).fit(X, y).shortlist_.trace
            for rows, accuracy in zip(trace["rows"], trace["accuracy"], strict=True):
                ledger.add((seed, name, int(rows)), {"error": 1.0 - accuracy})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    if asked.quick:
        print("barda, quick")
        measure(0, ["B-ARDA, forget=.999"], 2000, Ledger(None, KEYS, FACTS))
        return
    ledger = Ledger(asked.out, KEYS, FACTS)
    for seed in range(asked.seeds):
        measure(seed, METHODS, ROWS, ledger)


if __name__ == "__main__":
    main()
