"""How methods stand after a comparison: means, errors, overlaps, and a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import Floats, Ints, ShortlistError

#: What comes after these digits is rounding.
_DIGITS = 12


class Result(NamedTuple):
    """What one method chose at one budget in one fold, and what came of it."""

    method: str
    k: int
    fold: int
    chosen: Ints
    seconds: float  #: to choose, for all budgets of this fold if one fit answers them
    megabytes: float  #: that the process gained while choosing, at most
    metrics: dict[str, float]


class Standings:
    """Results of the folds that all methods have been through.

    Parameters
    ----------
    results : sequence of Result
    metrics : mapping of str to bool
        What was measured, and whether more of it is better.
    metric : str
        The one to rank by.
    """

    def __init__(
        self, results: Sequence[Result], metrics: Mapping[str, bool], metric: str
    ) -> None:
        self.metrics, self.metric = dict(metrics), metric
        self.results = _of_whole_folds(results)
        self.methods = list(dict.fromkeys(r.method for r in self.results))
        self.ks = sorted({r.k for r in self.results})
        self.folds = sorted({r.fold for r in self.results})
        self._of: dict[tuple[str, int], list[Result]] = {}
        for result in self.results:
            self._of.setdefault((result.method, result.k), []).append(result)

    def scores(self, method: str, k: int, metric: str | None = None) -> Floats:
        """A metric, fold by fold; NaN where a fold has no such thing."""
        name = self.metric if metric is None else metric
        return np.array([r.metrics.get(name, np.nan) for r in self._of[method, k]])

    def mean(self, method: str, k: int, metric: str | None = None) -> float:
        """Mean of a metric over folds."""
        return _mean(self.scores(method, k, metric))

    def error(self, method: str, k: int, metric: str | None = None) -> float:
        """Its standard error; NaN of a single fold."""
        return standard_error(self.scores(method, k, metric))

    def rows(self) -> list[dict[str, Any]]:
        """A row for each method and budget, by budget, the best first in each."""
        return [self._row(method, k) for k in self.ks for method in self.ranked(k)]

    def ranked(self, k: int) -> list[str]:
        """Methods at a budget, the best first."""
        return sorted(self.methods, key=lambda method: -self._worth(method, k))

    def _worth(self, method: str, k: int) -> float:
        """Mean of the metric to rank by, turned so that more is better."""
        mean = self.mean(method, k)
        worth = mean if self.metrics[self.metric] else -mean
        return -np.inf if np.isnan(mean) else round(worth, _DIGITS)

    def _row(self, method: str, k: int) -> dict[str, Any]:
        own = self._of[method, k]
        row: dict[str, Any] = {"k": k, "method": method}
        for metric in self.metrics:
            row[metric] = self.mean(method, k, metric)
            row[f"{metric}_error"] = self.error(method, k, metric)
        sets = [result.chosen for result in own]
        return {
            **row,
            "overlap": _mean_overlap(combinations(sets, 2)),
            "seconds": float(np.mean([result.seconds for result in own])),
            "megabytes": float(np.mean([result.megabytes for result in own])),
        }

    def overlaps(self, k: int) -> tuple[list[str], Floats]:
        """Methods, the best first, and how much each two chose in common at a budget."""
        if k not in self.ks:
            known = ", ".join(map(str, self.ks))
            raise ShortlistError(
                f"k should be one of the budgets compared ({known}), got {k}"
            )
        methods = self.ranked(k)
        table = np.eye(len(methods))
        for i, j in combinations(range(len(methods)), 2):
            one, other = ([r.chosen for r in self._of[methods[m], k]] for m in (i, j))
            shared = _mean_overlap(zip(one, other, strict=True))
            table[i, j] = table[j, i] = shared
        return methods, table

    def best(self) -> tuple[str, int]:
        """The method and budget with the best mean; the smaller budget of equals."""
        pairs = [(method, k) for k in self.ks for method in self.methods]
        return max(pairs, key=lambda pair: self._worth(*pair))

    def as_good(self) -> dict[str, int]:
        """Methods within one standard error of the best, and their smallest such budget.

        The error is that of differences in the same folds: rows that are hard for one
        method are hard for others, too. The best itself is among them if a smaller budget
        of it is.
        """
        best, sign = self.best(), 1.0 if self.metrics[self.metric] else -1.0
        found: dict[str, int] = {}
        for k in self.ks:
            for method in self.ranked(k):
                if method in found or (method, k) == best:
                    continue
                behind = sign * (self.scores(*best) - self.scores(method, k))
                error = standard_error(behind)
                if not np.isnan(error) and _mean(behind) <= error + 0.1**_DIGITS:
                    found[method] = k
        if found.get(best[0], 0) > best[1]:
            del found[best[0]]
        return found

    def verdict(self) -> str:
        """Say in one sentence what is best, and what is as good."""
        method, k = self.best()
        name = self.metric.replace("_", " ")
        said = f"best: {method} with {_features(k)}, {name} {self.mean(method, k):.3f}"
        error = self.error(method, k)
        if np.isnan(error):
            return f"{said}; a single fold says nothing about errors"
        equal = [f"{other} with {n:,}" for other, n in self.as_good().items()]
        rest = f"within one standard error of it, paired by fold: {', '.join(equal)}"
        if not equal:
            rest = (
                "all others are behind by more than one standard error, paired by fold"
            )
        return f"{said} +- {error:.3f}; {rest}"


def standard_error(values: Floats) -> float:
    """Standard error of a mean; NaN of fewer than two numbers."""
    known = values[np.isfinite(values)]
    if len(known) < 2:
        return float("nan")
    return float(known.std(ddof=1) / np.sqrt(len(known)))


def _mean(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def _features(k: int) -> str:
    return f"{k:,} feature{'s' * (k != 1)}"


def _of_whole_folds(results: Sequence[Result]) -> list[Result]:
    """Results of folds that every method has; those of the first, if none is whole."""
    by_fold: dict[int, list[Result]] = {}
    for result in results:
        by_fold.setdefault(result.fold, []).append(result)
    if not by_fold:
        return []
    whole = len(by_fold[min(by_fold)])  # whoever breaks off breaks off the last one
    return [r for fold in by_fold.values() if len(fold) == whole for r in fold]


def _mean_overlap(pairs: Iterable[tuple[Ints, Ints]]) -> float:
    """Mean share of what two choices have in common among what either has."""
    shares = []
    for one, other in pairs:
        union = len(np.union1d(one, other))
        shares.append(len(np.intersect1d(one, other)) / union if union else 1.0)
    return float(np.mean(shares)) if shares else float("nan")
