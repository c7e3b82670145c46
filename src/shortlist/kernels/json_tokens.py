"""Strings, numbers and words of JSON text (RFC 8259).

Strings are decoded to UTF-8 in a buffer. Characters are looked at eight at a time, until
one is special: a quote, a backslash, a control character, or one that is not ASCII. Every
string is checked: escapes must be those of JSON, surrogates come in pairs, bytes are
valid UTF-8. What is written never takes more bytes than what is read; a buffer needs
``SLACK`` more than that. Numbers are those of ``kernels.number_text``, less the forms that
JSON does not know.
"""

import numpy as np

from shortlist.kernels.line_text import GOOD
from shortlist.kernels.name_words import ONES, equal_bytes
from shortlist.kernels.number_text import (
    COLON,
    EASY,
    LOWER_E,
    MINUS,
    NO_NUMBER,
    POINT,
    UPPER_E,
    ZERO,
    any_number,
    character,
    first_marked,
    inlined,
    parsing_kernel,
    plain_number,
    word_at,
)

# Faults; those of other parts of JSON text follow them.
BAD_CHARACTER, BAD_ESCAPE, BAD_SURROGATE, BAD_UTF8 = 3, 4, 5, 6

SLACK = 8  # words are written whole
QUOTE, BACKSLASH = 34, 92
LOWER_N, LOWER_U = 110, 117

_SPACE = 32
_NON_ASCII = 128
_CONTINUES = 128  # bytes of UTF-8 from 128 to 191 go on with a character
_ESCAPES = np.zeros(128, np.uint8)  # what a letter after a backslash stands for
for _letter, _meaning in zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t', strict=True):
    _ESCAPES[_letter] = _meaning

_U8 = np.uint64(8)
_QUOTES, _BACKSLASHES, _SPACES, _HIGH_BITS = (
    np.uint64(c) * ONES for c in (QUOTE, BACKSLASH, _SPACE, _NON_ASCII)
)
_TRUE, _NULL, _FALSE = (
    np.uint64(int.from_bytes(word, "little")) for word in (b"true", b"null", b"false")
)
_FOUR_BYTES, _FIVE_BYTES = np.uint64(2**32 - 1), np.uint64(2**40 - 1)
_HIGH_SURROGATES, _LOW_SURROGATES, _AFTER_SURROGATES = 0xD800, 0xDC00, 0xE000


@inlined
def write_word(word, out, q):
    """Write eight characters."""
    i = np.uint64(q)
    for k in range(8):  # compiles to one store
        out[i + np.uint64(k)] = np.uint8(word >> np.uint64(8 * k))


@inlined
def copy(text, p, stop, out, q):
    """Copy characters p ... stop - 1 to a buffer from q on; return where they end."""
    for i in range(p, stop, 8):
        write_word(word_at(text, i), out, q + i - p)
    return q + stop - p


@inlined
def _special_marks(word):
    """Mark what cannot just be copied; the lowest mark is right, as of ``equal_bytes``."""
    controls = (word - _SPACES) & ~word
    return (
        equal_bytes(word, _QUOTES)
        | equal_bytes(word, _BACKSLASHES)
        | ((controls | word) & _HIGH_BITS)
    )


@parsing_kernel
def _hex_digits(text, p):
    """Read four hexadecimal digits; -1 if these are none."""
    number = 0
    for i in range(p, p + 4):
        c = np.int64(character(text, i))
        if 48 <= c <= 57:
            digit = c - 48
        elif 97 <= (c | 32) <= 102:
            digit = (c | 32) - 87
        else:
            return -1
        number = 16 * number + digit
    return number


@parsing_kernel
def _write_utf8(point, out, q):
    """Write a code point; return where it ends."""
    if point < 0x80:
        out[q] = point
        return q + 1
    if point < 0x800:
        out[q] = 0xC0 | (point >> 6)
    else:
        if point < 0x10000:
            out[q] = 0xE0 | (point >> 12)
        else:
            out[q] = 0xF0 | (point >> 18)
            q += 1
            out[q] = _CONTINUES | ((point >> 12) & 63)
        q += 1
        out[q] = _CONTINUES | ((point >> 6) & 63)
    out[q + 1] = _CONTINUES | (point & 63)
    return q + 2


