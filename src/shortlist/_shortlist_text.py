"""A shortlist in other forms: a table of text or HTML, CSV, JSON, data frames.

Names come from anybody's data. Text and HTML write out every letter that is not
printable (control codes, bidirectional marks, lone surrogates) as an escape, so that a
name can neither move the cursor nor break out of its cell.

Columns of the text table line up in a terminal that gives East Asian wide letters two
cells and combining marks none; letters whose width terminals disagree about (some
emoji) may shift their line by a cell.
"""

from __future__ import annotations

import csv
import dataclasses
import html
import math
import types
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shortlist._findings import (
    facts_of,
    looked_for_substitutes,
    shares_of,
    stability_line,
    substitutes_of,
)
from shortlist._in_words import NOT_KNOWN, counted, evenly
from shortlist._protocols import Floats, Ints, ShortlistError

if TYPE_CHECKING:
    from shortlist._shortlist import Shortlist

_MOST_ENTRIES = 20  # shown of a margin
_MOST_MARGINS = 10
_NAME_CELLS = 40
_ENTRY_FIELDS = ("ids", "names", "margin", "weights", "scores", "errors")
_FLOAT_COLUMNS = ("weight", "score", "error", "stability")
_SHARES = "chosen in"  # title of the share of halves, for people


class _Block(NamedTuple):
    """What is shown of a margin."""

    label: str
    first: int  #: its first entry
    rows: list[list[str]]  #: cells of the entries that are shown
    left_out: int  #: how many are not


def ranks(shortlist: Shortlist) -> Ints:
    """Rank of each entry in its margin, from 1."""
    first = np.searchsorted(shortlist.margin, shortlist.margin)
    return np.arange(1, len(shortlist) + 1, dtype=np.int64) - first


def as_text(shortlist: Shortlist) -> str:
    """Write a shortlist as an aligned table, without colours."""
    lines = _headlines(shortlist)
    titles, blocks = _titles(shortlist), list(_blocks(shortlist))
    rows = [row for block in blocks for row in block.rows]
    widths = [max(map(_width, column)) for column in zip(titles, *rows, strict=True)]
    if rows:
        lines.append(_line(titles, widths))
    for block in blocks:
        if shortlist.n_margins > 1:
            nothing = "" if block.rows else ": nothing chosen"
            lines.append(f"{_kind_of_margin(shortlist)} {block.label}{nothing}")
        lines += [_line(row, widths) for row in block.rows]
        if block.left_out:
            lines.append(f"... and {block.left_out:,} more")
    lines += [*_margins_left_out(shortlist), *_substitute_lines(shortlist)]
    lines += [f"note: {printable(note)}" for note in shortlist.notes]
    return "\n".join(lines)


def as_html(shortlist: Shortlist) -> str:
    """Write a shortlist as a small HTML table with a bar for each signed weight.

    Only inline styles, and text in the colour of its surroundings: fine on light and
    on dark pages, and in pages that strip style sheets.
    """
    titles = _titles(shortlist)
    cell = "padding:2px 8px;text-align:{};white-space:nowrap"
    sides = ["left" if title == "name" else "right" for title in titles]
    head = "".join(
        f'<th style="{cell.format(side)}">{title}</th>'
        for title, side in zip(titles, sides, strict=True)
    )
    wide = f'<tr><td colspan="9" style="{cell.format("left")}">{{}}</td></tr>'
    body = [f"<tr>{head}</tr>"] if len(shortlist) else []
    for block in _blocks(shortlist):
        if shortlist.n_margins > 1:
            label = f"{_kind_of_margin(shortlist)} {html.escape(block.label)}"
            body.append(wide.format(f"<b>{label}</b>"))
        for i, row in enumerate(block.rows, start=block.first):
            full = html.escape(printable(shortlist.names[i]))
            cells = "".join(
                f'<td style="{cell.format(side)}"'
                + (f' title="{full}"' if title == "name" else "")
                + f">{html.escape(value)}</td>"
                for title, side, value in zip(titles, sides, row, strict=True)
            )
            body.append(f"<tr>{cells}{_bar(shortlist, i)}</tr>")
        if block.left_out:
            body.append(wide.format(f"... and {block.left_out:,} more"))
    below = [*_margins_left_out(shortlist), *_substitute_lines(shortlist)]
    below += map(printable, shortlist.notes)
    table = f'<table style="border-collapse:collapse">{"".join(body)}</table>'
    return "\n".join(
        [
            "<div>",
            *(f"<p>{html.escape(line)}</p>" for line in _headlines(shortlist)),
            table,
            *(f"<p>{html.escape(line)}</p>" for line in below),
            "</div>",
        ]
    )


