"""Whether files are still what they were when a checkpoint was written.

Up to a gigabyte in all, every byte counts and times do not: a copy or a touched file is the
same. Reading more than that once more would take too long for what it is worth. Of larger
files beginning, end and pieces in between are compared, which a file written anew does not
pass; what they cannot see, a few bytes changed elsewhere, the time of the last change can,
but it cannot tell them from a copy. So it is a reason to say something and none to refuse.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

Fingerprint = dict[str, Any]

WHOLE_BYTES = 1 << 30
_END_BYTES = 1 << 20
_N_PIECES, _PIECE_BYTES = 64, 1 << 16
_AT_ONCE = 1 << 20


def fingerprints(paths: Sequence[str]) -> list[Fingerprint]:
    """What to know files by, as plain values."""
    whole = sum(os.path.getsize(path) for path in paths) <= WHOLE_BYTES
    return [_fingerprint(path, whole) for path in paths]


def _fingerprint(path: str, whole: bool) -> Fingerprint:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        for part in _all(file) if whole else _pieces(file, size):
            digest.update(part)
        time = None if whole else os.fstat(file.fileno()).st_mtime_ns
    return {"digest": digest.hexdigest(), "time": time}


def _all(file: BinaryIO) -> Iterator[bytes]:
    while part := file.read(_AT_ONCE):
        yield part


def _pieces(file: BinaryIO, size: int) -> Iterator[bytes]:
    """Beginning, pieces at equal distances, end."""
    yield file.read(_END_BYTES)
    for i in range(1, _N_PIECES + 1):
        file.seek(size * i // (_N_PIECES + 1))
        yield file.read(_PIECE_BYTES)
    file.seek(max(0, size - _END_BYTES))
    yield file.read(_END_BYTES)


def changed(
    paths: Sequence[str], before: Sequence[Fingerprint], now: Sequence[Fingerprint]
) -> str | None:
    """Name a file that is not what it was; None if none is known to have changed."""
    for path, old, new in zip(paths, before, now, strict=True):
        if old["digest"] != new["digest"]:
            return path
    return None


def doubtful(
    paths: Sequence[str], before: Sequence[Fingerprint], now: Sequence[Fingerprint]
) -> str | None:
    """Name a file that was written to, though nothing else tells of a change."""
    for path, old, new in zip(paths, before, now, strict=True):
        if old["time"] != new["time"]:
            return path
    return None
