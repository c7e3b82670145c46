"""Methods against budgets on one table, by cross-validation.

In every fold each method chooses from the rows to learn from, and one judge (``_judge``)
says how well the chosen columns predict the others. Settings of methods are their own
defaults, so that nothing is tuned by anyone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import Ints, ShortlistError
from shortlist.evaluate._contestants import USUAL, YARDSTICKS, contestant, why_not
from shortlist.evaluate._judge import CLASS_METRICS, NUMBER_METRICS, judge
from shortlist.evaluate._memory import PeakMemory
from shortlist.evaluate._splits import folds

#: Told what is being done, how many fits of how many are behind.
Watch = Callable[[str, int, int], None]


class Result(NamedTuple):
    """What one method chose at one budget in one fold, and what came of it."""

    method: str
    k: int
    fold: int
    chosen: Ints
    seconds: float  #: to choose, for all budgets of this fold if one fit answers them
    megabytes: float  #: that the process gained while choosing, at most
    metrics: dict[str, float]


def compare(
    X: Any,
    y: Any,
    *,
    ks: Sequence[int] = (5, 10, 20, 50, 100),
    methods: Any = "auto",
    cv: Any = 5,
    groups: Any = None,
    feature_names: Sequence[str] | None = None,
    seed: int = 0,
    watch: Watch | None = None,
) -> CompareDisplay:
    """Compare methods at several budgets, by cross-validation.

    Parameters
    ----------
    X : ndarray, sparse matrix or DataFrame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Classes (strings, or at most 20 whole numbers) or numbers.
    ks : sequence of int, default=(5, 10, 20, 50, 100)
        Budgets; those above the number of features are left out.
    methods : "auto", sequence of names, or mapping of names to estimators
        "auto": the best of each family that can bear the size of the data. Yardsticks,
        "l1" (the first k columns of an L1 path) and "random", come along.
    cv : int, splitter or iterable of pairs of arrays, default=5
    groups : array-like of shape (n_samples,), default=None
        Rows of one group, such as those of a patient, stay together in every split.
    feature_names : sequence of str, default=None
        Names of columns; those of a DataFrame by default.
    seed : int, default=0
    watch : callable, default=None
        Called with what is being done, the number of fits behind and that of all.

    Returns
    -------
    display : CompareDisplay

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist import compare
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 30))
    >>> y = np.where(X[:, 3] - X[:, 8] > 0, "yes", "no")
    >>> display = compare(X, y, ks=[2], methods=["foba", "mrmr"], cv=3)
    >>> table = display.summary()
    >>> sorted(table[table["accuracy"] > 0.9]["method"])
    ['foba', 'l1', 'mrmr']
    """
    names = _names(X, feature_names)
    X, y = _checked(X, y)
    classes = _are_classes(y)
    n_classes = len(np.unique(y)) if classes else 1
    ks = sorted({int(k) for k in ks if 1 <= k <= X.shape[1]})
    if not ks:
        raise ShortlistError(
            f"ks should have a budget from 1 to the number of features ({X.shape[1]})"
        )
    asked, left_out = _asked(methods, X, n_classes, max(ks))
    splits = folds(y, cv, groups, classes=classes, seed=seed)
    groups = None if groups is None else np.asarray(groups)
    contestants = {
        name: contestant(method, classes=classes) for name, method in asked.items()
    }
    results: list[Result] = []
    done, total = 0, len(splits) * len(contestants)
    for fold, (train, test) in enumerate(splits):
        for name, choose in contestants.items():
            if watch is not None:
                watch(f"{name}, fold {fold + 1} of {len(splits)}", done, total)
            done += 1
            own = None if groups is None else groups[train]
            parts = X[train], y[train], X[test], y[test]
            results += _one_fold(name, choose, parts, own, ks, fold, seed, classes)
    return CompareDisplay(
        results, names=names, classes=classes, left_out=left_out, n_folds=len(splits)
    )


def _one_fold(
    name: str,
    choose: Any,
    parts: tuple[Any, np.ndarray, Any, np.ndarray],
    groups: np.ndarray | None,
    ks: Sequence[int],
    fold: int,
    seed: int,
    classes: bool,
) -> list[Result]:
    """Let a method choose, then judge what it chose."""
    X, y, X_new, y_new = parts
    begin = time.process_time()
    with PeakMemory() as memory:
        chosen = choose(X, y, ks, seed + fold)
    seconds = time.process_time() - begin
    found = []
    for k in ks:
        A, A_new = _columns(X, chosen[k]), _columns(X_new, chosen[k])
        metrics = judge(A, y, A_new, y_new, classes=classes, groups=groups, seed=seed)
        facts = seconds, memory.megabytes, metrics
        found.append(Result(name, k, fold, chosen[k], *facts))
    return found


def _columns(X: Any, which: Ints) -> np.ndarray:
    part = X[:, which]
    return np.asarray(part.toarray() if hasattr(part, "toarray") else part, np.float64)


def _names(X: Any, given: Sequence[str] | None) -> tuple[str, ...] | None:
    if given is None:
        given = getattr(X, "columns", None)
    return None if given is None else tuple(map(str, given))


def _checked(X: Any, y: Any) -> tuple[Any, np.ndarray]:
    from sklearn.utils import check_array
    from sklearn.utils.validation import column_or_1d

    X = check_array(X, accept_sparse=["csr"], dtype=[np.float64, np.float32])
    if (
        hasattr(X, "tocsr") and X.nnz < 2**31
    ):  # some of scikit-learn wants short indices
        short = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        X = type(X)((X.data, *short), shape=X.shape)
    y = column_or_1d(np.asarray(y))
    if len(y) != X.shape[0]:
        raise ShortlistError(f"y should have {X.shape[0]} entries, got {len(y)}")
    return X, y


def _are_classes(y: np.ndarray) -> bool:
    """As loss="auto" sees it: words, or few whole numbers."""
    if y.dtype.kind not in "fiub":
        return True
    values = np.unique(y)
    return len(values) <= 20 and bool((values == np.floor(values)).all())


def _asked(
    methods: Any, X: Any, n_classes: int, k: int
) -> tuple[dict[str, Any], dict[str, str]]:
    """Methods by name, yardsticks last, and why others were left out."""
    if isinstance(methods, Mapping):
        return {**methods, **{name: name for name in YARDSTICKS}}, {}
    if isinstance(methods, str):
        if methods != "auto":
            raise ShortlistError(f"methods should be 'auto' or a list, got {methods!r}")
        reasons = {name: why_not(name, X, n_classes, k) for name in USUAL}
        fit = [name for name, reason in reasons.items() if reason is None]
        left_out = {name: reason for name, reason in reasons.items() if reason}
        return {name: name for name in (*fit, *YARDSTICKS)}, left_out
    wanted = list(dict.fromkeys(methods))
    return {str(name): name for name in dict.fromkeys([*wanted, *YARDSTICKS])}, {}


class CompareDisplay:
    """Methods against budgets: a frame, a table and a picture.

    Made by ``shortlist.compare`` or ``from_estimators``.

    Attributes
    ----------
    results : list of Result
        One for each method, budget and fold, with the columns that were chosen.
    metrics : dict of str to bool
        What was measured, and whether more of it is better; the first is the main one.
    left_out : dict of str to str
        Methods that were not compared, and why.
    """

    def __init__(
        self,
        results: Sequence[Result],
        *,
        names: tuple[str, ...] | None = None,
        classes: bool = True,
        left_out: Mapping[str, str] | None = None,
        n_folds: int = 1,
    ) -> None:
        self.results = list(results)
        self.names = names
        known = CLASS_METRICS if classes else NUMBER_METRICS
        measured = {name for result in self.results for name in result.metrics}
        self.metrics = {name: up for name, up in known.items() if name in measured}
        self.left_out = dict(left_out or {})
        self.n_folds = n_folds

    @classmethod
    def from_estimators(
        cls, estimators: Any, X: Any, y: Any, **settings: Any
    ) -> CompareDisplay:
        """Compare estimators, which have a parameter k; settings are those of ``compare``.

        Parameters
        ----------
        estimators : mapping of str to estimator, or sequence of estimators
        X, y : array-like
        **settings : dict
        """
        if not isinstance(estimators, Mapping):
            listed = list(estimators)
            names = [type(estimator).__name__ for estimator in listed]
            repeated = len(set(names)) < len(names)
            labels = [f"{n} {i}" if repeated else n for i, n in enumerate(names)]
            estimators = dict(zip(labels, listed, strict=True))
        return compare(X, y, methods=estimators, **settings)

    @property
    def main_metric(self) -> str:
        """What methods are ranked by."""
        return next(iter(self.metrics))

    @property
    def frame(self) -> Any:
        """A DataFrame with a row for each method, budget and fold."""
        import pandas as pd

        return pd.DataFrame(
            {
                "method": r.method,
                "k": r.k,
                "fold": r.fold,
                **{name: r.metrics.get(name, np.nan) for name in self.metrics},
                "seconds": r.seconds,
                "megabytes": r.megabytes,
                "features": len(r.chosen),
            }
            for r in self.results
        )

    def summary(self) -> Any:
        """A DataFrame with a row for each method and budget, the best first in each.

        Means over folds; ``error`` is the standard error of the main metric, ``overlap``
        the mean Jaccard index of what was chosen in two folds.
        """
        import pandas as pd

        frame, lines = self.frame, []
        for (k, method), part in frame.groupby(["k", "method"], sort=True):
            values = part[self.main_metric]
            error = (
                values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
            )
            sets = [r.chosen for r in self.results if (r.method, r.k) == (method, k)]
            lines.append(
                {
                    "k": k,
                    "method": method,
                    **{name: part[name].mean() for name in self.metrics},
                    "error": error,
                    "overlap": _mean_overlap(combinations(sets, 2)),
                    "seconds": part["seconds"].mean(),
                    "megabytes": part["megabytes"].mean(),
                }
            )
        up = self.metrics[self.main_metric]
        table = pd.DataFrame(lines)
        order = ["k", self.main_metric]
        table = table.sort_values(order, ascending=[True, not up], kind="stable")
        return table.reset_index(drop=True)

    def overlaps(self, k: int) -> Any:
        """Mean Jaccard index, over folds, of what each two methods chose at a budget."""
        import pandas as pd

        methods = list(dict.fromkeys(r.method for r in self.results))
        sets = {(r.method, r.fold): r.chosen for r in self.results if r.k == k}
        if not sets:
            raise ShortlistError(f"k should be one of the budgets compared, got {k}")
        table = pd.DataFrame(np.eye(len(methods)), methods, methods)
        for one, other in combinations(methods, 2):
            pairs = [(sets[one, f], sets[other, f]) for f in range(self.n_folds)]
            table.loc[one, other] = table.loc[other, one] = _mean_overlap(pairs)
        return table

    def plot(self, metric: str | None = None, *, ax: Any = None) -> CompareDisplay:
        """Draw a metric against the budget, with standard errors.

        Parameters
        ----------
        metric : str, default=None
            One of ``metrics``; None: the main one.
        ax : matplotlib Axes, default=None
        """
        import matplotlib.pyplot as plt

        metric = self.main_metric if metric is None else metric
        if metric not in self.metrics:
            raise ShortlistError(
                f"metric should be one of {', '.join(self.metrics)}, got {metric!r}"
            )
        if ax is None:
            _, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
        groups = self.frame.groupby(["method", "k"], sort=False)[metric]
        mean, error = groups.mean(), groups.sem(ddof=1)
        for method in dict.fromkeys(r.method for r in self.results):
            style = "o--" if method in YARDSTICKS else "o-"
            ax.errorbar(
                mean[method].index,
                mean[method].to_numpy(),
                yerr=np.nan_to_num(error[method].to_numpy()),
                fmt=style,
                ms=4,
                capsize=2,
                alpha=0.6 if method in YARDSTICKS else 1.0,
                label=method,
            )
        ax.set_xlabel("features")
        ax.set_ylabel(f"{metric.replace('_', ' ')}, mean of {self.n_folds} folds")
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def __repr__(self) -> str:
        methods = list(dict.fromkeys(r.method for r in self.results))
        budgets = sorted({r.k for r in self.results})
        return (
            f"<CompareDisplay of {', '.join(methods)} at k = "
            f"{', '.join(map(str, budgets))}, {self.n_folds} folds>"
        )


def _mean_overlap(pairs: Any) -> float:
    """Mean share of what two choices have in common among what either has."""
    shares = []
    for one, other in pairs:
        union = len(np.union1d(one, other))
        shares.append(len(np.intersect1d(one, other)) / union if union else 1.0)
    return float(np.mean(shares)) if shares else float("nan")