def as_csv(shortlist: Shortlist) -> str:
    """Write the entries as CSV, a header line first."""
    columns = _columns(shortlist)
    lines: list[str] = []
    # The writer quotes the letters of its own line end. With "\r\n" names with either
    # letter are quoted; the lines themselves end as people's tools expect.
    writer = csv.writer(types.SimpleNamespace(write=lines.append))
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return "".join(line.removesuffix("\r\n") + "\n" for line in lines)


def as_dict(shortlist: Shortlist) -> dict[str, Any]:
    """Turn a shortlist into JSON values: all its fields, and its entries as records."""
    columns = _columns(shortlist)
    rows = zip(*columns.values(), strict=True)
    entries = [dict(zip(columns, row, strict=True)) for row in rows]
    result: dict[str, Any] = {
        part.name: pure_json(getattr(shortlist, part.name))
        for part in dataclasses.fields(shortlist)
        if part.name not in _ENTRY_FIELDS
    }
    return result | {"entries": pure_json(entries)}


def as_frame(shortlist: Shortlist, backend: str) -> Any:
    """Build a data frame of the entries with pandas or polars."""
    columns = _columns(shortlist)
    types_of = {"rank": "int64", "id": "uint64"}
    types_of |= dict.fromkeys(_FLOAT_COLUMNS, "float64")
    return build_frame(columns, types_of, backend)


def build_frame(
    columns: Mapping[str, Sequence[Any]], types_of: Mapping[str, str], backend: str
) -> Any:
    """Build a data frame; ``types_of`` names the NumPy type of columns of numbers."""
    if backend not in ("pandas", "polars"):
        raise ShortlistError(f"backend should be 'pandas' or 'polars', got {backend!r}")
    # Frames keep text as UTF-8, which has no lone surrogates.
    columns = dict(columns)
    columns["name"] = [
        name.encode("utf-8", "backslashreplace").decode("utf-8")
        for name in columns["name"]
    ]
    try:
        if backend == "polars":
            import polars as pl

            kinds = {"int64": pl.Int64, "uint64": pl.UInt64, "float64": pl.Float64}
            dtypes = {name: kinds[kind] for name, kind in types_of.items()}
            dtypes["name"] = pl.String
            known = {name: dtypes[name] for name in dtypes if name in columns}
            return pl.DataFrame(columns, schema_overrides=known)
        import pandas as pd
    except ImportError:
        raise ShortlistError(
            f"a {backend} frame needs {backend}: pip install 'shortlist[{backend}]'"
        ) from None
    return pd.DataFrame(
        {
            name: pd.Series(values, dtype=types_of.get(name))
            for name, values in columns.items()
        }
    )


def printable(text: str) -> str:
    """Write out, as escapes, all letters that would not show."""
    return "".join(
        letter
        if letter.isprintable()
        else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )


def _columns(shortlist: Shortlist) -> dict[str, list[Any]]:
    """Entries as columns of plain values; None for what there is not."""
    nothing = [None] * len(shortlist)
    weights, errors = shortlist.weights, shortlist.errors
    columns: dict[str, list[Any]] = {
        "rank": ranks(shortlist).tolist(),
        "name": list(shortlist.names),
        "id": shortlist.ids.tolist(),
    }
    if shortlist.n_margins > 1:
        labels: tuple[Any, ...] = shortlist.margin_labels
        if len(set(map(type, labels))) > 1 or not all(map(_fits, labels)):
            labels = tuple(map(str, labels))  # a column has one type
        columns["class"] = [labels[m] for m in shortlist.margin]
    columns |= {
        "weight": nothing if weights is None else weights.tolist(),
        "score": shortlist.scores.tolist(),
        "error": nothing if errors is None else _known(errors),
    }
    shares = shares_of(shortlist)
    return columns if shares is None else columns | {"stability": shares}


def _known(errors: Floats) -> list[float | None]:
    """Errors as plain values; None where nothing is known."""
    return [None if math.isnan(error) else error for error in errors.tolist()]


def _shows_errors(shortlist: Shortlist) -> bool:
    """Whether anything is known about errors."""
    return shortlist.errors is not None and not np.isnan(shortlist.errors).all()


def _fits(label: Any) -> bool:
    """Whether a column of 64-bit integers could hold a label, if it is one."""
    return not isinstance(label, int) or -(2**63) <= label < 2**63


