"""Rows of delimited text (CSV) into sparse rows: ``31,"Bonn, Germany",yes``.

What a cell is, ``kernels.csv_cells`` knows. Blank lines are passed over. The id of a
text cell is the hash that ``kernels.name_hash`` gives ``column=value``. The caller's
arrays must have the room that ``rows_for`` gives: no check is made here. Numbers too hard
for ``kernels.number_text`` leave their places in ``hard``.
"""

from typing import NamedTuple

import numpy as np

from shortlist.kernels.csv_cells import (
    COPIED,
    OPEN,
    ends_cell,
    number_cell,
    plain_cell,
    quoted_cell,
)
from shortlist.kernels.hashing import mix
from shortlist.kernels.id_table import IdIndex, place_of
from shortlist.kernels.line_text import (
    BAD_LABEL,
    BAD_WEIGHT,
    GOOD,
    next_line,
    note_hard,
    room_for,
)
from shortlist.kernels.name_hash import GOLDEN
from shortlist.kernels.name_words import begin_hash, hash_rest, lowest
from shortlist.kernels.number_text import (
    HARD,
    NEWLINE,
    NO_NUMBER,
    character,
    inlined,
    number_before,
    parsing_kernel,
    word_at,
)

# What a column is; the kernel does the cheap ones first.
IGNORED, NUMBER, LABEL, WEIGHT, TRUTH, TRUTH_LABEL, TEXT, TEXT_LABEL = range(8)

# What to do about a missing value.
LEAVE_OUT, COUNT, REFUSE = 0, 1, 2

# Faults besides those of line_text. BAD_CELL + column tells which column; a row with a
# wrong number of cells has minus that number as its fault.
OPEN_QUOTE, BAD_CELL = 3, 4

#: In the place of the character that quotes: no character is it.
NO_QUOTE = 256

# Not the literal: functions would be compiled once for it and once for any other number.
_0 = np.int64(0)


class Columns(NamedTuple):
    """What is known about the columns of a table."""

    kinds: np.ndarray  #: int64, one a column
    ids: np.ndarray  #: uint64: of the feature that a column of numbers is
    missing_ids: np.ndarray  #: uint64: of ``column=missing``
    prefixes: np.ndarray  #: uint8: ``column=`` of all columns, one after the other
    ends: np.ndarray  #: int64: where those end, after a 0
    labels: IdIndex  #: from the hash of a label's text to its code
    #: int64: delimiter, policy on missing, are labels strict, quote or ``NO_QUOTE``
    settings: np.ndarray
    seed: np.uint64


def rows_for(n):
    """Room for any text of n characters: a cell takes one, its delimiter."""
    return room_for(n, 1)


def places_for(n):
    """Room for the places of names: column, start, stop, whether these include quotes."""
    return np.empty((n + 1, 4), np.int64)


@parsing_kernel
def _hash_value(columns, column, text, start, stop):
    """Hash ``column=value`` as ``hash_name`` would; the value alone for column -1."""
    first = columns.ends[column] if column >= 0 else _0
    last = columns.ends[column + 1] if column >= 0 else _0
    n_prefix = last - first
    hashed = begin_hash(n_prefix + stop - start, columns.seed)
    while last - first >= 8:
        hashed = mix(hashed ^ word_at(columns.prefixes, first)) + GOLDEN
        first += 8
    n_carried = last - first
    carried = lowest(word_at(columns.prefixes, first), np.uint64(n_carried))
    return hash_rest(hashed, carried, n_carried, text, start, stop)


@inlined
def _put(out, places, n, number, value):
    """Write a feature whose name is the column's; return the count of features."""
    out.ids[n], out.values[n] = number, value
    if len(places):
        places[n, 0] = -1
    return n + 1


@parsing_kernel
def _missing(columns, column, out, places, n):
    """Treat a missing value as asked: count of features, fault."""
    if columns.settings[1] == REFUSE:
        return n, BAD_CELL + column
    if columns.settings[1] == COUNT:
        n = _put(out, places, n, columns.missing_ids[column], 1.0)
    return n, GOOD


@parsing_kernel
def _take_number(text, cell, column, columns, out, places, counts):
    """Read a cell of numbers, label and weight included: both counts, fault."""
    row, n, n_hard = counts
    start, stop, _, form = cell
    kind = columns.kinds[column]
    is_truth = kind in (TRUTH, TRUTH_LABEL)
    value, start, stop, found, is_missing = number_cell(text, start, stop, is_truth)
    is_bad = not is_missing and (found == NO_NUMBER or form == COPIED)
    if is_bad and kind == LABEL and not columns.settings[2]:
        # nobody has looked at the first rows: it may be a truth value
        value, start, stop, found, _ = number_cell(text, start, stop, True)
        is_bad = found == NO_NUMBER
    if kind in (LABEL, TRUTH_LABEL):
        if is_bad:
            out.y[row] = np.nan
            return n, n_hard, (BAD_LABEL if columns.settings[2] else GOOD)
        out.y[row] = 1.0 if found == HARD else value
        if found == HARD:
            note_hard(out.hard[n_hard], BAD_LABEL, row, row, start, stop)
    elif kind == WEIGHT:
        if is_bad or is_missing or value < 0.0:
            return n, n_hard, BAD_WEIGHT
        out.weight[row] = 1.0 if found == HARD else value
        if found == HARD:
            note_hard(out.hard[n_hard], BAD_WEIGHT, row, row, start, stop)
    else:
        if is_bad:
            return n, n_hard, BAD_CELL + column
        if is_missing:
            n, fault = _missing(columns, column, out, places, n)
            return n, n_hard, fault
        if found == HARD:
            note_hard(out.hard[n_hard], BAD_CELL + column, row, n, start, stop)
            value = 1.0
        if value != 0.0:
            n = _put(out, places, n, columns.ids[column], value)
    return n, n_hard + (found == HARD), GOOD


