"""Text with a row a line as a source of rows: what all such formats share.

A format says how a window of text is parsed and what its faults mean. Everything else
is here, once: files and windows, hard numbers, bad lines, lines of rows.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import DataError, Ids, Ints, RowBlock, ShortlistError
from shortlist.kernels.csr import take_rows
from shortlist.kernels.line_text import (
    BAD_LABEL,
    BAD_WEIGHT,
    GOOD,
    Hard,
    Parsed,
    Rows,
)
from shortlist.sources._distinct_names import DistinctNames
from shortlist.sources._files import (
    Characters,
    Paths,
    Text,
    TextFile,
    find_files,
    open_text,
)

#: Text parsed at a time: enough to make up for what goes with each block (handing it over
#: from thread to thread above all), not more than the caches close to a core can hold.
BLOCK_BYTES = 1 << 21
_SNIPPET = 40
_BLOCKS_REMEMBERED = 64
_MOST_ROWS = 1 << 15
_MAGIC = {
    b"\x1f\x8b": "gzip data; name the file .gz, or unpack the pipe",
    b"BZh": "bzip2 data; name the file .bz2, or unpack the pipe",
    b"\x28\xb5\x2f\xfd": "zstd data; name the file .zst, or unpack the pipe",
    b"\xff\xfe": "UTF-16; save it as UTF-8",
    b"\xfe\xff": "UTF-16; save it as UTF-8",
}


class LineFormat(Protocol):
    """How the lines of a text are read."""

    token_ends: bytes  #: characters between the tokens that messages quote

    def room_for(self, n: int) -> Rows:
        """Room for what n characters may hold."""
        ...

    def parse(
        self, window: Characters, is_end: bool, skip_bad: bool, room: Rows
    ) -> Parsed:
        """Parse the whole lines of a window; at the end also one without a newline."""
        ...

    def expected(self, fault: int, token: bytes) -> str:
        """What should have stood in the place of the token."""
        ...


class KeptNames(Protocol):
    """Names of a pipe's features, kept as long as they may be needed."""

    def close_block(self, position: int) -> None:
        """Have all names from now on belong to the next block."""
        ...

    @property
    def crowded(self) -> bool:
        """Whether there are so many names that some should be forgotten."""
        ...

    def retain(self, ids: Ids, learned: int) -> None:
        """Forget names, but not of these ids and of blocks from a position on."""
        ...