def pure_json(value: Any) -> Any:
    """Lists for arrays, None for numbers that are not finite, text for the rest."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: pure_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [pure_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def _headlines(shortlist: Shortlist) -> list[str]:
    n = shortlist.n_selected
    if shortlist.n_features is None:
        chosen = counted(n, "feature")
    else:
        chosen = f"{n:,} of {counted(shortlist.n_features, 'feature')}"
    how = printable(f"{shortlist.method} ({shortlist.loss})")
    if shortlist.budget == "per_class" and shortlist.n_margins > 1:
        how += f", up to {shortlist.k:,} per {_kind_of_margin(shortlist)}"
    lines = [f"{chosen} chosen by {how}, {counted(shortlist.n_examples, 'example')}"]
    if shortlist.classes is not None and shortlist.n_margins == 1:
        negative, positive = map(_label, shortlist.classes)
        lines.append(f"classes: {negative} (-), {positive} (+)")
    facts = facts_of(shortlist)
    return lines if facts is None else [*lines, stability_line(facts)]


def _label(label: object) -> str:
    return _shortened(printable(str(label)))


def _kind_of_margin(shortlist: Shortlist) -> str:
    return "class" if shortlist.is_classifier else "output"


def _blocks(shortlist: Shortlist) -> Iterator[_Block]:
    n = min(shortlist.n_margins, _MOST_MARGINS)
    ends = np.searchsorted(shortlist.margin, np.arange(n + 1)).tolist()
    spans = [
        range(first, min(end, first + _MOST_ENTRIES)) for first, end in pairwise(ends)
    ]
    rows = iter(_rows(shortlist, [i for span in spans for i in span]))
    for label, span, end in zip(shortlist.margin_labels, spans, ends[1:], strict=False):
        shown = [
            [str(rank), *row]
            for rank, row in enumerate(islice(rows, len(span)), start=1)
        ]
        yield _Block(_label(label), span.start, shown, end - span.stop)


def _margins_left_out(shortlist: Shortlist) -> list[str]:
    n = shortlist.n_margins - _MOST_MARGINS
    kind = "classes" if shortlist.is_classifier else "outputs"
    return [f"... and {n:,} more {kind}"] if n > 0 else []


def _titles(shortlist: Shortlist) -> list[str]:
    titles: dict[str, Any] = {"weight": shortlist.weights, "score": shortlist.scores}
    if _shows_errors(shortlist):
        titles["error"] = shortlist.errors
    titles[_SHARES] = shares_of(shortlist)
    return ["rank", "name", *(t for t, column in titles.items() if column is not None)]


def _rows(shortlist: Shortlist, entries: list[int]) -> list[list[str]]:
    """Cells of these entries, in the order of the titles; the rank is not among them."""
    columns = [[_shortened(printable(shortlist.names[i])) for i in entries]]
    if shortlist.weights is not None:
        columns.append(evenly(shortlist.weights[entries].tolist(), signed=True))
    columns.append(evenly(shortlist.scores[entries].tolist()))
    if shortlist.errors is not None and _shows_errors(shortlist):
        columns.append(evenly(shortlist.errors[entries].tolist()))
    if (shares := shares_of(shortlist)) is not None:
        some = [shares[i] for i in entries]
        columns.append([NOT_KNOWN if s is None else f"{s:.0%}" for s in some])
    return [list(row) for row in zip(*columns, strict=True)]


def _substitute_lines(shortlist: Shortlist) -> list[str]:
    """Say who could take the place of whom, a line a chosen feature."""
    by_name: dict[str, list[str]] = {}
    for found in substitutes_of(shortlist):
        said = f"{_label(found.substitute)} ({found.kept:.0%} of its worth)"
        by_name.setdefault(_label(found.name), []).append(said)
    lines = [
        f"instead of {name}: {', '.join(others)}" for name, others in by_name.items()
    ]
    if not lines and looked_for_substitutes(shortlist):
        return ["substitutes: no other feature keeps half the worth of a chosen one"]
    left = len(lines) - _MOST_ENTRIES
    more = [f"... and substitutes of {left:,} more"] if left > 0 else []
    return lines[:_MOST_ENTRIES] + more


def _line(cells: list[str], widths: list[int]) -> str:
    padded = []
    for i, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        space = " " * (width - _width(cell))
        padded.append(cell + space if i == 1 else space + cell)  # names start left
    return "  ".join(padded)


def _letter_width(letter: str) -> int:
    if unicodedata.category(letter) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in ("W", "F") else 1


def _width(text: str) -> int:
    """Cells that a terminal gives to printable text."""
    return len(text) if text.isascii() else sum(map(_letter_width, text))


def _shortened(name: str) -> str:
    if _width(name) <= _NAME_CELLS:
        return name
    kept, cells = 0, 0
    while (cells := cells + _letter_width(name[kept])) < _NAME_CELLS:
        kept += 1
    return name[:kept] + "…"


def _bar(shortlist: Shortlist, i: int) -> str:
    """Cell with a bar for the weight of entry ``i``, to the right if it is above 0."""
    if shortlist.weights is None:
        return ""
    weight = float(shortlist.weights[i])
    largest = float(np.abs(shortlist.weights).max()) or 1.0
    width = f"{50 * (abs(weight) / largest):.1f}%"
    side, colour = ("left", "#3b82f6") if weight > 0 else ("right", "#f97316")
    return (
        '<td style="padding:2px 8px">'
        '<div style="position:relative;width:120px;height:0.8em">'
        f'<div style="position:absolute;{side}:50%;width:{width};height:100%;'
        f'background:{colour}"></div></div></td>'
    )
