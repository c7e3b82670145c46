"""What a comparison found: a frame, a table and a picture."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shortlist._displays import new_axes, pyplot_for, safe_label
from shortlist._protocols import ShortlistError
from shortlist.evaluate._compare_text import as_text
from shortlist.evaluate._contestants import YARDSTICKS
from shortlist.evaluate._standings import Result, Standings

#: Share of the way to the next budget that curves of a picture are apart in all.
_APART = 0.3


class CompareDisplay:
    """Methods against budgets: a frame, a table and a picture.

    Made by ``shortlist.compare`` or ``from_estimators``. Printed, it is a table for each
    budget with the best method first, how much methods agree, and a verdict.

    Attributes
    ----------
    results : list of Result
        One for each method, budget and fold, with the columns that were chosen.
    names : tuple of str or None
        Of the columns of the table that was compared on; None: "x0", "x1" and so on.
    metrics : dict of str to bool
        What was measured, and whether more of it is better; the first is the main one.
    left_out : dict of str to str
        Methods that were not compared, and why.
    notes : tuple of str
        What was decided otherwise than asked for, and how much was done by Ctrl-C.
    is_partial : bool
        Whether Ctrl-C came before all folds were done.
    n_folds : int
        Folds that all methods have been through.
    n_rows, n_features : int
        Of the table.
    """

    def __init__(
        self,
        results: Sequence[Result],
        metrics: Mapping[str, bool],
        *,
        names: tuple[str, ...] | None = None,
        left_out: Mapping[str, str] | None = None,
        notes: Sequence[str] = (),
        shape: tuple[int, int] = (0, 0),
        is_partial: bool = False,
    ) -> None:
        self.results = list(results)
        self.names = names
        self.metrics = dict(metrics)
        self.left_out = dict(left_out or {})
        self.notes = tuple(notes)
        self.n_rows, self.n_features = shape
        self.is_partial = is_partial
        self.n_folds = len(self.standings().folds)

    @classmethod
    def from_estimators(
        cls,
        estimators: Any,
        X: Any,
        y: Any = None,
        *,
        ax: Any = None,
        **settings: Any,
    ) -> CompareDisplay:
        """Compare estimators and draw; settings are those of ``compare``.

        Parameters
        ----------
        estimators : estimator, sequence of estimators, or mapping of str to estimator
            Selectors whose budget is called ``k`` or ``n_features_to_select``: any of
            ours, and those of scikit-learn; or pipelines whose last selector is one.
        X, y : array-like
            Or whatever else ``compare`` takes as data and target.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **settings : dict

        Returns
        -------
        display : CompareDisplay
            With ``ax_`` and ``figure_``.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> import numpy as np
        >>> from sklearn.feature_selection import SelectKBest, f_regression
        >>> from shortlist import CompareDisplay, FoBa
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(120, 20))
        >>> y = X[:, 3] + X[:, 3] ** 3
        >>> methods = {"foba": FoBa(), "f": SelectKBest(f_regression)}
        >>> display = CompareDisplay.from_estimators(methods, X, y, ks=[1], cv=3)
        >>> round(float(display.overlaps(1).loc["f", "foba"]), 2)
        1.0
        """
        from shortlist.evaluate._compare import compare

        pyplot_for("CompareDisplay.from_estimators")  # not after hours of comparing
        return compare(X, y, methods=estimators, **settings).plot(ax=ax)

    @property
    def main_metric(self) -> str:
        """What methods are ranked by unless another metric is asked for."""
        return next(iter(self.metrics))

    def standings(self, metric: str | None = None) -> Standings:
        """Means, errors, ranks by a metric; of the folds that all methods have."""
        metric = self.main_metric if metric is None else metric
        if metric not in self.metrics:
            raise ShortlistError(
                f"metric should be one of {', '.join(self.metrics)}, got {metric!r}"
            )
        return Standings(self.results, self.metrics, metric)

    def records(self) -> list[dict[str, Any]]:
        """A dictionary for each method, budget and fold: the rows of ``frame``."""
        return [
            {
                "method": r.method,
                "k": r.k,
                "fold": r.fold,
                **{name: r.metrics.get(name, float("nan")) for name in self.metrics},
                "seconds": r.seconds,
                "megabytes": r.megabytes,
                "features": len(r.chosen),
            }
            for r in self.results
        ]

    @property
    def frame(self) -> Any:
        """A DataFrame with a row for each method, budget and fold."""
        import pandas as pd

        return pd.DataFrame(self.records())

    def summary(self, metric: str | None = None) -> Any:
        """A DataFrame with a row for each method and budget, the best first in each.

        Means over folds; ``accuracy_error`` and so on are their standard errors,
        ``overlap`` is the mean Jaccard index of what was chosen in two folds.

        Parameters
        ----------
        metric : str, default=None
            What to rank by, one of ``metrics``; None: the main one.
        """
        import pandas as pd

        return pd.DataFrame(self.standings(metric).rows())

    def overlaps(self, k: int) -> Any:
        """Mean Jaccard index, over folds, of what each two methods chose at a budget."""
        import pandas as pd

        methods, shared = self.standings().overlaps(k)
        return pd.DataFrame(shared, methods, methods)

    def chosen(self, method: str, k: int) -> dict[str, int]:
        """Features that a method chose at a budget, and in how many folds.

        Parameters
        ----------
        method : str
        k : int

        Returns
        -------
        counts : dict of str to int
            The most frequent first.
        """
        sets = [r.chosen for r in self.results if (r.method, r.k) == (method, k)]
        if not sets:
            raise ShortlistError(
                f"method and k should be among those compared, got {method!r}, {k}"
            )
        columns, counts = np.unique(np.concatenate(sets), return_counts=True)
        names = [
            f"x{j}" if self.names is None else self.names[j] for j in columns.tolist()
        ]
        found = dict(zip(names, counts.tolist(), strict=True))
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def verdict(self, metric: str | None = None) -> str:
        """Say in one sentence which method and budget are best, and which are as good.

        As good are those whose mean is within one standard error of the best, by the
        differences in the same folds; of each method the smallest such budget is named.

        Parameters
        ----------
        metric : str, default=None
            One of ``metrics``; None: the main one.
        """
        return self.standings(metric).verdict()

    def as_text(
        self, metric: str | None = None, *, overlap_at: int | None = None
    ) -> str:
        """A table for each budget, overlaps of methods, and the verdict.

        Parameters
        ----------
        metric : str, default=None
            What to rank by, one of ``metrics``; None: the main one.
        overlap_at : int, default=None
            Budget at which to say what each two methods chose in common; None: the
            largest.
        """
        return as_text(self.standings(metric), overlap_at)

    def plot(self, metric: str | None = None, *, ax: Any = None) -> CompareDisplay:
        """Draw a metric against the budget, with standard errors.

        Curves are drawn a little beside each other, so that errors can be told apart.

        Parameters
        ----------
        metric : str, default=None
            One of ``metrics``; None: the main one.
        ax : matplotlib Axes, default=None
        """
        standings = self.standings(metric)
        ax = new_axes(ax, "CompareDisplay.plot", (8.0, 4.5))
        ks, methods = standings.ks, standings.methods
        for method, shift in zip(methods, _shifts(ks, len(methods)), strict=True):
            yardstick = method in YARDSTICKS
            means = np.array([standings.mean(method, k) for k in ks])
            errors = np.array([standings.error(method, k) for k in ks])
            ax.errorbar(
                np.array(ks) * shift,
                means,
                yerr=np.nan_to_num(errors),
                fmt="o--" if yardstick else "o-",
                ms=4,
                lw=1.2,
                capsize=2,
                alpha=0.6 if yardstick else 1.0,
                label=safe_label(method),
            )
        ax.set_xscale("log")
        ax.set_xticks(ks, [f"{k:,}" for k in ks])
        ax.set_xticks([], minor=True)
        ax.set_xlabel("features")
        name = standings.metric.replace("_", " ")
        of = f"{self.n_folds} fold{'s' * (self.n_folds != 1)}"
        ax.set_ylabel(f"{name}, mean of {of}")
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _repr_html_(self) -> str:
        """The verdict, and the means of all methods and budgets, for a notebook."""
        try:
            table: str = self.summary().to_html(
                index=False, float_format="{:.4g}".format
            )
        except ImportError:  # no pandas
            return f"<pre>{html.escape(self.as_text())}</pre>"
        lines = (self.verdict(), *self.notes)
        return "".join(f"<p>{html.escape(line)}</p>" for line in lines) + table

    def __str__(self) -> str:
        return self.as_text()

    def __repr__(self) -> str:
        standings = self.standings()
        return (
            f"<CompareDisplay of {', '.join(standings.methods)} at k = "
            f"{', '.join(map(str, standings.ks))}, {self.n_folds} folds>"
        )


def _shifts(ks: Sequence[int], n: int) -> np.ndarray:
    """Factors by which the budgets of n curves are drawn apart on a logarithmic axis."""
    gaps = np.diff(np.log(ks))
    room = _APART * float(gaps.min()) if len(gaps) else 0.1
    return np.exp(np.linspace(-room / 2, room / 2, n)) if n > 1 else np.ones(n)
