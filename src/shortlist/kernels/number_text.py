"""Numbers in text: decimal digits into doubles and 64-bit ids.

Digits are read eight at a time: a 64-bit word holds eight characters, and arithmetic on
all its bytes at once finds where the digits end and which number they make. Numbers of
different lengths take the same path, so the processor seldom guesses a branch wrong.

Every number is rounded correctly, as ``float`` does. If its digits make an integer of
at most 2^53 and its power of ten is at most 22, one multiplication or division of exact
doubles does that. If not, the digits times 64 bits of the power of ten (the idea of
D. Lemire, "Number parsing at a gigabyte per second", Software: Practice and Experience
51, 2021) nearly always tell where to round. Any other number, one in a thousand of such,
is called ``HARD``, and who parses notes its place for Python to read.
"""

import math

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from shortlist.kernels._jit import kernel

# Nothing here allocates: without reference counts text is read some 15 % faster.
parsing_kernel = kernel(_nrt=False)
# A call would pass the position, which everything waits for, through memory.
inlined = kernel(_nrt=False, forceinline=True)

EASY, HARD, NO_NUMBER = 0, 1, 2

TAB, NEWLINE, RETURN, SPACE, HASH = 9, 10, 13, 32, 35
PLUS, MINUS, POINT, ZERO, ONE, COLON = 43, 45, 46, 48, 49, 58
UPPER_E, LOWER_D, LOWER_E, LOWER_I, LOWER_Q = 69, 100, 101, 105, 113

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
POINT_BYTE = np.uint64(POINT ^ ZERO)
_TWO_PAIRS = np.uint64(0x000000FF000000FF)
_WEIGHTS_OF_PAIRS_0_2 = np.uint64(100 + (1_000_000 << 32))
_WEIGHTS_OF_PAIRS_1_3 = np.uint64(1 + (10_000 << 32))
_WORD_POWERS = np.array([10**n for n in range(9)], np.uint64)

_MAX_EXACT = np.uint64(2**53)
_MAX_POWER = 22
POWERS = np.array([float(10**n) for n in range(_MAX_POWER + 1)])
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


@intrinsic
def trailing_zeros(_context, number):
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


@inlined
def character(text, p):
    """Character at p; a newline past the end."""
    return text[np.uint64(p)] if p < len(text) else np.uint8(NEWLINE)


@inlined
def word_at(text, p):
    """Eight characters from p on, the first in the lowest byte; zeros past the end."""
    if p + 8 > len(text):
        return _last_word(text, p)
    i = np.uint64(p)  # unsigned: spares the test for negative indices
    word = np.uint64(text[i])
    for k in range(1, 8):  # compiles to one load
        word |= np.uint64(text[i + np.uint64(k)]) << np.uint64(8 * k)
    return word


@parsing_kernel
def _last_word(text, p):
    word = _U0
    i = np.uint64(len(text))
    while i > np.uint64(p):
        i -= _U1
        word = (word << _U8) | np.uint64(text[i])
    return word


@inlined
def word_less_zeros(text, p):
    """Eight characters from p on less "0"; no digits past the end."""
    return word_at(text, p) ^ _ZEROS


@inlined
def not_digits(word):
    """Mark each byte that is above 9 by its high bit; no other bit is set."""
    return (((word & _LOW_SEVEN) + _TEN_TO_HIGH_BIT) | word) & _HIGH_BITS


@inlined
def first_marked(marks):
    """Number of the lowest marked byte; 8 if there is none."""
    return trailing_zeros(marks) >> _U3


@inlined
def _leading(word, n):
    """Integer of the first n <= 8 digits of a word."""
    # n digits at the end of the word, zeros before; by two shifts, as 64 at once is
    # undefined
    return joined(word << _U8 * (_U7 - n) << _U8 if n < _U8 else word)


@inlined
def joined(digits):
    """Integer of the eight digits of a word: neighbours join to pairs, pairs to all."""
    pairs = digits * _U10 + (digits >> _U8)
    upper = (pairs & _TWO_PAIRS) * _WEIGHTS_OF_PAIRS_0_2
    lower = ((pairs >> _U16) & _TWO_PAIRS) * _WEIGHTS_OF_PAIRS_1_3
    return (upper + lower) >> _U32


@inlined
def _digits(text, p, number):
    """Append digits to a number (modulo 2^64); return it and where they end."""
    while True:
        word = word_less_zeros(text, p)
        n = first_marked(not_digits(word))
        number = number * _WORD_POWERS[n] + _leading(word, n)
        p += np.int64(n)
        if n < _U8:
            return number, p


@parsing_kernel
def _exponent(text, p):
    """Read what follows the "e": exponent, end, whether there is one."""
    sign = character(text, p)
    if sign in (MINUS, PLUS):
        p += 1
    start = p
    exponent = 0
    while ZERO <= character(text, p) < COLON:
        exponent = min(10 * exponent + np.int64(character(text, p)) - ZERO, _HUGE)
        p += 1
    return (-exponent if sign == MINUS else exponent), p, p > start


