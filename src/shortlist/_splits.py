"""Rows to choose by and rows to judge by, with classes alike and groups kept whole."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import Ints, ShortlistError

Whole = NDArray[np.signedinteger[Any]]


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
    groups = group_numbers(groups, len(y))
    given = check_cv(cv)
    if given is None:
        raise ShortlistError("cv should say how to split rows, got None")
    pairs = [
        (_rows(train, len(y), cv), _rows(test, len(y), cv))
        for train, test in _pairs(y, given, groups, classes=classes, seed=seed)
    ]
    if not pairs:
        raise ShortlistError(f"cv should give at least one split, got {_said(cv)}")
    if not isinstance(given, int):
        _check_sides(pairs, groups, cv)
    return pairs


def check_learnable(pairs: list[tuple[Ints, Ints]], y: np.ndarray) -> None:
    """Refuse splits that leave a single class to learn from."""
    for train, _ in pairs:
        labels = np.unique(y[train])
        if len(labels) < 2:
            raise ShortlistError(
                f"cv leaves rows of one class to learn from, {labels[0]}; each class needs "
                "rows, or groups of rows, on both sides of a split"
            )


def check_cv(cv: Any) -> Any:
    """Return what says how to split, so that it can be asked again; refuse all else."""
    if cv is None or (hasattr(cv, "get_n_splits") and not isinstance(cv, type)):
        return cv
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        if int(cv) >= 2:
            return int(cv)
        raise ShortlistError(f"cv should be from 2 to the number of rows, got {cv}")
    if np.iterable(cv) and not isinstance(cv, (str, bytes, Mapping)):
        pairs = list(cv)
        if all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in pairs):
            return pairs
    raise ShortlistError(
        f"cv should be a number of folds, a splitter or pairs of rows, got {cv!r}"
    )


def cv_among(cv: Any, kept: np.ndarray) -> Any:
    """What says how to split some of the rows, if only these are left.

    Parameters
    ----------
    cv
        As ``check_cv`` returns it; only pairs of rows have to be told.
    kept : ndarray of bool of shape (n_rows,)
    """
    if not isinstance(cv, list) or kept.all():
        return cv
    place = np.cumsum(kept) - 1

    def own(rows: Any) -> Ints:
        rows = _rows(rows, len(kept), cv)
        return np.asarray(place[rows[kept[rows]]])

    pairs = [(own(train), own(test)) for train, test in cv]
    return [pair for pair in pairs if len(pair[0]) and len(pair[1])]


def group_numbers(
    groups: Any,
    n_rows: int | None = None,
    place: Callable[[int], str] = lambda row: f"row {row}",
) -> Ints | None:
    """Groups as numbers from 0, in the order of what they are called.

    Parameters
    ----------
    groups : array-like of shape (n_rows,) or None
        A row without one (None, NaN) is an error.
    n_rows : int, default=None
        How many there should be; None: any number.
    place : callable
        Says where a row stands, for messages.
    """
    if groups is None:
        return None
    called = np.asarray(groups)
    if called.ndim != 1 or n_rows not in (None, len(called)):
        got = len(called) if called.ndim == 1 else f"shape {called.shape}"
        expected = "" if n_rows is None else f" ({n_rows})"
        raise ShortlistError(f"groups should have one entry a row{expected}, got {got}")
    missing = np.array([_is_missing(value) for value in called.tolist()], bool)
    if missing.any():
        row = int(np.argmax(missing))
        raise ShortlistError(
            f"groups: expected one for every row, got none: {place(row)}"
        )
    try:
        return np.asarray(np.unique(called, return_inverse=True)[1], np.int64)
    except TypeError:  # of several types, which have no order
        number: dict[Any, int] = {}
        every = [number.setdefault(value, len(number)) for value in called.tolist()]
        return np.array(every, np.int64)


def groups_of(groups: Whole, first: int, n_rows: int) -> Whole:
    """Groups of some rows that come by, from number ``first`` on."""
    own = groups[first : first + n_rows]
    if len(own) < n_rows:
        raise ShortlistError(
            f"groups should have one entry a row, and there are {len(groups)} for more rows"
        )
    return own


def check_all_came(groups: Whole, n_rows: int) -> None:
    """Refuse groups of more rows than there turned out to be."""
    if n_rows < len(groups):
        raise ShortlistError(
            f"groups should have one entry a row ({n_rows}), got {len(groups)}"
        )


def _said(cv: Any) -> str:
    """How to split, in one line."""
    return f"{len(cv)} pairs" if isinstance(cv, list) else " ".join(repr(cv).split())


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)  # NaN and NaT
    except TypeError:  # NA of pandas says neither yes nor no
        return True


def _rows(rows: Any, n_rows: int, cv: Any) -> Ints:
    """Numbers of rows, which may come as a mask."""
    found = np.asarray(rows)
    if found.dtype == bool:
        found = np.flatnonzero(found)
    whole = found.ndim == 1 and (found.dtype.kind in "iu" or not len(found))
    if not whole or (len(found) and not (found.min() >= 0 and found.max() < n_rows)):
        raise ShortlistError(
            f"cv should give numbers of rows from 0 to {n_rows - 1}, got {_said(cv)}"
        )
    return found.astype(np.int64)


def _check_sides(pairs: list[tuple[Ints, Ints]], groups: Ints | None, cv: Any) -> None:
    """Refuse rows, and groups of rows, on both sides of a split."""
    for train, test in pairs:
        if len(np.intersect1d(train, test)):
            raise ShortlistError(
                f"cv has rows on both sides of a split, got {_said(cv)}"
            )
        if groups is not None and len(np.intersect1d(groups[train], groups[test])):
            raise ShortlistError(
                "cv has rows of one group on both sides of a split; a number of folds or "
                f"GroupKFold keeps groups together, got {_said(cv)}"
            )


def most_folds(y: np.ndarray, groups: Any, *, classes: bool, most: int = 5) -> int:
    """Folds that rows allow where nobody says how many: fewer than 2 mean none at all."""
    if groups is not None:
        return min(most, len(np.unique(np.asarray(groups))))
    if classes:
        return min(most, int(np.unique(y, return_counts=True)[1].min()))
    return min(most, len(y))


def _pairs(
    y: np.ndarray, cv: Any, groups: Any, *, classes: bool, seed: int
) -> list[tuple[Any, Any]]:
    if isinstance(cv, list):
        return cv
    splitter = cv
    if isinstance(cv, int):
        splitter = _splitter(y, cv, groups, classes=classes, seed=seed)
    try:
        with warnings.catch_warnings():
            # whether groups stay together all the same is looked at afterwards
            warnings.filterwarnings("ignore", "The groups parameter is ignored")
            return list(splitter.split(np.zeros(len(y)), y, groups))
    except ValueError as error:
        raise ShortlistError(
            f"cv={_said(cv)} cannot split these rows: {error}"
        ) from None


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
