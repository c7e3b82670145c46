"""Rows to choose by and rows to judge by, with classes alike and groups kept whole."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np

from shortlist._protocols import Ints, ShortlistError


def folds(
    y: Any, cv: Any, groups: Any = None, *, classes: bool, seed: int = 0
) -> list[tuple[Ints, Ints]]:
    """Numbers of the rows to learn from and of those to judge by, fold by fold.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    cv : int, splitter of scikit-learn, or iterable of pairs of arrays
        An int is a number of folds, in each of which classes have their shares.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group (a patient, a user) are never on both sides.
    classes : bool
        Whether y holds classes.
    seed : int, default=0
    """
    y = np.asarray(y)
    if groups is not None:
        groups = np.asarray(groups)
        if groups.shape != y.shape[:1]:
            raise ShortlistError(
                f"groups should have one entry a row ({len(y)}), got {groups.shape}"
            )
    pairs = [
        (np.asarray(train), np.asarray(test))
        for train, test in _pairs(y, cv, groups, classes=classes, seed=seed)
    ]
    if not pairs:
        raise ShortlistError(f"cv should give at least one split, got {cv!r}")
    return pairs


def most_folds(y: np.ndarray, groups: Any, *, classes: bool, most: int = 5) -> int:
    """Folds that rows allow where nobody says how many: fewer than 2 mean none at all."""
    if groups is not None:
        return min(most, len(np.unique(np.asarray(groups))))
    if classes:
        return min(most, int(np.unique(y, return_counts=True)[1].min()))
    return min(most, len(y))


def _pairs(
    y: np.ndarray, cv: Any, groups: Any, *, classes: bool, seed: int
) -> Iterator[tuple[Any, Any]]:
    if hasattr(cv, "get_n_splits"):
        yield from cv.split(np.zeros(len(y)), y, groups)
    elif isinstance(cv, Integral) and not isinstance(cv, bool):
        splitter = _splitter(y, int(cv), groups, classes=classes, seed=seed)
        yield from splitter.split(np.zeros(len(y)), y, groups)
    elif np.iterable(cv) and not isinstance(cv, str):
        yield from cv
    else:
        raise ShortlistError(
            f"cv should be a number of folds, a splitter or pairs of rows, got {cv!r}"
        )


def _splitter(y: np.ndarray, n: int, groups: Any, *, classes: bool, seed: int) -> Any:
    from sklearn.model_selection import (
        GroupKFold,
        KFold,
        StratifiedGroupKFold,
        StratifiedKFold,
    )

    most = len(y) if groups is None else len(np.unique(groups))
    if not 2 <= n <= most:
        what = "rows" if groups is None else "groups"
        raise ShortlistError(
            f"cv should be from 2 to the number of {what} ({most}), got {n}"
        )
    if classes and groups is None:
        labels, counts = np.unique(y, return_counts=True)
        if counts.min() < n:
            rare = labels[np.argmin(counts)]
            raise ShortlistError(
                f"cv={n} needs {n} rows of each class, got {counts.min()} of {rare}"
            )
        return StratifiedKFold(n, shuffle=True, random_state=seed)
    if groups is None:
        return KFold(n, shuffle=True, random_state=seed)
    kind = StratifiedGroupKFold if classes else GroupKFold
    return kind(n, shuffle=True, random_state=seed)
