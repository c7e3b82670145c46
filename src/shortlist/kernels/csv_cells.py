"""Cells of delimited text: where they end, and the numbers in them.

Quotes are those of RFC 4180, whichever character it is: a cell that begins with one ends
at the next that is not doubled, and may hold delimiters and newlines; what follows up to
the delimiter belongs to it, and quotes elsewhere are characters like any other.
"""

import numpy as np

from shortlist.kernels.name_words import ONES, equal_bytes, lowest
from shortlist.kernels.number_text import (
    EASY,
    NEWLINE,
    NO_NUMBER,
    RETURN,
    SPACE,
    TAB,
    character,
    first_marked,
    inlined,
    number_at,
    parsing_kernel,
    word_at,
)

# Where the characters of a cell are: in the text, in a copy, beyond the text's end.
AS_IT_IS, COPIED, OPEN = 0, 1, 2

_QUESTION = 63
_U8 = np.uint64(8)
_0 = np.int64(0)  # not the literal, for which others would be compiled once more
_NEWLINES = np.uint64(NEWLINE) * ONES
_LOWER_CASE = np.uint64(0x2020202020202020)


def _word(name):
    return np.uint64(
        int.from_bytes(name, "little") | int.from_bytes(b" " * 8, "little")
    )


_TRUE, _FALSE = _word(b"true"), _word(b"false")
_NA, _N_A, _NAN, _NULL, _NONE = map(_word, (b"na", b"n/a", b"nan", b"null", b"none"))
_OF_SHEETS = _word(b"#n/a")


@inlined
def ends_cell(text, p, delimiter):
    """Whether no cell goes on at p."""
    c = character(text, p)
    if c == RETURN:  # before a newline only; a last one counts as such
        return character(text, p + 1) == NEWLINE
    return c in (delimiter, NEWLINE)


@inlined
def plain_cell(text, p, delimiter):
    """Read a cell without quotes: start, stop, where it ends, where its text is."""
    delimiters = np.uint64(delimiter) * ONES
    start = p
    while True:
        word = word_at(text, p)
        n = first_marked(equal_bytes(word, delimiters) | equal_bytes(word, _NEWLINES))
        p += np.int64(n)
        if n < _U8 or p >= len(text):
            break
    p = min(p, len(text))
    if p > start and character(text, p) == NEWLINE and text[p - 1] == RETURN:
        p -= 1
    return start, p, p, AS_IT_IS


@parsing_kernel
def quoted_cell(text, p, delimiter, quote, scratch):
    """Read a cell that begins with a quote; its text is copied if it has to change."""
    n = _0
    end = p + 1
    while end < len(text):
        if text[end] == quote:
            if end + 1 == len(text) or text[end + 1] != quote:
                break
            end += 1
        scratch[n] = text[end]
        n += 1
        end += 1
    if end >= len(text):
        return p, p, end, OPEN
    stop = end
    end += 1
    if ends_cell(text, end, delimiter):
        if n == stop - p - 1:
            return p + 1, stop, end, AS_IT_IS
        return _0, n, end, COPIED
    while not ends_cell(text, end, delimiter):
        scratch[n] = text[end]
        n += 1
        end += 1
    return _0, n, end, COPIED


@parsing_kernel
def _small_word(text, start, stop):
    """Up to eight characters in lower case, blanks behind; 0 if there are more."""
    n = stop - start
    if n > 7:
        return np.uint64(0)
    word = lowest(word_at(text, start), np.uint64(n))
    return word | _LOWER_CASE  # of what is no letter it makes something else as well


@parsing_kernel
def _is_missing(text, start, stop):
    """Whether a cell of numbers holds nothing, or a word that says so."""
    word = _small_word(text, start, stop)
    n = stop - start
    return (
        n == 0
        or (n == 1 and text[start] == _QUESTION)
        or (n == 2 and word == _NA)
        or (n == 3 and word in (_NAN, _N_A))
        or (n == 4 and word in (_NULL, _NONE, _OF_SHEETS))
    )


@parsing_kernel
def _stripped(text, start, stop):
    """Leave blanks on both sides out."""
    while start < stop and text[start] in (SPACE, TAB):
        start += 1
    while start < stop and text[stop - 1] in (SPACE, TAB):
        stop -= 1
    return start, stop


@parsing_kernel
def number_cell(text, start, stop, is_truth):
    """Read a number or a truth value: value, where it is, its kind, whether missing."""
    start, stop = _stripped(text, start, stop)
    if _is_missing(text, start, stop):
        return np.nan, start, stop, NO_NUMBER, True
    if is_truth:
        word, n = _small_word(text, start, stop), stop - start
        if n == 4 and word == _TRUE:
            return 1.0, start, stop, EASY, False
        bad = n != 5 or word != _FALSE
        return 0.0, start, stop, (NO_NUMBER if bad else EASY), False
    value, end, kind = number_at(text, start)
    return value, start, stop, (kind if end == stop else NO_NUMBER), False
