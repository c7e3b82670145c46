"""Libsvm (svmlight) text as a source of rows."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import DataError, Ids, Ints, RowBlock, ShortlistError
from shortlist.kernels.csr import take_rows
from shortlist.kernels.libsvm_text import (
    BAD_LABEL,
    GOOD,
    Parsed,
    Rows,
    parse_lines,
    rows_for,
)
from shortlist.sources._files import Characters, Paths, TextFile, find_files, open_text

_SNIPPET = 40
_BLOCKS_REMEMBERED = 64
_TOKEN_ENDS = b" \t\r\n#"
_MAGIC = {
    b"\x1f\x8b": "gzip data; name the file .gz, or unpack the pipe",
    b"BZh": "bzip2 data; name the file .bz2, or unpack the pipe",
    b"\x28\xb5\x2f\xfd": "zstd data; name the file .zst, or unpack the pipe",
    b"\xef\xbb\xbf": "a byte order mark; remove it",
}


class LibsvmSource:
    r"""Rows of libsvm text: ``label id:value id:value ... # comment``, one a line.

    Ids are integers from 0 to 2^64 - 1, in any order; repeated ids add up. Blank lines,
    comments and ``qid:`` tokens are passed over; a line with a label only is a row
    without features. Values that are not finite are errors: text knows no missing
    values, as features that a line does not mention are zero.

    Parameters
    ----------
    paths : str, path or iterable of them
        Files, plain or ``.gz``, ``.bz2``, ``.zst``; patterns such as ``data/*.svm.gz``;
        "-" is standard input. Files are read in the order given, patterns in
        alphabetical order.
    on_error : {"raise", "skip"}, default="raise"
        A bad line raises, after the rows before it have been yielded, or is left out
        and counted in ``skipped``.
    block_bytes : int, default=1048576
        Text parsed at a time; a longer line is a block of its own. The rows do not
        depend on it.

    Attributes
    ----------
    skipped : int
        Bad lines left out by the last call of ``blocks``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.svm"
    >>> _ = path.write_text("1 3:0.5 8:2 # first\n-1 3:1\n")
    >>> block = next(LibsvmSource(path).blocks())
    >>> block.y, block.ids, block.values
    (array([ 1., -1.]), array([3, 8, 3], dtype=uint64), array([0.5, 2. , 1. ]))
    """

    unit = "bytes"
    n_features: int | None = None
    label_names: Sequence[str] | None = None

    def __init__(
        self, paths: Paths, *, on_error: str = "raise", block_bytes: int = 1 << 20
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
        return self._all_blocks()

    def names(self, ids: Ids) -> list[str]:
        """Decimal digits of the ids."""
        return [str(number) for number in ids.tolist()]

    def ids(self, names: Sequence[str]) -> Ids:
        """Ids that the names, decimal digits, stand for."""
        numbers = [_read_id(name.encode()) for name in names]
        if None in numbers:
            raise DataError(
                f"{self.name}: expected an integer from 0 to 2^64 - 1 "
                f"as the name of a feature, got {names[numbers.index(None)]!r}"
            )
        return np.array(numbers, np.uint64)

    def locate(self, row: int) -> str:
        """File and line of a row; of a pipe only what came lately is remembered."""
        if not self.reiterable:
            for name, first_row, lines in self._lately:
                if first_row <= row < first_row + len(lines):
                    return f"{name}:{lines[row - first_row]}"
            return f"{self.name}: row {row + 1}"
        for file in self._files:
            reader = _Reader(file, self.block_bytes, self.on_error == "skip")
            for block in reader.blocks():
                if row < block.n_rows:
                    return f"{file.name}:{reader.line_of[row]}"
                row -= block.n_rows
        raise ShortlistError(f"{self.name}: there are not that many rows")

    def _all_blocks(self) -> Iterator[RowBlock]:
        first_row = before = skipped = 0
        for file in self._files:
            reader = _Reader(file, self.block_bytes, self.on_error == "skip")
            for block in reader.blocks():
                self.skipped = skipped + reader.skipped
                if not self.reiterable:
                    self._lately.append((file.name, first_row, reader.line_of))
                yield block._replace(
                    first_row=first_row, position=before + block.position
                )
                first_row += block.n_rows
            skipped += reader.skipped
            self.skipped = skipped
            before += reader.position


class _Reader:
    """One pass over one file."""

    def __init__(self, file: TextFile, block_bytes: int, skip_bad: bool):
        self.file = file
        self.block_bytes = block_bytes
        self.skip_bad = skip_bad
        self.lines = 0  # before the window
        self.position = 0
        self.skipped = 0
        self._capacity = 0
        self._room = rows_for(0)
        self.line_of: Ints = np.empty(0, np.int64)  # of each row of the last block

    def blocks(self) -> Iterator[RowBlock]:
        text = open_text(self.file)
        width = self.block_bytes
        try:
            while True:
                window, is_end = text.window(width)
                if not len(window):
                    return
                room = self._room_for(len(window))
                parsed = Parsed(*parse_lines(window, is_end, self.skip_bad, room))
                if parsed.consumed == 0 and parsed.fault == GOOD:
                    width = 2 * len(window)  # not even one line is whole
                    continue
                width = self.block_bytes
                block, complaint = self._finish(window, parsed, room)
                text.advance(parsed.consumed)
                self.lines += parsed.lines
                self.position = text.position
                if block.n_rows:
                    yield block._replace(position=self.position)
                if complaint:
                    raise DataError(complaint)
        finally:
            text.close()

    def _room_for(self, n: int) -> Rows:
        if n > self._capacity:
            self._capacity, self._room = n, rows_for(n)
        return self._room

    def _finish(
        self, window: Characters, parsed: Parsed, room: Rows
    ) -> tuple[RowBlock, str | None]:
        """Read the hard numbers; give the good rows, and what is wrong after them."""
        self.skipped += parsed.skipped
        complaint = None
        if parsed.fault != GOOD:
            complaint = self._complain(window, parsed.where, parsed.fault == BAD_LABEL)
        self.line_of = room.line[: parsed.rows] + (self.lines + 1)
        hard = room.hard[: parsed.hard]
        infinite = hard[_read_hard(window, hard, room)]
        if not len(infinite):
            return _copy(room, parsed.rows), complaint
        slots = infinite[:, 0]
        row_of_value = (
            np.searchsorted(room.indptr[: parsed.rows + 1], slots, "right") - 1
        )
        bad_rows = np.where(slots < 0, ~slots, row_of_value)
        if not self.skip_bad:  # the first one comes before whatever else is wrong
            complaint = self._complain(window, int(infinite[0, 1]), bool(slots[0] < 0))
            return _copy(room, int(bad_rows[0])), complaint
        good_rows = np.setdiff1d(np.arange(parsed.rows), bad_rows)
        self.skipped += parsed.rows - len(good_rows)
        self.line_of = self.line_of[good_rows]
        return take_rows(_copy(room, parsed.rows), good_rows), None

    def _complain(self, window: Characters, where: int, is_label: bool) -> str:
        text = window.tobytes()
        for magic, ending in _MAGIC.items():
            if self.lines == 0 and self.position == 0 and text.startswith(magic):
                return f"{self.file.name}: expected plain text, got {ending}"
        line = self.lines + text.count(b"\n", 0, where) + 1
        start = stop = where
        while start > 0 and text[start - 1] not in _TOKEN_ENDS:
            start -= 1
        while stop < len(text) and text[stop] not in _TOKEN_ENDS:
            stop += 1
        token = text[start:stop]
        expected = _expected_label(token) if is_label else _expected_feature(token)
        cut = token if len(token) <= _SNIPPET else token[:_SNIPPET] + b"..."
        return f"{self.file.name}:{line}: expected {expected}, got {repr(cut)[1:]}"


def _read_hard(window: Characters, hard: Ints, room: Rows) -> NDArray[np.bool_]:
    """Put the hard numbers into their places; tell which of them are infinite."""
    if not len(hard):
        return np.zeros(0, np.bool_)
    text = window.tobytes()
    places = zip(hard[:, 1].tolist(), hard[:, 2].tolist(), strict=True)
    numbers = np.array([float(text[start:stop]) for start, stop in places])
    slots = hard[:, 0]
    is_label = slots < 0
    room.y[~slots[is_label]] = numbers[is_label]
    room.values[slots[~is_label]] = numbers[~is_label]
    infinite: NDArray[np.bool_] = np.isinf(numbers)
    return infinite


def _copy(room: Rows, n_rows: int) -> RowBlock:
    """Give the first rows as a block with arrays of its own."""
    n = int(room.indptr[n_rows])
    return RowBlock(
        room.indptr[: n_rows + 1].copy(),
        room.ids[:n].copy(),
        room.values[:n].copy(),
        room.y[:n_rows].copy(),
        np.ones(n_rows),
        first_row=0,
        position=0,
    )


def _read_id(digits: bytes) -> int | None:
    """Read an id; None if this is not one."""
    # Python refuses to turn very many digits into an integer, be they zeros
    significant = digits.lstrip(b"0") or b"0"
    if not digits.isdigit() or len(significant) > 20 or int(significant) >= 2**64:
        return None
    return int(significant)


def _is_finite(number: bytes) -> bool:
    """Whether this is anything but an infinite or missing number ("nan", "1e999")."""
    try:
        return math.isfinite(float(number))
    except ValueError:
        return True


def _expected_label(token: bytes) -> str:
    return "a number as label" if _is_finite(token) else "a finite number as label"


def _expected_feature(token: bytes) -> str:
    digits, colon, number = token.partition(b":")
    if not colon:
        return "id:value"
    if not digits.isdigit():
        return "an integer id before ':'"
    if _read_id(digits) is None:
        return "an id below 2^64"
    return "a number after ':'" if _is_finite(number) else "a finite number after ':'"
