"""mRMR and ReliefF against the packages that have them, and what scikit-learn has instead.

    python -m benchmarks.filters [--data isolet semeion] [--method mrmr ...] [--trials 10]

Run it from the project's root. In each trial 60 % of the rows, standardised, are to choose
50 features from and to train a linear SVM on, the same for all; the other 40 % are to test
on. Printed are the mean accuracy with its standard deviation, the CPU seconds of choosing
(on one thread; each method has chosen from a few rows before, so imports and compiling do
not count) and these seconds over those of the same filter of ours. Peers come with
`pip install --group bench`; those that are missing are named.
"""

import argparse
import time
import warnings

import numpy as np
from benchmarks.data import Missing, load
from threadpoolctl import threadpool_limits

#: Name here, file, and how many of its rows: the first half of isolet has been used most.
DATA = {"isolet": ("isolet1_isolet5", 1560), "semeion": ("semeion", None)}
TEST_SHARE = 0.4


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

    fitted = RFE(svm(), n_features_to_select=k, step=0.1).fit(X, y)
    return fitted.get_support(indices=True)


METHODS = {
    "mrmr": by_mrmr,
    "mrmr_difference": by_mrmr_difference,
    "mrmr_f": by_mrmr_f,
    "mrmr-selection": by_mrmr_selection,
    "relieff": by_relieff,
    "skrebate": by_skrebate,
    "mutual_info": by_mutual_info,
    "rfe": by_rfe,
}
#: Whose seconds are the unit; the others are not compared.
UNIT = {"mrmr-selection": "mrmr_f", "skrebate": "relieff"}


def svm():
    from sklearn.svm import LinearSVC

    return LinearSVC(C=0.1, random_state=0)


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


def compare(name, methods, k, trials):
    """Measure the methods on a data set, one after the other."""
    file, n_rows = DATA[name]
    X, y = load(file)
    X, y = np.asarray(X)[:n_rows], np.unique(y[:n_rows], return_inverse=True)[1]
    print(f"{name}: {len(y)} rows, {X.shape[1]} features, top {k}, {trials} trials")
    print(f"{'method':<16}{'accuracy':>9}{'+-':>7}{'CPU s':>9}{'/ ours':>8}")
    seconds = {}
    for method in methods:
        try:
            warm_up(X, y, method)
        except ImportError as error:
            print(f"{method:<16}left out: {error}")
            continue
        measured = [trial(X, y, method, k, seed) for seed in range(trials)]
        accuracy, spent = np.array(measured).T
        seconds[method] = spent.mean()
        unit = seconds.get(UNIT.get(method))
        ratio = "" if unit is None else f"{spent.mean() / unit:.1f}"
        print(
            f"{method:<16}{accuracy.mean():>9.3f}{accuracy.std():>7.3f}"
            f"{spent.mean():>9.3f}{ratio:>8}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--method", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("-k", type=int, default=50)
    asked = parser.parse_args()
    warnings.filterwarnings("ignore", module=r"(sklearn|skrebate|mrmr|pandas|joblib)")
    with threadpool_limits(1):
        for name in asked.data:
            try:
                compare(name, asked.method, asked.k, asked.trials)
            except Missing as error:
                print(error)


if __name__ == "__main__":
    main()
