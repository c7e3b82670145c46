"""GSR, mRMR and ReliefF against the packages that have them, and scikit-learn's own.

    python -m benchmarks.filters [--data isolet ...] [--method gsr ...] [--trials 10]

Run it from the project's root. In each trial 60 % of the rows, standardised, are to choose
50 features from and to train a linear SVM on, the same for all; the other 40 % are to test
on. Settings are defaults; C of the SVM that RFE looks at is chosen by 3-fold
cross-validation of the rows to choose from. Seconds are CPU seconds of choosing, on one
thread; each method has chosen from a few rows before, so imports and compiling do not
count.

A line for each trial goes to ``results/filters.csv`` as it is done, and is not measured
again (--trials 0 only prints). Printed are the mean accuracy with its standard deviation,
median seconds, these over those of GSR, and over those of the same filter of ours. Peers
come with `pip install --group bench`; those that are missing are named.
"""

import argparse
import csv
import os
import time
import warnings
from pathlib import Path

# before NumPy and SciPy, which have a BLAS of their own each, are loaded
for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"

import numpy as np  # noqa: E402
from benchmarks.data import Missing, load  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "filters.csv"
FIELDS = ("data", "method", "k", "trial", "accuracy", "seconds")
#: Name here, file, and how many of its rows: the first half of isolet has been used most.
DATA = {"isolet": ("isolet1_isolet5", 1560), "semeion": ("semeion", None)}
TEST_SHARE = 0.4
#: Costs that RFE chooses from: with 1 a single fit on ISOLET takes more than a minute.
RFE_COSTS = (1e-3, 1e-2, 1e-1)


def by_gsr(X, y, k):
    from shortlist import GSR

    return GSR(k, loss="softmax").fit(X, y).get_support(indices=True)


def by_mrmr(X, y, k, **settings):
    from shortlist import MRMR

    asked = {"loss": "softmax", "refit": False} | settings
    return MRMR(k, **asked).fit(X, y).get_support(indices=True)


def by_mrmr_difference(X, y, k):
    return by_mrmr(X, y, k, scheme="difference")


def by_mrmr_f(X, y, k):
    """F-statistics and correlation: what mrmr-selection does."""
    return by_mrmr(X, y, k, relevance="f")


def by_mrmr_selection(X, y, k):
    import mrmr
    import pandas

    frame = pandas.DataFrame(X)
    chosen = mrmr.mrmr_classif(
        frame, pandas.Series(y), K=k, n_jobs=1, show_progress=False
    )
    return np.array(chosen, np.int64)


def by_relieff(X, y, k):
    from shortlist import ReliefF

    fitted = ReliefF(k, loss="softmax", refit=False).fit(X, y)
    return fitted.get_support(indices=True)


def by_skrebate(X, y, k):
    import skrebate

    fitted = skrebate.ReliefF(n_features_to_select=k, n_neighbors=10, n_jobs=1)
    return fitted.fit(X, y).top_features_[:k]


def by_mutual_info(X, y, k):
    """Scikit-learn's: each column alone, by nearest neighbours."""
    from sklearn.feature_selection import SelectKBest, mutual_info_classif

    def scores(X, y):
        return mutual_info_classif(X, y, random_state=0)

    return SelectKBest(scores, k=k).fit(X, y).get_support(indices=True)


def by_rfe(X, y, k):
    """A tenth of the columns leave at a time."""
    from sklearn.feature_selection import RFE
    from sklearn.model_selection import GridSearchCV

    machine = GridSearchCV(svm(), {"C": RFE_COSTS}, cv=3, refit=False).fit(X, y)
    fitted = RFE(svm(**machine.best_params_), n_features_to_select=k, step=0.1)
    return fitted.fit(X, y).get_support(indices=True)


METHODS = {
    "gsr": by_gsr,
    "mrmr": by_mrmr,
    "mrmr_difference": by_mrmr_difference,
    "mrmr_f": by_mrmr_f,
    "mrmr-selection": by_mrmr_selection,
    "relieff": by_relieff,
    "skrebate": by_skrebate,
    "mutual_info": by_mutual_info,
    "rfe": by_rfe,
}
#: The same filter of ours.
OURS = {"mrmr-selection": "mrmr_f", "skrebate": "relieff"}


def svm(C=0.1):
    from sklearn.svm import LinearSVC

    return LinearSVC(C=C, random_state=0)


