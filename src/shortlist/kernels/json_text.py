"""Lines of JSON text, an object each, into sparse rows.

The name of a feature is the path of keys that leads to it, joined by points, followed by
``=value`` where the value is a category. It is put together in a buffer, ``scratch``,
that always begins with the path of the value being read; its id is the hash that
``kernels.name_hash`` gives it. Objects and lists within each other are kept track of in
arrays, so depth costs no calls. The caller's arrays must have the room that ``rows_for``
and ``with_room`` give: no check is made here. Numbers too hard for
``kernels.number_text`` leave their places in ``hard``.
"""

from typing import NamedTuple

import numpy as np

from shortlist.kernels.id_table import place_of
from shortlist.kernels.json_tokens import (
    LOWER_N,
    QUOTE,
    SLACK,
    after_literal,
    copy,
    is_digit,
    read_number,
    read_string,
    write_word,
)
from shortlist.kernels.line_text import (
    BAD_LABEL,
    BAD_WEIGHT,
    GOOD,
    next_line,
    note_hard,
    room_for,
    whole_lines,
)
from shortlist.kernels.name_store import (
    CLASH,
    FIRST,
    FULL,
    NOBODY,
    NameStore,
    take_name,
)
from shortlist.kernels.name_words import hash_start
from shortlist.kernels.number_text import (
    COLON,
    HARD,
    MINUS,
    NEWLINE,
    NO_NUMBER,
    POINT,
    after_blanks,
    character,
    inlined,
    parsing_kernel,
)

# Besides the faults of line_text and json_tokens.
NO_OBJECT, NO_KEY, NO_COLON, NO_VALUE, BAD_NUMBER = 7, 8, 9, 10, 11
NOT_IN_OBJECT, NOT_IN_LIST, NO_END, TOO_DEEP, IS_NULL = 12, 13, 14, 15, 16
TWO_LABELS, TWO_WEIGHTS, NO_WEIGHT, NEW_LABEL = 17, 18, 19, 20
# These are no fault of the line, which is never left out for them.
NAMES_FULL, NAMES_CLASH, LABELS_FULL = 21, 22, 23

# Numbers in Task.notes. Labels: where those of the line are, -1 if there are none.
# Lenient, 0 or 1: labels that are not known count as missing, weights need not be there.
MISSING, PURPOSE, LABELS, NAME_LENGTH, LABEL_AT, WEIGHT_AT, LENIENT = range(7)

# What to do about null, by notes[MISSING]; about labels, by notes[LABELS]. The first
# label decides an undecided case; new names may be added only to open ones.
LEFT_OUT, REFUSED, COUNTED = 0, 1, 2
IGNORED, UNDECIDED, NUMBERS, OPEN_NAMES, CLOSED_NAMES = range(5)

MOST_LEVELS = 64

_COMMA, _EQUALS = 44, 61
_OPEN_LIST, _CLOSE_LIST, _OPEN_OBJECT, _CLOSE_OBJECT = 91, 93, 123, 125
_IS_MISSING = np.uint64(int.from_bytes(b"=missing", "little"))


class Task(NamedTuple):
    """What is to be done with lines, and room to do it in; see ``with_room``."""

    target: np.ndarray  #: uint8, path of the label; empty if there is none
    weight: np.ndarray  #: uint8, path of the importance; empty if there is none
    names: NameStore  #: names of features, kept according to notes[PURPOSE]
    labels: NameStore  #: names of labels, by their codes
    seed: np.uint64  #: of the hash
    barred: np.ndarray  #: uint64, hashes of the paths that make no features
    notes: np.ndarray  #: int64, see above
    scratch: np.ndarray  #: uint8
    lengths: np.ndarray  #: int64, of the paths of open objects and lists
    is_list: np.ndarray  #: bool, which of those are lists
    is_barred: np.ndarray  #: bool, which of those make no features
    place: np.ndarray  #: int64, of a name in scratch, as ``take_name`` wants it


