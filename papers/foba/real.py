"""Gene expression: FoBa, abess and L1 with a refit by repeated nested cross-validation.

    python -m papers.foba.real [--quick] [--repeats 10] [--sets colon] [--out real.csv]

For every split of an outer 5-fold cross-validation (repeated with other shuffles) and every
k, each method chooses the ridge of its weights by the log loss in an inner 5-fold
cross-validation of the training part, is fitted to the whole of it and predicts the rows
left out. FoBa searches with the ridge that it takes by default, 50 / n; as ``foba_auto`` it
leaves both ridges at their defaults, and as ``foba_plain`` it searches with the ridge of
the weights, as the paper has it. Columns are standardised by the training part. Writes
``results/real.csv`` (see ``--out``): accuracy by set, method, k and split.
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

RESULTS = Path(__file__).parent / "results"
SETS = ("colon", "leukemia", "prostate_ge")
SIZES = (5, 10, 20, 50)
RIDGES = (0.01, 0.1, 1.0)  #: per example, of standardised weights


def foba_margins(X, y, X_new, ridge, search="auto"):
    """Margins of new rows for every size; one path gives all."""
    if ridge != "auto" and search == "auto":
        search = 50.0 / len(y)
    model = FoBa(max(SIZES), loss="logistic", l2=ridge, search_l2=search).fit(X, y)
    chosen = [model.at(k) for k in SIZES]
    return [X_new[:, c.ids.astype(int)] @ c.weights + c.intercept[0] for c in chosen]


def abess_margins(X, y, X_new, ridge):
    from abess.linear import LogisticRegression as Abess

    varies = X.std(axis=0) > 1e-9  # it refuses constant columns
    margins = []
    for k in SIZES:
        # its alpha multiplies ||w||^2 beside the sum of losses, ours is half of it a row
        model = Abess(support_size=k, alpha=ridge * len(y) / 2)
        model.fit(X[:, varies], y)
        margins.append(X_new[:, varies] @ model.coef_.ravel() + model.intercept_)
    return margins


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


def l1_margins(order, X, y, X_new, ridge):
    margins = []
    for k in SIZES:
        columns = order[:k]
        model = LogisticRegression(C=1.0 / (ridge * len(y)), max_iter=1000)
        model.fit(X[:, columns], y)
        margins.append(model.decision_function(X_new[:, columns]))
    return margins


METHODS = ("foba", "foba_plain", "abess", "l1_refit")


def margins_by_ridge(method, X, y, X_new):
    """Margins of new rows, of shape (ridges, sizes, rows)."""
    if method == "l1_refit":  # its path does not depend on the ridge of the refit
        margins = partial(l1_margins, l1_order(X, y))
    else:
        margins = {
            "foba": foba_margins,
            "foba_plain": partial(foba_margins, search=None),
            "abess": abess_margins,
        }[method]
    return np.array([margins(X, y, X_new, ridge) for ridge in RIDGES])


def nested(method, X, y, X_new, y_new, seed):
    """Accuracy on new rows for every size, its ridge chosen within X."""
    if method == "foba_auto":
        return accuracy(np.array(foba_margins(X, y, X_new, "auto")), y_new)
    inner = StratifiedKFold(5, shuffle=True, random_state=seed)
    losses = np.zeros((len(RIDGES), len(SIZES)))
    for train, test in inner.split(X, y):
        margins = margins_by_ridge(method, X[train], y[train], X[test])
        losses += np.logaddexp(0.0, margins * (1 - 2 * y[test])).sum(axis=-1)
    best = np.argmin(losses, axis=0)
    outer = accuracy(margins_by_ridge(method, X, y, X_new), y_new)
    return outer[best, np.arange(len(SIZES))]


def accuracy(margins, y):
    return np.mean((margins > 0) == y, axis=-1)


def splits_of(y, repeats):
    for repeat in range(repeats):
        folds = StratifiedKFold(5, shuffle=True, random_state=repeat)
        for fold, (train, test) in enumerate(folds.split(y, y)):
            yield 5 * repeat + fold, train, test


def main():
    warnings.simplefilter("ignore")  # liblinear that has not quite converged
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--out", default="real.csv", help="file under results")
    options = parser.parse_args()
    if options.quick:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60, 200))
        y = (X[:, 0] - X[:, 1] > 0).astype(int)
        for method in ("foba", "foba_auto", "l1_refit"):
            print(method, nested(method, X[:40], y[:40], X[40:], y[40:], 0))
        return
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / options.out).open("w", newline="") as out:
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow(["set", "method", "k", "split", "accuracy"])
        for name in options.sets.split(","):
            try:
                X, y = load(name)
            except Missing as missing:
                print(f"left out: {missing}", file=sys.stderr)
                continue
            y = (y == np.unique(y)[1]).astype(int)
            for split, train, test in splits_of(y, options.repeats):
                scaler = StandardScaler().fit(X[train])
                A, B = scaler.transform(X[train]), scaler.transform(X[test])
                for method in (*METHODS, "foba_auto"):
                    accuracies = nested(method, A, y[train], B, y[test], split)
                    for k, accuracy in zip(SIZES, accuracies, strict=True):
                        lines.writerow([name, method, k, split, f"{accuracy:.6g}"])
                out.flush()


if __name__ == "__main__":
    main()
