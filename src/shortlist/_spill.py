"""Rows of a refit in a file of their own, so that another pass need not parse the data.

Rows restricted to a few thousand features are a fraction of the text they came from, and
binary numbers need no parsing. The file has no name, so nothing is left of it, however the
process ends; its pages belong to the system, not to the memory of the process.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import IO, NamedTuple
from weakref import finalize

import numpy as np

from shortlist._protocols import Ids
from shortlist.kernels.masking import MaskedRows

#: Bytes that are left to others on the disk.
_LEAST_FREE = 1 << 30
#: Bytes after which to look again how much is free.
_LOOK_EVERY = 1 << 26
_KINDS = ("int64", "int32", "float64", "float64", "float64")  # of ``MaskedRows``


class KeptRows(NamedTuple):
    """Restricted rows, and the place in the data that they came from."""

    rows: MaskedRows
    n_read: int  #: rows that there were, bad ones included
    position: int  #: as that of the block they were in


class RowSpill:
    """Restricted rows of one pass, in order, to be read once more.

    Parameters
    ----------
    ids : array
        Features that the columns of the rows stand for.

    Attributes
    ----------
    complete : bool
        Whether all rows that came are here. They are not if the disk could not take them.
    """

    def __init__(self, ids: Ids) -> None:
        self.ids = ids
        self.complete = True
        self._blocks: list[tuple[int, int, int, int]] = []
        self._file: IO[bytes] | None = None
        self._unlooked = _LOOK_EVERY

    def add(self, kept: KeptRows) -> None:
        """Take in the rows of the next block."""
        if not self.complete:
            return
        size = sum(part.nbytes for part in kept.rows)
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="shortlist-")  # noqa: SIM115
                finalize(self, self._file.close)
            self._unlooked += size
            if self._unlooked >= _LOOK_EVERY:
                self._check_free(size)
            for part in kept.rows:
                np.ascontiguousarray(part).tofile(self._file)
        except OSError:
            self.close()
            return
        n_rows, n = len(kept.rows.y), len(kept.rows.values)
        self._blocks.append((n_rows, n, kept.n_read, kept.position))

    def _check_free(self, size: int) -> None:
        if shutil.disk_usage(tempfile.gettempdir()).free < _LEAST_FREE + size:
            raise OSError("too little room")
        self._unlooked = 0

    def __iter__(self) -> Iterator[KeptRows]:
        """Yield what was added, in arrays of its own."""
        if self._file is None:
            return
        self._file.seek(0, os.SEEK_SET)
        for n_rows, n, n_read, position in self._blocks:
            sizes = (n_rows + 1, n, n, n_rows, n_rows)
            parts = [
                np.fromfile(self._file, kind, size)
                for size, kind in zip(sizes, _KINDS, strict=True)
            ]
            yield KeptRows(MaskedRows(*parts), n_read, position)

    def close(self) -> None:
        """Give the room back; nothing can be added or read after that."""
        self.complete = False
        self._blocks.clear()
        if self._file is not None:
            self._file.close()
            self._file = None
