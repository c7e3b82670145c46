"""Lines of Vowpal Wabbit text into sparse rows: ``label importance tag|space a b:2 |c``.

A feature's full name is ``space^name``, or ``name`` where the namespace has no name; its
id is the hash that ``kernels.name_hash`` gives these bytes, though they never stand side
by side. A value without a name, ``:2``, is the feature whose name is its number, from 0,
among those of its section. The caller's arrays must have the room that ``rows_for``
gives: no check is made here. Numbers too hard for ``kernels.number_text`` leave their
places in ``hard``.
"""

import numpy as np

from shortlist.kernels.hashing import mix
from shortlist.kernels.line_text import (
    BAD_LABEL,
    BAD_WEIGHT,
    GOOD,
    next_line,
    note_hard,
    room_for,
    whole_lines,
)
from shortlist.kernels.name_hash import GOLDEN
from shortlist.kernels.name_words import (
    ONES,
    begin_hash,
    equal_bytes,
    hash_last,
    hash_rest,
    lowest,
)
from shortlist.kernels.number_text import (
    COLON,
    HARD,
    NEWLINE,
    NO_NUMBER,
    RETURN,
    SPACE,
    TAB,
    ZERO,
    after_blanks,
    character,
    first_marked,
    inlined,
    number_at,
    parsing_kernel,
    word_at,
)
from shortlist.kernels.pairs import of_kind

# Besides the faults of line_text. The first four are in the order of a line.
BAD_BASE, NO_BAR, BAD_SPACE, BAD_SCALE, BAD_FEATURE = 3, 4, 5, 6, 7

QUOTE, CARET, BAR = 39, 94, 124
_MOST_NAMELESS = 10**8  # in a section, of a line of 300 MB: others would have 9 digits

_LARGEST = np.finfo(np.float64).max
_U0, _U8 = np.uint64(0), np.uint64(8)
_CARET = np.uint64(CARET)
_SPACES, _TABS, _NEWLINES, _RETURNS, _COLONS, _BARS = (
    np.uint64(c) * ONES for c in (SPACE, TAB, NEWLINE, RETURN, COLON, BAR)
)


def rows_for(n):
    """Room for any text of n characters: a feature takes two (" a")."""
    return room_for(n, 2)