@inlined
def _high_product(a, b):
    """Upper 64 of the 128 bits of a product."""
    a1, a0, b1, b0 = a >> _U32, a & _LOW_HALF, b >> _U32, b & _LOW_HALF
    middle = a1 * b0 + ((a0 * b0) >> _U32)
    other = a0 * b1 + (middle & _LOW_HALF)
    return a1 * b1 + (middle >> _U32) + (other >> _U32)


@parsing_kernel
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


@inlined
def _after_zeros(text, p):
    while character(text, p) == ZERO:
        p += 1
    return p


@parsing_kernel
def any_number(text, p):
    """Read an unsigned number of any form: value, end, easy or hard or none."""
    first = _after_zeros(text, p)
    mantissa, end = _digits(text, first, _U0)
    n_digits = end - first
    power = 0
    empty = end == p
    if character(text, end) == POINT:
        start = end + 1
        first = start if n_digits > 0 else _after_zeros(text, start)
        mantissa, end = _digits(text, first, mantissa)
        n_digits += end - first
        power = start - end
        empty = empty and end == start
    if empty:
        return 0.0, end, NO_NUMBER
    if character(text, end) in (LOWER_E, UPPER_E):
        exponent, end, good = _exponent(text, end + 1)
        if not good:
            return 0.0, end, NO_NUMBER
        power += exponent
    if n_digits == 0:
        return 0.0, end, EASY
    if n_digits > _MAX_DIGITS or abs(power) > _MAX_SCALED_POWER:
        return 0.0, end, HARD
    if mantissa > _MAX_EXACT or abs(power) > _MAX_POWER:
        value, certain = _scale(mantissa, power)
        return value, end, (EASY if certain else HARD)
    if power < 0:
        return np.float64(mantissa) / POWERS[-power], end, EASY
    return np.float64(mantissa) * POWERS[power], end, EASY


@inlined
def plain_number(text, p):
    """Read a number without sign and exponent, of at most eight characters.

    Returns its value, end, and whether there is one. It may go on after that: the
    caller has to look at what follows.
    """
    word = word_less_zeros(text, p)
    marks = not_digits(word)
    point = end = first_marked(marks)
    n_decimals = _U0
    good = end > _U0
    if point < _U8 and (word >> (_U8 * point)) & _BYTE == POINT_BYTE:
        # the digits before the point move over it
        before = (_U1 << (_U8 * point)) - _U1
        word = ((word & before) << _U8) | (word & (~before << _U8))
        end = first_marked(marks & (marks - _U1))
        n_decimals = end - point - _U1
        good = end > _U1
    stop = p + np.int64(end)
    return np.float64(_leading(word, end)) / POWERS[n_decimals], stop, good


@inlined
def _short_number(text, p):
    """Read a plain number that a blank or the end of the line follows, likewise."""
    value, end, good = plain_number(text, p)
    return value, end, good and character(text, end) <= SPACE


@parsing_kernel
def _unusual_number(text, p):
    sign = character(text, p)
    if sign in (MINUS, PLUS):
        p += 1
    kind = EASY
    value, end, good = _short_number(text, p)
    if not good:
        value, end, kind = any_number(text, p)
    return (-value if sign == MINUS else value), end, kind


@inlined
def number_at(text, p):
    """Read a number, whatever follows it: value, end, easy or hard or none."""
    value, end, good = _short_number(text, p)
    kind = EASY
    if not good:
        value, end, kind = _unusual_number(text, p)
    return value, end, kind


@inlined
def number_before(text, p, delimiter):
    """Read a plain number that ends at a delimiter or a newline: value, end, whether."""
    negative = character(text, p) == MINUS
    value, end, good = plain_number(text, p + 1 if negative else p)
    c = character(text, end)
    good = good and c in (delimiter, NEWLINE)
    return (-value if negative else value), end, good


@inlined
def read_number(text, p):
    """Read a number, which must end its token: value, end, easy or hard or none."""
    value, end, kind = number_at(text, p)
    return value, end, (kind if ends_token(character(text, end)) else NO_NUMBER)


@inlined
def _long_id(text, p):
    """Read an id of any length: id, end, whether it is below 2^64."""
    p = _after_zeros(text, p)
    first = character(text, p)
    number, end = _digits(text, p, _U0)
    fits = end - p <= _MAX_DIGITS or (
        # twenty digits: as 2^64 < 2 * 10^19, what wraps around ends up below 10^19
        end - p == _MAX_DIGITS + 1 and first == ONE and number >= _TEN_TO_19
    )
    return number, end, fits


@inlined
def read_id(text, p):
    """Read an id and its colon: id, where the value starts, whether all is well."""
    word = word_less_zeros(text, p)
    n = first_marked(not_digits(word))
    end = p + np.int64(n)
    if n > _U0 and character(text, end) == COLON:
        return _leading(word, n), end + 1, True
    number, end, fits = _long_id(text, p)
    return number, end + 1, fits and end > p and character(text, end) == COLON


@inlined
def after_blanks(text, p):
    """Place of the next character that is no blank."""
    while True:
        c = character(text, p)
        if c not in (SPACE, TAB, RETURN):
            return p
        p += 1


@inlined
def ends_token(c):
    """Whether no token goes on with this character."""
    return c in (SPACE, NEWLINE, RETURN, TAB, HASH)
