"""What a cell of delimited text holds: a number, nothing, or other text."""

from __future__ import annotations

import re

_NUMBER = re.compile(
    rb"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|inf(inity)?)", re.IGNORECASE
)
_DECIMAL_COMMA = re.compile(rb"[+-]?[0-9]+,[0-9]+")
#: Words that stand for no value in a column of numbers, in any case.
MISSING_WORDS = frozenset((b"", b"na", b"n/a", b"#n/a", b"nan", b"null", b"none", b"?"))


def is_number(cell: bytes) -> bool:
    """Whether a cell holds a number, finite or not, with or without blanks around."""
    return _NUMBER.fullmatch(cell.strip(b" \t")) is not None


def is_missing(cell: bytes) -> bool:
    """Whether a cell of numbers holds nothing."""
    return cell.strip(b" \t").lower() in MISSING_WORDS


def has_decimal_comma(cell: bytes) -> bool:
    """Whether a cell holds a number as some countries write it: 1,5."""
    return _DECIMAL_COMMA.fullmatch(cell.strip(b" \t")) is not None
