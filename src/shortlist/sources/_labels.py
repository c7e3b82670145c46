"""What is known about rows besides their features: labels, weights, missing values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shortlist._protocols import DataError, Floats, ShortlistError

NUMBER_KINDS = "biuf"  # NumPy's letters for booleans, integers and floats

#: Weights that are all beyond this, or below its inverse, have no squares.
LARGEST_WEIGHT = 1e20

#: More names of labels than this are no classes but something else.
MOST_LABELS = 10_000


def encode_labels(
    y: Any, n_rows: int, name: str, *, may_lack: bool = False
) -> tuple[Floats, list[str] | None]:
    """Labels as floats: numbers as they are, others as codes into sorted names.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or None
        None means that there are no labels: all NaN.
    n_rows : int
    name : str
        What messages call it.
    may_lack : bool, default=False
        Whether rows may lack a label (None, NaN), which is NaN then, if not all of them do.

    Returns
    -------
    labels : ndarray of float
    label_names : list of str or None
        What the codes stand for; None if labels are numbers.
    """
    if y is None:
        return np.full(n_rows, np.nan), None
    shape = np.shape(y)
    if len(shape) == 2 and shape[0] == n_rows and shape[1] > 1:
        raise DataError(
            f"{name}: expected one label a row, got {shape[1]}; the estimators "
            "FoBa and GSR take several outputs at once, others one at a time"
        )
    labels = _vector(y, n_rows, name)
    lacking = lacking_labels(labels) if may_lack else np.zeros(n_rows, bool)
    if lacking.any() and not lacking.all():
        filled = labels.copy()
        filled[lacking] = labels[int(np.argmin(lacking))]
        known, names = encode_labels(filled, n_rows, name)
        return np.where(lacking, np.nan, known), names
    numbers = _as_numbers(labels)
    if numbers is not None:
        _check_finite(numbers, name)
        return numbers, None
    for row, label in enumerate(labels.tolist()):
        if is_missing(label):
            raise DataError(f"{name}: row {row}: expected a label, got {label}")
    texts = [str(label) for label in labels.tolist()]
    label_names = sorted(set(texts))
    codes = {label: float(code) for code, label in enumerate(label_names)}
    return np.array([codes[text] for text in texts]), label_names


def check_weights(weights: Any, n_rows: int, name: str) -> Floats:
    """Weights as floats, at least 0; None means that all are 1."""
    if weights is None:
        return np.ones(n_rows)
    numbers = _as_numbers(_vector(weights, n_rows, name))
    if numbers is None:
        raise DataError(f"{name}: expected numbers, got {np.asarray(weights).dtype}")
    _check_finite(numbers, name)
    negative = np.flatnonzero(numbers < 0)
    if len(negative):
        row = int(negative[0])
        raise DataError(f"{name}: row {row}: expected 0 or more, got {numbers[row]}")
    largest = float(numbers.max(initial=0.0))
    if largest > 0.0 and not 1 / LARGEST_WEIGHT <= largest <= LARGEST_WEIGHT:
        raise DataError(
            f"{name}: expected weights of about 1, got {largest:g} as the largest; divide "
            "them by their mean"
        )
    return numbers


def too_many_labels(owner: str, column: str, n: int) -> None:
    """Refuse a column with more different texts than labels can be."""
    if n > MOST_LABELS:
        raise DataError(
            f"{owner}: column {column!r}: expected at most {MOST_LABELS:,} different "
            "labels, got more; is it the target?"
        )


def check_choice(parameter: str, value: str, choices: Sequence[str]) -> None:
    """Refuse a value that is not among the choices."""
    if value not in choices:
        expected = " or ".join(map(repr, choices))
        raise ShortlistError(f"{parameter}: expected {expected}, got {value!r}")


def _vector(values: Any, n_rows: int, name: str) -> np.ndarray[Any, Any]:
    vector = np.asarray(values)
    if vector.dtype.kind == "U" and isinstance(values, (list, tuple)):
        vector = np.array(values, object)  # what is missing is not the text "nan"
    if vector.shape != (n_rows,):
        raise DataError(f"{name}: expected shape ({n_rows},), got {vector.shape}")
    return vector


def _as_numbers(vector: np.ndarray[Any, Any]) -> Floats | None:
    """Fresh floats, or None if these are not numbers."""
    if vector.dtype.kind == "O":
        # what tables with missing values turn into; text that looks like a number
        # stays text
        if any(isinstance(item, (str, bytes)) for item in vector.tolist()):
            return None
    elif vector.dtype.kind not in NUMBER_KINDS:
        return None
    try:
        return vector.astype(np.float64)
    except (TypeError, ValueError):
        return None


def _check_finite(numbers: Floats, name: str) -> None:
    bad = np.flatnonzero(~np.isfinite(numbers))
    if len(bad):
        row = int(bad[0])
        raise DataError(f"{name}: row {row}: expected a number, got {numbers[row]}")


def lacking_labels(y: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which rows have no label."""
    if y.dtype.kind == "f":
        return np.asarray(np.isnan(y))
    if y.dtype.kind != "O":
        return np.zeros(len(y), bool)
    return np.array([is_missing(label) for label in y.tolist()], bool)


def is_missing(label: Any) -> bool:
    """Whether this is no label."""
    # None, NaN, and the markers of table libraries, which equal not even themselves
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True
