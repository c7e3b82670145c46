"""What a comparison found: a frame, a table and a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import Ints, ShortlistError
from shortlist.evaluate._contestants import YARDSTICKS
from shortlist.evaluate._judge import CLASS_METRICS, NUMBER_METRICS


class Result(NamedTuple):
    """What one method chose at one budget in one fold, and what came of it."""

    method: str
    k: int
    fold: int
    chosen: Ints
    seconds: float  #: to choose, for all budgets of this fold if one fit answers them
    megabytes: float  #: that the process gained while choosing, at most
    metrics: dict[str, float]


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

        Examples
        --------
        >>> import numpy as np
        >>> from shortlist import CompareDisplay, FoBa
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(120, 20))
        >>> y = X[:, 3] + X[:, 3] ** 3
        >>> methods = {"forward": FoBa(backward=False), "foba": FoBa()}
        >>> display = CompareDisplay.from_estimators(methods, X, y, ks=[1], cv=3)
        >>> round(float(display.overlaps(1).loc["forward", "foba"]), 2)
        1.0
        """
        from shortlist.evaluate._compare import compare

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