@parsing_kernel
def _unescape(text, p, out, q):
    """Decode what starts with the backslash at p: both places after it, fault."""
    letter = character(text, p + 1)
    if letter != LOWER_U:
        if letter >= _NON_ASCII or _ESCAPES[letter] == 0:
            return p, q, BAD_ESCAPE
        out[q] = _ESCAPES[letter]
        return p + 2, q + 1, GOOD
    point = _hex_digits(text, p + 2)
    if point < 0:
        return p, q, BAD_ESCAPE
    end = p + 6
    if _HIGH_SURROGATES <= point < _AFTER_SURROGATES:
        second = -1
        if (
            point < _LOW_SURROGATES
            and character(text, end) == BACKSLASH
            and character(text, end + 1) == LOWER_U
        ):
            second = _hex_digits(text, end + 2)
        if not _LOW_SURROGATES <= second < _AFTER_SURROGATES:
            return p, q, BAD_SURROGATE
        point = 0x10000 + ((point & 0x3FF) << 10) + (second & 0x3FF)
        end += 6
    return end, _write_utf8(point, out, q), GOOD


@parsing_kernel
def _copy_utf8(text, p, out, q):
    """Copy a character that is not ASCII: both places after it, fault."""
    first = np.int64(character(text, p))
    second = np.int64(character(text, p + 1))
    # The second byte tells too long forms, surrogates and what is beyond Unicode.
    least, most = 0x80, 0xBF
    if 0xC2 <= first <= 0xDF:
        n = 2
    elif 0xE0 <= first <= 0xEF:
        n = 3
        if first == 0xE0:
            least = 0xA0
        elif first == 0xED:
            most = 0x9F
    elif 0xF0 <= first <= 0xF4:
        n = 4
        if first == 0xF0:
            least = 0x90
        elif first == 0xF4:
            most = 0x8F
    else:
        return p, q, BAD_UTF8
    if not least <= second <= most:
        return p, q, BAD_UTF8
    for i in range(2, n):
        if character(text, p + i) & 0xC0 != _CONTINUES:
            return p, q, BAD_UTF8
    for i in range(n):
        out[q + i] = text[p + i]
    return p + n, q + n, GOOD


@inlined
def read_string(text, p, out, q):
    """Decode a string to q, from behind its first quote: both places after it, fault.

    At a fault the place in the text is that of the character at fault.
    """
    while True:
        word = word_at(text, p)  # past the end are zeros, which are control characters
        write_word(word, out, q)
        n = first_marked(_special_marks(word))
        p += np.int64(n)
        q += np.int64(n)
        if n < _U8:
            c = character(text, p)
            fault = GOOD
            if c == QUOTE:
                return p + 1, q, GOOD
            if c == BACKSLASH:
                p, q, fault = _unescape(text, p, out, q)
            elif c < _SPACE:
                fault = BAD_CHARACTER
            else:
                p, q, fault = _copy_utf8(text, p, out, q)
            if fault != GOOD:
                return p, q, fault


@inlined
def is_digit(c):
    """Whether this is one of the ten digits."""
    return ZERO <= c < COLON


@inlined
def _starts_well(text, p):
    """Whether a number starts with a digit, and with a zero only if it is alone."""
    c = character(text, p)
    return is_digit(c) and not (c == ZERO and is_digit(character(text, p + 1)))


@parsing_kernel
def _long_number(text, p):
    """Read an unsigned number of any form: value, end, easy or hard or none."""
    value, end, kind = any_number(text, p)
    while is_digit(character(text, p)):
        p += 1
    if character(text, p) == POINT and not is_digit(character(text, p + 1)):
        kind = NO_NUMBER
    return value, end, kind


@inlined
def read_number(text, p):
    """Read a number, whatever follows it: value, end, easy or hard or none."""
    is_negative = character(text, p) == MINUS
    if is_negative:
        p += 1
    value, end, good = plain_number(text, p)
    after, kind = character(text, end), EASY
    if not good or is_digit(after) or after in (POINT, LOWER_E, UPPER_E):
        value, end, kind = _long_number(text, p)
    if not _starts_well(text, p) or character(text, end - 1) == POINT:
        kind = NO_NUMBER
    return (-value if is_negative else value), end, kind


@inlined
def after_literal(text, p):
    """Where true, false or null at p ends; p if it is none of them."""
    word = word_at(text, p)
    if word & _FOUR_BYTES in (_TRUE, _NULL):
        return p + 4
    return p + 5 if word & _FIVE_BYTES == _FALSE else p
