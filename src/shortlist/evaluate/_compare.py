"""Methods against budgets on one table, by cross-validation.

In every fold each method chooses from the rows to learn from, and one judge (``_judge``)
says how well the chosen columns predict the others. Settings of methods are their own
defaults, so that nothing is tuned by anyone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from shortlist._protocols import Floats, Ints, ShortlistError
from shortlist._targets import choose_target
from shortlist.evaluate._contestants import (
    USUAL,
    YARDSTICKS,
    contestant,
    takes_weights,
    why_not,
)
from shortlist.evaluate._display import CompareDisplay, Result
from shortlist.evaluate._examples import (
    Examples,
    shared_spread,
    weights_that_differ,
)
from shortlist.evaluate._judge import judge
from shortlist.evaluate._memory import PeakMemory
from shortlist.evaluate._splits import check_cv, check_learnable, folds, group_numbers
from shortlist.sources._labels import check_weights

#: Told what is being done, how many fits of how many are behind.
Watch = Callable[[str, int, int], None]


def compare(
    X: Any,
    y: Any,
    *,
    ks: Sequence[int] = (5, 10, 20, 50, 100),
    methods: Any = "auto",
    cv: Any = 5,
    groups: Any = None,
    sample_weight: Any = None,
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
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row counts, to choose by and to judge by; a row of weight 0 is as
        good as none. Methods without weights (relieff) are left out.
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
    weight = _checked_weights(sample_weight, len(y))
    groups = group_numbers(groups, len(y))
    rows, cv = Examples(X, y, weight, groups).that_count(check_cv(cv))
    X, y = rows.X, rows.y
    classes = are_classes(y)
    n_classes = len(np.unique(y)) if classes else 1
    ks = sorted({int(k) for k in ks if 1 <= k <= X.shape[1]})
    if not ks:
        raise ShortlistError(
            f"ks should have a budget from 1 to the number of features ({X.shape[1]})"
        )
    asked, left_out = _asked(methods, X, n_classes, max(ks), weight is not None)
    splits = folds(y, cv, rows.groups, classes=classes, seed=seed)
    if classes:
        check_learnable(splits, y)
    among = shared_spread(rows, splits, classes=classes)
    contestants = {
        name: contestant(method, classes=classes) for name, method in asked.items()
    }
    results: list[Result] = []
    done, total = 0, len(splits) * len(contestants)
    for fold, split in enumerate(splits):
        for name, choose in contestants.items():
            if watch is not None:
                watch(f"{name}, fold {fold + 1} of {len(splits)}", done, total)
            done += 1
            results += one_fold(
                name, choose, rows, split, ks, fold, seed, classes=classes, among=among
            )
    return CompareDisplay(
        results, names=names, classes=classes, left_out=left_out, n_folds=len(splits)
    )


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
        chosen = choose(known.X, known.y, ks, seed + fold, known.weight)
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


def _checked_weights(sample_weight: Any, n_rows: int) -> Floats | None:
    if sample_weight is None:
        return None
    return weights_that_differ(check_weights(sample_weight, n_rows, "sample_weight"))


def are_classes(y: np.ndarray) -> bool:
    """Whether loss="auto" would see classes."""
    if y.dtype.kind not in "fiub":
        return True
    return choose_target("auto", y.astype(np.float64)).classes is not None


def _asked(
    methods: Any, X: Any, n_classes: int, k: int, weighted: bool
) -> tuple[dict[str, Any], dict[str, str]]:
    """Methods by name, yardsticks last, and why others were left out."""
    if isinstance(methods, Mapping):
        return {**methods, **{name: name for name in YARDSTICKS}}, {}
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
    wanted = list(dict.fromkeys(methods))
    return {str(name): name for name in dict.fromkeys([*wanted, *YARDSTICKS])}, {}