def rows_for(n):
    """Room for any text of n characters: a feature takes two (",1" in a list)."""
    return room_for(n, 2)


def scratch_for(n):
    """Room for any name in n characters: "null" may become "=missing"."""
    return np.empty(n + len("=missing") + 2 * SLACK, np.uint8)


def _room(n):
    return {
        "scratch": scratch_for(n),
        "lengths": np.zeros(MOST_LEVELS + 1, np.int64),
        "is_list": np.zeros(MOST_LEVELS + 1, np.bool_),
        "is_barred": np.zeros(MOST_LEVELS + 1, np.bool_),
        "place": np.zeros((1, 4), np.int64),
    }


def task_for(target, weight, names, labels, seed, barred, notes):
    """Task without room for any characters."""
    target, weight = np.frombuffer(target, np.uint8), np.frombuffer(weight, np.uint8)
    seed = np.uint64(seed % 2**64)
    return Task(target, weight, names, labels, seed, barred, notes, **_room(0))


def with_room(task, n):
    """Same task with notes of its own and room for n characters."""
    return task._replace(notes=task.notes.copy(), **_room(n))


@inlined
def _is_path(path, task, length):
    """Whether a path, which may be empty, is the one in scratch."""
    if len(path) != length or length == 0:
        return False
    i = 0
    while i < length and path[i] == task.scratch[i]:
        i += 1
    return i == length


@parsing_kernel
def _is_barred(task, length):
    """Whether the path in scratch is one of those that make no features."""
    number = hash_start(task.scratch, length, task.seed)
    i = 0
    while i < len(task.barred) and task.barred[i] != number:
        i += 1
    return i < len(task.barred)


@inlined
def _add(out, task, n, length, value):
    """Add the feature whose name is in scratch; GOOD or what to do about its name."""
    number = hash_start(task.scratch, length, task.seed)
    out.ids[n], out.values[n] = number, value
    if task.notes[PURPOSE] == NOBODY or length == 0:  # everybody knows the empty name
        return GOOD
    task.place[0, 3] = length
    ending = take_name(
        task.scratch, task.place, number, task.names, task.notes[PURPOSE]
    )
    task.notes[NAME_LENGTH] = length
    if ending == CLASH:
        return NAMES_CLASH
    return NAMES_FULL if ending == FULL else GOOD


@inlined
def _feature(text, p, in_list, length, out, task, row, n, n_hard):
    """Read a value that makes a feature: where it stopped, both counts, fault."""
    c = character(text, p)
    value = 1.0
    scratch = task.scratch
    if c == QUOTE:
        scratch[length] = _EQUALS
        end, length, fault = read_string(text, p + 1, scratch, length + 1)
        if fault != GOOD:
            return end, n, n_hard, fault
    elif is_digit(c) or c == MINUS:
        value, end, kind = read_number(text, p)
        if kind == NO_NUMBER:
            return p, n, n_hard, BAD_NUMBER
        if in_list:
            scratch[length] = _EQUALS
            length, value = copy(text, p, end, scratch, length + 1), 1.0
        elif kind == HARD:
            note_hard(out.hard[n_hard], BAD_NUMBER, row, n, p, end)
            n_hard += 1
            value = 1.0
    else:
        end = after_literal(text, p)
        if end == p:
            return p, n, n_hard, NO_VALUE
        if c == LOWER_N:
            if task.notes[MISSING] == REFUSED:
                return p, n, n_hard, IS_NULL
            if task.notes[MISSING] == LEFT_OUT:
                return end, n, n_hard, GOOD
            write_word(_IS_MISSING, scratch, length)
            length += 8
        elif in_list:
            scratch[length] = _EQUALS
            length = copy(text, p, end, scratch, length + 1)
        else:
            value = np.float64(end - p == 4)
    if value == 0.0:
        return end, n, n_hard, GOOD
    fault = _add(out, task, n, length, value)
    return end, n + 1, n_hard, fault


