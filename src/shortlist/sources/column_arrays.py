"""Arrays, in memory or mapped from a file, dense or sparse, as a source of columns."""

from __future__ import annotations

from collections.abc import Sequence
from mmap import mmap
from typing import Any

import numpy as np

from shortlist._protocols import Floats
from shortlist.sources._column_blocks import NumberedColumns
from shortlist.sources.arrays import check_matrix


class ArrayColumns(NumberedColumns):
    """Columns of a dense or sparse array, which is never copied whole if it is dense.

    Parameters
    ----------
    X : array-like or sparse array of shape (n_rows, n_columns)
        Any real dtype, order and layout, ``np.memmap`` included: only the columns of a
        block are read. What is sparse and not CSC is converted to it once.
    names : sequence of str, default=None
        Names of the columns, whose hashes are their ids; None means "x0", "x1" and so
        on, and numbers as ids.
    missing : {"error", "mean", "zero"}, default="error"
        Whether a NaN is an error, or stands for the mean of its column, or for 0.
        Infinite values are errors.
    block_columns : int, default=None
        Columns in a block; None: from 64 to 512, of 32 MB if possible.
    name : str, default="array"
        What messages call the array.

    Examples
    --------
    >>> import numpy as np
    >>> source = ArrayColumns(np.arange(6.0).reshape(2, 3))
    >>> block = source.take(["x2", 0])
    >>> block.names, block.values
    (['x2', 'x0'], array([[2., 5.], [0., 3.]]))
    """

    def __init__(
        self,
        X: Any,
        names: Sequence[str] | None = None,
        *,
        missing: str = "error",
        block_columns: int | None = None,
        name: str = "array",
    ):
        self._sparse = hasattr(X, "tocsc")
        # asanyarray: a memory map should stay one
        self._X = check_matrix(X.tocsc() if self._sparse else np.asanyarray(X), name)
        n_rows, n_columns = map(int, self._X.shape)
        super().__init__(
            name,
            names,
            (n_rows, n_columns),
            missing=missing,
            block_columns=block_columns,
        )

    def __getstate__(self) -> dict[str, Any]:
        """What a process elsewhere needs: of a file that is mapped whole, its place."""
        X, state = self._X, dict(self.__dict__)
        if isinstance(X, np.memmap) and isinstance(X.base, mmap):
            order = "C" if X.flags.c_contiguous else "F"
            state["_X"] = (X.filename, X.dtype, "r", X.offset, X.shape, order)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        if isinstance(self._X, tuple):
            self._X = np.memmap(*self._X)

    def _read(self, numbers: Sequence[int], out: Floats) -> None:
        if isinstance(numbers, range) and not self._sparse:
            out[...] = self._X[:, numbers[0] : numbers[-1] + 1].T
        elif not self._sparse and self._X.flags.f_contiguous:
            for row, number in zip(out, numbers, strict=True):
                row[...] = self._X[:, number]
        elif not self._sparse:
            # many columns of a row together: they are near each other
            out[...] = self._X[:, list(numbers)].T
        else:
            self._read_sparse(numbers, out)

    def _read_sparse(self, numbers: Sequence[int], out: Floats) -> None:
        out[...] = 0.0
        for row, number in zip(out, numbers, strict=True):
            part = slice(int(self._X.indptr[number]), int(self._X.indptr[number + 1]))
            # entries that repeat add up
            np.add.at(row, self._X.indices[part], self._X.data[part])
