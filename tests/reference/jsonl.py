"""Lines of JSON, slowly and obviously: the json module, and checks where it is laxer."""

import json
import math
from typing import NamedTuple

MOST_LEVELS = 64


class Row(NamedTuple):
    y: float | str
    weight: float
    names: list  # bytes
    values: list


class Bad(Exception):
    """What is wrong."""


class Result(NamedTuple):
    rows: list
    skipped: int
    error: int | None  # line number
    label_names: list | None


class Number(str):
    """A number as it is written; keeps what float() would lose."""


class Pairs(list):
    """Keys and values of an object, repeated keys and all."""


def refuse(word):
    raise Bad(word)


def parse(text, target=None, weight=None, on_error="raise", missing="zero"):
    """Rows of a text: all good ones, or those before the first bad line."""
    read = Reading(target, weight, missing)
    found = []
    for number, line in enumerate(text.split(b"\n"), start=1):
        if line.strip(b" \t\r"):
            found.append((number, read.line_or_none(line)))
    labels = {row.y for _, row in found if row and isinstance(row.y, str)}
    label_names = sorted(labels) if read.labels_are is str else None
    rows, skipped = [], 0
    for number, row in found:
        if row is not None:
            y = label_names.index(row.y) if isinstance(row.y, str) else row.y
            rows.append(row._replace(y=float(y)))
        elif on_error == "raise":
            return Result(rows, skipped, number, label_names)
        else:
            skipped += 1
    return Result(rows, skipped, None, label_names)


class Reading:
    def __init__(self, target, weight, missing):
        self.target, self.weight, self.missing = target, weight, missing
        self.labels_are = None

    def line_or_none(self, line):
        try:
            return self.row(load(line))
        except (Bad, ValueError, RecursionError):
            return None

    def row(self, found):
        self.labels, self.weights, self.features = [], [], []
        self.walk(found, None, depth=1)
        if len(self.labels) > 1 or len(self.weights) != (self.weight is not None):
            raise Bad
        weight = self.weights[0] if self.weights else "1"
        if weight.startswith("-") and not is_zero(weight):
            raise Bad
        y = self.labels[0] if self.labels else None
        kind = type(None) if y is None else float if isinstance(y, Number) else str
        if y is not None:
            # the first line decides that is good but for the size of its numbers
            self.labels_are = self.labels_are or kind
            if kind is not self.labels_are:
                raise Bad
        if kind is not str:
            y = math.nan if y is None else finite(y)
        names = [name.encode() for name, _ in self.features]
        return Row(y, finite(weight), names, [finite(v) for _, v in self.features])

    def walk(self, found, path, depth):
        if depth > MOST_LEVELS:
            raise Bad
        if isinstance(found, Pairs):
            for key, value in found:
                check_text(key)
                self.value(value, key if path is None else f"{path}.{key}", depth)
        else:
            for item in found:
                self.item(item, path, depth)

    def value(self, value, path, depth):
        if path == self.target and path:
            self.labels.append(self.label(value))
        elif path == self.weight and path:
            self.weights.append(self.number(value))
        elif isinstance(value, bool):
            if value:
                self.features.append((path, "1"))
        elif isinstance(value, Number):
            if not is_zero(value):
                self.features.append((path, value))
        else:
            self.item(value, path, depth)

    def item(self, value, path, depth):
        if isinstance(value, list):
            self.walk(value, path, depth + 1)
        elif value is None:
            if self.missing == "error":
                raise Bad
            if self.missing == "category":
                self.features.append((f"{path}=missing", "1"))
        elif isinstance(value, bool):
            self.features.append((f"{path}={str(value).lower()}", "1"))
        else:
            check_text(value)
            self.features.append((f"{path}={value}", "1"))

    def label(self, value):
        if value is None:
            return None
        if isinstance(value, str) and not isinstance(value, Number):
            check_text(value)
            return value
        return self.number(value)

    def number(self, value):
        if isinstance(value, bool):
            return Number(int(value))
        if not isinstance(value, Number):
            raise Bad
        return value


def load(line):
    found = json.loads(
        line.decode("utf-8"),
        parse_int=Number,
        parse_float=Number,
        parse_constant=refuse,
        object_pairs_hook=Pairs,
    )
    if not isinstance(found, Pairs):
        raise Bad
    return found


def check_text(text):
    if any(0xD800 <= ord(letter) < 0xE000 for letter in text):
        raise Bad


def is_zero(number):
    digits = number.lower().partition("e")[0]
    return not digits.strip("-0.")


def finite(number):
    value = float(number)
    if math.isinf(value):
        raise Bad
    return value
