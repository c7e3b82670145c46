"""Table 2 and Figure 3: a linear SVM on the best features of each method.

    python -m papers.gsr.accuracy [--set isolet ...] [--method gsr ...] [--trials 10]

Ten trials: 60 % of the rows, drawn by class, are learned from; columns are standardised
by these rows. Everything is chosen within them: the ranking, r and lam by the methods' own
defaults for 50 features, C of the SVM by 3-fold cross-validation for each number of
features. One ranking of a trial gives the best 10, 20, ... 100.

Writes ``results/accuracy.csv``, a line for each trial as it is done: accuracy on the other
rows for each number of features, and CPU seconds of ranking (one thread, nothing compiled;
for GSR and its family the refit of a model to the 50 is in it, filters have none). Lines
that are there already are not measured again, so a run may be cut short and taken up. AR
and CMU-PIE are not available; of ORL there are 32 x 32 pixels instead of 92 x 112.
"""

import argparse
import csv
import os
import sys
import time
import warnings
from pathlib import Path

for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"  # before numpy is loaded

import numpy as np  # noqa: E402
from benchmarks.data import Missing, load  # noqa: E402
from papers.results import read_lines  # noqa: E402
from sklearn.datasets import make_classification  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.feature_selection import RFE  # noqa: E402
from sklearn.model_selection import GridSearchCV, train_test_split  # noqa: E402
from sklearn.svm import SVC, LinearSVC  # noqa: E402

from shortlist import ERFS, GSR, MRMR, MTFS, RFS, RK1U, ReliefF  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "accuracy.csv"
#: Numbers of features, and the one that methods are asked for.
SIZES, K = tuple(range(10, 101, 10)), 50
FIELDS = ("set", "method", "trial", "seconds", "r", "lam", *(f"top{k}" for k in SIZES))
#: Name of the file, and how many of its rows are taken.
SETS = {
    "semeion": ("semeion", None),
    "isolet": ("isolet1_isolet5", 1560),
    "orl": ("orl_32x32", None),
    "mnist": ("mnist_4v9", None),
}
#: The paper's costs. With more rows than these libsvm is too slow, and liblinear, which
#: slows down with large costs that no longer matter, takes its place.
COSTS = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
FEW_ROWS = 4000
#: Costs that RFE chooses from: with 1 a single fit on ISOLET takes more than a minute.
RFE_COSTS = (1e-3, 1e-2, 1e-1)


def rows_of(name):
    """X and y of a set; of ISOLET the first of its two parts."""
    file, n = SETS[name]
    X, y = load(file)
    return X[:n], np.unique(y[:n], return_inverse=True)[1]


def loss_for(y):
    return "softmax" if y.max() > 1 else "logistic"


def by_rows(estimator, **options):
    """A ranking by GSR or one of its special cases."""

    def rank(X, y, sizes):
        k = K if K in sizes else sizes[-1]
        fitted = estimator(k, loss=loss_for(y), **options).fit(X, y)
        order = np.argsort(fitted.selection_path_.ranks[-1])
        return order, {"r": fitted.r_, "lam": f"{fitted.lam_:.6g}"}

    return rank


def by_mrmr(X, y, sizes):
    fitted = MRMR(sizes[-1], loss=loss_for(y), refit=False).fit(X, y).shortlist_
    return fitted.ids[np.argsort(-fitted.scores)].astype(np.int64), {}


def by_relieff(X, y, sizes):
    fitted = ReliefF(sizes[-1], loss=loss_for(y), refit=False).fit(X, y)
    return np.argsort(-fitted.scores_, kind="stable"), {}


def by_rfe(X, y, sizes):
    """A tenth of the columns leave at a time, then as many as sizes differ by."""
    best = GridSearchCV(LinearSVC(random_state=0), {"C": RFE_COSTS}, cv=3).fit(X, y)
    machine = best.best_estimator_
    wide = RFE(machine, n_features_to_select=sizes[-1], step=0.1).fit(X, y)
    left = wide.get_support(indices=True)
    step = sizes[1] - sizes[0]
    last = RFE(machine, n_features_to_select=sizes[0], step=step).fit(X[:, left], y)
    return left[np.argsort(last.ranking_, kind="stable")], {}


METHODS = {
    "gsr": by_rows(GSR),
    "gsr_p1": by_rows(GSR, p=1.0),
    "gsr_p75": by_rows(GSR, p=0.75),
    "gsr_p25": by_rows(GSR, p=0.25),
    "rk1u": by_rows(RK1U),
    "mtfs": by_rows(MTFS),
    "rfs": by_rows(RFS),
    "erfs": by_rows(ERFS),
    "mrmr": by_mrmr,
    "relieff": by_relieff,
    "rfe": by_rfe,
}


def judge(n_rows):
    """A linear SVM whose C is chosen by cross-validation."""
    if n_rows <= FEW_ROWS:
        return GridSearchCV(SVC(kernel="linear"), {"C": COSTS}, cv=3)
    few = [cost for cost in COSTS if cost <= 1.0]
    return GridSearchCV(LinearSVC(dual=False, random_state=0), {"C": few}, cv=3)


def trial(X, y, method, seed, sizes=SIZES):
    """Accuracy for each number of features, and what the ranking cost."""
    train, test = train_test_split(
        np.arange(len(y)), train_size=0.6, stratify=y, random_state=seed
    )
    spread = X[train].std(axis=0)
    A = (X - X[train].mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    begin = time.process_time()
    order, facts = METHODS[method](A[train], y[train], sizes)
    seconds = time.process_time() - begin
    row = {"seconds": f"{seconds:.4g}", **facts}
    for k in sizes:
        few = A[:, order[:k]]
        machine = judge(len(train)).fit(few[train], y[train])
        row[f"top{k}"] = f"{machine.score(few[test], y[test]):.6g}"
    return row


def rehearse(method, n_classes=3):
    """A trial on a small table; imports and compiles all that the method needs."""
    X, y = make_classification(
        200, 30, n_informative=5, n_classes=n_classes, shuffle=False, random_state=0
    )
    return trial(X, y, method, 0, sizes=(3, 5))


def wanted(options, known):
    """Sets with their rows, and what is to be measured on them, all methods in turn."""
    for name in options.set or SETS:
        try:
            X, y = rows_of(name)
        except Missing as missing:
            print(f"left out: {missing}", file=sys.stderr)
            continue
        for seed in range(options.trials):
            for method in options.method or METHODS:
                if (name, method, str(seed)) not in known:
                    yield (name, method, seed), X, y


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", choices=SETS, action="append")
    parser.add_argument("--method", choices=METHODS, action="append")
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # of liblinear
    if options.quick:
        for method in METHODS:
            print(method, rehearse(method))
        return
    done = read_lines(options.out)
    known = {tuple(line[key] for key in FIELDS[:3]) for line in done}
    options.out.parent.mkdir(exist_ok=True)
    rehearsed = set()
    with options.out.open("a", newline="") as out:
        lines = csv.DictWriter(out, FIELDS, lineterminator="\n")
        if not done:
            lines.writeheader()
        for place, X, y in wanted(options, known):
            form = (place[1], 3 if y.max() > 1 else 2)
            if form not in rehearsed:
                rehearse(*form)
                rehearsed.add(form)
            found = trial(X, y, place[1], place[2])
            lines.writerow(dict(zip(FIELDS[:3], place, strict=True)) | found)
            out.flush()


if __name__ == "__main__":
    main()
