"""Text in files, compressed or not, and in pipes: windows on characters to come.

A parser asks for a ``window`` of some characters, says by ``advance`` how many of them
it has used up, and asks again. A line that does not fit calls for a wider window.
"""

from __future__ import annotations

import bz2
import glob
import gzip
import os
import select
import stat
import sys
import zlib
from collections.abc import Iterable
from typing import Any, BinaryIO, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import DataError, ShortlistError

Characters = NDArray[np.uint8]
Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

STDIN = "-"
_COMPRESSED = (".gz", ".bz2", ".zst")
_LEAST_PACKED, _MOST_PACKED = 1 << 8, 1 << 12
_MUCH_UNPACKED = 1 << 17


class TextFile(NamedTuple):
    """A place to read text from."""

    path: str  #: "-" is standard input
    size: int | None  #: in bytes, as stored; None for a pipe

    @property
    def name(self) -> str:
        """What messages call it."""
        return "stdin" if self.path == STDIN else self.path


def find_files(paths: Paths) -> list[TextFile]:
    """Expand paths and patterns (``data/*.svm.gz``) to the files they stand for."""
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    found = [file for path in paths for file in _expand(os.fspath(path))]
    if not found:
        raise DataError("expected at least one path, got none")
    return found


def _expand(path: str) -> list[TextFile]:
    if path == STDIN:
        return [TextFile(path, None)]
    path = os.path.expanduser(path)
    if not glob.has_magic(path) or os.path.exists(path):
        return [_look_at(path)]
    matches = sorted(glob.glob(path, recursive=True))
    files = [match for match in matches if not os.path.isdir(match)]
    if not files:
        raise DataError(f"{path}: no file matches this pattern")
    return [_look_at(match) for match in files]


def _look_at(path: str) -> TextFile:
    try:
        status = os.stat(path)
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from None
    if stat.S_ISDIR(status.st_mode):
        raise DataError(f"{path}: expected a file, got a directory")
    return TextFile(path, status.st_size if stat.S_ISREG(status.st_mode) else None)


