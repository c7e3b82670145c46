"""Lines of libsvm (svmlight) text into sparse rows: ``label id:value id:value # note``.

Digits are read eight at a time: a 64-bit word holds eight characters, and arithmetic on
all its bytes at once finds where the digits end and which number they make. Numbers of
different lengths take the same path, so the processor seldom guesses a branch wrong.

Every number is rounded correctly, as ``float`` does. If its digits make an integer of
at most 2^53 and its power of ten is at most 22, one multiplication or division of exact
doubles does that. If not, the digits times 64 bits of the power of ten (the idea of
D. Lemire, "Number parsing at a gigabyte per second", Software: Practice and Experience
51, 2021) nearly always tell where to round. The place of any other number, one in a
thousand of such, goes to ``hard``, and the caller reads it.

The caller's arrays must have the room that ``rows_for`` gives: no check is made here.
"""

import math
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from shortlist.kernels._jit import kernel

# Nothing here allocates: without reference counts text is read some 15 % faster.
_kernel = kernel(_nrt=False)
# A call would pass the position, which everything waits for, through memory.
_inlined = kernel(_nrt=False, forceinline=True)

GOOD, BAD_LABEL, BAD_FEATURE = 0, 1, 2  # why parsing ended
_EASY, _HARD, _NO_NUMBER = 0, 1, 2

_TAB, _NEWLINE, _RETURN, _SPACE, _HASH = 9, 10, 13, 32, 35
_PLUS, _MINUS, _POINT, _ZERO, _ONE, _COLON = 43, 45, 46, 48, 49, 58
_UPPER_E, _LOWER_D, _LOWER_E, _LOWER_I, _LOWER_Q = 69, 100, 101, 105, 113

# One operand of another type would turn unsigned arithmetic into floating point.
_U0, _U1, _U3, _U7, _U8, _U10, _U16, _U32, _U63 = (
    np.uint64(n) for n in (0, 1, 3, 7, 8, 10, 16, 32, 63)
)
_LOW_HALF = np.uint64(2**32 - 1)
_ZEROS = np.uint64(0x3030303030303030)  # eight times the character "0"
_LOW_SEVEN = np.uint64(0x7F7F7F7F7F7F7F7F)
_TEN_TO_HIGH_BIT = np.uint64(0x7676767676767676)  # 10 + 0x76 = 0x80
_HIGH_BITS = np.uint64(0x8080808080808080)
_BYTE = np.uint64(0xFF)
_POINT_BYTE = np.uint64(_POINT ^ _ZERO)
_TWO_PAIRS = np.uint64(0x000000FF000000FF)
_WEIGHTS_OF_PAIRS_0_2 = np.uint64(100 + (1_000_000 << 32))
_WEIGHTS_OF_PAIRS_1_3 = np.uint64(1 + (10_000 << 32))
_WORD_POWERS = np.array([10**n for n in range(9)], np.uint64)

_MAX_EXACT = np.uint64(2**53)
_MAX_POWER = 22
_POWERS = np.array([float(10**n) for n in range(_MAX_POWER + 1)])
_MAX_SCALED_POWER = 280  # no product is subnormal or infinite
_MAX_DIGITS = 19  # any 19 digits make a 64-bit integer
_TEN_TO_19 = np.uint64(10**19)
_HUGE = 10_000  # exponents stop growing here, far outside of the easy ones


def _scaled_power(power):
    """10^power as m * 2^e, m truncated to 64 bits of which the first is 1."""
    above, below = (10**power, 1) if power > 0 else (1, 10**-power)
    shift = 64 - above.bit_length() + below.bit_length()
    m = (above << max(shift, 0)) // (below << max(-shift, 0))
    return (m >> 1, 1 - shift) if m >> 64 else (m, -shift)


_SCALED = [_scaled_power(n) for n in range(-_MAX_SCALED_POWER, _MAX_SCALED_POWER + 1)]
_SCALED_MANTISSAS = np.array([m for m, _ in _SCALED], np.uint64)
_SCALED_EXPONENTS = np.array([e for _, e in _SCALED], np.int64)


