"""Figure 2: how many features MISSION and hard thresholding recover from n rows.

    python -m papers.mission.phase [--quick]

p = 1000, Gaussian X, weights of 1 on k random features, no noise. For each n the largest k
is found, by bisection, at which a method finds all k and nothing else in more than half of
20 tables. All methods see the same tables. Writes ``results/phase.csv``, a line a method
and n, as it goes; lines that are there are not measured again.
"""

import argparse
from itertools import product
from pathlib import Path

import numpy as np
from papers.mission.methods import recovers
from papers.results import Ledger

RESULTS = Path(__file__).parent / "results" / "phase.csv"
ASKED = ("mission", "iht", "iht_long", "iht_normalized", "iti", "mission_refit")
SIZES = (100, 200, 300, 400, 600, 800)
P = 1000


def table(n, p, k, seed):
    """Draw a table with k planted features."""
    rng = np.random.default_rng([n, k, seed])
    X = rng.standard_normal((n, p)) / np.sqrt(n)
    support = np.sort(rng.choice(p, k, replace=False))
    return X, X[:, support].sum(axis=1), support


def succeeds(method, n, p, k, trials):
    """Whether more than half of the tables are recovered; stops when that is clear."""
    hits = misses = 0
    for seed in range(trials):
        hit = recovers(method, *table(n, p, k, seed))
        hits, misses = hits + hit, misses + (not hit)
        if 2 * hits > trials or 2 * misses >= trials:
            break
    return 2 * hits > trials


def largest_k(method, n, p, trials):
    """Bisect for the largest k that succeeds, to within one part in fifty of n."""
    low, high = 0, n
    while high - low > max(1, n // 50):
        k = (low + high) // 2
        if succeeds(method, n, p, k, trials):
            low = k
        else:
            high = k
    return low


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    if parser.parse_args().quick:
        for method in ASKED:
            print(method, largest_k(method, 30, 60, 3))
        return
    ledger = Ledger(RESULTS, ("n", "p", "method"), ("k",))
    for place in product(SIZES, (P,), ASKED):
        if place not in ledger:
            n, p, method = place
            ledger.add(place, {"k": largest_k(method, n, p, 20)})


if __name__ == "__main__":
    main()
