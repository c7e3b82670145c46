"""Lines of libsvm (svmlight) text into sparse rows: ``label id:value id:value # note``.

The caller's arrays must have the room that ``rows_for`` gives: no check is made here.
Numbers too hard for ``kernels.number_text`` leave their places in ``hard``.
"""

import numpy as np

from shortlist.kernels.line_text import (
    BAD_LABEL,
    GOOD,
    next_line,
    note_hard,
    room_for,
    whole_lines,
)
from shortlist.kernels.marked_numbers import integer_between, number_between
from shortlist.kernels.number_text import (
    COLON,
    EASY,
    HARD,
    HASH,
    LOWER_D,
    LOWER_I,
    LOWER_Q,
    NEWLINE,
    NO_NUMBER,
    SPACE,
    after_blanks,
    character,
    ends_token,
    inlined,
    parsing_kernel,
    read_id,
    read_number,
)
from shortlist.kernels.separators import marks_from, stand_alone

BAD_FEATURE = 3  # besides the faults of line_text


def rows_for(n):
    """Room for any text of n characters: a feature takes four (" 1:2")."""
    return room_for(n, 4)


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


@parsing_kernel
def _other_id(text, p, colon):
    """Read an id of any length that ends at a colon: id, and whether it is one."""
    stand_alone()
    number, start, good = read_id(text, p)
    return number, good and start == colon + 1


@parsing_kernel
def _other_value(text, p, end):
    """Read any number that ends at a mark: value, and whether that was easy."""
    stand_alone()
    value, stop, kind = read_number(text, p)
    return value, kind == EASY and stop == end


@parsing_kernel
def _plain_features(text, p, ids, values, n, marks, known):
    """Read features as long as they follow each other after single blanks.

    Marks, and the three numbers that tell what is known of them, are those of
    ``marks_from``; returns where it stopped, how many features there are, and what is
    known then.
    """
    stand_alone()
    d, n_marks, covered = known
    while character(text, p) == SPACE:
        if n_marks - d < 3 or marks[np.uint64(d)] != p:
            d, n_marks, covered = marks_from(text, p, marks, d, n_marks, covered)
            if n_marks - d < 3:
                break
        colon, end = marks[np.uint64(d + 1)], marks[np.uint64(d + 2)]
        if text[np.uint64(colon)] != COLON:
            break
        number, good = integer_between(text, p + 1, colon)
        if not good:
            number, good = _other_id(text, p + 1, colon)
            if not good:
                break
        value, good = number_between(text, colon + 1, end)
        if not good:
            value, good = _other_value(text, colon + 1, end)
            if not good:
                break
        ids[np.uint64(n)] = number
        values[np.uint64(n)] = value
        n += 1
        p = end
        d += 2
    return p, n, (d, n_marks, covered)


@parsing_kernel
def _odd_feature(text, p, out, row, n, n_hard):
    """Read one feature, however it is written: its end, both counts, whether it is one."""
    if character(text, p) == LOWER_Q:
        end = _after_query(text, p)
        if end > p:
            return end, n, n_hard, True
    number, start, good = read_id(text, p)
    if not good:
        return p, n, n_hard, False
    value, end, kind = read_number(text, start)
    if kind == NO_NUMBER:
        return p, n, n_hard, False
    if kind == HARD:
        note_hard(out.hard[n_hard], BAD_FEATURE, row, n, start, end)
        n_hard += 1
        value = 1.0
    out.ids[n] = number
    out.values[n] = value
    return end, n + 1, n_hard, True


@inlined
def _features(text, p, out, row, n, n_hard, known):
    """Read the rest of a line: where it stopped, counts, whether all is well, marks."""
    while True:
        p, n, known = _plain_features(text, p, out.ids, out.values, n, out.marks, known)
        p = after_blanks(text, p)
        if character(text, p) in (NEWLINE, HASH):
            return p, n, n_hard, True, known
        p, n, n_hard, good = _odd_feature(text, p, out, row, n, n_hard)
        if not good:
            return p, n, n_hard, False, known


@parsing_kernel
def parse_lines(text, is_end, skip_bad, out):
    """Parse the whole lines of a text; if ``is_end``, the last needs no newline.

    A bad line ends it, or is left out if ``skip_bad``. Text is a read-only array of
    bytes, out are ``Rows``; returns the fields of ``Parsed``. (A NamedTuple would be made
    by Python code, and Ctrl-C there would crash the interpreter.)
    """
    if not is_end:
        text = text[: whole_lines(text)]
    p = lines = rows = n = n_hard = skipped = 0
    marks = (0, 0, 0)
    while p < len(text):
        line = p
        p = after_blanks(text, p)
        if character(text, p) not in (NEWLINE, HASH):
            hard_before = n_hard
            fault = BAD_LABEL
            label, end, kind = read_number(text, p)
            if kind != NO_NUMBER:
                if kind == HARD:
                    note_hard(out.hard[n_hard], BAD_LABEL, rows, rows, p, end)
                    n_hard += 1
                    label = 1.0
                out.y[rows], out.weight[rows], out.line[rows] = label, 1.0, lines
                p, n, n_hard, good, marks = _features(
                    text, end, out, rows, n, n_hard, marks
                )
                fault = GOOD if good else BAD_FEATURE
            if fault == GOOD:
                rows += 1
                out.indptr[rows] = n
            elif skip_bad:
                n, n_hard = out.indptr[rows], hard_before
                skipped += 1
            else:
                return line, lines, rows, n_hard, skipped, fault, p
        p = next_line(text, p)
        lines += 1
    return p, lines, rows, n_hard, skipped, GOOD, p
