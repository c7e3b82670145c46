"""Delimited text, slowly and obviously: the csv module, float, dictionaries."""

import csv
import io
import math
import re
from typing import NamedTuple

NUMBER = re.compile(
    r"[ \t]*[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|inf(inity)?)[ \t]*", re.I
)
NOTHING = ("", "na", "n/a", "#n/a", "nan", "null", "none", "?")
TRUTHS = {"true": 1.0, "false": 0.0}


class Row(NamedTuple):
    y: float
    weight: float
    features: dict


class Table(NamedTuple):
    rows: list
    label_names: list | None
    skipped: int


def is_nothing(cell):
    return cell.strip(" \t").lower() in NOTHING


def kind_of(cells):
    """Numbers, truth or text, going by all cells of a column."""
    there = [cell for cell in cells if not is_nothing(cell)]
    if there and all(cell.strip(" \t").lower() in TRUTHS for cell in there):
        return "truth"
    return "numbers" if all(map(NUMBER.fullmatch, there)) else "text"


def number(cell, kind):
    if is_nothing(cell):
        return math.nan
    cell = cell.strip(" \t")
    return TRUTHS[cell.lower()] if kind == "truth" else float(cell)


def read(text, target=None, weight=None, delimiter=",", missing="zero", quote='"'):
    """Rows of a text with a header; those of another length are skipped."""
    quoting = csv.QUOTE_NONE if quote is None else csv.QUOTE_MINIMAL
    lines = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter,
        quotechar=quote,
        quoting=quoting,
    )
    header, *cells = [line for line in lines if line]
    good = [line for line in cells if len(line) == len(header)]
    columns = dict(zip(header, zip(*good, strict=True), strict=True)) if good else {}
    kinds = {column: kind_of(values) for column, values in columns.items()}
    label_names = None
    if kinds.get(target) == "text":
        label_names = sorted(set(columns[target]) - {""})
    rows = []
    for line in good:
        y, s, features = math.nan, 1.0, {}
        for column, cell in zip(header, line, strict=True):
            kind = kinds[column]
            if column == target:
                if label_names is None:
                    y = number(cell, kind)
                elif cell:
                    y = float(label_names.index(cell))
            elif column == weight:
                s = number(cell, kind)
            elif cell == "" if kind == "text" else math.isnan(number(cell, kind)):
                if missing == "category":
                    features[f"{column}=missing"] = 1.0
            elif kind == "text":
                features[f"{column}={cell}"] = 1.0
            elif number(cell, kind) != 0:
                features[column] = number(cell, kind)
        rows.append(Row(y, s, features))
    return Table(rows, label_names, len(cells) - len(good))
