"""Lines of libsvm (svmlight) text into sparse rows: ``label id:value id:value # note``.

The caller's arrays must have the room that ``rows_for`` gives: no check is made here.
Numbers too hard for ``kernels.number_text`` leave their places in ``hard``.
"""

from typing import NamedTuple

import numpy as np

from shortlist.kernels.number_text import (
    COLON,
    HARD,
    HASH,
    LOWER_D,
    LOWER_I,
    LOWER_Q,
    NEWLINE,
    NO_NUMBER,
    after_blanks,
    character,
    ends_token,
    inlined,
    parsing_kernel,
    read_id,
    read_number,
)

GOOD, BAD_LABEL, BAD_FEATURE = 0, 1, 2  # why parsing ended


class Rows(NamedTuple):
    """Room for what a text may hold; see ``rows_for``."""

    indptr: np.ndarray  #: int64
    ids: np.ndarray  #: uint64
    values: np.ndarray  #: float64
    y: np.ndarray  #: float64
    hard: np.ndarray  #: int64, rows of: index into values (or ~row), start, stop
    line: np.ndarray  #: int64, line of each row, from 0


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
        np.empty(n // 2 + 1, np.int64),
    )


@parsing_kernel
def _after_query(text, p):
    """Where a token ends that starts with "qid:"; p if this one does not."""
    if (
        character(text, p + 1) != LOWER_I
        or character(text, p + 2) != LOWER_D
        or character(text, p + 3) != COLON
    ):
        return p
    while not ends_token(character(text, p)):
        p += 1
    return p


@inlined
def _note(place, slot, start, stop):
    place[0] = slot
    place[1] = start
    place[2] = stop


@inlined
def _features(text, p, out, n, n_hard):
    """Read the rest of a line: where it stopped, both counts, whether all is well."""
    while True:
        p = after_blanks(text, p)
        c = character(text, p)
        if c in (NEWLINE, HASH):
            return p, n, n_hard, True
        if c == LOWER_Q:
            end = _after_query(text, p)
            if end > p:
                p = end
                continue
        number, start, good = read_id(text, p)
        if not good:
            return p, n, n_hard, False
        value, end, kind = read_number(text, start)
        if kind == NO_NUMBER:
            return p, n, n_hard, False
        if kind == HARD:
            _note(out.hard[n_hard], n, start, end)
            n_hard += 1
        out.ids[n] = number
        out.values[n] = value
        n += 1
        p = end


@parsing_kernel
def _complete(text):
    """Length of the whole lines a text starts with."""
    n = len(text)
    while n > 0 and text[n - 1] != NEWLINE:
        n -= 1
    return n


@parsing_kernel
def parse_lines(text, is_end, skip_bad, out):
    """Parse the whole lines of a text; if ``is_end``, the last needs no newline.

    A bad line ends it, or is left out if ``skip_bad``. Text is a read-only array of
    bytes, out are ``Rows``; returns the fields of ``Parsed``. (A NamedTuple would be made
    by Python code, and Ctrl-C there would crash the interpreter.)
    """
    if not is_end:
        text = text[: _complete(text)]
    p = lines = rows = n = n_hard = skipped = 0
    while p < len(text):
        line = p
        p = after_blanks(text, p)
        if character(text, p) not in (NEWLINE, HASH):
            hard_before = n_hard
            fault = BAD_LABEL
            label, end, kind = read_number(text, p)
            if kind != NO_NUMBER:
                if kind == HARD:
                    _note(out.hard[n_hard], ~rows, p, end)
                    n_hard += 1
                p, n, n_hard, good = _features(text, end, out, n, n_hard)
                fault = GOOD if good else BAD_FEATURE
            if fault == GOOD:
                out.y[rows], out.line[rows] = label, lines
                rows += 1
                out.indptr[rows] = n
            elif skip_bad:
                n, n_hard = out.indptr[rows], hard_before
                skipped += 1
            else:
                return line, lines, rows, n_hard, skipped, fault, p
        while character(text, p) != NEWLINE:
            p += 1
        p = min(p + 1, len(text))
        lines += 1
    return p, lines, rows, n_hard, skipped, GOOD, p
