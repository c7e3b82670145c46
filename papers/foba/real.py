"""Gene expression: FoBa, abess and L1 with a refit by repeated nested cross-validation.

    python -m papers.foba.real [--quick]

For every split of an outer 5-fold cross-validation (repeated with other shuffles) and every
k, each method chooses its own ridge by an inner 3-fold cross-validation of the training
part, is fitted to the whole of it and predicts the rows left out. FoBa is tried with its
default ridge, and with next to none, besides. Columns are standardised by the training
part. Writes ``results/real.csv``: accuracy by set, method, k and split.
"""

import argparse
import csv
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from benchmarks.data import Missing, load
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from shortlist import FoBa

RESULTS = Path(__file__).parent / "results" / "real.csv"
SETS = ("colon", "leukemia", "prostate_ge")
SIZES = (5, 10, 20, 50)
RIDGES = (0.01, 0.1, 1.0)  #: per example, of standardised weights


def foba_scores(X, y, X_new, y_new, ridge):
    """Accuracy for every size; one path gives all."""
    model = FoBa(max(SIZES), loss="logistic", l2=ridge).fit(X, y)
    scores = []
    for k in SIZES:
        chosen = model.at(k)
        z = X_new[:, chosen.ids.astype(int)] @ chosen.weights + chosen.intercept[0]
        scores.append(np.mean((z > 0) == y_new))
    return scores


def abess_scores(X, y, X_new, y_new, ridge):
    from abess.linear import LogisticRegression as Abess

    varies = X.std(axis=0) > 1e-9  # it refuses constant columns
    scores = []
    for k in SIZES:
        # its alpha multiplies ||w||^2 beside the sum of losses, ours is half of it a row
        model = Abess(support_size=k, alpha=ridge * len(y) / 2)
        model.fit(X[:, varies], y)
        scores.append(np.mean(model.predict(X_new[:, varies]) == y_new))
    return scores


def l1_order(X, y):
    """Features in the order in which an L1 path takes them in."""
    order = []
    for C in np.geomspace(0.01, 10.0, 20):
        # liblinear's own random numbers: fixed
        model = LogisticRegression(
            l1_ratio=1.0, C=C, solver="liblinear", random_state=0, max_iter=500
        )
        w = model.fit(X, y).coef_[0]
        entered = [j for j in np.argsort(-np.abs(w)) if w[j] and j not in order]
        order += entered
        if len(order) >= max(SIZES):
            break
    return order


def l1_scores(order, X, y, X_new, y_new, ridge):
    scores = []
    for k in SIZES:
        columns = order[:k]
        model = LogisticRegression(C=1.0 / (ridge * len(y)), max_iter=1000)
        model.fit(X[:, columns], y)
        scores.append(np.mean(model.predict(X_new[:, columns]) == y_new))
    return scores


def scores_by_ridge(method, *data):
    """Accuracy for every ridge and size."""
    score = {"foba": foba_scores, "abess": abess_scores}.get(method)
    if score is None:  # the L1 path does not depend on the ridge of the refit
        order = l1_order(*data[:2])
        score = partial(l1_scores, order)
    return np.array([score(*data, ridge) for ridge in RIDGES])


METHODS = ("foba", "abess", "l1_refit")
#: FoBa with a ridge that is not chosen: as it is by default, and next to none.
FIXED = {"foba_auto": "auto", "foba_1e-4": 1e-4}


def nested(method, X, y, X_new, y_new, seed):
    """Accuracy on new rows for every size, its ridge chosen within X."""
    if method in FIXED:
        return foba_scores(X, y, X_new, y_new, FIXED[method])
    inner = StratifiedKFold(3, shuffle=True, random_state=seed)
    trials = np.zeros((len(RIDGES), len(SIZES)))
    for train, test in inner.split(X, y):
        trials += scores_by_ridge(method, X[train], y[train], X[test], y[test])
    outer = scores_by_ridge(method, X, y, X_new, y_new)
    best = len(RIDGES) - 1 - np.argmax(trials[::-1], axis=0)  # of equals the largest
    return outer[best, np.arange(len(SIZES))]


def splits_of(y, repeats):
    for repeat in range(repeats):
        folds = StratifiedKFold(5, shuffle=True, random_state=repeat)
        for fold, (train, test) in enumerate(folds.split(y, y)):
            yield 5 * repeat + fold, train, test


def main():
    warnings.simplefilter("ignore")  # liblinear that has not quite converged
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    if options.quick:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60, 200))
        y = (X[:, 0] - X[:, 1] > 0).astype(int)
        for method in ("foba", "l1_refit"):
            print(method, nested(method, X[:40], y[:40], X[40:], y[40:], 0))
        return
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as out:
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow(["set", "method", "k", "split", "accuracy"])
        for name in SETS:
            try:
                X, y = load(name)
            except Missing as missing:
                print(f"left out: {missing}", file=sys.stderr)
                continue
            y = (y == np.unique(y)[1]).astype(int)
            for split, train, test in splits_of(y, options.repeats):
                scaler = StandardScaler().fit(X[train])
                A, B = scaler.transform(X[train]), scaler.transform(X[test])
                for method in (*METHODS, *FIXED):
                    accuracies = nested(method, A, y[train], B, y[test], split)
                    for k, accuracy in zip(SIZES, accuracies, strict=True):
                        lines.writerow([name, method, k, split, f"{accuracy:.6g}"])
                out.flush()


if __name__ == "__main__":
    main()
