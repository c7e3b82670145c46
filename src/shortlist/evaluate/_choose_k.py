"""How many features are enough: the smallest budget that is as good as the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import Floats, Ints, ShortlistError
from shortlist._splits import (
    check_cv,
    check_learnable,
    folds,
    group_numbers,
    most_folds,
)
from shortlist.evaluate._compare import Watch, columns_of, one_fold
from shortlist.evaluate._contestants import Choose
from shortlist.evaluate._examples import Examples, shared_spread
from shortlist.evaluate._judge import CLASS_METRICS, NUMBER_METRICS, judge

#: Budgets that are tried unless others are asked for: each about half more than the last.
BUDGETS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)


class BudgetCurve(NamedTuple):
    """How good each budget is on rows held out, and the one to take."""

    k: int  #: the smallest within one standard error of the best
    ks: Ints  #: budgets, increasing
    scores: Floats  #: means over folds; more is better
    errors: Floats  #: their standard errors
    metric: str  #: "accuracy" or "r2"

    def trace(self) -> dict[str, np.ndarray]:
        """What a Shortlist keeps of it, under these keys."""
        return {
            "budget_k": self.ks,
            "budget_score": self.scores,
            "budget_error": self.errors,
        }

    def line(self) -> str:
        """Say in one line what was taken and why."""
        best = int(np.argmax(self.scores))
        taken = int(np.flatnonzero(self.ks == self.k)[0])
        return (
            f"k = {self.k} of {', '.join(map(str, self.ks.tolist()))}: {self.metric} "
            f"{self.scores[taken]:.3f} on rows held out, the best is "
            f"{self.scores[best]:.3f} +- {self.errors[best]:.3f} at k = {self.ks[best]}"
        )


def choose_k(
    choose: Choose,
    X: Any,
    y: np.ndarray,
    *,
    classes: bool,
    budgets: Sequence[int] = BUDGETS,
    cv: Any = None,
    groups: Any = None,
    weight: Floats | None = None,
    seed: int = 0,
    watch: Watch | None = None,
) -> BudgetCurve:
    """Find the smallest budget within one standard error of the best, by folds.

    In each fold features are chosen from the rows to learn from, at every budget, and
    judged by the others as in ``compare``.

    Parameters
    ----------
    choose : callable
        Called with X, y, budgets and a seed; returns columns by budget.
    X, y : array-like
        The rows to learn from; those that a final score is for have no part in it.
    classes : bool
        Whether y holds classes.
    budgets : sequence of int
        Those above the number of columns are left out.
    cv : int, splitter or iterable of pairs, default=None
        None: five folds, or as many as the rarest class or the groups allow.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group stay together.
    weight : ndarray of shape (n_samples,), default=None
        How often each row counts.
    seed : int, default=0
    watch : callable, default=None
        As of ``compare``.
    """
    ks = usual_budgets(budgets, X.shape[1])
    groups = group_numbers(groups, len(y))
    rows, cv = Examples(X, y, weight, groups).that_count(check_cv(cv))
    splits = _splits(rows.y, rows.groups, cv, classes, seed)
    among = shared_spread(rows, splits, classes=classes)
    results = []
    for fold, split in enumerate(splits):
        if watch is not None:
            watch(f"k, fold {fold + 1} of {len(splits)}", fold, len(splits))
        results += one_fold(
            "", choose, rows, split, ks, fold, seed, classes=classes, among=among
        )
    metric = _metric(classes)
    by_k = [[r.metrics[metric] for r in results if r.k == k] for k in ks]
    return _curve(ks, by_k, metric)


def judge_chosen(
    X: Any,
    y: np.ndarray,
    chosen: Mapping[int, Ints],
    *,
    classes: bool,
    cv: Any = None,
    groups: Any = None,
    weight: Floats | None = None,
    seed: int = 0,
) -> BudgetCurve:
    """Judge the columns chosen for every budget by folds of rows of their own.

    For streams: the choice was made on other rows, and none of these has been learned
    from.
    """
    ks = sorted(chosen)
    by_k: list[list[float]] = [[] for _ in ks]
    metric = _metric(classes)
    groups = group_numbers(groups, len(y))
    rows, cv = Examples(X, y, weight, groups).that_count(check_cv(cv))
    splits = _splits(rows.y, rows.groups, cv, classes, seed)
    among = shared_spread(rows, splits, classes=classes)
    for split in splits:
        for found, k in zip(by_k, ks, strict=True):
            own = rows._replace(X=columns_of(rows.X, chosen[k]))
            parts = (own.part(side) for side in split)
            judged = judge(*parts, classes=classes, among=among, seed=seed)
            found.append(judged[metric])
    return _curve(ks, by_k, metric)


def usual_budgets(
    budgets: Sequence[int], most: int | None, least: int = 1, unit: str = "features"
) -> list[int]:
    """Budgets in order, without those that there are too few features for.

    Parameters
    ----------
    budgets : sequence of int
    most : int or None
        How many features, or groups of them, there are; None: nobody knows.
    least : int, default=1
        How many are always in.
    unit : str
        What budgets count, for messages.
    """
    least = max(1, least)
    ks = sorted({int(k) for k in budgets if least <= k and (most is None or k <= most)})
    if not ks:
        end = "" if most is None else f" to the number of {unit} ({most})"
        raise ShortlistError(f"budgets should have one from {least}{end}")
    return ks


def _curve(
    ks: Sequence[int], by_k: Sequence[Sequence[float]], metric: str
) -> BudgetCurve:
    scores = np.array([float(np.mean(found)) for found in by_k])
    errors = np.array(
        [
            float(np.std(found, ddof=1) / np.sqrt(len(found)))
            if len(found) > 1
            else 0.0
            for found in by_k
        ]
    )
    best = int(np.argmax(scores))
    enough = np.flatnonzero(scores >= scores[best] - errors[best])
    return BudgetCurve(ks[int(enough[0])], np.array(ks), scores, errors, metric)


def _metric(classes: bool) -> str:
    return next(iter(CLASS_METRICS if classes else NUMBER_METRICS))


def _splits(
    y: np.ndarray, groups: Ints | None, cv: Any, classes: bool, seed: int
) -> list[tuple[Ints, Ints]]:
    cv = usual_cv(y, groups, classes) if cv is None else cv
    pairs = folds(y, cv, groups, classes=classes, seed=seed)
    if classes:
        check_learnable(pairs, y)
    return pairs


def can_judge(y: np.ndarray, groups: Ints | None, *, classes: bool, seed: int) -> bool:
    """Whether these rows are enough for ``judge_chosen``."""
    try:
        _splits(y, groups, None, classes, seed)
    except ShortlistError:
        return False
    return True


def usual_cv(y: np.ndarray, groups: Ints | None, classes: bool) -> int:
    """Five folds, fewer if there are few of a class or group."""
    most = most_folds(y, groups, classes=classes)
    if most < 2:
        what = "row" if groups is None else "group of rows"
        if classes and groups is None:
            what = "row of some class"
        raise ShortlistError(f"k='auto' needs more than one {what}; say k")
    return most
