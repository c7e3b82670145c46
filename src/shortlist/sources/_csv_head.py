"""The beginning of delimited text: its delimiter, its header, what its columns hold.

All of it is decided once, by the first rows, so that a column is the same thing in every
block and in every pass.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from shortlist._protocols import DataError, ShortlistError
from shortlist.kernels.csv_text import NUMBER, TEXT, TRUTH
from shortlist.sources._cells import has_decimal_comma, is_missing, is_number
from shortlist.sources._columns import unique_columns
from shortlist.sources._csv_header import AUTO, is_header
from shortlist.sources._files import Text
from shortlist.sources._lines import check_plain

HEAD_BYTES = 1 << 20
MOST_HEAD_BYTES = 1 << 26  # of a table with very long rows
_FEWEST_LINES = 100
#: A pipe is looked at no further, so that whoever waits for answers need not.
_LINES_OF_PIPE = 1000
_CELLS_LOOKED_AT = 200_000

DELIMITERS = ",;\t|"
_ROWS_TO_SNIFF = 20
#: One cell in so many, or fewer, is no number: a column of numbers was meant, perhaps.
_FEW = 20
_MOST_SHOWN = 40
QUOTE, NO_QUOTE = '"', "none"
#: So many different texts, or fewer, stand for missing numbers rather than for themselves
#: if they have no letters or digits, or if there are many numbers.
_FEW_TEXTS = 3
_TRUTHS = frozenset((b"true", b"false"))


_LETTER_OR_DIGIT = re.compile(rb"[A-Za-z0-9\x80-\xff]")
#: What to do about quotes that are not closed.
OPEN_HINT = "quote=None reads quotes like any other character"


class Head(NamedTuple):
    """The beginning of a text."""

    text: bytes
    is_all: bool  #: nothing follows


class Layout(NamedTuple):
    """How the cells of a text are found and what their columns are called."""

    delimiter: str
    columns: tuple[str, ...]  #: empty: a column without a name
    n_bytes: int  #: of the header, and what stands before it
    n_lines: int
    has_header: bool = True
    is_guess: bool = False  #: nobody has said whether there is one
    quote: str = QUOTE

    @property
    def hint(self) -> str:
        """What to say of columns that are not as expected."""
        if not self.is_guess:
            return ""
        if self.has_header:
            return "; header=False if the first row is data"
        return "; header=True if the first row, which has numbers, names the columns"


def read_head(
    name: str,
    text: Text,
    *,
    is_pipe: bool,
    header_only: bool,
    quote: str = QUOTE,
) -> Head:
    """Look at the beginning of a text without using it up.

    How much it is depends on the text alone, not on when a pipe brings it.
    """
    fewest, most = _FEWEST_LINES, _LINES_OF_PIPE if is_pipe else None
    if header_only:
        fewest, most = 1, 1
    width = HEAD_BYTES
    while True:
        head = _look(text, width, most)
        # nothing but blank lines so far, or a name with a newline in it
        is_open = quote != NO_QUOTE and head.text.count(quote.encode()) % 2
        is_part = not head.text.strip() or is_open
        if most is not None and header_only and is_part:
            most += 1
            if not head.is_all and len(head.text) < width:
                continue
        is_enough = head.is_all or _n_lines(head.text, quote) >= fewest
        if is_enough or width >= MOST_HEAD_BYTES:
            check_plain(name, head.text)
            return head
        width *= 2


def _n_lines(text: bytes, quote: str) -> int:
    """How many lines end in a text, but for those within quotes."""
    if quote == NO_QUOTE or quote.encode() not in text:
        return text.count(b"\n")
    characters = np.frombuffer(text, np.uint8)
    opened = np.cumsum(characters == ord(quote)) % 2
    return int(np.count_nonzero((characters == ord("\n")) & (opened == 0)))


def _look(text: Text, width: int, most_lines: int | None) -> Head:
    """Look at so many characters, or lines if these are fewer."""
    while True:
        window, is_end = text.window(width)
        came = window[:width].tobytes()
        if most_lines is not None and came.count(b"\n") >= most_lines:
            end = 0
            for _ in range(most_lines):
                end = came.index(b"\n", end) + 1
            return Head(came[:end], is_end and end == len(window))
        if is_end or len(came) == width:
            return Head(came, is_end and len(came) == len(window))


def lay_out(
    name: str,
    head: Head,
    delimiter: str | None,
    header: bool | str,
    known: Collection[str] = (),
    quote: str = QUOTE,
) -> Layout:
    """Find the delimiter and the names of the columns.

    ``known`` are names that columns may have, by which a header is told.
    """
    text, start = head.text, 0
    while text[start : start + 1] in (b"\n", b"\r"):
        start += 1
    if start == len(text):
        raise DataError(f"{name}: expected a table, got no text")
    delimiter = delimiter or sniff(text, start, quote)
    cells, end = split_row(text, start, delimiter, quote)
    if end == len(text) and not head.is_all and not text.endswith(b"\n"):
        raise DataError(
            f"{name}: expected a header, got a row of more than "
            f"{len(text) >> 20} MB; is a quote not closed? {OPEN_HINT}"
        )
    is_guess = header == AUTO
    if is_guess:
        below = _whole_rows(head, end, delimiter, quote)
        header = is_header(cells, below, known)
    n_bytes = end if header else start
    columns = tuple(f"x{i}" for i in range(len(cells)))
    if header:
        columns = tuple(cell.decode("utf-8", "surrogateescape") for cell in cells)
    n_lines = text.count(b"\n", 0, n_bytes)
    layout = Layout(delimiter, columns, n_bytes, n_lines, bool(header), is_guess, quote)
    unique_columns(name, [column for column in columns if column], layout.hint)
    return layout


def _whole_rows(head: Head, p: int, delimiter: str, quote: str) -> list[list[bytes]]:
    """Cells of some rows, all that there are of each; blank lines are none."""
    rows: list[list[bytes]] = []
    while p < len(head.text) and len(rows) < _ROWS_TO_SNIFF:
        cells, p = split_row(head.text, p, delimiter, quote)
        is_whole = p < len(head.text) or head.is_all or head.text.endswith(b"\n")
        if is_whole and cells != [b""]:
            rows.append(cells)
    return rows


def check_delimiter(delimiter: str | None) -> None:
    """Refuse a delimiter that could be part of a number, a quote or a line's end."""
    if delimiter is None:
        return
    good = len(delimiter) == 1 and delimiter.isascii() and not delimiter.isalnum()
    if not good or delimiter in '"\r\n\0+-._':
        raise ShortlistError(
            "delimiter: expected one character such as ',' ';' '|' or a tab, "
            f"got {delimiter!r}"
        )