class Rows(NamedTuple):
    """Room for what a text may hold; see ``rows_for``."""

    indptr: np.ndarray  #: int64
    ids: np.ndarray  #: uint64
    values: np.ndarray  #: float64
    y: np.ndarray  #: float64
    hard: np.ndarray  #: int64, rows of: index into values (or ~row), start, stop


class Parsed(NamedTuple):
    """How far parsing came and why it ended."""

    consumed: int  #: characters, always whole lines
    lines: int
    rows: int
    hard: int  #: hard numbers, including those before the fault in a bad line
    skipped: int  #: bad lines left out
    fault: int  #: GOOD, BAD_LABEL or BAD_FEATURE
    where: int  #: start of the token at fault


def rows_for(n: int) -> Rows:
    """Room for any text of n characters.

    A row takes two characters at least, a feature four (" 1:2"), a hard number four
    ("1e23"). Memory that nothing is written to costs nothing.
    """
    return Rows(
        np.zeros(n // 2 + 2, np.int64),
        np.empty(n // 4 + 1, np.uint64),
        np.empty(n // 4 + 1, np.float64),
        np.empty(n // 2 + 1, np.float64),
        np.empty((n // 4 + 1, 3), np.int64),
    )


@intrinsic
def _trailing_zeros(_context, number):
    """Number of zero bits below the lowest one; 64 if number is 0.

    It and the next one are single instructions that neither Python nor NumPy offers.
    """

    def build(_context, builder, _signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), build


@intrinsic
def _leading_zeros(_context, number):
    """Number of zero bits above the highest one; 64 if number is 0."""

    def build(_context, builder, _signature, arguments):
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), build


@_inlined
def _at(text, p):
    """Character at p; a newline past the end."""
    return text[np.uint64(p)] if p < len(text) else np.uint8(_NEWLINE)


@_inlined
def _word(text, p):
    """Eight characters from p on less "0", the first in the lowest byte."""
    if p + 8 > len(text):
        return _last_word(text, p)
    i = np.uint64(p)  # unsigned: spares the test for negative indices
    word = np.uint64(text[i])
    for k in range(1, 8):  # compiles to one load
        word |= np.uint64(text[i + np.uint64(k)]) << np.uint64(8 * k)
    return word ^ _ZEROS


@_kernel
def _last_word(text, p):
    word = _U0  # past the end: no digits
    i = np.uint64(len(text))
    while i > np.uint64(p):
        i -= _U1
        word = (word << _U8) | np.uint64(text[i])
    return word ^ _ZEROS


@_inlined
def _not_digits(word):
    """Mark each byte that is above 9 by its high bit; no other bit is set."""
    return (((word & _LOW_SEVEN) + _TEN_TO_HIGH_BIT) | word) & _HIGH_BITS


@_inlined
def _first(marks):
    """Number of the lowest marked byte; 8 if there is none."""
    return _trailing_zeros(marks) >> _U3


@_inlined
def _leading(word, n):
    """Integer of the first n <= 8 digits of a word."""
    # n digits at the end of the word, zeros before; by two shifts, as 64 at once is
    # undefined. Then neighbours join: digits to pairs, pairs to the whole.
    digits = word << _U8 * (_U7 - n) << _U8 if n < _U8 else word
    pairs = digits * _U10 + (digits >> _U8)
    upper = (pairs & _TWO_PAIRS) * _WEIGHTS_OF_PAIRS_0_2
    lower = ((pairs >> _U16) & _TWO_PAIRS) * _WEIGHTS_OF_PAIRS_1_3
    return (upper + lower) >> _U32


@_inlined
def _digits(text, p, number):
    """Append digits to a number (modulo 2^64); return it and where they end."""
    while True:
        word = _word(text, p)
        n = _first(_not_digits(word))
        number = number * _WORD_POWERS[n] + _leading(word, n)
        p += np.int64(n)
        if n < _U8:
            return number, p


@_kernel
def _exponent(text, p):
    """Read what follows the "e": exponent, end, whether there is one."""
    sign = _at(text, p)
    if sign in (_MINUS, _PLUS):
        p += 1
    start = p
    exponent = 0
    while _ZERO <= _at(text, p) < _COLON:
        exponent = min(10 * exponent + np.int64(_at(text, p)) - _ZERO, _HUGE)
        p += 1
    return (-exponent if sign == _MINUS else exponent), p, p > start


@_inlined
def _high_product(a, b):
    """Upper 64 of the 128 bits of a product."""
    a1, a0, b1, b0 = a >> _U32, a & _LOW_HALF, b >> _U32, b & _LOW_HALF
    middle = a1 * b0 + ((a0 * b0) >> _U32)
    other = a0 * b1 + (middle & _LOW_HALF)
    return a1 * b1 + (middle >> _U32) + (other >> _U32)


@_kernel
def _scale(mantissa, power):
    """Round mantissa * 10^power; also tell whether that is certain to be right."""
    zeros = _leading_zeros(mantissa)
    i = power + _MAX_SCALED_POWER
    # The power lacks less than 1 in its last bit, so the true product is less than 2
    # above this one: only with a tail just below or at the middle may it round
    # otherwise.
    product = _high_product(mantissa << zeros, _SCALED_MANTISSAS[i])
    n_tail = _U10 + (product >> _U63)
    middle = _U1 << (n_tail - _U1)
    tail = product & (middle + middle - _U1)
    rounded = (product >> n_tail) + (_U1 if tail > middle else _U0)
    exponent = _SCALED_EXPONENTS[i] + 64 - np.int64(zeros) + np.int64(n_tail)
    certain = tail != middle and tail != middle - _U1
    return math.ldexp(np.float64(rounded), exponent), certain


@_inlined
def _after_zeros(text, p):
    while _at(text, p) == _ZERO:
        p += 1
    return p


@_kernel
def _any_number(text, p):
    """Read an unsigned number of any form: value, end, easy or hard or none."""
    first = _after_zeros(text, p)
    mantissa, end = _digits(text, first, _U0)
    n_digits = end - first
    power = 0
    empty = end == p
    if _at(text, end) == _POINT:
        start = end + 1
        first = start if n_digits > 0 else _after_zeros(text, start)
        mantissa, end = _digits(text, first, mantissa)
        n_digits += end - first
        power = start - end
        empty = empty and end == start
    if empty:
        return 0.0, end, _NO_NUMBER
    if _at(text, end) in (_LOWER_E, _UPPER_E):
        exponent, end, good = _exponent(text, end + 1)
        if not good:
            return 0.0, end, _NO_NUMBER
        power += exponent
    if n_digits == 0:
        return 0.0, end, _EASY
    if n_digits > _MAX_DIGITS or abs(power) > _MAX_SCALED_POWER:
        return 0.0, end, _HARD
    if mantissa > _MAX_EXACT or abs(power) > _MAX_POWER:
        value, certain = _scale(mantissa, power)
        return value, end, (_EASY if certain else _HARD)
    if power < 0:
        return np.float64(mantissa) / _POWERS[-power], end, _EASY
    return np.float64(mantissa) * _POWERS[power], end, _EASY


@_inlined
def _short_number(text, p):
    """Read a plain number of at most eight characters: value, end, whether it is one.

    It counts as one only if a blank or the end of the line follows.
    """
    word = _word(text, p)
    marks = _not_digits(word)
    point = end = _first(marks)
    n_decimals = _U0
    good = end > _U0
    if point < _U8 and (word >> (_U8 * point)) & _BYTE == _POINT_BYTE:
        # the digits before the point move over it
        before = (_U1 << (_U8 * point)) - _U1
        word = ((word & before) << _U8) | (word & (~before << _U8))
        end = _first(marks & (marks - _U1))
        n_decimals = end - point - _U1
        good = end > _U1
    stop = p + np.int64(end)
    good = good and _at(text, stop) <= _SPACE
    return np.float64(_leading(word, end)) / _POWERS[n_decimals], stop, good


@_kernel
def _unusual_number(text, p):
    sign = _at(text, p)
    if sign in (_MINUS, _PLUS):
        p += 1
    kind = _EASY
    value, end, good = _short_number(text, p)
    if not good:
        value, end, kind = _any_number(text, p)
    return (-value if sign == _MINUS else value), end, kind


@_inlined
def _number(text, p):
    """Read a number, which must end its token: value, end, easy or hard or none."""
    value, end, good = _short_number(text, p)
    kind = _EASY
    if not good:
        value, end, kind = _unusual_number(text, p)
    return value, end, (kind if _ends_token(_at(text, end)) else _NO_NUMBER)


@_inlined
def _long_id(text, p):
    """Read an id of any length: id, end, whether it is below 2^64."""
    p = _after_zeros(text, p)
    first = _at(text, p)
    number, end = _digits(text, p, _U0)
    fits = end - p <= _MAX_DIGITS or (
        # twenty digits: as 2^64 < 2 * 10^19, what wraps around ends up below 10^19
        end - p == _MAX_DIGITS + 1 and first == _ONE and number >= _TEN_TO_19
    )
    return number, end, fits


@_inlined
def _id(text, p):
    """Read an id and its colon: id, where the value starts, whether all is well."""
    word = _word(text, p)
    n = _first(_not_digits(word))
    end = p + np.int64(n)
    if n > _U0 and _at(text, end) == _COLON:
        return _leading(word, n), end + 1, True
    number, end, fits = _long_id(text, p)
    return number, end + 1, fits and end > p and _at(text, end) == _COLON


@_inlined
def _after_blanks(text, p):
    while True:
        c = _at(text, p)
        if c not in (_SPACE, _TAB, _RETURN):
            return p
        p += 1


@_inlined
def _ends_token(c):
    return c in (_SPACE, _NEWLINE, _RETURN, _TAB, _HASH)


@_kernel
def _after_query(text, p):
    """Where a token ends that starts with "qid:"; p if this one does not."""
    if (
        _at(text, p + 1) != _LOWER_I
        or _at(text, p + 2) != _LOWER_D
        or _at(text, p + 3) != _COLON
    ):
        return p
    while not _ends_token(_at(text, p)):
        p += 1
    return p


@_inlined
def _note(place, slot, start, stop):
    place[0] = slot
    place[1] = start
    place[2] = stop


@_inlined
def _features(text, p, out, n, n_hard):
    """Read the rest of a line: where it stopped, both counts, whether all is well."""
    while True:
        p = _after_blanks(text, p)
        c = _at(text, p)
        if c in (_NEWLINE, _HASH):
            return p, n, n_hard, True
        if c == _LOWER_Q:
            end = _after_query(text, p)
            if end > p:
                p = end
                continue
        number, start, good = _id(text, p)
        if not good:
            return p, n, n_hard, False
        value, end, kind = _number(text, start)
        if kind == _NO_NUMBER:
            return p, n, n_hard, False
        if kind == _HARD:
            _note(out.hard[n_hard], n, start, end)
            n_hard += 1
        out.ids[n] = number
        out.values[n] = value
        n += 1
        p = end


@_kernel
def _complete(text):
    """Length of the whole lines a text starts with."""
    n = len(text)
    while n > 0 and text[n - 1] != _NEWLINE:
        n -= 1
    return n


@_kernel
def parse_lines(text, is_end, skip_bad, out):
    """Parse the whole lines of a text; if ``is_end``, the last needs no newline.

    A bad line ends it, or is left out if ``skip_bad``. Text is a read-only array of
    bytes, out are ``Rows``; returns what was ``Parsed``.
    """
    if not is_end:
        text = text[: _complete(text)]
    p = lines = rows = n = n_hard = skipped = 0
    while p < len(text):
        line = p
        p = _after_blanks(text, p)
        if _at(text, p) not in (_NEWLINE, _HASH):
            hard_before = n_hard
            fault = BAD_LABEL
            label, end, kind = _number(text, p)
            if kind != _NO_NUMBER:
                if kind == _HARD:
                    _note(out.hard[n_hard], ~rows, p, end)
                    n_hard += 1
                p, n, n_hard, good = _features(text, end, out, n, n_hard)
                fault = GOOD if good else BAD_FEATURE
            if fault == GOOD:
                out.y[rows] = label
                rows += 1
                out.indptr[rows] = n
            elif skip_bad:
                n, n_hard = out.indptr[rows], hard_before
                skipped += 1
            else:
                return Parsed(line, lines, rows, n_hard, skipped, fault, p)
        while _at(text, p) != _NEWLINE:
            p += 1
        p = min(p + 1, len(text))
        lines += 1
    return Parsed(p, lines, rows, n_hard, skipped, GOOD, p)