class Text(Protocol):
    """Characters to come."""

    @property
    def position(self) -> int:
        """Bytes of the file, as stored, that have been used up."""
        ...

    def window(self, n: int) -> tuple[Characters, bool]:
        """Next n characters (at the end fewer), and whether nothing follows them.

        It may not know yet that nothing follows; an empty window then says so.
        """
        ...

    def advance(self, n: int) -> None:
        """Use up n characters of the window."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...


#: What some programs write before text in UTF-8.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def open_text(file: TextFile) -> Text:
    """Open a file where its text begins: after a byte order mark, if it has one.

    Plain regular files are read in large pieces, others are streams.
    """
    text = _open(file)
    try:
        if text.window(len(BYTE_ORDER_MARK))[0].tobytes() == BYTE_ORDER_MARK:
            text.advance(len(BYTE_ORDER_MARK))
    except BaseException:
        text.close()
        raise
    return text


def _open(file: TextFile) -> Text:
    suffix = os.path.splitext(file.path)[1].lower()
    try:
        if file.path == STDIN:
            stream = _stdin()
            held = _looked_at.pop() if _is_looked_at(stream) else (stream, b"")
            return StreamedText(file.name, stream, owned=False, held=held[1])
        if suffix in _COMPRESSED:
            return CompressedText(file.name, suffix, open(file.path, "rb"))
        if file.size is None:
            return StreamedText(file.name, open(file.path, "rb"))
        return FileText(file)
    except OSError as error:
        raise DataError(f"{file.name}: {error.strerror or error}") from None


#: Standard input, and what was read of it to look at it, until it is opened.
_looked_at: list[tuple[BinaryIO, bytes]] = []


def _stdin() -> BinaryIO:
    # Unbuffered: a thread that waits for more would hold the buffer's lock, and Python
    # aborts if it cannot take that lock when it ends (Ctrl-C).
    stream: BinaryIO = getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
    return stream


def beginning_of_stdin(n: int) -> bytes:
    """First bytes of standard input, which are still there for whoever opens it next."""
    stream = _stdin()
    if not _is_looked_at(stream):
        _looked_at[:] = [(stream, bytes(stream.read(n) or b""))]
    return _looked_at[0][1]


def _is_looked_at(stream: BinaryIO) -> bool:
    return bool(_looked_at) and _looked_at[0][0] is stream


class FileText:
    """Text of a regular file, read into the same room again and again.

    A window holds until the next one is asked for. Room that stays near the core is read
    faster than a map of the file, whose pages have to be found one after the other.
    """

    def __init__(self, file: TextFile):
        self.position = 0
        self._name = file.name
        self._file = open(file.path, "rb", buffering=0)  # noqa: SIM115
        self._size = os.fstat(self._file.fileno()).st_size
        self._room: Characters = np.empty(0, np.uint8)
        self._used = self._held = 0  # of the room: up to where, and how much after that

    def window(self, n: int) -> tuple[Characters, bool]:
        self._make_room(min(n, self._size - self.position))
        while self._held < min(n, self._size - self.position):
            rest = self._room[self._held :].data
            try:
                n_read = self._file.readinto(rest)
            except OSError as error:
                message = f"{self._name}: {error.strerror or error}"
                raise DataError(message) from None
            if not n_read:  # the file has been cut short meanwhile
                self._size = self.position + self._held
            self._held += n_read or 0
        window = self._room[: min(n, self._held)]
        window.flags.writeable = False  # one type for compiled code
        return window, self.position + len(window) >= self._size

    def _make_room(self, n: int) -> None:
        """Move what is held to the beginning of room for n characters."""
        held = self._room[self._used : self._used + self._held]
        if n > len(self._room):
            self._room = np.empty(n, np.uint8)
        self._room[: self._held] = held
        self._used = 0

    def advance(self, n: int) -> None:
        self.position += n
        if n > self._held:  # what nobody has looked at need not be read
            self._file.seek(self.position)
            n = self._held
        self._used += n
        self._held -= n

    def close(self) -> None:
        self._file.close()


class StreamedText:
    """Text that comes once, in pieces; holds what has not been used up.

    Where it breaks off, what came before is handed out first.
    """

    def __init__(
        self, name: str, stream: BinaryIO, *, owned: bool = True, held: bytes = b""
    ):
        self.name = name
        self._stream = stream
        self._owned = owned  # and hence closed
        self._held = held  # read already
        self._ended = False
        self._broken: DataError | None = None
        self._used = 0

    @property
    def position(self) -> int:
        return self._used

    def window(self, n: int) -> tuple[Characters, bool]:
        pieces = [self._held]
        lacking = n - len(self._held)
        while lacking > 0 and not (self._ended or self._broken):
            try:
                piece = self._read(lacking)
            except DataError as error:
                self._broken = error
                break
            lacking -= len(piece)
            pieces.append(piece)
            self._ended = not piece
            if b"\n" in piece and not self._has_more():
                break  # whole lines are there: whoever waits for them need not
        if self._broken and len(pieces) == 1:  # whole lines before it were taken
            raise self._broken
        self._held = b"".join(pieces)
        window = np.frombuffer(self._held, np.uint8)[:n]
        return window, self._ended and len(window) == len(self._held)

    def advance(self, n: int) -> None:
        self._held = self._held[n:]
        self._used += n

    def close(self) -> None:
        if self._owned:
            self._stream.close()

    def _has_more(self) -> bool:
        """Whether reading on would not have to wait; yes if nobody can tell."""
        try:
            return bool(select.select([self._stream], [], [], 0)[0])
        except (OSError, ValueError, TypeError):  # no pipe
            return True

    def _read(self, n: int) -> bytes:
        try:
            return bytes(getattr(self._stream, "read1", self._stream.read)(n))
        except OSError as error:
            raise DataError(f"{self.name}: {error.strerror or error}") from None


class CompressedText(StreamedText):
    """Text of a compressed file; its position counts compressed bytes."""

    def __init__(self, name: str, suffix: str, file: BinaryIO):
        super().__init__(name, file)
        self._counted = _Counted(file)
        self._suffix = suffix
        try:
            self._unpacked, self._errors = _unpacker(suffix, self._counted)
        except ShortlistError:
            file.close()
            raise

    @property
    def position(self) -> int:
        return self._counted.count

    def _has_more(self) -> bool:
        return True

    def _read(self, n: int) -> bytes:
        try:
            # at once what is unpacked: what follows may be broken
            read = getattr(self._unpacked, "read1", self._unpacked.read)
            return bytes(read(n))
        except self._errors as error:
            kind = self._suffix[1:]
            raise DataError(
                f"{self.name}: expected whole and sound {kind} data, got: {error}"
            ) from None


class _Counted:
    """A stream that counts the bytes read from it."""

    def __init__(self, file: BinaryIO):
        self._file = file
        self.count = 0

    def read(self, n: int = -1) -> bytes:
        piece = self._file.read(n)
        self.count += len(piece)
        return piece


class _ZstdFrames:
    """Frame after frame of zstd data, by the ``zstandard`` library.

    The library's own stream takes a truncated file for a shorter one. Its decoder
    unpacks all it is given, so very repetitive text is given to it in small pieces.
    """

    def __init__(self, file: _Counted, new_decoder: Any):
        self._file = file
        self._new_decoder = new_decoder
        self._decoder = None
        self._n_packed = _LEAST_PACKED
        self._packed = b""
        self._unpacked = b""

    def read(self, n: int) -> bytes:
        while not self._unpacked:
            packed = self._packed or self._file.read(self._n_packed)
            if not packed:
                if self._decoder is not None:
                    raise EOFError("the file ends within a frame")
                return b""
            decoder = self._decoder or self._new_decoder()
            self._unpacked = decoder.decompress(packed)
            self._packed = decoder.unused_data
            self._decoder = None if decoder.eof else decoder
            much = len(self._unpacked) > _MUCH_UNPACKED
            wider = min(2 * self._n_packed, _MOST_PACKED)
            self._n_packed = _LEAST_PACKED if much else wider
        piece, self._unpacked = self._unpacked[:n], self._unpacked[n:]
        return piece


def _unpacker(suffix: str, file: _Counted) -> tuple[Any, tuple[type[Exception], ...]]:
    """Give a stream of unpacked bytes and the errors that reading it may raise."""
    if suffix == ".gz":
        return gzip.GzipFile(fileobj=file), (OSError, EOFError, zlib.error)  # type: ignore[call-overload]
    if suffix == ".bz2":
        return bz2.BZ2File(file), (OSError, EOFError)  # type: ignore[call-overload]
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd

            return zstd.ZstdFile(file), (OSError, EOFError, zstd.ZstdError)
        import zstandard
    except ImportError:
        raise ShortlistError(
            ".zst files need another library: pip install shortlist[zstd]"
        ) from None
    frames = _ZstdFrames(file, zstandard.ZstdDecompressor().decompressobj)
    return frames, (OSError, EOFError, zstandard.ZstdError)
