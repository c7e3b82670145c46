"""Records of FASTA and FASTQ files, in pieces: what windows of their text hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import DataError, Ints
from shortlist.kernels.sequence_text import (
    BAD_LETTER,
    BAD_QUALITY,
    CUT_SHORT,
    GOOD,
    NO_AT,
    Mark,
    Outcome,
    State,
    fresh_state,
    read_fasta,
    read_fastq,
    room_for,
)
from shortlist.sources._files import (
    BYTE_ORDER_MARK,
    STDIN,
    Characters,
    TextFile,
    beginning_of_stdin,
    open_text,
)

_SNIPPET = 40
_COLUMN = Mark()
_KERNELS: dict[str, Callable[..., Any]] = {">": read_fasta, "@": read_fastq}
_READS = re.compile(r"\.(fq|fastq)(\.gz|\.bz2|\.zst)?\Z", re.IGNORECASE)
_BEGINNING = 1 << 12


class Piece(NamedTuple):
    """Some records; the first is what a record that began earlier goes on with.

    ``letters`` are overwritten when reading goes on.
    """

    letters: Characters  #: codes, as the table of the alphabet has them
    marks: Ints  #: with the columns of ``kernels.sequence_text.Mark``, one a record
    window: Characters  #: the text
    goes_on: bool  #: whether the last record may go on in the next piece
    position: int  #: bytes of the file used up

    @property
    def starts(self) -> Ints:
        """First letter of each record."""
        return self.marks[:, _COLUMN.letter]

    @property
    def lines(self) -> Ints:
        """Line of each record's header, from 1."""
        return self.marks[:, _COLUMN.line] + 1

    @property
    def bad(self) -> Ints:
        """Whether each record is to be left out: 0 or 1."""
        return self.marks[:, _COLUMN.bad]

    def ids(self) -> list[str]:
        """First word of each record's header; empty if there is none."""
        text = self.window.tobytes()
        spans = self.marks[:, [_COLUMN.start, _COLUMN.stop]].tolist()
        words = (text[start:stop].split(maxsplit=1) for start, stop in spans)
        return [w[0].decode("utf-8", "surrogateescape") if w else "" for w in words]


def pieces_of(
    file: TextFile,
    table: Characters,
    *,
    block_bytes: int,
    skip_bad: bool,
    longest: int | None = None,
) -> Iterator[Piece]:
    """Read a file, FASTA if it begins with ">" and FASTQ if with "@".

    Parameters
    ----------
    file : TextFile
    table : ndarray of uint8
        What each character stands for, see ``kernels.sequence_text.letter_table``.
    block_bytes : int
        Text read at a time; a header, or a read of FASTQ, may take more.
    skip_bad : bool
        Whether bad records are marked; if not, the first one raises, after what comes
        before it has been yielded.
    longest : int, default=None
        Letters that a record may have; one for which there is no end of text to be
        read is refused.
    """
    text = open_text(file)
    state, width = fresh_state(), block_bytes
    room, capacity = room_for(0), 0
    read = None
    try:
        while True:
            window, is_end = text.window(width)
            if not len(window):
                return
            if len(window) > capacity:
                room, capacity = room_for(len(window)), len(window)
            if read is None:
                read = _kernel_for(file, window, State(*state.tolist()))
            # of blanks only, either will do
            kernel = read or read_fasta
            done = Outcome(*kernel(window, is_end, skip_bad, table, state, room))
            if done.consumed == 0 and done.fault == GOOD:
                if longest is not None and len(window) > 4 * longest + block_bytes:
                    raise too_long(file, int(state[State().lines]) + 1, longest)
                width = 2 * len(window)  # not even one header, or read, is whole
                continue
            width = block_bytes
            text.advance(done.consumed)
            yield Piece(
                room.letters[: done.letters],
                room.marks[: done.marks],
                window,
                read is read_fasta and not (is_end and done.fault == GOOD),
                text.position,
            )
            if done.fault != GOOD:
                raise DataError(_complaint(file, window, done))
    finally:
        text.close()


def is_fastq(file: TextFile) -> bool:
    """Whether a file holds reads: by its ending, else by its first character.

    Of standard input nothing is used up; another pipe is taken for FASTA.
    """
    if _READS.search(file.name):
        return True
    if file.path == STDIN:
        beginning = beginning_of_stdin(_BEGINNING)
    elif file.size is None:
        return False
    else:
        text = open_text(file)
        try:
            beginning = text.window(_BEGINNING)[0].tobytes()
        finally:
            text.close()
    return bytes(beginning).removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"@")


def too_long(file: TextFile, line: int, longest: int) -> DataError:
    """What to say of a record that has no end."""
    return DataError(
        f"{file.name}:{line}: expected a record of up to {longest} letters, got a longer "
        "one; draw fragments of it (fragment=200)"
    )


def _kernel_for(
    file: TextFile, window: Characters, state: State
) -> Callable[..., Any] | None:
    """Tell the format by the first character that is no blank; None if all are."""
    text = window.tobytes()
    beginning = text.lstrip()
    if not beginning:
        return None
    blanks = text[: -len(beginning)]
    begins_line = blanks.endswith(b"\n") if blanks else not state.in_line
    kernel = _KERNELS.get(chr(beginning[0]))
    if kernel is None or (kernel is read_fasta and not begins_line):
        line = state.lines + blanks.count(b"\n") + 1
        packed = beginning[0] >= 0x80 or beginning[0] < 0x20
        hint = "; packed files have to end in .gz, .bz2 or .zst" if packed else ""
        raise DataError(
            f"{file.name}:{line}: expected '>' (FASTA) or '@' (FASTQ) in the beginning, "
            f"got {_snippet(beginning if begins_line else b' ' + beginning)}{hint}"
        )
    return kernel


def _complaint(file: TextFile, window: Characters, done: Outcome) -> str:
    rest = window[done.where :].tobytes()
    place = f"{file.name}:{done.line + 1}"
    if done.fault == BAD_LETTER:
        letter = repr(rest[:1])[1:]
        return f"{place}: expected letters of DNA (A, C, G, T, N, ...), got {letter}"
    if done.fault == NO_AT:
        return f"{place}: expected '@' before the name of a read, got {_snippet(rest)}"
    if done.fault == CUT_SHORT:
        return f"{place}: expected four lines a read, got the end of the file"
    if done.fault == BAD_QUALITY:
        _, bases, _, quality, *_ = [*rest.split(b"\n", 4), b""]
        n = len(b"".join(bases.split()))
        return (
            f"{place}: expected {n} qualities, one a letter, got {len(quality.strip())}"
        )
    return (
        f"{place}: expected '+' between the letters and qualities of a read, which have "
        f"a line each, got {_snippet(rest)}"
    )


def _snippet(text: bytes) -> str:
    line = text.split(b"\n", 1)[0].rstrip()
    if not line:
        return "the end of the line"
    return repr(line if len(line) <= _SNIPPET else line[:_SNIPPET] + b"...")[1:]


def no_letters() -> Characters:
    """Make letters to begin with."""
    return np.empty(0, np.uint8)
