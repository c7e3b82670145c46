"""Examples cut in two, many times: halves that have no row in common and all together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from shortlist._protocols import Floats, Ints, ShortlistError
from shortlist._splits import group_numbers
from shortlist._targets import Target

#: Cuts that are tried until both halves have all classes; matters with groups only.
_TRIES = 100


def complementary_halves(
    n_rows: int,
    n_pairs: int,
    *,
    classes: Any = None,
    groups: Any = None,
    seed: int = 0,
) -> Iterator[tuple[Ints, Ints]]:
    """Yield the numbers of the rows of both halves, increasing, pair by pair.

    Parameters
    ----------
    n_rows, n_pairs : int
    classes : array-like of shape (n_rows,), default=None
        Both halves have about the same share of each, and all of them.
    groups : array-like of shape (n_rows,), default=None
        Rows of one group are never in both halves; halves then have the same number of
        groups, give or take one, not of rows.
    seed : int, default=0
        Pair i is the same however many there are.

    Examples
    --------
    >>> for one, other in complementary_halves(5, 2, seed=1):
    ...     print(one, other)
    [0 2] [1 3 4]
    [3 4] [0 1 2]
    """
    codes = _codes(classes, n_rows)
    group = group_numbers(groups, n_rows)
    units = np.arange(n_rows) if group is None else group
    n_units = int(units.max(initial=-1)) + 1
    if n_units < 2:
        what = "rows" if groups is None else "groups"
        raise ShortlistError(f"two halves need 2 {what} at least, got {n_units}")
    stratum = np.zeros(n_units, np.int64)
    if codes is not None:
        stratum = _commonest(units, codes)
        _check_classes(units, codes, classes, groups)
    for pair in range(n_pairs):
        rng = np.random.default_rng([seed, pair])
        second = _cut(rng, units, stratum, codes)
        yield np.flatnonzero(~second), np.flatnonzero(second)


def labels_of(y: Floats, target: Target) -> np.ndarray | None:
    """Classes of encoded rows as they are called; None if numbers are predicted."""
    if target.classes is None:
        return None
    codes = y > 0.0 if target.loss.target == "sign" else y
    return np.array(target.classes, object)[codes.astype(np.int64)]


def _cut(
    rng: np.random.Generator, units: Ints, stratum: Ints, codes: Ints | None
) -> np.ndarray:
    """Deal units in turn, stratum by stratum; say which rows the second half has."""
    n_classes = 0 if codes is None else int(codes.max()) + 1
    for _ in range(_TRIES):
        order = rng.permutation(len(stratum))
        order = order[np.argsort(stratum[order], kind="stable")]
        in_second = np.empty(len(stratum), bool)
        in_second[order] = (np.arange(len(order)) + rng.integers(2)) % 2 == 1
        second = in_second[units]
        if codes is None or all(
            len(np.unique(codes[half])) == n_classes for half in (second, ~second)
        ):
            return second
    raise ShortlistError(
        f"none of {_TRIES} cuts by groups has every class in both halves; groups are too "
        "few for the classes"
    )


def _codes(values: Any, n_rows: int) -> Ints | None:
    """Numbers from 0 for what equals each other."""
    if values is None:
        return None
    array = np.asarray(values)
    if array.shape != (n_rows,):
        raise ShortlistError(
            f"classes should have one entry a row ({n_rows}), got {array.shape}"
        )
    return np.asarray(np.unique(array, return_inverse=True)[1], np.int64)


def _commonest(units: Ints, codes: Ints) -> Ints:
    """Class that most rows of each unit have."""
    counts = np.zeros((int(units.max()) + 1, int(codes.max()) + 1), np.int64)
    np.add.at(counts, (units, codes), 1)
    return np.asarray(counts.argmax(axis=1), np.int64)


def _check_classes(units: Ints, codes: Ints, classes: Any, groups: Any) -> None:
    """Refuse a class that only one of two halves can have."""
    labels = np.unique(np.asarray(classes))
    for code, label in enumerate(labels.tolist()):
        if len(np.unique(units[codes == code])) < 2:
            what = "row" if groups is None else "group"
            raise ShortlistError(
                f"both halves need each class, but only one {what} has {label!r}"
            )
