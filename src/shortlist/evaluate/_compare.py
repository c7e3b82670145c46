"""Methods against budgets on one table, by cross-validation.

In every fold each method chooses from the rows to learn from, and one judge (``_judge``)
says how well the chosen columns predict the others. Settings of methods are their own
defaults, so that nothing is tuned by anyone.
"""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from shortlist._protocols import DataError, Ints, ShortlistError
from shortlist._splits import (
    check_cv,
    check_learnable,
    cv_among,
    folds,
    most_folds,
)
from shortlist._targets import choose_target, unlabelled_note
from shortlist.engines import Interrupted
from shortlist.evaluate._contestants import (
    USUAL,
    YARDSTICKS,
    Choose,
    contestant,
    takes_weights,
    why_not,
)
from shortlist.evaluate._display import CompareDisplay
from shortlist.evaluate._examples import Examples, shared_spread
from shortlist.evaluate._judge import CLASS_METRICS, NUMBER_METRICS, judge
from shortlist.evaluate._memory import PeakMemory
from shortlist.evaluate._opened import Opened, opened
from shortlist.evaluate._standings import Result

#: Told what is being done, how many fits of how many are behind.
Watch = Callable[[str, int, int], None]

#: Rows from which on three folds do, unless a number is asked for.
_MANY_ROWS = 5000
#: Metrics that more than two classes do not have.
OF_TWO_CLASSES = ("auc",)
#: Rows of each class, or in all, that methods are tried on before their time counts.
_FIRST_OF_CLASS, _FIRST_ROWS = 6, 40


def compare(
    data: Any,
    target: Any = None,
    *,
    ks: int | Sequence[int] = (5, 10, 20, 50, 100),
    methods: Any = "auto",
    metric: str | None = None,
    cv: Any = None,
    groups: Any = None,
    always: Sequence[str] = (),
    never: Sequence[str] = (),
    feature_names: Sequence[str] | None = None,
    sample_weight: Any = None,
    read: Mapping[str, Any] | None = None,
    seed: int = 0,
    watch: Watch | None = None,
) -> CompareDisplay:
    """Compare methods at several budgets, by cross-validation.

    Parameters
    ----------
    data : array, sparse matrix, table, path, iterable of rows or source
        As for ``select``; all rows that have a label are held in memory.
    target : array-like or str, default=None
        Labels, or the name of the column or key that has them: classes (strings, or at
        most 20 whole numbers) or numbers.
    ks : int or sequence of int, default=(5, 10, 20, 50, 100)
        Budgets; those above the number of features are left out, and a note says so.
    methods : "auto", sequence, mapping of names to estimators, or estimator
        "auto": the best of each family that can bear the size of the data. A sequence
        has names as of ``select``, or estimators, ours or scikit-learn's, whose budget
        is called ``k`` or ``n_features_to_select``. Yardsticks, "l1" (the first k columns
        of an L1 path) and "random", come along.
    metric : str, default=None
        What to rank by: "accuracy" (the default), "auc" (of two classes) or "log_loss"
        of classes, "r2" (the default) or "rmse" of numbers. All are measured anyway.
    cv : int, splitter or iterable of pairs of arrays, default=None
        None: five folds, three from 5,000 rows on, fewer if a class or the groups have
        fewer.
    groups : array-like of shape (n_samples,) or str, default=None
        Rows of one group, such as those of a patient, stay together in every split, also
        in those that a method makes for itself (estimators whose ``fit`` takes ``groups``
        are told of them); or the name of a column, which is then no feature. Fragments of
        sequences have stretches of these for groups, unless others are named.
    always, never : sequence of str, default=()
        Features that every method has to choose, which count in k, and features that
        none may; ``never`` may name a column of text with all its values.
    feature_names : sequence of str, default=None
        Names of the columns of an array.
    sample_weight : array-like of shape (n_samples,) or str, default=None
        How often each row counts, to choose by and to judge by, or the name of a column
        that tells; a row of weight 0 is as good as none. Methods without weights
        (relieff) are left out.
    read : mapping, default=None
        Options of the source, such as ``{"missing": "zero"}``.
    seed : int, default=0
    watch : callable, default=None
        Called with what is being done, the number of fits behind and that of all.

    Returns
    -------
    display : CompareDisplay

    Raises
    ------
    KeyboardInterrupt
        An ``Interrupted`` after Ctrl-C; its ``result`` is a display of what was done.

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
    >>> display.chosen("foba", 2)
    {'x3': 3, 'x8': 3}

    Tables with text, and files, are opened as by ``select``:

    >>> import pandas as pd
    >>> towns = np.array(["Bonn", "Oslo", "Rome"])[np.arange(150) % 3]
    >>> people = pd.DataFrame({"age": X[:, 0], "town": towns})
    >>> people["spent"] = people["age"] + 2 * (people["town"] == "Oslo")
    >>> display = compare(people, "spent", ks=2, methods=["foba"])
    >>> display.chosen("foba", 2)
    {'age': 5, 'town=Oslo': 5}
    """
    table = opened(
        data,
        target,
        groups=groups,
        always=always,
        never=never,
        feature_names=feature_names,
        sample_weight=sample_weight,
        read=read,
    )
    classes = are_classes(table.y)
    n_classes = _n_classes(table.y) if classes else 1
    metrics = _ranked_by(metric, classes, n_classes)
    notes: list[str] = []
    if table.n_unlabelled:
        notes.append(unlabelled_note(table.n_unlabelled))
    budgets = _budgets(ks, table, notes)
    weighted = table.weight is not None
    asked, left_out = _asked(methods, table.X, n_classes, max(budgets), weighted)
    cv = _folds_asked(cv_among(check_cv(cv), table.known), table, classes, notes)
    splits = folds(table.y, cv, table.groups, classes=classes, seed=seed)
    if classes:
        check_learnable(splits, table.y)
    kept = {"always": table.always} if len(table.always) else {}
    contestants = {
        name: contestant(method, classes=classes, **kept)
        for name, method in asked.items()
    }
    results: list[Result] = []

    def display(is_partial: bool = False) -> CompareDisplay:
        return CompareDisplay(
            results,
            metrics,
            names=table.names,
            left_out=left_out,
            notes=notes,
            shape=table.X.shape,
            is_partial=is_partial,
        )

    try:
        _run(contestants, table.rows, splits, budgets, seed, classes, watch, results)
    except KeyboardInterrupt:
        if not results:
            raise KeyboardInterrupt from None  # a half-done choice is no comparison
        done = len(results) // len(budgets)
        total = len(splits) * len(contestants)
        notes.append(f"incomplete: {done} of {total} fits were done")
        raise Interrupted(display(is_partial=True)) from None
    return display()