@parsing_kernel
def _about_row(text, p, fault, length, out, task, row, n_hard):
    """Read a label or a weight, by the fault it may have: place, hard numbers, fault."""
    is_label = fault == BAD_LABEL
    at = LABEL_AT if is_label else WEIGHT_AT
    if task.notes[at] >= 0:
        return p, n_hard, (TWO_LABELS if is_label else TWO_WEIGHTS)
    task.notes[at] = p
    c = character(text, p)
    if (
        c == QUOTE and is_label
    ):  # what it means is seen when the line is known to be good
        end, _, fault = read_string(text, p + 1, task.scratch, length)
        return end, n_hard, fault
    if is_digit(c) or c == MINUS:
        value, end, kind = read_number(text, p)
        if kind == NO_NUMBER:
            return p, n_hard, fault
        if not is_label and (value < 0.0 or (kind == HARD and c == MINUS)):
            return p, n_hard, fault
        if kind == HARD:
            note_hard(out.hard[n_hard], fault, row, row, p, end)
            n_hard += 1
            value = 1.0
    else:
        end = after_literal(text, p)
        value = np.float64(end - p == 4)
        if end == p or (c == LOWER_N and not is_label):
            return p, n_hard, fault
        if c == LOWER_N:
            value = np.nan
    if is_label:
        out.y[row] = value
    else:
        out.weight[row] = value
    return end, n_hard, GOOD


@inlined
def _after_values(text, p, depth, task):
    """Go behind the comma that follows a value, or all that ends with it.

    Returns where it stopped, how many objects and lists are open, fault.
    """
    while True:
        p = after_blanks(text, p)
        c = character(text, p)
        if c == _COMMA:
            return p + 1, depth, GOOD
        if c != (_CLOSE_LIST if task.is_list[depth] else _CLOSE_OBJECT):
            return p, depth, (NOT_IN_LIST if task.is_list[depth] else NOT_IN_OBJECT)
        p += 1
        depth -= 1
        if depth == 0:
            return p, depth, GOOD


@inlined
def _object(text, p, out, task, row, n, n_hard):
    """Read an object from behind its brace: where it stopped, both counts, fault."""
    depth = np.int64(1)
    task.lengths[1], task.is_list[1] = 0, False
    just_opened = True
    while True:
        p = after_blanks(text, p)
        c = character(text, p)
        in_list = task.is_list[depth]
        length, barred = task.lengths[depth], task.is_barred[depth]
        if not just_opened or c != (_CLOSE_LIST if in_list else _CLOSE_OBJECT):
            role = GOOD
            if not in_list:
                if c != QUOTE:
                    return p, n, n_hard, NO_KEY
                if depth > 1:
                    task.scratch[length] = POINT
                    length += 1
                p, length, fault = read_string(text, p + 1, task.scratch, length)
                if fault != GOOD:
                    return p, n, n_hard, fault
                p = after_blanks(text, p)
                if character(text, p) != COLON:
                    return p, n, n_hard, NO_COLON
                p = after_blanks(text, p + 1)
                c = character(text, p)
                if _is_path(task.target, task, length):
                    role = BAD_LABEL
                elif _is_path(task.weight, task, length):
                    role = BAD_WEIGHT
                elif len(task.barred) > 0 and not barred:
                    barred = _is_barred(task, length)
            if c in (_OPEN_OBJECT, _OPEN_LIST) and role == GOOD:
                if depth == MOST_LEVELS:
                    return p, n, n_hard, TOO_DEEP
                depth += 1
                task.lengths[depth], task.is_list[depth] = length, c == _OPEN_LIST
                task.is_barred[depth] = barred
                just_opened = True
                p += 1
                continue
            if role == GOOD:
                p, now, now_hard, fault = _feature(
                    text, p, in_list, length, out, task, row, n, n_hard
                )
                if not barred:
                    n, n_hard = now, now_hard
            else:
                p, n_hard, fault = _about_row(
                    text, p, role, length, out, task, row, n_hard
                )
            if fault != GOOD:
                return p, n, n_hard, fault
        just_opened = False
        p, depth, fault = _after_values(text, p, depth, task)
        if depth == 0 or fault != GOOD:
            return p, n, n_hard, fault


