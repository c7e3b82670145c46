"""Values that a Shortlist is made of: checked, copied, made plain, and frozen."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist import storage
from shortlist._protocols import ShortlistError

Label: TypeAlias = str | int | float | bool


def plain_text(name: str, value: Any) -> str:
    """Text, as a plain str."""
    if not isinstance(value, str):
        raise ShortlistError(f"{name} should be text, got {value!r}")
    return str(value)  # plain, should it come as a NumPy scalar


def plain_texts(name: str, values: Iterable[Any]) -> tuple[str, ...]:
    """Texts, as a tuple."""
    if isinstance(values, str):  # would pass for a sequence of letters
        raise ShortlistError(f"{name} should be a sequence of texts, got {values!r}")
    each = f"each of {name}"
    return tuple(
        value if type(value) is str else plain_text(each, value) for value in values
    )


def plain_count(name: str, value: Any, at_least: int = 0) -> int:
    """A whole number, at least so large."""
    try:
        count = operator.index(value)
    except TypeError:
        raise ShortlistError(f"{name} should be an integer, got {value!r}") from None
    if count < at_least:
        raise ShortlistError(f"{name} should be at least {at_least}, got {count}")
    return count


def plain_labels(labels: Iterable[Any], n_margins: int) -> tuple[Label, ...]:
    """Labels of classes that are distinct and as many as margins ask for."""
    plain = tuple(plain_json("classes", list(labels)))
    if not all(isinstance(label, str | int | float) for label in plain):
        raise ShortlistError(f"classes should be texts, numbers or bools, got {plain}")
    if len({storage.to_json(label) for label in plain}) < len(plain):
        raise ShortlistError(f"classes should be distinct, got {plain}")
    expected = n_margins if n_margins > 1 else 2
    if len(plain) != expected:
        raise ShortlistError(
            f"classes should have {expected} labels for {n_margins} margin(s), "
            f"got {len(plain)}"
        )
    return plain


def _column(name: str, array: NDArray[Any], n: int | None) -> NDArray[Any]:
    if array.ndim != 1:
        raise ShortlistError(f"{name} should be one row, got shape {array.shape}")
    if n is not None and len(array) != n:
        raise ShortlistError(
            f"{name} should have a value for each of {n} names, got {len(array)}"
        )
    return array


def plain_integers(name: str, values: Any, n: int, dtype: type) -> NDArray[Any]:
    """A column of n integers of this type."""
    given = np.asarray(values)
    # Lists with ids beyond 2^63 come out of NumPy as floats: refused, not rounded.
    if given.size and given.dtype.kind not in "iu":
        raise ShortlistError(f"{name} should be integers, got {given.dtype}")
    array: NDArray[Any] = given.astype(dtype)
    if not np.array_equal(array, given):
        raise ShortlistError(f"{name} should fit {array.dtype}, got others")
    return _column(name, array, n)


def plain_floats(
    name: str, values: Any, n: int | None = None, finite: bool = True
) -> NDArray[Any]:
    """A column of numbers, of n if that is given."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ShortlistError(f"{name} should be numbers, got others") from None
    if finite and not np.isfinite(array).all():
        raise ShortlistError(f"{name} should be finite, got NaN or infinity")
    return _column(name, array, n)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The array itself, which cannot be written any more."""
    array.setflags(write=False)
    return array


def plain_json(name: str, value: Any) -> Any:
    """Copy a JSON value, with NumPy scalars and subclasses made plain."""
    try:
        return storage.from_json(storage.to_json(value))
    except ShortlistError as error:
        raise ShortlistError(f"{name}: {error}") from None


def plain_mapping(name: str, value: Any) -> Mapping[str, Any]:
    """A mapping, as it is."""
    if not isinstance(value, Mapping):
        raise ShortlistError(f"{name} should be a mapping, got {value!r}")
    return value


def frozen_json(value: Any) -> Any:
    """JSON values that cannot be changed."""
    if isinstance(value, dict):
        return MappingProxyType({k: frozen_json(item) for k, item in value.items()})
    return tuple(map(frozen_json, value)) if isinstance(value, list) else value


def frozen_trace(trace: Mapping[Any, Any]) -> Mapping[str, NDArray[Any]]:
    """Copies of arrays that cannot be written, by name."""
    names = plain_texts("names of traces", trace)
    arrays = [frozen(storage.plain_array(n, trace[n]).copy()) for n in names]
    return MappingProxyType(dict(zip(names, arrays, strict=True)))
