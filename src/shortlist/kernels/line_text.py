"""What parsers of text with a row a line share: room for the rows, and how far it came.

A number too hard for ``kernels.number_text`` leaves its place in ``hard``: the one who
reads it (``sources._lines``) multiplies what stands in its slots by it. The slots of a
number of its own hold 1; one number may also scale several values.
"""

from typing import NamedTuple

import numpy as np

from shortlist.kernels.number_text import NEWLINE, character, inlined, parsing_kernel
from shortlist.kernels.separators import marks_for

# Why parsing ended: with the text, or for a fault; each parser adds faults of its own.
GOOD, BAD_LABEL, BAD_WEIGHT = 0, 1, 2


class Rows(NamedTuple):
    """Room for what a text may hold; see ``room_for``."""

    indptr: np.ndarray  #: int64
    ids: np.ndarray  #: uint64
    values: np.ndarray  #: float64
    y: np.ndarray  #: float64
    weight: np.ndarray  #: float64
    hard: np.ndarray  #: int64, one a row, with the columns of ``Hard``
    line: np.ndarray  #: int64, line of each row, from 0
    marks: np.ndarray  #: int64, of ``kernels.separators``


class Hard(NamedTuple):
    """Columns of ``Rows.hard``: numbers that Python has to read, what they multiply."""

    fault: (
        np.ndarray
    )  #: what is wrong if the result is not good; tells labels from values
    row: np.ndarray
    first: (
        np.ndarray
    )  #: slots first ... last - 1 of values; of y or weight it is the row
    last: np.ndarray
    start: np.ndarray  #: of the number in the text
    stop: np.ndarray


class Parsed(NamedTuple):
    """How far parsing came and why it ended."""

    consumed: int  #: characters, always whole lines
    lines: int
    rows: int
    hard: int  #: hard numbers, including those before the fault in a bad line
    skipped: int  #: bad lines left out
    fault: int  #: GOOD or what was wrong
    where: int  #: a character of the token at fault, or where one is missing


def room_for(n, feature):
    """Room for any text of n characters in which a feature takes so many or more.

    A row takes two characters at least, a hard number four ("1e23"). Memory that
    nothing is written to costs nothing.
    """
    return Rows(
        np.zeros(n // 2 + 2, np.int64),
        np.empty(n // feature + 1, np.uint64),
        np.empty(n // feature + 1, np.float64),
        np.empty(n // 2 + 1, np.float64),
        np.empty(n // 2 + 1, np.float64),
        np.empty((n // 4 + 1, len(Hard._fields)), np.int64),
        np.empty(n // 2 + 1, np.int64),
        marks_for(n),
    )


@inlined
def note_hard(place, fault, row, slot, start, stop):
    """Write down a hard number that belongs to one slot."""
    place[0] = fault
    place[1] = row
    place[2] = slot
    place[3] = slot + 1
    place[4] = start
    place[5] = stop


@parsing_kernel
def whole_lines(text):
    """Length of the whole lines a text starts with."""
    n = len(text)
    while n > 0 and text[n - 1] != NEWLINE:
        n -= 1
    return n


@inlined
def next_line(text, p):
    """Where the line after the one around p starts."""
    while character(text, p) != NEWLINE:
        p += 1
    return min(p + 1, len(text))
