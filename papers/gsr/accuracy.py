"""Table 2: a linear SVM on the 50 features that each method chooses.

    python -m papers.gsr.accuracy [--set isolet] [--method gsr] [--trials 10] [--quick]

Ten trials: 60 % of the rows, drawn by class, are learned from; columns are standardised
by these rows. Everything is chosen within them: the features, r and lam by the methods' own
defaults, the SVM's C by 3-fold cross-validation. Writes ``results/accuracy.csv``: accuracy
on the other rows by set, method, k and trial, and CPU seconds of the choice (one thread,
refit included); lines that are there already are not measured again. AR and CMU-PIE are
not available.
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
from benchmarks.data import Missing, load  # noqa: E402
from sklearn.datasets import make_classification  # noqa: E402
from sklearn.model_selection import GridSearchCV, train_test_split  # noqa: E402
from sklearn.svm import SVC  # noqa: E402

from shortlist import ERFS, GSR, MTFS, RFS, RK1U  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "accuracy.csv"
FIELDS = ("set", "method", "k", "trial", "accuracy", "seconds", "r", "lam")
#: Name of the file, and how many of its rows are taken.
SETS = {
    "isolet": ("isolet1_isolet5", 1560),
    "semeion": ("semeion", None),
    "orl": ("orl_32x32", None),
    "mnist": ("mnist_4v9", None),
}
METHODS = {
    "gsr": GSR,
    "gsr_p1": lambda k, **options: GSR(k, p=1.0, **options),
    "gsr_p75": lambda k, **options: GSR(k, p=0.75, **options),
    "gsr_p25": lambda k, **options: GSR(k, p=0.25, **options),
    "mtfs": MTFS,
    "rfs": RFS,
    "erfs": ERFS,
    "rk1u": RK1U,
}
COSTS = (0.01, 0.1, 1.0, 10.0)


def rows_of(name):
    """X and y of a set; of ISOLET the first of its two parts."""
    file, n = SETS[name]
    X, y = load(file)
    return X[:n], np.unique(y[:n], return_inverse=True)[1]


def trial(X, y, method, k, seed):
    """Accuracy of an SVM on what a method chooses, and what the choice cost."""
    train, test = train_test_split(
        np.arange(len(y)), train_size=0.6, stratify=y, random_state=seed
    )
    spread = X[train].std(axis=0)
    A = (X - X[train].mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    loss = "softmax" if y.max() > 1 else "logistic"
    begin = time.process_time()
    chosen = METHODS[method](k, loss=loss).fit(A[train], y[train])
    seconds = time.process_time() - begin
    few = A[:, chosen.get_support(indices=True)]
    machine = GridSearchCV(SVC(kernel="linear"), {"C": COSTS}, cv=3)
    accuracy = machine.fit(few[train], y[train]).score(few[test], y[test])
    return {
        "accuracy": f"{accuracy:.6g}",
        "seconds": f"{seconds:.4g}",
        "r": chosen.r_,
        "lam": f"{chosen.lam_:.6g}",
    }


def done_already():
    if not RESULTS.exists():
        return set()
    with RESULTS.open() as lines:
        return {
            (line["set"], line["method"], int(line["k"]), int(line["trial"]))
            for line in csv.DictReader(lines)
        }


def quick():
    X, y = make_classification(
        200, 30, n_informative=5, n_classes=3, shuffle=False, random_state=0
    )
    for method in METHODS:
        print(method, trial(X, y, method, 5, 0))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", choices=SETS, action="append")
    parser.add_argument("--method", choices=METHODS, action="append")
    parser.add_argument("--size", type=int, action="append")
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if options.quick:
        quick()
        return
    RESULTS.parent.mkdir(exist_ok=True)
    known = done_already()
    with RESULTS.open("a", newline="") as out:
        lines = csv.DictWriter(out, FIELDS, lineterminator="\n")
        if not known:
            lines.writeheader()
        for name in options.set or SETS:
            try:
                X, y = rows_of(name)
            except Missing as missing:
                print(f"left out: {missing}", file=sys.stderr)
                continue
            for method in options.method or METHODS:
                for k in options.size or (50,):
                    for seed in range(options.trials):
                        place = (name, method, k, seed)
                        if place not in known:
                            found = trial(X, y, method, k, seed)
                            row = dict(zip(FIELDS[:4], place, strict=True))
                            lines.writerow(row | found)
                            out.flush()


if __name__ == "__main__":
    main()
