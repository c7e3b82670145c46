"""Values for people: counts with their nouns, columns of numbers, settings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

#: Digits of the largest number of a column, and of the smallest at least.
_LARGEST, _SMALLEST = 4, 2
#: Decimals at most, and where whole digits end; other numbers have an exponent.
_MOST_DECIMALS, _HUGE = 6, 1e7
#: Bytes from which on the next unit is used.
_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
NOT_KNOWN = "-"


def counted(n: int, thing: str) -> str:
    """A number and what it is of, one or several.

    Examples
    --------
    >>> counted(1, "row"), counted(12_000, "feature")
    ('1 row', '12,000 features')
    """
    return f"{n:,} {thing}{'s' * (n != 1)}"


def files_in_words(data: Mapping[str, Any]) -> str:
    """Name files and say how large they are.

    Examples
    --------
    >>> files_in_words({"files": 1, "names": ("people.csv",), "bytes": 12_345})
    'people.csv, 12.3 kB'
    >>> files_in_words({"files": 9, "names": ("a.svm", "b.svm"), "bytes": 400})
    'a.svm, b.svm, ... (9 files), 400 bytes'
    """
    names, n = data["names"], data["files"]
    more = f", ... ({n:,} files)" if n > len(names) else ""
    return f"{', '.join(names)}{more}, {_size(data['bytes'])}"


def _size(n_bytes: int) -> str:
    for unit, name in _UNITS:
        if n_bytes >= unit:
            return f"{n_bytes / unit:,.1f} {name}"
    return counted(n_bytes, "byte")


def evenly(values: Sequence[float | None], *, signed: bool = False) -> list[str]:
    """Write the numbers of a column with as many decimals each.

    There are as many as give the largest four digits and the smallest two, but none that
    are 0 throughout. Numbers that are too small or large for that have an exponent. What
    is not known (None, NaN) is "-".

    Examples
    --------
    >>> evenly([-1.888, 1.26, 0.4164], signed=True)
    ['-1.888', '+1.260', '+0.416']
    >>> evenly([12.5, 0.003, 4e-9, None])
    ['12.500', '0.003', '4e-09', '-']
    >>> evenly([3.0, 20.0])
    ['3', '20']
    """
    known = [v for v in values if v is not None and not math.isnan(v)]
    decimals = _decimals([abs(v) for v in known if _is_usual(abs(v))])
    sign = "+" if signed else ""
    return [
        NOT_KNOWN
        if value is None or math.isnan(value)
        else f"{value:{sign}.{decimals}f}"
        if value == 0.0 or _is_usual(abs(value))
        else f"{value:{sign}.{_LARGEST}g}"
        for value in values
    ]


def spelled(value: Any) -> str:
    """Write a setting, of JSON values, without signs that only programs need.

    Examples
    --------
    >>> spelled(True), spelled(0.1 + 0.2), spelled(("a", "b"))
    ('yes', '0.3', 'a, b')
    >>> spelled({"target": "y", "leave_out": ("day", "patient")})
    'target y; leave out day, patient'
    """
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        parts = (f"{key} {spelled(part)}" for key, part in _named(value))
        return "; ".join(parts) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(spelled, value)) or "none"
    return str(value)


def _named(value: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(str(key).replace("_", " "), part) for key, part in value.items()]


def _is_usual(size: float) -> bool:
    """Whether a number is written out, without an exponent."""
    return 10.0 ** (_SMALLEST - 1 - _MOST_DECIMALS) <= size < _HUGE


def _decimals(sizes: Sequence[float]) -> int:
    if not sizes:
        return 0
    wanted = max(
        _LARGEST - 1 - math.floor(math.log10(max(sizes))),
        _SMALLEST - 1 - math.floor(math.log10(min(sizes))),
    )
    decimals = min(max(wanted, 0), _MOST_DECIMALS)
    texts = [f"{size:.{decimals}f}" for size in sizes]
    while decimals and all(text[-1] == "0" for text in texts):
        decimals, texts = decimals - 1, [text[:-1] for text in texts]
    return decimals