class LineSource(ABC):
    """Rows of text files in some format; subclasses add what features are called."""

    unit = "bytes"
    n_features: int | None = None
    label_names: Sequence[str] | None = None
    _met: KeptNames | None = None  # where names can be met once only
    _distinct: DistinctNames | None = None  # where ids are hashes of names

    def __init__(
        self, paths: Paths, form: LineFormat, *, on_error: str, block_bytes: int
    ):
        if on_error not in ("raise", "skip"):
            raise ShortlistError(
                f"on_error: expected 'raise' or 'skip', got {on_error!r}"
            )
        if block_bytes < 1:
            raise ShortlistError(f"block_bytes: expected 1 or more, got {block_bytes}")
        self.on_error = on_error
        self.block_bytes = block_bytes
        self.skipped = 0
        self._form = form
        self._files = find_files(paths)
        self._started = False
        # File, first row and lines of the last blocks.
        self._lately: deque[tuple[str, int, Ints]] = deque(maxlen=_BLOCKS_REMEMBERED)
        sizes = [file.size for file in self._files]
        self.size: int | None = None
        if None not in sizes:
            self.size = sum(size or 0 for size in sizes)
        self.reiterable = self.size is not None
        more = len(sizes) - 1
        self.name = self._files[0].name + (f" and {more} more" if more else "")

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the rows in order, in blocks of about ``block_bytes`` of text."""
        if self._started and not self.reiterable:
            raise DataError(
                f"{self.name}: a pipe can be read only once; save it to a file for more"
            )
        self._started = True
        self.skipped = 0
        blocks = self._all_blocks()
        return blocks if self._distinct is None else self._distinct.counting(blocks)

    @property
    def n_names(self) -> float | None:
        """About how many different names have been hashed; None if ids are no hashes."""
        return None if self._distinct is None else self._distinct.n

    @property
    def crowded(self) -> bool:
        """Whether so many names of a pipe are held that ``retain`` should be called."""
        return self._met is not None and self._met.crowded

    def retain(self, ids: Ids, learned: int) -> None:
        """Forget the names of all features of a pipe that are not needed.

        Needed are these ids, and those in blocks that nobody has learned from yet, given
        the ``position`` of the last one that was learned from.
        """
        if self._met is not None:
            self._met.retain(ids, learned)

    @abstractmethod
    def names(self, ids: Ids) -> list[str]:
        """Name the features with these ids."""

    @abstractmethod
    def ids(self, names: Sequence[str]) -> Ids:
        """Ids of the features with these names."""

    def locate(self, row: int) -> str:
        """File and line of a row; of a pipe only what came lately is remembered."""
        if not self.reiterable:
            for name, first_row, lines in self._lately:
                if first_row <= row < first_row + len(lines):
                    return f"{name}:{lines[row - first_row]}"
            return f"{self.name}: row {row + 1}"
        for reader in self._readers():
            for block in reader.blocks():
                if row < block.n_rows:
                    return f"{reader.file.name}:{reader.line_of[row]}"
                row -= block.n_rows
        raise ShortlistError(f"{self.name}: there are not that many rows")

    def _readers(self) -> Iterator[Reader]:
        for file in self._files:
            yield self._reader(file, self._form, self.on_error == "skip")

    def _reader(self, file: TextFile, form: LineFormat, skip_bad: bool) -> Reader:
        return Reader(file, form, self.block_bytes, skip_bad)

    def _all_blocks(self) -> Iterator[RowBlock]:
        first_row = before = skipped = 0
        for reader in self._readers():
            for block in reader.blocks():
                self.skipped = skipped + reader.skipped
                if not self.reiterable:
                    self._lately.append((reader.file.name, first_row, reader.line_of))
                if self._met is not None:
                    self._met.close_block(before + block.position)
                yield block._replace(
                    first_row=first_row, position=before + block.position
                )
                first_row += block.n_rows
            skipped += reader.skipped
            self.skipped = skipped
            before += reader.position


class Reader:
    """One pass over one file."""

    def __init__(
        self, file: TextFile, form: LineFormat, block_bytes: int, skip_bad: bool
    ):
        self.file = file
        self.form = form
        self.block_bytes = block_bytes
        self.skip_bad = skip_bad
        self.lines = 0  # before the window
        self.position = 0
        self.skipped = 0
        self._capacity = 0
        self._room = form.room_for(0)
        self.line_of: Ints = np.empty(0, np.int64)  # of each row of the last block

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the rows of the file, numbered by nobody yet."""
        text = self._open()
        width = self.block_bytes
        try:
            while True:
                window, is_end = text.window(width)
                if not len(window):
                    return
                room = self._room_for(len(window))
                parsed = self.form.parse(window, is_end, self.skip_bad, room)
                if parsed.consumed == 0 and parsed.fault == GOOD:
                    width = 2 * len(window)  # not even one line is whole
                    continue
                width = self.block_bytes
                block, complaint = self._finish(window, parsed, room)
                text.advance(parsed.consumed)
                self.lines += parsed.lines
                self.position = text.position
                yield from self._pieces(block._replace(position=self.position))
                del block
                if complaint:
                    raise DataError(complaint)
        finally:
            text.close()

    def _open(self) -> Text:
        return open_text(self.file)

    def _pieces(self, block: RowBlock) -> Iterator[RowBlock]:
        """Yield a block of very many short rows in parts, as several may be held."""
        if 0 < block.n_rows <= _MOST_ROWS:
            yield block
            return
        lines = self.line_of
        for begin in range(0, block.n_rows, _MOST_ROWS):
            rows = np.arange(begin, min(begin + _MOST_ROWS, block.n_rows))
            self.line_of = lines[rows]
            yield take_rows(block, rows)

    def _room_for(self, n: int) -> Rows:
        if n > self._capacity:
            self._capacity, self._room = n, self.form.room_for(n)
        return self._room

    def _finish(
        self, window: Characters, parsed: Parsed, room: Rows
    ) -> tuple[RowBlock, str | None]:
        """Read the hard numbers; give the good rows, and what is wrong after them."""
        self.skipped += parsed.skipped
        complaint = None
        if parsed.fault != GOOD:
            complaint = self._complain(window, parsed.where, parsed.fault)
        self.line_of = room.line[: parsed.rows] + (self.lines + 1)
        hard = room.hard[: parsed.hard]
        bad = Hard(*hard[_read_hard(window, hard, room)].T)
        if not len(bad.row):
            return _copy(room, parsed.rows), complaint
        if not self.skip_bad:  # the first one comes before whatever else is wrong
            complaint = self._complain(window, int(bad.start[0]), int(bad.fault[0]))
            return _copy(room, int(bad.row[0])), complaint
        good_rows = np.setdiff1d(np.arange(parsed.rows), bad.row)
        self.skipped += parsed.rows - len(good_rows)
        self.line_of = self.line_of[good_rows]
        return take_rows(_copy(room, parsed.rows), good_rows), None

    def _complain(self, window: Characters, where: int, fault: int) -> str:
        text = window.tobytes()
        if self.lines == 0 and self.position == 0:
            check_plain(self.file.name, text)
        line = self.lines + text.count(b"\n", 0, where) + 1
        start = stop = where
        while stop < len(text) and text[stop] not in self.form.token_ends:
            stop += 1
        while (
            stop > where and start > 0 and text[start - 1] not in self.form.token_ends
        ):
            start -= 1
        token = text[start:stop]
        if where < len(text) and stop == where and text[where] not in b"\n":
            token = text[where : where + 1]  # what ends tokens, where none should end
        expected = self.form.expected(fault, token)
        cut = token if len(token) <= _SNIPPET else token[:_SNIPPET] + b"..."
        came = repr(cut)[1:] if token else "the end of the line"
        return f"{self.file.name}:{line}: expected {expected}, got {came}"


