"""Numbers between two marks of ``kernels.separators``: no search for their ends.

Only those are read that are short and plain, with hardly a branch that depends on their
digits; whoever asks is told if the text between the marks is anything else.
"""

import numpy as np

from shortlist.kernels.number_text import (
    MINUS,
    POINT,
    POINT_BYTE,
    POWERS,
    ZERO,
    character,
    inlined,
    joined,
    not_digits,
    trailing_zeros,
    word_less_zeros,
)

_U0, _U1, _U3, _U7, _U8, _U15, _U63 = (np.uint64(n) for n in (0, 1, 3, 7, 8, 15, 63))
_BYTE = np.uint64(0xFF)
_WHOLE_BYTES = np.uint64(0x38)


@inlined
def _last(text, start, stop):
    """Characters less "0", at the end of a word, and whether they are one to eight."""
    n = np.uint64(stop - start)
    return word_less_zeros(text, start) << ((_U8 - n) << _U3 & _U63), n - _U1 < _U8


@inlined
def integer_between(text, start, stop):
    """Read one to eight digits: the number, and whether that is what stands there."""
    digits, fits = _last(text, start, stop)
    return joined(digits), fits & (not_digits(digits) == _U0)


@inlined
def _decimal_between(text, start, stop):
    """Read up to eight digits with a point among them, or none: value, and whether."""
    word, fits = _last(text, start, stop)
    marks = not_digits(word)
    is_whole = marks == _U0
    before_point = trailing_zeros(marks) & _WHOLE_BYTES  # in bits; 0 if there is none
    # the digits before the point move over it
    low = (_U1 << before_point) - _U1
    moved = ((word & low) << _U8) | (word & (~low << _U8))
    has_point = (
        ((word >> before_point) & _BYTE == POINT_BYTE)
        & (marks & (marks - _U1) == _U0)
        & (stop - start > 1)
    )
    n_decimals = _U0 if is_whole else _U7 - (before_point >> _U3)
    digits = joined(word if is_whole else moved)
    value = np.float64(np.int64(digits)) / POWERS[n_decimals]
    return value, fits & (is_whole | has_point)


@inlined
def number_between(text, start, stop):
    """Read up to eight digits, perhaps with a sign and a point: value, and whether."""
    negative = text[np.uint64(start)] == MINUS
    start += negative
    if character(text, start) == ZERO and character(text, start + 1) == POINT:
        digits, good = integer_between(text, start + 2, stop)
        n_decimals = np.uint64(stop - start - 2) & _U15
        value = np.float64(np.int64(digits)) / POWERS[n_decimals]
    else:
        value, good = _decimal_between(text, start, stop)
    return (-value if negative else value), good