@parsing_kernel
def _take_text(text, cell, p, column, columns, out, places, counts):
    """Read a cell of text whose characters are in a text: count of features, fault."""
    row, n, _ = counts
    start, stop, end, form = cell
    if columns.kinds[column] == TEXT_LABEL:
        if stop > start:
            hashed = _hash_value(columns, _0 - 1, text, start, stop)
            code = np.int64(place_of(columns.labels, hashed))
            if code >= 0:
                out.y[row] = code
            elif columns.settings[2]:
                return n, BAD_LABEL
        return n, GOOD
    if start == stop:
        return _missing(columns, column, out, places, n)
    out.ids[n] = _hash_value(columns, column, text, start, stop)
    out.values[n] = 1.0
    if len(places):
        places[n, 0], places[n, 3] = column, form
        places[n, 1] = p if form == COPIED else start
        places[n, 2] = end if form == COPIED else stop
    return n + 1, GOOD


@parsing_kernel
def _take(text, cell, p, column, columns, out, places, scratch, counts):
    """Read any cell, which begins at p: both counts, fault."""
    kind = columns.kinds[column]
    form = cell[3]
    n, n_hard, fault = counts[1], counts[2], GOOD
    if kind >= TEXT and form == COPIED:
        n, fault = _take_text(scratch, cell, p, column, columns, out, places, counts)
    elif kind >= TEXT:
        n, fault = _take_text(text, cell, p, column, columns, out, places, counts)
    elif kind != IGNORED and form == COPIED:  # no number has doubled quotes
        whole = (p, cell[2], cell[2], form)
        n, n_hard, fault = _take_number(
            text, whole, column, columns, out, places, counts
        )
    elif kind != IGNORED:
        n, n_hard, fault = _take_number(
            text, cell, column, columns, out, places, counts
        )
    return n, n_hard, fault


@inlined
def _row(text, p, columns, out, places, scratch, counts):
    """Read a row: where it stopped, both counts, cells, fault, where that is."""
    row, n, n_hard = counts
    delimiter, quote = columns.settings[0], columns.settings[3]
    n_columns = len(columns.kinds)
    out.y[row], out.weight[row] = np.nan, 1.0
    column, fault, where = _0, _0, p
    while True:
        kind = columns.kinds[column] if column < n_columns else IGNORED
        if fault != GOOD:  # the row is bad; it goes on until its end
            kind = IGNORED
        value, end, good = 0.0, p, False
        if NUMBER <= kind <= WEIGHT:
            value, end, good = number_before(text, p, delimiter)
        if good and (kind != WEIGHT or value >= 0.0):
            if kind == LABEL:
                out.y[row] = value
            elif kind == WEIGHT:
                out.weight[row] = value
            elif value != 0.0:
                n = _put(out, places, n, columns.ids[column], value)
        else:
            if character(text, p) == quote:
                cell = quoted_cell(text, p, delimiter, quote, scratch)
                if cell[3] == OPEN:
                    return cell[2], n, n_hard, column, OPEN_QUOTE, p
            else:
                cell = plain_cell(text, p, delimiter)
            if kind != IGNORED:
                n, n_hard, found = _take(
                    text,
                    cell,
                    p,
                    column,
                    columns,
                    out,
                    places,
                    scratch,
                    (row, n, n_hard),
                )
                if found != GOOD:
                    fault, where = found, p
            end = cell[2]
        column += 1
        p = end
        if p >= len(text) or text[p] != delimiter:
            return p, n, n_hard, column, fault, where
        p += 1


@inlined
def _newlines(text, start, stop):
    n = 0
    for p in range(start, stop):
        n += text[p] == NEWLINE
    return n


@parsing_kernel
def parse_rows(text, is_end, skip_bad, columns, out, places, scratch):
    """Parse the whole rows of a text; if ``is_end``, the last needs no newline.

    A bad row ends it, or is left out if ``skip_bad``. Text is a read-only array of bytes,
    out are ``Rows``; places has the room of ``places_for``, or none if they are not
    wanted, scratch that of the text. Returns the fields of ``Parsed``.
    """
    p = lines = rows = n = n_hard = skipped = _0
    while p < len(text):
        start = p
        if ends_cell(text, p, NEWLINE):  # a blank line
            p = next_line(text, p)
            if not is_end and text[p - 1] != NEWLINE:
                return start, lines, rows, n_hard, skipped, GOOD, start
            lines += 1
            continue
        hard_before = n_hard
        p, n, n_hard, n_cells, fault, where = _row(
            text, p, columns, out, places, scratch, (rows, n, n_hard)
        )
        is_open = fault == OPEN_QUOTE
        p = next_line(text, start if is_open and skip_bad else p)
        if not is_end and (is_open or text[p - 1] != NEWLINE):
            return start, lines, rows, hard_before, skipped, GOOD, start
        if not is_open and n_cells != len(columns.kinds):
            fault, where = -n_cells, start
        if fault == GOOD:
            out.line[rows] = lines
            rows += 1
            out.indptr[rows] = n
        elif skip_bad:
            n, n_hard = out.indptr[rows], hard_before
            skipped += 1
        else:
            return start, lines, rows, n_hard, skipped, fault, where
        lines += _newlines(text, start, p)
    return p, lines, rows, n_hard, skipped, GOOD, p
