"""Labels and sequences of time-ordered rows, from what users write."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from shortlist._protocols import DataError, Ints, ShortlistError
from shortlist.objectives.chain_model import read_lengths

NOBODY_KNOWS = -1


def listed(labels: Any) -> tuple[Any, ...]:
    """Labels as users give them: several, one text, or None."""
    if labels is None:
        return ()
    return (labels,) if isinstance(labels, str) else tuple(labels)


def is_unlabelled(label: Any, others: Sequence[Any] = ()) -> bool:
    """Whether a label says that nobody knows: None, NaN, no text, or one of others."""
    if label is None or (isinstance(label, str) and not label):
        return True
    equal = label == label
    # NaN is not equal to itself, and pandas cannot tell whether its NA is
    return not (isinstance(equal, bool | np.bool_) and equal) or label in others


def distinct_labels(y: Sequence[Any], others: Sequence[Any] = ()) -> list[Any]:
    """All labels there are, in order; at least two."""
    known = {label for label in y if not is_unlabelled(label, others)}
    for label in known:
        if isinstance(label, float) and not label.is_integer():
            raise DataError(f"y: expected texts or whole numbers, got {label}")
    try:
        found = sorted(known)
    except TypeError:
        raise DataError("y: expected texts or numbers, got both") from None
    if len(found) < 2:
        raise DataError(
            "y: expected at least 2 labels, got "
            + (f"only {found[0]!r}" if found else "no labelled row")
        )
    return found


def label_codes(
    y: Sequence[Any], labels: Sequence[Any], others: Sequence[Any] = ()
) -> Ints:
    """Place of each label among those known, after them if it is new; -1: no label."""
    place = {label: code for code, label in enumerate(labels)}
    codes = [
        NOBODY_KNOWS if is_unlabelled(label, others) else place.get(label, len(place))
        for label in y
    ]
    return np.array(codes, np.int64)


def plain_labels(y: Any, n_steps: int) -> list[Any]:
    """Labels as plain Python values, one a row."""
    labels = (
        np.asarray(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)
    )
    if labels.shape != (n_steps,):
        raise ShortlistError(
            f"y should have one label for each of {n_steps} rows, got {labels.shape}"
        )
    plain: list[Any] = labels.tolist()
    for row, label in enumerate(plain):
        if not isinstance(label, Hashable):
            raise DataError(f"y: expected a label in row {row}, got {label!r}")
    return plain


def sequence_bounds(lengths: Any, sequence: Any, n_steps: int) -> Ints:
    """Bounds of sequences, from their lengths or from the name of each row's sequence.

    Parameters
    ----------
    lengths : array-like of int or None
    sequence : array-like of shape (n_steps,) or None
        Days, people, recordings; rows of the same one stand together.
    n_steps : int
    """
    if sequence is None:
        return read_lengths(lengths, n_steps)
    if lengths is not None:
        raise ShortlistError("give lengths or sequence, not both")
    names = np.asarray(sequence).tolist()
    if len(names) != n_steps:
        raise ShortlistError(
            f"sequence should have a value for each of {n_steps} rows, got {len(names)}"
        )
    for row, name in enumerate(names):
        if is_unlabelled(name):
            raise DataError(f"sequence: expected a value in row {row}, got {name!r}")
    bounds, seen = [0], set(names[:1])
    for row in range(1, n_steps):
        if names[row] != names[row - 1]:
            if names[row] in seen:
                raise DataError(
                    f"sequence: expected rows of {names[row]!r} together, it comes back "
                    f"in row {row}"
                )
            seen.add(names[row])
            bounds.append(row)
    return np.array([*bounds, n_steps], np.int64)
