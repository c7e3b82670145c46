"""Several classes: one softmax, or each class against the rest.

    python -m papers.barda.multiclass [--set newsgroups20 ...] [--orders 3]

B-ARDA with k features for each class and the package's defaults but for the loss; a fifth
of the rows, drawn by class, is tested on. ``one vs rest``, the default, is the squared
hinge of each class against all others, ``logistic`` the logistic loss instead; the largest
margin wins.

Writes ``results/multiclass.csv``; lines that are there are not measured again.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from benchmarks.data import Missing, load
from papers.results import Ledger
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from shortlist.rows import BARDA

RESULTS = Path(__file__).parent / "results" / "multiclass.csv"
KEYS, FACTS = ("set", "order", "method", "passes", "k"), ("refit", "online", "distinct")
SETS = ("newsgroups20", "news20_multiclass", "isolet1_isolet5", "semeion", "orl_32x32")
SIZES = (5, 10, 20, 50)
METHODS = {
    "softmax": "softmax",
    "one vs rest": "squared_hinge_ovr",
    "one vs rest, logistic": "logistic_ovr",
}


def rows_of(name):
    """X, and y as numbers of classes."""
    if name != "small":
        X, y = load(name)
        return X, np.unique(y, return_inverse=True)[1]  # letters may come as 1.0, 2.0
    return make_classification(
        300, 30, n_informative=6, n_classes=3, shuffle=False, random_state=0
    )


def margins(model, X):
    """Margins of rows by the published weights, and by those of the stream."""
    trace, n = model.shortlist_.trace, model.shortlist_.n_margins
    weights = np.zeros((X.shape[1], n))
    weights[trace["online_ids"].astype(int), trace["online_margin"]] = trace[
        "online_weights"
    ]
    sizes = np.sqrt((X * X).sum(axis=1))
    sizes = np.asarray(sizes).reshape(-1, 1)
    online = (X @ weights) / np.where(sizes > 0, sizes, 1.0) + trace["online_bias"]
    return model.decision_function(X).reshape(-1, n), online


def compare(X, y, seed, method, k, passes):
    """Test accuracy by both kinds of weights, and how many features are in use."""
    train, test = train_test_split(
        np.arange(len(y)), test_size=0.2, stratify=y, random_state=seed
    )
    model = BARDA(k, loss=METHODS[method], passes=passes).fit(X[train], y[train])
    both, ids = margins(model, X[test]), model.shortlist_.ids
    labels = np.unique(y)
    hits = [np.mean(labels[z.argmax(axis=1)] == y[test]) for z in both]
    return {
        "refit": float(hits[0]),
        "online": float(hits[1]),
        "distinct": len(np.unique(ids)),
    }


def measure(name, X, y, orders, sizes, passes, ledger):
    """Add what is not in the ledger."""
    for seed in range(orders):
        for k in sizes:
            for p in passes:
                for method in METHODS:
                    if (place := (name, seed, method, p, k)) not in ledger:
                        ledger.add(place, compare(X, y, seed, method, k, p))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", choices=SETS, action="append")
    parser.add_argument("--orders", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    if asked.quick:
        print("barda, quick")
        measure("small", *rows_of("small"), 1, (3,), (1,), Ledger(None, KEYS, FACTS))
        return
    ledger = Ledger(asked.out, KEYS, FACTS)
    for name in asked.set or SETS:
        try:
            X, y = rows_of(name)
        except Missing as missing:
            print(f"left out: {missing}", file=sys.stderr)
            continue
        measure(name, X, y, asked.orders, SIZES, (1,), ledger)


if __name__ == "__main__":
    main()
