"""Libsvm text, slowly and obviously: split, int, float."""

import math
import re
from typing import NamedTuple

NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


class Row(NamedTuple):
    y: float
    ids: list
    values: list


class Bad(Exception):
    """What was expected."""


class Result(NamedTuple):
    rows: list
    skipped: int
    error: tuple | None  # line number, what was expected


def parse(text, on_error="raise"):
    """Rows of a text: all good ones, or those before the first bad line."""
    rows, skipped = [], 0
    for number, line in enumerate(text.split(b"\n"), start=1):
        tokens = (
            line.split(b"#")[0].replace(b"\t", b" ").replace(b"\r", b" ").split(b" ")
        )
        tokens = [token for token in tokens if token]
        if not tokens:
            continue
        try:
            rows.append(parse_row(tokens))
        except Bad as bad:
            if on_error == "raise":
                return Result(rows, skipped, (number, str(bad)))
            skipped += 1
    return Result(rows, skipped, None)


def parse_row(tokens):
    row = Row(parse_number(tokens[0], "as label"), [], [])
    for token in tokens[1:]:
        if token.startswith(b"qid:"):
            continue
        if b":" not in token:
            raise Bad("id:value")
        digits, value = token.split(b":", maxsplit=1)
        if re.fullmatch(rb"[0-9]+", digits) is None:
            raise Bad("an integer id before ':'")
        if int(digits) >= 2**64:
            raise Bad("an id below 2^64")
        row.ids.append(int(digits))
        row.values.append(parse_number(value, "after ':'"))
    return row


def parse_number(token, where):
    try:
        number = float(token)
    except ValueError:
        raise Bad(f"a number {where}") from None
    if not math.isfinite(number):
        raise Bad(f"a finite number {where}")
    if NUMBER.fullmatch(token) is None:  # float() also takes "1_000"
        raise Bad(f"a number {where}")
    return number
