"""Records as rows, one each, in the order of the files: nothing is kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from shortlist._protocols import DataError, Floats, Ints, RowBlock, ShortlistError
from shortlist.sources._files import Characters, TextFile
from shortlist.sources._kmers import Kmers, RowMaker
from shortlist.sources._labels import MOST_LABELS
from shortlist.sources._record_labels import RecordLabels
from shortlist.sources._records import Piece, no_letters, pieces_of, too_long

MAX_LETTERS = 1_000_000  #: of a record, which is a row
_BLOCKS_REMEMBERED = 64


class _Records(NamedTuple):
    """Records, the last of which may go on."""

    letters: Characters
    starts: Ints
    y: Floats  #: NaN also where there is none
    lines: Ints
    good: Ints  #: 1, or 0 for records to be left out

    @property
    def stops(self) -> Ints:
        """Where each record's letters end."""
        return np.append(self.starts[1:], len(self.letters))

    def part(self, start: int, stop: int) -> _Records:
        """Records start ... stop - 1, with letters of their own."""
        if start >= stop:
            return _NO_RECORDS
        first, last = int(self.starts[start]), int(self.stops[stop - 1])
        return _Records(
            self.letters[first:last].copy(),
            self.starts[start:stop] - first,
            self.y[start:stop],
            self.lines[start:stop],
            self.good[start:stop],
        )


_NO_RECORDS = _Records(
    no_letters(), np.empty(0, int), np.empty(0), np.empty(0, int), np.empty(0, int)
)


class Reads:
    """Rows of files, a record each."""

    unit = "bytes"

    def __init__(
        self,
        files: Sequence[TextFile],
        kmers: Kmers,
        labels: RecordLabels,
        *,
        on_error: str,
        block_bytes: int,
    ):
        self.files = files
        self.kmers = kmers
        self.labels = labels
        self.skip_bad = on_error == "skip"
        self.block_bytes = block_bytes
        self.skipped = 0
        sizes = [file.size for file in files]
        self.size: int | None = None
        if None not in sizes:
            self.size = sum(size or 0 for size in sizes)
        self.reiterable = self.size is not None
        self.name = files[0].name + (f" and {len(files) - 1} more" if files[1:] else "")
        self._started = False
        # File, first row and lines of the last blocks.
        self._lately: deque[tuple[str, int, Ints]] = deque(maxlen=_BLOCKS_REMEMBERED)

    def collect_labels(self) -> None:
        """Read the names of all records, which are the labels, if several share them."""
        if not self.reiterable:
            raise DataError(
                f"{self.name}: names of records are labels (label='record') after one "
                "more reading, and a pipe can be read only once; save it to a file"
            )
        names: set[str] = set()
        n_records = 0
        for file in self.files:
            # bad records are of no concern here: somebody else reports them
            for piece in pieces_of(
                file, self.kmers.table, block_bytes=self.block_bytes, skip_bad=True
            ):
                ids = piece.ids()[1:]
                n_records += len(ids)
                names.update(ids)
                if len(names) > MOST_LABELS:
                    break
        if len(names) > MOST_LABELS or len(names) == n_records:
            many = "more" if len(names) > MOST_LABELS else f"{len(names):,} names"
            raise ShortlistError(
                "label: expected 'file', a map, or 'record' with at most "
                f"{MOST_LABELS:,} names that several records share where records are "
                f"rows, got {many} in {n_records:,} records"
            )
        self.labels.settle(names)

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the rows in order."""
        if self._started and not self.reiterable:
            raise DataError(
                f"{self.name}: a pipe can be read only once; save it to a file for more"
            )
        self._started = True
        return self._numbered()

    def locate(self, row: int) -> str:
        """File and line of a row; of a pipe only what came lately is remembered."""
        if self.reiterable:
            for file in self.files:
                for block, lines in self._rows_of(file):
                    if row < block.n_rows:
                        return f"{file.name}:{lines[row]}"
                    row -= block.n_rows
            raise ShortlistError(f"{self.name}: there are not that many rows")
        for name, first_row, lines in self._lately:
            if first_row <= row < first_row + len(lines):
                return f"{name}:{lines[row - first_row]}"
        return f"{self.name}: row {row + 1}"

    def _numbered(self) -> Iterator[RowBlock]:
        self.skipped = first_row = before = 0
        for file in self.files:
            position = 0
            for block, lines in self._rows_of(file, counting=True):
                position = block.position
                if not self.reiterable:
                    self._lately.append((file.name, first_row, lines))
                yield block._replace(first_row=first_row, position=before + position)
                first_row += block.n_rows
            before += position if file.size is None else file.size

    def _rows_of(
        self, file: TextFile, counting: bool = False
    ) -> Iterator[tuple[RowBlock, Ints]]:
        """Rows of a file, numbered by nobody yet, and their lines."""
        held, position, maker = _NO_RECORDS, 0, RowMaker(self.kmers)
        pieces = pieces_of(
            file,
            self.kmers.table,
            block_bytes=self.block_bytes,
            skip_bad=self.skip_bad,
            longest=MAX_LETTERS,
        )
        for piece in pieces:
            position = piece.position
            records, complaint = self._joined(file, held, piece)
            n = len(records.starts)
            if piece.goes_on and n > 0 and complaint is None:
                n -= 1  # the last one may not be whole yet
            lengths = records.stops - records.starts
            if len(endless := np.flatnonzero(lengths > MAX_LETTERS)):
                n = int(endless[0])
                complaint = too_long(file, int(records.lines[n]), MAX_LETTERS)
            yield from self._block(maker, records.part(0, n), position, counting)
            if complaint is not None:
                raise complaint
            held = records.part(n, len(records.starts))
        yield from self._block(maker, held, position, counting)

    def _joined(
        self, file: TextFile, held: _Records, piece: Piece
    ) -> tuple[_Records, DataError | None]:
        """Records of a piece with what was held, and what is wrong after them."""
        y = np.full(len(piece.marks) - 1, np.nan)
        good = 1 - piece.bad[1:]
        complaint = None
        if self.labels.of_file_only:
            y[:] = self.labels.code(file)
        else:
            ids = piece.ids()
            for i in np.flatnonzero(good).tolist():
                record = ids[i + 1]
                label = self.labels.code(file, record)
                if label is not None:
                    y[i] = label
                elif self.skip_bad:
                    good[i] = 0
                else:
                    what = self.labels.complaint(file, record)
                    line = piece.lines[i + 1]
                    complaint = DataError(f"{file.name}:{line}: {what}")
                    y, good = y[:i], good[:i]
                    break
        n = len(y)
        whole = np.append(piece.starts, len(piece.letters))
        records = _Records(
            np.concatenate([held.letters, piece.letters[: whole[n + 1]]]),
            np.append(held.starts, piece.starts[1 : n + 1] + len(held.letters)),
            np.append(held.y, y),
            np.append(held.lines, piece.lines[1 : n + 1]),
            np.append(held.good, good),
        )
        if len(held.good) and piece.bad[0]:
            records.good[0] = 0
        return records, complaint

    def _block(
        self, maker: RowMaker, records: _Records, position: int, counting: bool
    ) -> Iterator[tuple[RowBlock, Ints]]:
        """A block of the good ones, if there are any."""
        good = np.flatnonzero(records.good)
        if counting:
            self.skipped += len(records.good) - len(good)
        if not len(good):
            return
        rows = maker.rows(records.letters, records.starts[good], records.stops[good])
        weight = np.ones(len(good))
        block = RowBlock(*rows, records.y[good], weight, first_row=0, position=position)
        yield block, records.lines[good]
