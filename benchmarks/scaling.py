"""Which preparation of values suits MISSION untuned: accuracy over the sets of real data.

    python -m benchmarks.scaling [--sets a9a,dexter] [--splits 3] [--out scaling.csv]

Every set is split at random into 70 % to learn from and 30 % to score, a few times. Values
are taken as they come (``none``), in units of their feature's largest (``max_abs``), with
rows of length 1 (``l2``), also after logarithms, or both; each by two recipes and for two
budgets. *mixed* is a made table as people have them: a few numbers in different units
beside categories. Writes a line for every set, recipe, budget and way; what
``scale="auto"`` of Mission does follows from it.
"""

import argparse
import csv
import sys
from pathlib import Path

import numpy as np
from benchmarks.data import Missing, load
from scipy.sparse import csr_array
from sklearn.model_selection import train_test_split

from shortlist import ArraySource, Mission
from shortlist._units import first_rows, unit_spread

RESULTS = Path(__file__).parent / "results"
SETS = (
    "mixed",
    "a9a",
    "arcene",
    "basehock",
    "colon",
    "dexter",
    "farm_ads",
    "isolet1_isolet5",
    "leukemia",
    "madelon",
    "mnist_4v9",
    "news20_multiclass",
    "newsgroups20",
    "orl_32x32",
    "prostate_ge",
    "rcv1_small",
    "semeion",
)
WAYS = {
    "none": {"scale": None},
    "auto": {"scale": "auto"},
    "max_abs": {"scale": "max_abs"},
    "l2": {"scale": None, "normalize": "l2"},
    "l2, max_abs": {"scale": "max_abs", "normalize": "l2"},
    "log1p, l2": {"scale": None, "log1p": True, "normalize": "l2"},
    "log1p, l2, max_abs": {"scale": "max_abs", "log1p": True, "normalize": "l2"},
}


def mixed(n=20_000, seed=0):
    """Age in years, hours a week, income a year, height in metres, and categories."""
    rng = np.random.default_rng(seed)
    age, hours = rng.integers(18, 90, n), rng.integers(1, 80, n)
    income, height = np.exp(rng.normal(10, 0.8, n)).round(), rng.normal(1.7, 0.1, n)
    job, town = rng.integers(0, 12, n), rng.zipf(1.6, n) % 300
    z = 0.06 * (age - 50) - 0.05 * (hours - 40) + 8 * (height - 1.7)
    z += np.log(income) - 10 + np.where(job < 4, 1.0, -0.5) + (town % 3 == 0)
    y = rng.random(n) < 1 / (1 + np.exp(-z))
    numbers = np.column_stack([age, hours, income, height]).astype(float)
    X = np.column_stack([numbers, np.eye(12)[job], np.eye(300)[town]])
    return csr_array(X), y.astype(int)


def accuracy(X, y, way, recipe, k, seed):
    """Share of rows left out that are predicted rightly."""
    parts = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
    X_train, X_test, y_train, y_test = parts
    model = Mission(k, recipe=recipe, **WAYS[way]).fit(X_train, y_train)
    return float((model.predict(X_test) == y_test).mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--ways", default=";".join(WAYS))
    parser.add_argument("--out", default="scaling.csv", help="file under results")
    options = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / options.out).open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["set", "recipe", "k", "way", "accuracy", "spread"])
        for name in options.sets.split(","):
            try:
                X, y = mixed() if name == "mixed" else load(name)
                y = y.astype(str)
                rows = first_rows(ArraySource(X, np.zeros(len(y))).blocks())
                print(f"{name}: units {unit_spread(rows):.3g} times apart")
            except Missing as missing:
                print(missing, file=sys.stderr)
                continue
            for recipe in ("refit", "newton"):
                for k in (10, 100):
                    for way in options.ways.split(";"):
                        found = [
                            accuracy(X, y, way, recipe, k, seed)
                            for seed in range(options.splits)
                        ]
                        mean, spread = np.mean(found), np.std(found)
                        row = [name, recipe, k, way, f"{mean:.4f}", f"{spread:.4f}"]
                        out.writerow(row)
                        print(*row, flush=True)
                        file.flush()


if __name__ == "__main__":
    main()