def places_for(n):
    """Room for the places of names: start and stop of the namespace and of the name.

    A name that is a number, and stands nowhere, starts and stops at ~number.
    """
    return np.empty((n // 2 + 1, 4), np.int64)


@inlined
def _name_end(text, p):
    """Where a name that starts at p ends: at a blank, a colon, a bar, the end."""
    while True:
        word = word_at(text, p)
        blanks = (
            equal_bytes(word, _SPACES)
            | equal_bytes(word, _TABS)
            | equal_bytes(word, _RETURNS)
        )
        others = (
            equal_bytes(word, _COLONS)
            | equal_bytes(word, _BARS)
            | equal_bytes(word, _NEWLINES)
        )
        n = first_marked(blanks | others)
        p += np.int64(n)
        if n < _U8 or p >= len(text):
            return min(p, len(text))


@inlined
def _ends_field(c):
    """Whether no number or tag goes on with this character."""
    return c in (SPACE, NEWLINE, BAR, TAB, RETURN)


@inlined
def _field_end(text, p):
    while not _ends_field(character(text, p)):
        p += 1
    return p


@inlined
def _prefix_word(text, start, stop, k):
    """Word k of a namespace's name and the caret that follows it."""
    word = word_at(text, start + 8 * k)
    left = stop - start - 8 * k
    if left >= 8:
        return word
    n = np.uint64(left)
    return lowest(word, n) | (_CARET << (_U8 * n))


@inlined
def _hash_prefix(text, space, space_stop, n, seed):
    """Hash ``space^`` of a full name that goes on with n characters, for ``hash_rest``."""
    n_prefix = space_stop - space + 1 if space_stop > space else 0
    hashed = begin_hash(n_prefix + n, seed)
    for k in range(n_prefix >> 3):
        hashed = mix(hashed ^ _prefix_word(text, space, space_stop, k)) + GOLDEN
    n_carried = n_prefix & 7
    carried = _U0
    if n_carried:
        carried = _prefix_word(text, space, space_stop, n_prefix >> 3)
    return hashed, carried, n_carried


@inlined
def _hash_full_name(text, space, space_stop, start, stop, seed):
    """Hash ``space^name``, or ``name`` if the space is empty, as ``hash_name`` would."""
    hashed, carried, n_carried = _hash_prefix(
        text, space, space_stop, stop - start, seed
    )
    return hash_rest(hashed, carried, n_carried, text, start, stop)


@parsing_kernel
def _hash_numbered(text, space, space_stop, number, seed):
    """Hash the full name of a feature whose name is a number of at most 8 digits."""
    word, n = _U0, 0
    while n == 0 or number > 0:  # the first digit ends up lowest
        word = (word << _U8) | np.uint64(ZERO + number % 10)
        number //= 10
        n += 1
    hashed, carried, n_carried = _hash_prefix(text, space, space_stop, n, seed)
    return hash_last(hashed, carried, n_carried, word, n)


@inlined
def _head(text, p, out, row, n_hard):
    """Read what stands before the first bar: where that is, hard numbers, fault."""
    out.y[row], out.weight[row] = np.nan, 1.0
    for field in range(BAD_LABEL, NO_BAR + 1):
        p = after_blanks(text, p)
        c = character(text, p)
        if c == BAR:
            return p, n_hard, GOOD
        stop = _field_end(text, p)
        if c == QUOTE or character(text, stop) == BAR:  # a tag
            p = after_blanks(text, stop)
            return p, n_hard, (GOOD if character(text, p) == BAR else NO_BAR)
        if field == NO_BAR or c == NEWLINE:
            break
        value, end, kind = number_at(text, p)
        if kind == NO_NUMBER or end != stop or (field == BAD_WEIGHT and value < 0.0):
            return p, n_hard, field
        if kind == HARD and field != BAD_BASE:
            note_hard(out.hard[n_hard], field, row, row, p, end)
            n_hard += 1
            value = 1.0
        if field == BAD_LABEL:
            out.y[row] = value
        elif field == BAD_WEIGHT:
            out.weight[row] = value
        p = stop
    return p, n_hard, NO_BAR


@inlined
def _space(text, p, out, row, n, n_hard):
    """Read what touches a bar: end of its name, end, scale, hard numbers, fault."""
    stop = _name_end(text, p)
    if character(text, stop) != COLON:
        return stop, stop, 1.0, n_hard, GOOD
    if stop == p:
        return stop, p, 1.0, n_hard, BAD_SPACE
    scale, end, kind = number_at(text, stop + 1)
    if kind == NO_NUMBER or not _ends_field(character(text, end)):
        return stop, p, 1.0, n_hard, BAD_SCALE
    if kind == HARD:
        note_hard(out.hard[n_hard], BAD_SCALE, row, n, stop + 1, end)
        out.hard[n_hard, 3] = n  # no feature yet
        n_hard += 1
        scale = 1.0
    return stop, end, scale, n_hard, GOOD


@parsing_kernel
def _kind_of(text, space, space_stop, seed, spaces):
    """Number, from 1, of a namespace among the hashes of some; 0 if it is not there."""
    hashed = hash_rest(
        begin_hash(space_stop - space, seed), _U0, 0, text, space, space_stop
    )
    for i in range(len(spaces)):
        if spaces[i] == hashed:
            return np.uint64(i + 1)
    return _U0


@inlined
def _section(text, p, hashing, out, places, row, n, n_hard):
    """Read from behind a bar to the next: where it stopped, both counts, fault."""
    seed, spaces = hashing
    space, hard_before = p, n_hard
    space_stop, p, scale, n_hard, fault = _space(text, p, out, row, n, n_hard)
    if fault != GOOD:
        return p, n, n_hard, fault
    own = _U0
    if len(spaces):
        own = _kind_of(text, space, space_stop, seed, spaces)
    hard_scale = n_hard > hard_before
    nameless = 0
    while True:
        p = after_blanks(text, p)
        c = character(text, p)
        if c in (NEWLINE, BAR):
            if hard_scale:
                out.hard[hard_before, 3] = n
            return p, n, n_hard, GOOD
        stop = _name_end(text, p)
        if stop == p and nameless == _MOST_NAMELESS:
            return p, n, n_hard, BAD_FEATURE
        value, end, kind = 1.0, stop, GOOD
        if character(text, stop) == COLON:
            value, end, kind = number_at(text, stop + 1)
            if kind == NO_NUMBER or not _ends_field(character(text, end)):
                return p, n, n_hard, BAD_FEATURE
            if kind == HARD:
                note_hard(out.hard[n_hard], BAD_FEATURE, row, n, stop + 1, end)
                n_hard += 1
                value = 1.0
        value *= scale
        if not abs(value) <= _LARGEST:
            return p, n, n_hard, BAD_FEATURE
        if stop > p:
            number = _hash_full_name(text, space, space_stop, p, stop, seed)
        else:
            number = _hash_numbered(text, space, space_stop, nameless, seed)
            p = stop = ~nameless
            nameless += 1
        out.ids[n] = of_kind(number, own) if len(spaces) else number
        out.values[n] = value
        if len(places):
            places[n, 0], places[n, 1] = space, space_stop
            places[n, 2], places[n, 3] = p, stop
        n += 1
        p = end


@parsing_kernel
def parse_lines(text, is_end, skip_bad, seed, spaces, out, places):
    """Parse the whole lines of a text; if ``is_end``, the last needs no newline.

    A bad line ends it, or is left out if ``skip_bad``. Text is a read-only array of
    bytes, seed a uint64, out are ``Rows``; places has the room of ``places_for``, or none
    if they are not wanted. If there are ``spaces``, hashes of names of namespaces, ids say
    which of these a feature is in (``kernels.pairs.kind_of``). Returns the fields of
    ``Parsed``, as the parser of libsvm text does.
    """
    if not is_end:
        text = text[: whole_lines(text)]
    p = lines = rows = n = n_hard = skipped = 0
    while p < len(text):
        line = p
        p = after_blanks(text, p)
        if character(text, p) != NEWLINE:
            hard_before = n_hard
            p, n_hard, fault = _head(text, p, out, rows, n_hard)
            while fault == GOOD and character(text, p) == BAR:
                p, n, n_hard, fault = _section(
                    text, p + 1, (seed, spaces), out, places, rows, n, n_hard
                )
            if fault == GOOD:
                out.line[rows] = lines
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
