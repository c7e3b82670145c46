"""Dictionaries as examples: features get numbers in the order in which they come."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from numbers import Real
from typing import Any

import numpy as np

from shortlist._protocols import DataError, Floats, Ids, Ints, RowBlock


class NamedExamples:
    """A source of what has been learned one by one: it knows the names.

    A feature's name is the text of its key. Keys are looked up as they come, so equal ones
    (1 and 1.0) are one feature, as in any dictionary.
    """

    name = "learn_one"
    reiterable = True  # nobody reads it
    unit = "rows"
    size: int | None = None
    n_features: int | None = None
    label_names: Sequence[str] | None = None

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}  # by key and by name
        self._names: list[str] = []

    def blocks(self) -> Iterator[RowBlock]:
        """Nothing is kept of examples."""
        return iter(())

    def names(self, ids: Ids) -> list[str]:
        """Names with these numbers."""
        return [self._names[i] for i in ids.tolist()]

    def ids(self, names: Sequence[str]) -> Ids:
        """Numbers of these names, which need not have come yet."""
        return np.array([self._number(name) for name in names], np.uint64)

    def _number(self, key: Any) -> int:
        if (number := self._numbers.get(key)) is None:
            name = str(key)
            number = self._numbers.setdefault(name, len(self._names))
            if number == len(self._names):
                self._names.append(name)
            self._numbers[key] = number
        return number

    def block(self, x: Mapping[Any, Any], code: float, weight: float) -> RowBlock:
        """Make a block of one example; its label is encoded already."""
        keys, values = features(x)
        if not values.all():
            keys = [
                key for key, some in zip(keys, values.tolist(), strict=True) if some
            ]
            values = values[values != 0.0]
        numbers: list[Any] = list(map(self._numbers.get, keys))
        if None in numbers:
            for place, key in enumerate(keys):
                if numbers[place] is None:
                    numbers[place] = self._number(key)
        if len(set(numbers)) < len(numbers):
            double = next(n for n, times in Counter(numbers).items() if times > 1)
            raise DataError(f"feature {self._names[double]!r} comes twice")
        ends, ids = np.array([0, len(numbers)]), np.array(numbers, np.uint64)
        y, importance = np.array([code]), np.array([float(weight)])
        return RowBlock(ends, ids, values, y, importance, first_row=0, position=0)

    def known(self, x: Mapping[Any, Any]) -> tuple[Ints, Floats]:
        """Numbers of an example's features, -1 for new ones, and their values."""
        keys, values = features(x)
        return np.array(
            list(map(self._numbers.get, keys, repeat(-1))), np.int64
        ), values


def features(x: Mapping[Any, Any]) -> tuple[Iterable[Any], Floats]:
    """Keys and values of an example; text makes a feature ``key=text``, which is 1."""
    if not isinstance(x, Mapping):
        raise DataError(
            f"expected a mapping of names to values, got {type(x).__name__}"
        )
    try:  # most examples are numbers throughout
        values = np.array(list(x.values()))
    except ValueError:  # lists among them
        return _spelled(x)
    plain = values.dtype.kind in "biuf" and values.ndim == 1
    if plain and np.isfinite(values).all():
        return x, values.astype(np.float64, copy=False)
    return _spelled(x)


def _spelled(x: Mapping[Any, Any]) -> tuple[list[Any], Floats]:
    keys, values = [], []
    for key, value in x.items():
        if isinstance(value, str):
            keys.append(f"{key}={value}")
            values.append(1.0)
        elif _is_finite(value):
            keys.append(key)
            values.append(float(value))
        else:
            raise DataError(
                f"feature {key!r}: expected a finite number or text, got {value!r}"
            )
    return keys, np.array(values, np.float64)


def _is_finite(value: Any) -> bool:
    try:
        return isinstance(value, Real | np.bool_) and math.isfinite(value)
    except OverflowError:  # a whole number of hundreds of digits
        return False
