"""Directories of ``.npy`` files as a source of columns."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shortlist._protocols import DataError, Floats
from shortlist.sources._column_blocks import NumberedColumns, as_numbers
from shortlist.sources._columns import check_column

# NumPy reads a header as Python does an expression, and Python 3.11 fails now and then
# ("AST constructor recursion depth mismatch") if two threads do so at once.
_ONE_HEADER = threading.Lock()


class NpyColumns(NumberedColumns):
    """Columns that are a file each: ``age.npy`` is the column ``age``.

    Parameters
    ----------
    folder : path
        Holds files with one number a row, all of the same length, in the order of their
        names. Other files are left alone.
    target : str, default=None
        Column of what is to be predicted, which is no feature; it may hold text.
    leave_out : iterable of str, default=()
        Columns not to read, such as one of text.
    missing : {"error", "mean", "zero"}, default="error"
        Whether a NaN is an error, or stands for the mean of its column, or for 0.
        Infinite values are errors.
    block_columns : int, default=None
        Columns in a block; None: from 64 to 512, of 32 MB if possible.

    Attributes
    ----------
    y : ndarray or None
        The target.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> np.save(folder / "age.npy", np.array([31, 47]))
    >>> np.save(folder / "height.npy", np.array([1.7, 1.6]))
    >>> next(NpyColumns(folder).blocks()).names
    ['age', 'height']
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        target: str | None = None,
        *,
        leave_out: Iterable[str] = (),
        missing: str = "error",
        block_columns: int | None = None,
    ):
        # workers elsewhere have other working directories
        self._folder = Path(folder).absolute()
        if not self._folder.is_dir():
            raise DataError(f"{folder}: expected a directory of .npy files")
        stems = sorted(path.stem for path in self._folder.glob("*.npy"))
        known = list(stems)
        for column in (unread := list(leave_out)):
            check_column(str(folder), "leave_out", column, known)
        stems = [stem for stem in stems if stem not in unread]
        self.y = None
        if target is not None:
            check_column(str(folder), "target", target, known)
            stems = [stem for stem in stems if stem != target]
            self.y = np.array(self._load(target))
        if not stems:
            raise DataError(f"{folder}: expected .npy files in the directory, got none")
        n_rows = len(self._numbers(stems[0]))
        super().__init__(
            str(folder),
            stems,
            (n_rows, len(stems)),
            missing=missing,
            block_columns=block_columns,
        )

    def _load(self, stem: str) -> np.ndarray[Any, Any]:
        path = self._folder / f"{stem}.npy"
        try:
            with _ONE_HEADER:
                column = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise DataError(
                f"{path}: expected a sound .npy file, got: {error}"
            ) from None
        return np.asarray(column)

    def _numbers(self, stem: str) -> np.ndarray[Any, Any]:
        return as_numbers(self._load(stem), stem, str(self._folder))

    def _read(self, numbers: Sequence[int], out: Floats) -> None:
        for row, number in zip(out, numbers, strict=True):
            stem = self._names.name(number)
            column = self._numbers(stem)
            if len(column) != len(row):
                raise DataError(
                    f"{self.name}: column {stem!r}: expected {len(row)} rows, got "
                    f"{len(column)}"
                )
            row[...] = column
