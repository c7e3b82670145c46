"""Fragments of sequences held in memory, drawn by lot: what a sequencer would give."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from shortlist._protocols import DataError, Floats, Ints, RowBlock, ShortlistError
from shortlist.kernels.fragments import draw_fragments
from shortlist.sources._files import Characters, TextFile
from shortlist.sources._kmers import Kmers, RowMaker
from shortlist.sources._record_labels import RecordLabels
from shortlist.sources._records import no_letters, pieces_of

#: Stretches that a record is cut into at most, and letters of each at least, in fragments.
MOST_STRETCHES, SHORTEST_STRETCH = 20, 2


class Held(NamedTuple):
    """Records in memory, a byte a letter."""

    letters: Characters
    firsts: Ints  #: first letter of each record, and one more: how many there are
    ids: list[str]
    files: list[TextFile]
    y: Floats
    skipped: int  #: bad records left out


def hold(
    files: Sequence[TextFile],
    table: Characters,
    labels: RecordLabels,
    *,
    on_error: str,
    block_bytes: int,
    memory: int,
) -> Held:
    """Read all records into memory.

    Raises
    ------
    DataError
        If they have more than ``memory`` letters.
    """
    loading = _Loading(labels, on_error == "skip", memory)
    for file in files:
        loading.open_record = False
        pieces = pieces_of(
            file, table, block_bytes=block_bytes, skip_bad=loading.skip_bad
        )
        for piece in pieces:
            ids, lines, bad = piece.ids(), piece.lines.tolist(), piece.bad.tolist()
            stops = np.append(piece.starts[1:], len(piece.letters)).tolist()
            for i, start in enumerate(piece.starts.tolist()):
                if i > 0:
                    loading.begin(file, ids[i], lines[i])
                loading.add(piece.letters[start : stops[i]], bool(bad[i]))
    if labels.by_record:
        labels.settle(loading.ids)
    firsts = np.array([*loading.firsts, loading.n], np.int64)
    letters = loading.letters[: loading.n]
    named = zip(loading.files, loading.ids, strict=True)
    y = np.array([labels.code(*pair) for pair in named], np.float64)
    return Held(letters, firsts, loading.ids, loading.files, y, loading.skipped)


class _Loading:
    """Records read so far."""

    def __init__(self, labels: RecordLabels, skip_bad: bool, memory: int):
        self.labels = labels
        self.skip_bad = skip_bad
        self.memory = memory
        self.letters = no_letters()
        self.n = 0
        self.firsts: list[int] = []
        self.ids: list[str] = []
        self.files: list[TextFile] = []
        self.skipped = 0
        self.open_record = False  # whether letters belong to the last record

    def begin(self, file: TextFile, record: str, line: int) -> None:
        """Begin a record."""
        self.open_record = True
        known = self.labels.by_record or self.labels.code(file, record) is not None
        if not known and not self.skip_bad:
            what = self.labels.complaint(file, record)
            raise DataError(f"{file.name}:{line}: {what}")
        self.firsts.append(self.n)
        self.ids.append(record)
        self.files.append(file)
        if not known:
            self._drop()

    def add(self, letters: Characters, is_bad: bool) -> None:
        """Add letters to the last record, or drop it."""
        if not self.open_record:
            return
        if is_bad:
            self._drop()
            return
        stop = self.n + len(letters)
        if stop > self.memory:
            raise DataError(
                f"{self.files[-1].name}: expected at most {self.memory} letters in all, "
                "to be held in memory, got more; have records as rows (fragment=None), "
                "or let FastaSource hold more ('memory=')"
            )
        if stop > len(self.letters):
            # In place where the system can, so that hardly more is taken than needed.
            self.letters.resize(stop + stop // 8, refcheck=False)
        self.letters[self.n : stop] = letters
        self.n = stop

    def _drop(self) -> None:
        self.n = self.firsts.pop()
        self.ids.pop()
        self.files.pop()
        self.skipped += 1
        self.open_record = False


class Fragments:
    """Rows drawn from records: fragments of a given length.

    Parameters
    ----------
    held : Held
    kmers : Kmers
    length : int
        Letters of a fragment.
    coverage : float
        How often a letter is in a fragment, on average.
    region : pair of float
        Part of every record that fragments are from.
    seed : int
    block_letters : int
        Letters of a block.
    in_stretches : bool, default=False
        Whether records are cut into stretches first, none of which a fragment leaves.
    """

    unit = "rows"
    reiterable = True

    def __init__(
        self,
        held: Held,
        kmers: Kmers,
        *,
        length: int,
        coverage: float,
        region: tuple[float, float],
        seed: int,
        block_letters: int,
        in_stretches: bool = False,
    ):
        low, high = region
        if not 0 <= low < high <= 1:
            raise ShortlistError(
                f"region: expected two numbers with 0 <= first < second <= 1, got {region}"
            )
        if not (math.isfinite(coverage) and coverage > 0):
            raise ShortlistError(f"coverage: expected above 0, got {coverage}")
        if length < kmers.k:
            raise ShortlistError(
                f"fragment: expected None or k = {kmers.k} letters or more, got {length}"
            )
        self._held = held
        self._kmers = kmers
        self._length = length
        self._seed = np.uint64(seed % 2**64)
        self._block_rows = max(1, block_letters // length)
        # The same rounding at both ends: regions that touch do not overlap.
        sizes = np.diff(held.firsts)
        starts = held.firsts[:-1] + np.floor(low * sizes).astype(np.int64)
        stops = held.firsts[:-1] + np.floor(high * sizes).astype(np.int64)
        self._records = np.flatnonzero(stops - starts >= kmers.k)
        self._firsts = starts[self._records]
        sizes = stops[self._records] - self._firsts
        if in_stretches:
            self._records, self._firsts, sizes = _stretches(
                self._records, self._firsts, sizes, SHORTEST_STRETCH * length
            )
        self._ends = np.cumsum(sizes)
        total = int(self._ends[-1]) if len(self._ends) else 0
        self.size: int = math.ceil(coverage * total / length)
        self.skipped = held.skipped

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the rows in order."""
        maker = RowMaker(self._kmers)
        for first_row in range(0, self.size, self._block_rows):
            stop = min(first_row + self._block_rows, self.size)
            record, starts, stops = self._drawn(first_row, stop)
            yield RowBlock(
                *maker.rows(self._held.letters, starts, stops),
                self._held.y[record],
                np.ones(stop - first_row),
                first_row=first_row,
                position=stop,
            )

    def places(self) -> Ints:
        """Number of the record, or of the stretch of one, that each row is from."""
        return np.asarray(self._lots(0, self.size)[0])

    def locate(self, row: int) -> str:
        """File, record and letters, counted from 1, of a row."""
        if not 0 <= row < self.size:
            raise ShortlistError("there are not that many rows")
        (record,), (start,), (stop,) = self._drawn(row, row + 1)
        first = self._held.firsts[record]
        return (
            f"{self._held.files[record].name}: record {self._held.ids[record]}, letters "
            f"{start - first + 1} to {stop - first}"
        )

    def _drawn(self, first_row: int, stop: int) -> tuple[Ints, Ints, Ints]:
        """Record, first letter and end of some rows."""
        place, starts, stops = self._lots(first_row, stop)
        return self._records[place], starts, stops

    def _lots(self, first_row: int, stop: int) -> Ints:
        """Place, first letter and end of some rows, as they are drawn."""
        drawn = np.empty((3, stop - first_row), np.int64)
        draw_fragments(
            np.uint64(first_row),
            self._seed,
            self._length,
            self._firsts,
            self._ends,
            drawn,
        )
        return drawn


def _stretches(
    records: Ints, firsts: Ints, sizes: Ints, shortest: int
) -> tuple[Ints, Ints, Ints]:
    """Cut records into stretches about as long; their records, first letters and sizes."""
    n = np.clip(sizes // shortest, 1, MOST_STRETCHES)
    number = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
    size, n_own = np.repeat(sizes, n), np.repeat(n, n)
    begin, end = number * size // n_own, (number + 1) * size // n_own
    return np.repeat(records, n), np.repeat(firsts, n) + begin, end - begin
