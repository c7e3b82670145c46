"""Rows of delimited text: how they are parsed, and what is wrong with bad ones."""

from __future__ import annotations

import numpy as np

from shortlist.kernels.csv_text import (
    BAD_CELL,
    LABEL,
    OPEN_QUOTE,
    TEXT,
    TEXT_LABEL,
    TRUTH,
    TRUTH_LABEL,
    WEIGHT,
    Columns,
    parse_rows,
    places_for,
    rows_for,
)
from shortlist.kernels.line_text import BAD_WEIGHT, GOOD, Parsed, Rows
from shortlist.sources._cell_names import CellNames
from shortlist.sources._cells import is_missing, is_number
from shortlist.sources._csv_head import (
    MOST_HEAD_BYTES,
    OPEN_HINT,
    Layout,
    check_header,
    lay_out,
    read_head,
    split_row,
)
from shortlist.sources._files import Characters, Text, open_text
from shortlist.sources._lines import Reader, number_expected

_SNIPPET = 40


class CsvFormat:
    """How rows are read, given what their columns are."""

    token_ends = b"\r\n"

    def __init__(self, columns: Columns, names: CellNames | None = None):
        self.columns = columns
        self._names = names  # who wants to know the names of features
        self._scratch = np.empty(0, np.uint8)
        self._places = np.empty((0, 4), np.int64)

    def room_for(self, n: int) -> Rows:
        """Room for what n characters may hold."""
        room: Rows = rows_for(n)
        return room

    def parse(
        self, window: Characters, is_end: bool, skip_bad: bool, room: Rows
    ) -> Parsed:
        """Parse the whole rows of a window; at the end also one without a newline."""
        if len(self._scratch) < len(window):
            self._scratch = np.empty(len(window), np.uint8)
            if self._names is not None:
                self._places = places_for(len(window))
        arrays = (self.columns, room, self._places, self._scratch)
        parsed = Parsed(*parse_rows(window, is_end, skip_bad, *arrays))
        if self._names is not None:
            n = int(room.indptr[parsed.rows])
            self._names.take(window, room.ids[:n], self._places[:n])
        stuck = not parsed.consumed and parsed.fault == GOOD
        if stuck and len(window) > MOST_HEAD_BYTES:
            return parsed._replace(fault=OPEN_QUOTE)
        return parsed

    def column_of(self, fault: int) -> int:
        """Number of the column that a fault is about."""
        if fault >= BAD_CELL:
            return fault - BAD_CELL
        wanted = (WEIGHT,) if fault == BAD_WEIGHT else (LABEL, TRUTH_LABEL, TEXT_LABEL)
        return int(np.flatnonzero(np.isin(self.columns.kinds, wanted))[0])

    def expected(self, fault: int, token: bytes) -> str:
        """What should have stood in the place of the token."""
        kind = self.columns.kinds[self.column_of(fault)]
        if kind == WEIGHT:
            return "a weight of 0 or more"
        if kind == TEXT_LABEL:
            return "one of the labels in the first rows (labels= names others)"
        if kind == TEXT or is_missing(token):
            return "a value (missing= says what to do without)"
        what = "as label" if kind in (LABEL, TRUTH_LABEL) else "as in the first rows"
        if kind in (TRUTH, TRUTH_LABEL):
            return f"true or false {what}"
        hint = "" if is_number(token) else " (text= names columns without numbers)"
        return number_expected(token.strip(), what) + hint


class CsvReader(Reader):
    """One pass over one file, after its header."""

    form: CsvFormat
    _layout: Layout
    _opened: Text | None

    def laid_out(self, layout: Layout, opened: Text | None) -> CsvReader:
        """Say what the first file looks like, and whether this one is open already."""
        self._layout, self._opened = layout, opened
        return self

    def _open(self) -> Text:
        text, layout = self._opened, self._layout
        if text is None:
            text = open_text(self.file)
            try:
                layout = self._laid_out(text)
            except BaseException:
                text.close()
                raise
        text.advance(layout.n_bytes)
        self.lines = layout.n_lines
        return text

    def _laid_out(self, text: Text) -> Layout:
        """See how a file that is not the first is laid out: as that one is."""
        first, is_pipe = self._layout, self.file.size is None
        name, quote = self.file.name, first.quote
        head = read_head(name, text, is_pipe=is_pipe, header_only=True, quote=quote)
        layout = lay_out(
            name, head, first.delimiter, first.has_header, quote=first.quote
        )
        if first.has_header:
            check_header(self.file.name, layout, first.columns)
        return layout

    def _complain(self, window: Characters, where: int, fault: int) -> str:
        text = window.tobytes()
        line = self.lines + text.count(b"\n", 0, where) + 1
        place = f"{self.file.name}:{line}"
        if fault == OPEN_QUOTE:
            what = "expected a closing quote, got the end of the text"
            return f"{place}: {what}; {OPEN_HINT}"
        if fault < GOOD:
            n = len(self._layout.columns)
            of = "header" if self._layout.has_header else "first row"
            return f"{place}: expected {n} cells as in the {of}, got {-fault}"
        layout = self._layout
        (cell, *_), _ = split_row(text, where, layout.delimiter, layout.quote)
        expected = self.form.expected(fault, cell)
        cut = cell if len(cell) <= _SNIPPET else cell[:_SNIPPET] + b"..."
        came = repr(cut.decode("utf-8", "backslashreplace")) if cell else "nothing"
        column = layout.columns[self.form.column_of(fault)]
        return f"{place}: column {column!r}: expected {expected}, got {came}"