@parsing_kernel
def _settle_label(text, out, task, row):
    """Write the code of a label that is text; GOOD, or why the label is none."""
    at, case = task.notes[LABEL_AT], task.notes[LABELS]
    if at < 0 or case == IGNORED or text[at] == LOWER_N:
        return GOOD
    is_text = text[at] == QUOTE
    if case == UNDECIDED:
        case = OPEN_NAMES if is_text else NUMBERS
        task.notes[LABELS] = case
    if is_text != (case != NUMBERS):
        out.y[row] = np.nan
        return GOOD if task.notes[LENIENT] else BAD_LABEL
    if not is_text:
        return GOOD
    _, length, _ = read_string(text, at + 1, task.scratch, np.int64(0))
    number = hash_start(task.scratch, length, task.seed)
    task.place[0, 3] = length
    if case == OPEN_NAMES:
        purpose = np.int64(FIRST)
        if take_name(task.scratch, task.place, number, task.labels, purpose) == FULL:
            return LABELS_FULL
    code = place_of(task.labels.index, number)
    if code < 0:
        out.y[row] = np.nan
        return GOOD if task.notes[LENIENT] else NEW_LABEL
    out.y[row] = code
    return GOOD


@parsing_kernel
def _line(text, p, out, task, row, n, n_hard):
    """Read a line that is not blank: where it stopped, both counts, fault."""
    if character(text, p) != _OPEN_OBJECT:
        return p, n, n_hard, NO_OBJECT
    out.y[row], out.weight[row] = np.nan, 1.0
    task.notes[LABEL_AT] = task.notes[WEIGHT_AT] = -1
    p, n, n_hard, fault = _object(text, p + 1, out, task, row, n, n_hard)
    if fault != GOOD:
        return p, n, n_hard, fault
    p = after_blanks(text, p)
    if character(text, p) != NEWLINE:
        return p, n, n_hard, NO_END
    if len(task.weight) > 0 and task.notes[WEIGHT_AT] < 0 and not task.notes[LENIENT]:
        return p, n, n_hard, NO_WEIGHT
    fault = _settle_label(text, out, task, row)
    return (p if fault == GOOD else task.notes[LABEL_AT]), n, n_hard, fault


@parsing_kernel
def parse_lines(text, is_end, skip_bad, out, task):
    """Parse the whole lines of a text; if ``is_end``, the last needs no newline.

    A bad line ends it, or is left out if ``skip_bad``. Text is a read-only array of
    bytes, out are ``Rows``. Returns the fields of ``Parsed``, as the parser
    of libsvm text does. If it ends for the sake of names or labels, the text can be
    parsed once more from its start.
    """
    if not is_end:
        text = text[: whole_lines(text)]
    # not plain zeros: everything would be compiled for constants first, then once more
    p = lines = rows = n = n_hard = skipped = np.int64(0)
    while p < len(text):
        line = p
        p = after_blanks(text, p)
        if character(text, p) != NEWLINE:
            hard_before = n_hard
            p, n, n_hard, fault = _line(text, p, out, task, rows, n, n_hard)
            if fault == GOOD:
                out.line[rows] = lines
                rows += 1
                out.indptr[rows] = n
            elif skip_bad and fault < NAMES_FULL:
                n, n_hard = out.indptr[rows], hard_before
                skipped += 1
            else:
                return line, lines, rows, n_hard, skipped, fault, p
        p = next_line(text, p)
        lines += 1
    return p, lines, rows, n_hard, skipped, GOOD, p
