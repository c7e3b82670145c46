"""FASTA and FASTQ text into letters: small codes, one a base, and where records begin.

A record of FASTA may be a whole chromosome, so its text is read as it comes, in windows
that may end anywhere but within a header. A record of FASTQ is short and is read whole.

The caller's arrays must have the room that ``room_for`` gives: no check is made here.
"""

from typing import NamedTuple

import numpy as np

from shortlist.kernels.number_text import NEWLINE, SPACE, inlined, parsing_kernel

GREATER, AT, PLUS = ord(">"), ord("@"), ord("+")

# What a table makes of a character besides codes of letters, which are below 16.
BREAK = 16  # a letter that no k-mer may contain
_BLANK, _LINE_END, _BAD = 17, 18, 19

# Why reading ended: with the text, or for a fault.
GOOD, BAD_LETTER, NO_AT, NO_PLUS, BAD_QUALITY, CUT_SHORT = range(6)


class State(NamedTuple):
    """What has to be known of the text before a window, as places in an array."""

    lines: int = 0  #: lines before the window
    in_line: int = 1  #: whether the window begins within a line of letters
    lost: int = 2  #: whether the beginning of the next read is to be looked for


class Mark(NamedTuple):
    """Columns of marks: a record of the window each; the first goes on from before."""

    start: int = 0  #: of its header in the text, without the first character
    stop: int = 1
    letter: int = 2  #: its first letter among those of the window
    line: int = 3  #: of its header, from 0
    bad: int = 4  #: whether it is to be left out


class Sequences(NamedTuple):
    """Room for what a text may hold."""

    letters: np.ndarray  #: uint8
    marks: np.ndarray  #: int64, with the columns of ``Mark``


class Outcome(NamedTuple):
    """How far reading came and why it ended."""

    consumed: int  #: characters
    letters: int
    marks: int
    fault: int  #: GOOD or what was wrong
    where: int  #: the character at fault
    line: int  #: its line, from 0