def trial(X, y, method, k, seed):
    """Accuracy on rows not learned from, and the CPU seconds of choosing."""
    from sklearn.model_selection import train_test_split

    train, test = train_test_split(
        np.arange(len(y)), test_size=TEST_SHARE, stratify=y, random_state=seed
    )
    mean, spread = X[train].mean(axis=0), X[train].std(axis=0)
    X = (X - mean) / np.where(spread > 0, spread, 1.0)
    begin = time.process_time()
    chosen = METHODS[method](X[train], y[train], k)
    spent = time.process_time() - begin
    if len(set(chosen.tolist())) != k:
        raise ValueError(f"{method} chose {len(set(chosen.tolist()))} instead of {k}")
    model = svm().fit(X[np.ix_(train, chosen)], y[train])
    return model.score(X[np.ix_(test, chosen)], y[test]), spent


def warm_up(X, y, method):
    """Import and compile, on few rows and columns."""
    few = np.concatenate([np.flatnonzero(y == c)[:6] for c in np.unique(y)[:3]])
    METHODS[method](X[few][:, :40], y[few], 3)


def rows_of(name):
    """X and y of a data set; *small* is drawn, to see that all runs."""
    if name == "small":
        rng = np.random.default_rng(0)
        y = np.repeat(np.arange(3), 20)
        return np.eye(3, 12)[y] * 3.0 + rng.normal(size=(60, 12)), y
    file, n_rows = DATA[name]
    X, y = load(file)
    return np.asarray(X)[:n_rows], np.unique(y[:n_rows], return_inverse=True)[1]


def read(path):
    if not path.exists():
        return []
    with path.open() as lines:
        return list(csv.DictReader(lines))


def measure(name, asked, path):
    """Add what is missing of a data set to the results; return the lines about it."""
    X, y = rows_of(name)
    known = {tuple(line[key] for key in FIELDS[:4]) for line in read(path)}
    path.parent.mkdir(exist_ok=True)
    with path.open("a", newline="") as out:
        lines = csv.DictWriter(out, FIELDS, lineterminator="\n")
        if not known:
            lines.writeheader()
        for method in asked.method:
            places = [(name, method, asked.k, seed) for seed in range(asked.trials)]
            places = [p for p in places if tuple(map(str, p)) not in known]
            try:
                if places:
                    warm_up(X, y, method)
            except ImportError as error:
                print(f"{method} left out: {error}")
                continue
            for place in places:
                accuracy, spent = trial(X, y, *place[1:])
                row = dict(zip(FIELDS, place, strict=False))
                found = {"accuracy": f"{accuracy:.6g}", "seconds": f"{spent:.4g}"}
                lines.writerow(row | found)
                out.flush()
    print(f"{name}: {len(y)} rows, {X.shape[1]} features, top {asked.k}")
    return [
        line for line in read(path) if (line["data"], line["k"]) == (name, str(asked.k))
    ]


def summarise(name, lines):
    """Print a line for each method, as Markdown."""
    print("| data | method | trials | accuracy, % | CPU s, median | / gsr | / ours |")
    print("|---|---|---|---|---|---|---|")
    of = {m: [line for line in lines if line["method"] == m] for m in METHODS}
    of = {m: found for m, found in of.items() if found}
    median = {m: np.median([float(x["seconds"]) for x in of[m]]) for m in of}
    for method, found in of.items():
        accuracy = 100 * np.array([float(line["accuracy"]) for line in found])
        spread = f" ± {accuracy.std(ddof=1):.1f}" if len(found) > 1 else ""
        ratios = [
            f"{median[method] / median[unit]:.3g}" if unit in median else ""
            for unit in ("gsr", OURS.get(method))
        ]
        print(
            f"| {name} | {method} | {len(found)} | {accuracy.mean():.1f}{spread} | "
            f"{median[method]:.3g} | {' | '.join(ratios)} |"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = [*DATA, "small"]
    parser.add_argument("--data", nargs="+", choices=names, default=list(DATA))
    parser.add_argument("--method", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("-k", type=int, default=50)
    asked = parser.parse_args()
    warnings.filterwarnings("ignore", module=r"(sklearn|skrebate|mrmr|pandas|joblib)")
    with threadpool_limits(1):
        for name in asked.data:
            try:
                summarise(name, measure(name, asked, asked.out))
            except Missing as error:
                print(error)


if __name__ == "__main__":
    main()