def check_quote(quote: str | None, delimiter: str | None) -> str:
    """Give the character that quotes, or "none"; refuse what could not be one."""
    if quote is None or quote == NO_QUOTE:
        return NO_QUOTE
    good = len(quote) == 1 and quote.isascii() and quote.isprintable()
    if not good or quote.isalnum() or quote in " +-._" or quote == delimiter:
        raise ShortlistError(
            "quote: expected one character such as '\"' other than the delimiter, or none, "
            f"got {quote!r}"
        )
    return quote


def sniff(text: bytes, start: int = 0, quote: str = QUOTE) -> str:
    r"""Find the delimiter: the one that cuts the first rows into equally many cells.

    Examples
    --------
    >>> sniff(b"a;b;c\n1,5;2;x\n")
    ';'
    """
    best, most = ",", (False, 1)
    for delimiter in DELIMITERS.replace(quote, ""):
        p, counts = start, list[int]()
        while p < len(text) and len(counts) < _ROWS_TO_SNIFF:
            cells, end = split_row(text, p, delimiter, quote)
            # the head may end within its last row
            if end < len(text) or text.endswith(b"\n") or not counts:
                counts += [len(cells)] if cells != [b""] else []
            p = end
        rank = (len(set(counts)) == 1, counts[0] if counts else 0)
        if rank[1] > 1 and rank > most:
            best, most = delimiter, rank
    return best


def split_row(
    text: bytes, start: int, delimiter: str, quote: str = QUOTE
) -> tuple[list[bytes], int]:
    """Cut the row at ``start`` into cells, as ``kernels.csv_text`` does; also its end."""
    newline = text.find(b"\n", start)
    line = text[start : newline if newline >= 0 else len(text)]
    mark = quote.encode()
    if quote == NO_QUOTE or mark not in line:  # by far the fastest way
        end = start + len(line) + (newline >= 0)
        return line.removesuffix(b"\r").split(delimiter.encode()), end
    cells, p = [], start
    ends = re.compile(rb"[\n" + re.escape(delimiter.encode()) + rb"]")
    while True:
        value = b""
        if text[p : p + 1] == mark:
            closing = _closing_quote(text, p, mark)
            value = text[p + 1 : closing].replace(2 * mark, mark)
            p = min(closing + 1, len(text))
        found = ends.search(text, p)
        end = found.start() if found else len(text)
        is_last = found is None or found[0] == b"\n"
        rest = text[p:end]
        cells.append(value + (rest.removesuffix(b"\r") if is_last else rest))
        if is_last:
            return cells, min(end + 1, len(text))
        p = end + 1


