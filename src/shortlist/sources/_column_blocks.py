"""What sources of columns share: blocks, names and ids, missing values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from shortlist._protocols import ColumnBlock, DataError, Floats, Ids, ShortlistError
from shortlist.kernels.name_hash import hash_bytes
from shortlist.sources._columns import encoded
from shortlist.sources._labels import NUMBER_KINDS, check_choice
from shortlist.sources._names import ColumnNames

MISSING_POLICIES = ("error", "mean", "zero")

#: Numbers in a block if nobody says how many columns it has: 32 MB.
_BLOCK_CELLS = 1 << 22
_FEWEST, _MOST = 64, 512


class NumberedColumns:
    """Base of sources whose columns are numbered and can be read in any order.

    Subclasses implement ``_read``.

    Parameters
    ----------
    name : str
        What messages call the source.
    names : sequence of str or None
        None makes them up ("x0", "x1", ...); ids are then numbers of columns. Given
        names are hashed to ids, as those of tables are.
    shape : tuple of int
        Rows and columns.
    missing : {"error", "mean", "zero"}
        Whether a NaN is an error, or stands for the mean of its column, or for 0.
    block_columns : int or None
        Columns in a block; None: from 64 to 512, of 32 MB if possible.
    """

    reiterable = True

    def __init__(
        self,
        name: str,
        names: Sequence[str] | None,
        shape: tuple[int, int],
        *,
        missing: str = "error",
        block_columns: int | None = None,
    ):
        check_choice("missing", missing, MISSING_POLICIES)
        check_block_columns(block_columns)
        self.name, self.missing = name, missing
        self.n_rows: int | None = shape[0]
        self.n_columns: int | None = shape[1]
        self.is_numbered = names is None  #: whether ids are numbers of columns
        self._names = ColumnNames(names, shape[1], name)
        self.block_columns = block_columns or usual_columns(shape[0])

    def blocks(self) -> Iterator[ColumnBlock]:
        """Yield the columns in order, ``block_columns`` at a time."""
        for first in range(0, self._names.n, self.block_columns):
            yield self._block(
                range(first, min(first + self.block_columns, self._names.n))
            )

    def take(self, columns: Sequence[str | int]) -> ColumnBlock:
        """Return chosen columns, by name or by their number from 0."""
        return self._block(
            [self._names.column(c) if isinstance(c, str) else int(c) for c in columns]
        )

    def _read(self, numbers: Sequence[int], out: Floats) -> None:
        """Write columns, one into each row of out; what is missing is NaN."""
        raise NotImplementedError

    def _block(self, numbers: Sequence[int]) -> ColumnBlock:
        names = [self._names.name(number) for number in numbers]
        assert self.n_rows is not None
        values = np.empty((len(names), self.n_rows))
        self._read(numbers, values)
        fill_missing(values, names, self.missing, self.name)
        ids = np.array(numbers, np.uint64) if self.is_numbered else hashed(names)
        position = numbers[-1] + 1 if len(names) else 0
        return ColumnBlock(values, ids, names, position)


def check_block_columns(block_columns: int | None) -> None:
    """Refuse what is no number of columns."""
    if block_columns is not None and block_columns < 1:
        raise ShortlistError(f"block_columns: expected 1 or more, got {block_columns}")


def usual_columns(n_rows: int) -> int:
    """How many columns a block has if nobody says it."""
    return min(_MOST, max(_FEWEST, _BLOCK_CELLS // max(1, n_rows)))


def hashed(names: Sequence[str]) -> Ids:
    """Ids of names: 64-bit hashes, the ones that sources of rows give to them."""
    ids: Ids = hash_bytes([encoded(name) for name in names], 0)
    return ids


def as_numbers(column: Any, name: str, owner: str) -> np.ndarray[Any, Any]:
    """Return a column as an array of numbers, of whatever kind; others raise."""
    array = np.asarray(column)
    if array.ndim != 1:
        raise DataError(
            f"{owner}: column {name!r}: expected one number a row, got shape "
            f"{array.shape}"
        )
    if array.dtype.kind == "O":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            raise not_numbers(owner, name, "objects") from None
    if array.dtype.kind not in NUMBER_KINDS:
        raise not_numbers(owner, name, str(array.dtype))
    return array


def not_numbers(owner: str, column: str, came: str) -> DataError:
    """Error about a column that this room cannot learn from."""
    return DataError(
        f"{owner}: column {column!r}: expected numbers, got {came}; encode it, or leave "
        "it out"
    )


def fill_missing(
    values: Floats, names: Sequence[str], missing: str, owner: str
) -> None:
    """Fill in what is missing, in place; infinite numbers raise, and others may."""
    # one sum a column is much cheaper than a mask, and finite numbers rarely overflow it
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = np.flatnonzero(~np.isfinite(values.sum(axis=1)))
    for i in suspicious.tolist():
        column = values[i]
        gaps = np.isnan(column)
        bad = ~np.isfinite(column) if missing == "error" else np.isinf(column)
        if bad.any():
            row = int(np.argmax(bad))
            hint = "; missing='mean' or 'zero' fills it in" if gaps[row] else ""
            raise DataError(
                f"{owner}: row {row}, column {names[i]!r}: expected a finite number, "
                f"got {column[row]}{hint}"
            )
        present = column[~gaps]
        column[gaps] = present.mean() if missing == "mean" and len(present) else 0.0