def _run(
    contestants: Mapping[str, Choose],
    rows: Examples,
    splits: Sequence[tuple[Ints, Ints]],
    ks: Sequence[int],
    seed: int,
    classes: bool,
    watch: Watch | None,
    results: list[Result],
) -> None:
    """Let everyone choose in every fold; what comes of it is added to the results."""
    among = shared_spread(rows, splits, classes=classes)
    done, total = 0, len(splits) * len(contestants)
    for fold, split in enumerate(splits):
        for name, choose in contestants.items():
            if watch is not None:
                watch(f"{name}, fold {fold + 1} of {len(splits)}", done, total)
            done += 1
            if fold == 0:
                _warm_up(choose, rows.part(split[0]), ks, classes)
            results += one_fold(
                name, choose, rows, split, ks, fold, seed, classes=classes, among=among
            )


def _warm_up(choose: Choose, rows: Examples, ks: Sequence[int], classes: bool) -> None:
    """Have a method compile and load what it needs, so that its time is that of choosing.

    It chooses from a few rows, and whether it can does not matter.
    """
    few = np.arange(min(len(rows.y), _FIRST_ROWS))
    if classes:
        labels = np.unique(rows.y, return_inverse=True)[1]
        some = [
            np.flatnonzero(labels == code)[:_FIRST_OF_CLASS]
            for code in range(int(labels.max()) + 1)
        ]
        few = np.sort(np.concatenate(some))
    X, y, weight, _ = rows.part(few)
    with warnings.catch_warnings(), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")
        choose(X, y, ks[:1], 0, weight)


def one_fold(
    name: str,
    choose: Any,
    rows: Examples,
    split: tuple[Ints, Ints],
    ks: Sequence[int],
    fold: int,
    seed: int,
    *,
    classes: bool,
    among: float | None,
) -> list[Result]:
    """Let a method choose, then judge what it chose; ``among``: as of ``judge``."""
    known, new = (rows.part(side) for side in split)
    begin = time.process_time()
    with PeakMemory() as memory:
        of_rows = known.weight, known.groups
        chosen = choose(known.X, known.y, ks, seed + fold, *of_rows)
    seconds = time.process_time() - begin
    found = []
    for k in ks:
        parts = (p._replace(X=columns_of(p.X, chosen[k])) for p in (known, new))
        metrics = judge(*parts, classes=classes, among=among, seed=seed)
        facts = seconds, memory.megabytes, metrics
        found.append(Result(name, k, fold, chosen[k], *facts))
    return found


def columns_of(X: Any, which: Ints) -> np.ndarray:
    part = X[:, which]
    return np.asarray(part.toarray() if hasattr(part, "toarray") else part, np.float64)