def _closing_quote(text: bytes, opening: int, mark: bytes) -> int:
    p = opening + 1
    while True:
        p = text.find(mark, p)
        if p < 0:
            return len(text)
        if text[p + 1 : p + 2] != mark:
            return p
        p += 2


def unquoted(cell: bytes, quote: str = QUOTE) -> bytes:
    """Characters of a cell that begins with a quote."""
    mark = quote.encode()
    closing = _closing_quote(cell, 0, mark)
    return cell[1:closing].replace(2 * mark, mark) + cell[closing + 1 :]


class Kind(NamedTuple):
    """What a column holds."""

    code: int  #: NUMBER, TRUTH or TEXT
    remark: str | None = None  #: if it is text for the sake of a few cells


def kinds_of(head: Head, layout: Layout) -> list[Kind]:
    """Say what each column holds, going by its first cells.

    A column of nothing is one of numbers.
    """
    return [_kind(cells) for cells in first_cells(head, layout)]


def first_cells(head: Head, layout: Layout) -> list[dict[bytes, list[int]]]:
    """Values in the first rows of each column: how often, and the line of the first.

    Rows of another length do not count.
    """
    values: list[dict[bytes, list[int]]] = [{} for _ in layout.columns]
    line = layout.n_lines + 1
    rows = max(_FEWEST_LINES // 2, _CELLS_LOOKED_AT // len(layout.columns))
    p = layout.n_bytes
    while p < len(head.text) and rows > 0:
        here, start = line, p
        cells, p = split_row(head.text, p, layout.delimiter, layout.quote)
        line += head.text.count(b"\n", start, p)
        if p == len(head.text) and not head.is_all and not head.text.endswith(b"\n"):
            break  # half a row
        rows -= 1
        if len(cells) == len(values):
            for seen, cell in zip(values, cells, strict=True):
                seen.setdefault(cell, [0, here])[0] += 1
    return values


def _kind(cells: dict[bytes, list[int]]) -> Kind:
    there = {cell: seen for cell, seen in cells.items() if not is_missing(cell)}
    if there and all(cell.strip(b" \t").lower() in _TRUTHS for cell in there):
        return Kind(TRUTH)
    others = {cell: seen for cell, seen in there.items() if not is_number(cell)}
    if not others:
        return Kind(NUMBER)
    if all(has_decimal_comma(cell) for cell in others):
        number = next(iter(others)).decode().strip()
        return Kind(
            TEXT,
            "is taken as text, each value a category: its numbers have decimal commas; "
            f"write {number.replace(',', '.')} in place of {number}",
        )
    n, n_others = (sum(c for c, _ in group.values()) for group in (there, others))
    if n < _FEW * n_others and not _stand_for_nothing(others, len(there)):
        return Kind(TEXT)
    cell, (_, line) = next(iter(others.items()))
    shown = cell if len(cell) <= _MOST_SHOWN else cell[:_MOST_SHOWN] + b"..."
    return Kind(
        TEXT,
        f"is taken as text, each value a category: of its first {n:,} cells all but "
        f"{n_others} are numbers, and line {line} has "
        f"{shown.decode('utf-8', 'backslashreplace')!r}",
    )


def _stand_for_nothing(others: Collection[bytes], n_different: int) -> bool:
    """Whether the texts among numbers look like signs for missing values, however many."""
    if 2 * len(others) > n_different or len(others) > _FEW_TEXTS:
        return False
    has_words = any(map(_LETTER_OR_DIGIT.search, others))
    return not has_words or n_different >= _FEW


def check_header(name: str, layout: Layout, expected: Sequence[str]) -> None:
    """Refuse another file whose columns are not those of the first."""
    for i, (column, other) in enumerate(zip(layout.columns, expected, strict=False)):
        if column != other:
            raise DataError(
                f"{name}: expected column {i + 1} to be {other!r} as in the first file, "
                f"got {column!r}"
            )
    if len(layout.columns) != len(expected):
        raise DataError(
            f"{name}: expected {len(expected)} columns as in the first file, "
            f"got {len(layout.columns)}"
        )
