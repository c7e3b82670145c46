"""Table 1: how far the columns of planted features may fade until methods lose them.

    python -m papers.mission.table1 [--quick]

p = 1000, Gaussian X with the planted columns divided by alpha, y their sum, no noise. Of
alpha = 1, 1.25, ..., 5 the last is noted before a method first misses the support; 0 if it
does at once. Writes ``results/table1.csv``, a line a table and method, as it goes;
lines that are there are not measured again.
"""

import argparse
from itertools import product
from pathlib import Path

import numpy as np
from papers.mission.methods import recovers
from papers.results import Ledger

RESULTS = Path(__file__).parent / "results" / "table1.csv"
ASKED = (
    "mission",
    "mission_count",
    "mission_sgd",
    "iht",
    "iht_normalized",
    "iti",
    "pht",
    "mission_refit",
)
SETTINGS = ((100, 2), (100, 3), (100, 4), (200, 5), (200, 6), (200, 7))
ALPHAS = np.arange(1.0, 5.01, 0.25)
TABLES = 12


def last_alpha(method, n, p, k, seed):
    """Return the last attenuation that a method bears."""
    rng = np.random.default_rng([n, k, seed])
    X = rng.standard_normal((n, p))
    support = np.sort(rng.choice(p, k, replace=False))
    last = 0.0
    for alpha in ALPHAS:
        faded = X.copy()
        faded[:, support] /= alpha
        if not recovers(method, faded, faded[:, support].sum(axis=1), support):
            break
        last = alpha
    return last


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    if parser.parse_args().quick:
        for method in ASKED:
            print(method, last_alpha(method, 30, 60, 2, 0))
        return
    ledger = Ledger(RESULTS, ("n", "k", "seed", "method"), ("alpha",))
    for seed, (n, k), method in product(range(TABLES), SETTINGS, ASKED):
        place = (n, k, seed, method)
        if place not in ledger:
            ledger.add(place, {"alpha": last_alpha(method, n, 1000, k, seed)})


if __name__ == "__main__":
    main()