def are_classes(y: np.ndarray) -> bool:
    """Whether loss="auto" would see classes."""
    if y.dtype.kind not in "fiub":
        return True
    return choose_target("auto", y.astype(np.float64)).classes is not None


def _n_classes(y: np.ndarray) -> int:
    labels = np.unique(y)
    if len(labels) < 2:
        raise DataError(
            f"labels: expected at least two classes, got 1 class ({labels[0]})"
        )
    return len(labels)


def _ranked_by(metric: str | None, classes: bool, n_classes: int) -> dict[str, bool]:
    """What can be measured of such labels, the metric to rank by first."""
    known = dict(CLASS_METRICS if classes else NUMBER_METRICS)
    if n_classes > 2:
        known = {name: up for name, up in known.items() if name not in OF_TWO_CLASSES}
    if metric is None:
        return known
    if metric not in known:
        raise ShortlistError(
            f"metric should be one of {', '.join(known)} for such labels, got {metric!r}"
        )
    return {metric: known[metric], **known}


def _budgets(ks: Any, table: Opened, notes: list[str]) -> list[int]:
    """Budgets in order; notes say which there are too few features for."""
    given = [ks] if isinstance(ks, Integral) else ks
    if not _are_budgets(given):
        raise ShortlistError(
            f"budgets: expected whole numbers from 1, as 5, 10, 20, got {ks!r}"
        )
    wanted, most = sorted({int(k) for k in given}), table.X.shape[1]
    budgets = [k for k in wanted if k <= most]
    too_large = ", ".join(str(k) for k in wanted if k > most)
    if not budgets:
        raise ShortlistError(
            f"budgets: expected one from 1 to the number of features ({most:,}), got "
            f"{too_large}"
        )
    if too_large:
        notes.append(f"left out: k = {too_large}, as there are {most:,} features")
    if budgets[0] < len(table.always):
        raise ShortlistError(
            f"budgets: expected room for the {len(table.always)} features of always=, "
            f"got {budgets[0]}"
        )
    return budgets


def _are_budgets(ks: Any) -> bool:
    if isinstance(ks, str) or not isinstance(ks, Iterable):
        return False
    return all(isinstance(k, Integral) and int(k) >= 1 for k in ks)


def _folds_asked(cv: Any, table: Opened, classes: bool, notes: list[str]) -> Any:
    """Folds as asked for, or as many as usual; notes say if the rows allow only fewer."""
    if cv is not None:
        return cv
    usual = 5 if len(table.y) < _MANY_ROWS else 3
    most = most_folds(table.y, table.groups, classes=classes, most=usual)
    what = "rows" if table.groups is None else "groups"
    if table.groups is None and classes:
        labels, counts = np.unique(table.y, return_counts=True)
        what = f"rows of class {labels[np.argmin(counts)]}"
    if most < 2:
        raise ShortlistError(f"folds need 2 {what} at least, got {most}; add some")
    if most < usual:
        notes.append(f"{most} folds instead of {usual}, as there are {most} {what}")
    return most


def _asked(
    methods: Any, X: Any, n_classes: int, k: int, weighted: bool
) -> tuple[dict[str, Any], dict[str, str]]:
    """Methods by name, yardsticks last, and why others were left out."""
    if isinstance(methods, str):
        if methods != "auto":
            raise ShortlistError(f"methods should be 'auto' or a list, got {methods!r}")
        reasons = {name: why_not(name, X, n_classes, k) for name in USUAL}
        if weighted:
            deaf = [name for name in USUAL if not takes_weights(name)]
            reasons |= dict.fromkeys(deaf, "takes no weights of rows")
        fit = [name for name, reason in reasons.items() if reason is None]
        left_out = {name: reason for name, reason in reasons.items() if reason}
        return {name: name for name in (*fit, *YARDSTICKS)}, left_out
    if not isinstance(methods, Mapping):
        methods = _named(methods)
    yardsticks = {name: name for name in YARDSTICKS if name not in methods}
    return {**methods, **yardsticks}, {}


def _named(methods: Any) -> dict[str, Any]:
    """Methods by name; estimators by that of their kind, numbered if it is not enough."""
    if hasattr(methods, "get_params"):
        methods = [methods]
    if not isinstance(methods, Iterable):
        raise ShortlistError(
            f"methods should be names or estimators, got {type(methods).__name__}"
        )
    listed = list(methods)
    names = [m if isinstance(m, str) else type(m).__name__ for m in listed]
    return {
        name if isinstance(m, str) or names.count(name) == 1 else f"{name} {i}": m
        for i, (name, m) in enumerate(zip(names, listed, strict=True))
    }
