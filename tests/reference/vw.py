"""Vowpal Wabbit text, slowly and obviously: split, float, and names as bytes."""

import math
import re
from typing import NamedTuple

BLANKS = rb"[ \t\r]+"
NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


class Row(NamedTuple):
    y: float
    weight: float
    names: list  # full names, bytes
    values: list


class Bad(Exception):
    """What was expected."""


class Result(NamedTuple):
    rows: list
    skipped: int
    error: tuple | None  # line number, what was expected


def words(text):
    return [word for word in re.split(BLANKS, text) if word]


def parse(text, on_error="raise"):
    """Rows of a text: all good ones, or those before the first bad line."""
    rows, skipped = [], 0
    for number, line in enumerate(text.split(b"\n"), start=1):
        if not words(line):
            continue
        try:
            rows.append(parse_row(line))
        except Bad as bad:
            if on_error == "raise":
                return Result(rows, skipped, (number, str(bad)))
            skipped += 1
    return Result(rows, skipped, None)


def parse_row(line):
    head, *sections = line.split(b"|")
    row = Row(*parse_head(head, bool(sections)), [], [])
    for section in sections:
        parse_section(section, row)
    return row


def parse_head(head, has_bar):
    y, weight = math.nan, 1.0
    fields = words(head)
    touching = has_bar and head and not head.endswith((b" ", b"\t", b"\r"))
    for i, word in enumerate(fields):
        is_last = i == len(fields) - 1
        if word.startswith(b"'") or (touching and is_last):  # a tag
            if has_bar and is_last:
                return y, weight
            raise Bad("'|' before the features")
        if i == 0:
            y = parse_number(word, "as label")
        elif i == 1:
            weight = parse_number(word, "as importance")
            if weight < 0:
                raise Bad("an importance of 0 or more")
        elif i == 2:
            if NUMBER.fullmatch(word) is None:
                raise Bad("a number as base")
        else:
            raise Bad("'|' before the features")
    if not has_bar:
        raise Bad("'|' before the features")
    return y, weight


def parse_section(section, row):
    head = re.match(rb"[^ \t\r]*", section)[0]
    space, colon, number = head.partition(b":")
    scale = 1.0
    if colon:
        if not space:
            raise Bad("the name of a namespace before ':'")
        scale = parse_number(number, "as scale of a namespace")
    nameless = 0
    for word in words(section[len(head) :]):
        name, colon, number = word.partition(b":")
        value = scale * (parse_number(number, "after ':'") if colon else 1.0)
        if not math.isfinite(value):
            raise Bad("a value that is finite times the scale of its namespace")
        if not name:
            name, nameless = b"%d" % nameless, nameless + 1
        row.names.append(space + b"^" + name if space else name)
        row.values.append(value)


def parse_number(word, where):
    try:
        number = float(word)
    except ValueError:
        raise Bad(f"a number {where}") from None
    if not math.isfinite(number):
        raise Bad(f"a finite number {where}")
    if NUMBER.fullmatch(word) is None:  # float() also takes "1_000"
        raise Bad(f"a number {where}")
    return number