def room_for(n):
    """Room for any text of n characters: a record takes two (">" and a newline)."""
    return Sequences(
        np.empty(n, np.uint8), np.empty((n // 2 + 2, len(Mark._fields)), np.int64)
    )


def fresh_state():
    """State at the beginning of a file."""
    return np.zeros(len(State._fields), np.int64)


def letter_table(codes):
    """Table of all characters, from codes of the upper-case letters that are known."""
    table = np.full(256, _BAD, np.uint8)
    for letter, code in codes.items():
        table[ord(letter)] = table[ord(letter.lower())] = code
    table[[ord(blank) for blank in " \t\r"]] = _BLANK
    table[NEWLINE] = _LINE_END
    return table


_LINES, _IN_LINE, _LOST = State()
_START, _STOP, _LETTER, _LINE, _MARKED_BAD = Mark()


@inlined
def _put_mark(mark, start, stop, letter, line):
    mark[_START] = start
    mark[_STOP] = stop
    mark[_LETTER] = letter
    mark[_LINE] = line
    mark[_MARKED_BAD] = 0


@parsing_kernel
def _line_end(text, p):
    """Where the line around p ends: its newline, or the end of the text."""
    while p < len(text) and text[p] != NEWLINE:
        p += 1
    return min(p, len(text))


@inlined
def _read_letters(text, p, stop, table, letters, n):
    """Read letters up to a newline, a fault or stop: where, how many, what stands there."""
    while p < stop:
        code = table[text[p]]
        if code <= BREAK:
            letters[n] = code
            n += 1
        elif code != _BLANK:
            return p, n, code
        p += 1
    return p, n, np.uint8(_LINE_END)


@parsing_kernel
def read_fasta(text, is_end, skip_bad, table, state, out):
    """Read the records of a window; returns the fields of ``Outcome``.

    Nothing is left unread but a header whose line is not whole, unless ``is_end``. A bad
    letter ends it, or has its record marked if ``skip_bad``. Before the first header
    there must be nothing but blanks.
    """
    p = n = 0
    marks = 1
    _put_mark(out.marks[0], 0, 0, 0, state[_LINES])
    while p < len(text):
        if state[_IN_LINE] == 0 and text[p] == GREATER:
            end = _line_end(text, p)
            if end == len(text) and not is_end:
                break
            _put_mark(out.marks[marks], p + 1, end, n, state[_LINES])
            marks += 1
            p = min(end + 1, len(text))
            state[_LINES] += 1
            continue
        p, n, code = _read_letters(text, p, len(text), table, out.letters, n)
        if p == len(text):
            state[_IN_LINE] = 1
        elif code == _LINE_END:
            state[_IN_LINE] = 0
            state[_LINES] += 1
            p += 1
        elif skip_bad:
            state[_IN_LINE] = 1
            out.marks[marks - 1, _MARKED_BAD] = 1
            p += 1
        else:
            return p, n, marks, BAD_LETTER, p, state[_LINES]
    return p, n, marks, GOOD, p, state[_LINES]


@parsing_kernel
def _read_one(text, start, ends, table, letters, n):
    """Read the four lines of a read: letters so far, fault, where, on which line."""
    header, bases, plus, quality = ends
    if text[start] != AT:
        return n, NO_AT, start, 0
    before = n
    p, n, code = _read_letters(text, header + 1, bases, table, letters, n)
    if p < bases and code != _LINE_END:
        return n, BAD_LETTER, p, 1
    if plus >= len(text):  # there is no fourth line, be it empty
        if bases + 1 < len(text) and text[bases + 1] != PLUS:
            return n, NO_PLUS, bases + 1, 2
        return n, CUT_SHORT, start, 0
    if text[bases + 1] != PLUS:
        return n, NO_PLUS, bases + 1, 2
    first, last = plus + 1, quality
    while last > first and text[last - 1] <= SPACE:
        last -= 1
    while first < last and text[first] <= SPACE:
        first += 1
    if last - first != n - before:
        return n, BAD_QUALITY, start, 3
    return n, GOOD, quality, 3


@parsing_kernel
def read_fastq(text, is_end, skip_bad, table, state, out):
    """Read the whole reads of a window, four lines each; returns ``Outcome``'s fields.

    A bad read ends it, or is marked if ``skip_bad``: then reading goes on at the next
    line that begins with "@" and has "+" two lines below, as a quality may begin with
    "@" too. Blank lines between reads are passed over.
    """
    p = n = 0
    marks = 1
    _put_mark(out.marks[0], 0, 0, 0, state[_LINES])
    while True:
        while p < len(text) and text[p] <= SPACE:
            state[_LINES] += text[p] == NEWLINE
            p += 1
        if p == len(text):
            break
        header = _line_end(text, p)
        bases = _line_end(text, header + 1)
        if state[_LOST] == 1:
            if bases + 1 >= len(text) and not is_end:
                break
            if text[p] != AT or bases + 1 >= len(text) or text[bases + 1] != PLUS:
                state[_LINES] += header < len(text)
                p = min(header + 1, len(text))
                continue
            state[_LOST] = 0
        plus = _line_end(text, bases + 1)
        quality = _line_end(text, plus + 1)
        if quality == len(text) and not is_end:
            break
        line = state[_LINES]
        _put_mark(out.marks[marks], p + 1, header, n, line)
        ends = (header, bases, plus, quality)
        now, fault, where, below = _read_one(text, p, ends, table, out.letters, n)
        if fault == GOOD:
            n = now
            marks += 1
            state[_LINES] += 3 + (quality < len(text))
            p = min(quality + 1, len(text))
        elif skip_bad:
            out.marks[marks, _MARKED_BAD] = 1
            marks += 1
            state[_LOST] = 1
            state[_LINES] += header < len(text)
            p = min(header + 1, len(text))
        else:
            return p, n, marks, fault, where, line + below
    return p, n, marks, GOOD, p, state[_LINES]