def check_plain(name: str, text: bytes) -> None:
    """Refuse the beginning of a file that is no text, or not as it should be."""
    for magic, ending in _MAGIC.items():
        if text.startswith(magic):
            raise DataError(f"{name}: expected plain text, got {ending}")


def _read_hard(window: Characters, hard: Ints, room: Rows) -> NDArray[np.bool_]:
    """Multiply the hard numbers into their slots; tell which of them do no good."""
    if not len(hard):
        return np.zeros(0, np.bool_)
    text = window.tobytes()
    column = Hard(*hard.T)
    places = zip(column.start.tolist(), column.stop.tolist(), strict=True)
    numbers = np.array([float(text[start:stop]) for start, stop in places])
    bad: NDArray[np.bool_] = np.isinf(numbers)
    with np.errstate(over="ignore", invalid="ignore"):
        for fault, array in ((BAD_LABEL, room.y), (BAD_WEIGHT, room.weight)):
            here = column.fault == fault
            array[column.row[here]] *= numbers[here]
        bad |= (column.fault == BAD_WEIGHT) & (numbers < 0)
        of_values = (column.fault != BAD_LABEL) & (column.fault != BAD_WEIGHT)
        single = of_values & (column.last - column.first == 1)
        slots = column.first[single]
        # a value and a scale of only this value may both be hard
        np.multiply.at(room.values, slots, numbers[single])
        several = np.flatnonzero(of_values & ~single).tolist()
        parts = [room.values[column.first[i] : column.last[i]] for i in several]
        for i, part in zip(several, parts, strict=True):
            part *= numbers[i]
    bad[single] |= ~np.isfinite(room.values[slots])
    for i, part in zip(several, parts, strict=True):
        bad[i] |= not np.isfinite(part).all()
    return bad


def _copy(room: Rows, n_rows: int) -> RowBlock:
    """Give the first rows as a block with arrays of its own."""
    n = int(room.indptr[n_rows])
    return RowBlock(
        room.indptr[: n_rows + 1].copy(),
        room.ids[:n].copy(),
        room.values[:n].copy(),
        room.y[:n_rows].copy(),
        room.weight[:n_rows].copy(),
        first_row=0,
        position=0,
    )


def number_expected(number: bytes, what: str) -> str:
    """What to say of a token that is not the number it should be."""
    try:
        is_finite = math.isfinite(float(number))
    except ValueError:
        is_finite = True
    return f"a {'' if is_finite else 'finite '}number {what}"
