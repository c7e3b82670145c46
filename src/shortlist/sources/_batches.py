"""Batches of Arrow columns as sparse rows: numbers, text, lists of ids.

Work goes column by column with NumPy and Arrow; Python sees each distinct value of a
batch once. A bad cell marks its row, and the first bad row keeps its complaint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import Floats, Ids, Ints, RowBlock
from shortlist.sources._columns import MISSING, FeatureColumns

_MOST_CACHED = 100_000  # ids of values, of each column
_KEYS = ("id", "name", "key")  # of a pair's first part; its second is "value"

NUMBER, TEXT, LIST, PAIRS = "numbers", "text", "a list", "pairs"


class Piece(NamedTuple):
    """Features of some rows of a batch, in the order of rows."""

    rows: Ints
    ids: Ids
    values: Floats


def kind_of(arrow_type: Any) -> str | None:
    """Say what a column of some type holds; None if it makes no features.

    Dates and times are text, as they are in CSV.
    """
    import pyarrow.types as is_

    if is_.is_boolean(arrow_type) or is_.is_null(arrow_type):
        return NUMBER
    if is_.is_integer(arrow_type) or is_.is_floating(arrow_type):
        return NUMBER
    if is_.is_decimal(arrow_type):
        return NUMBER
    if _is_text(arrow_type):
        return TEXT
    if is_.is_map(arrow_type):
        has_numbers = kind_of(arrow_type.item_type) == NUMBER
        return PAIRS if has_numbers and _is_key(arrow_type.key_type) else None
    if not (
        is_.is_list(arrow_type)
        or is_.is_large_list(arrow_type)
        or is_.is_fixed_size_list(arrow_type)
    ):
        return None
    item = arrow_type.value_type
    if is_.is_struct(item):
        return PAIRS if _key_field(item) is not None else None
    return LIST if _is_key(item) else None


def _is_text(arrow_type: Any) -> bool:
    import pyarrow.types as is_

    if is_.is_dictionary(arrow_type):
        value_type = arrow_type.value_type
        return _is_text(value_type) or kind_of(value_type) == NUMBER
    return bool(
        is_.is_string(arrow_type)
        or is_.is_large_string(arrow_type)
        or is_.is_string_view(arrow_type)
        or is_.is_temporal(arrow_type)
    )


def _is_key(arrow_type: Any) -> bool:
    import pyarrow.types as is_

    return _is_text(arrow_type) or bool(is_.is_integer(arrow_type))


def _key_field(struct: Any) -> str | None:
    """Field that names the feature in a list of pairs."""
    names = [field.name for field in struct]
    keys = [name for name in _KEYS if name in names]
    if len(names) != 2 or "value" not in names or not keys:
        return None
    good = _is_key(struct.field(keys[0]).type) and (
        kind_of(struct.field("value").type) == NUMBER
    )
    return keys[0] if good else None


class Batches:
    """Turns batches of a table into sparse rows.

    Parameters
    ----------
    kinds : mapping of str to str
        What the columns that make features hold.
    features : FeatureColumns
        Names of their features.
    missing : {"zero", "category", "error"}
    remember : callable
        Told the ids and names of the values met.
    """

    def __init__(
        self,
        kinds: Mapping[str, str],
        features: FeatureColumns,
        missing: str,
        remember: Callable[[list[int], list[str]], None],
    ):
        self._kinds = kinds
        self._features, self._missing, self._remember = features, missing, remember
        self._cache: dict[str, dict[Any, int]] = {column: {} for column in kinds}

    def rows(self, batch: Any, faults: Faults) -> tuple[Ints, Ids, Floats]:
        """Features of all rows: indptr, ids, values."""
        readers = {NUMBER: self._numbers, TEXT: self._texts}
        pieces = [
            readers.get(kind, self._lists)(column, batch.column(column), faults)
            for column, kind in self._kinds.items()
        ]
        rows, ids, values = (
            np.concatenate(part) if part else np.empty(0)
            for part in (zip(*pieces, strict=True) if pieces else ([], [], []))
        )
        # pieces are in order, so this merges more than it sorts
        order = np.argsort(rows, kind="stable")
        counts = np.bincount(rows.astype(np.int64), minlength=batch.num_rows)
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return (
            indptr,
            ids[order].astype(np.uint64, copy=False),
            values[order].astype(np.float64, copy=False),
        )

    def _numbers(self, column: str, array: Any, faults: Faults) -> Piece:
        values = floats_of(array)
        missing = np.isnan(values)
        faults.note(np.isinf(values), column, "a finite number", values)
        rows = np.flatnonzero((values != 0) & ~missing)
        ids = np.full(len(rows), self._ids(column, [None])[0], np.uint64)
        return self._with_missing(
            column, Piece(rows, ids, values[rows]), missing, faults
        )

    def _texts(self, column: str, array: Any, faults: Faults) -> Piece:
        ids, missing = self._ids_of(column, array)
        rows = np.flatnonzero(~missing)
        piece = Piece(rows, ids[rows], np.ones(len(rows)))
        return self._with_missing(column, piece, missing, faults)

    def _lists(self, column: str, array: Any, faults: Faults) -> Piece:
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_map(array.type):
            pair = pa.struct([("key", array.type.key_type), ("value", pa.float64())])
            array = array.cast(pa.list_(pair))
        lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(
            zero_copy_only=False
        )
        rows = np.repeat(np.arange(len(array)), lengths)
        items = array.flatten()
        values = np.ones(len(items))
        if self._kinds[column] == PAIRS:
            values = floats_of(items.field("value")).copy()
            values[items.is_null().to_numpy(zero_copy_only=False)] = np.nan
            items = items.field(_key_field(items.type))
        ids, gone = self._ids_of(column, items)
        infinite = np.zeros(len(array), np.bool_)
        infinite[rows[np.isinf(values)]] = True
        faults.note(infinite, column, "finite numbers", None)
        there = np.flatnonzero(~gone & ~np.isnan(values) & (values != 0))
        missing = array.is_null().to_numpy(zero_copy_only=False)
        piece = Piece(rows[there], ids[there], values[there])
        return self._with_missing(column, piece, missing, faults)

    def _ids_of(self, column: str, array: Any) -> tuple[Ids, NDArray[np.bool_]]:
        """Ids of ``column=value``, and where there is no value."""
        codes, values = distinct_values(array)
        missing = codes < 0
        ids = np.array([*self._ids(column, values), 0], np.uint64)
        return ids[codes], missing

    def _ids(self, column: str, values: Sequence[Any]) -> list[int]:
        """Ids of values; None stands for the column itself."""
        cache = self._cache[column]
        if len(cache) > _MOST_CACHED:
            cache.clear()
        new = [value for value in values if value not in cache]
        if new:
            names = [column if value is None else f"{column}={value}" for value in new]
            ids = self._features.hashed(names).tolist()
            self._remember(ids, names)
            cache.update(zip(new, ids, strict=True))
        return [cache[value] for value in values]

    def _with_missing(
        self, column: str, piece: Piece, missing: NDArray[np.bool_], faults: Faults
    ) -> Piece:
        """Make a category of missing values, or refuse them."""
        if not missing.any() or self._missing == "zero":
            return piece
        if self._missing == "error":
            wanted = "a value (missing= says what to do without)"
            faults.note(missing, column, wanted, None)
            return piece
        rows = np.flatnonzero(missing)
        number = int(self._features.hashed([f"{column}={MISSING}"])[0])
        ids = np.full(len(rows), number, np.uint64)
        joined = np.concatenate([piece.rows, rows])
        order = np.argsort(joined, kind="stable")
        return Piece(
            joined[order],
            np.concatenate([piece.ids, ids])[order],
            np.concatenate([piece.values, np.ones(len(rows))])[order],
        )


class Faults:
    """Bad rows of a batch, and what is wrong with the first of them."""

    def __init__(self, n_rows: int):
        self.bad = np.zeros(n_rows, np.bool_)
        self.complaint = ""
        self._first = n_rows

    def note(
        self, bad: NDArray[np.bool_], column: str, expected: str, came: Any
    ) -> None:
        """Mark rows as bad; ``came`` are their values, None if there are none."""
        if not bad.any():
            return
        self.bad |= bad
        row = int(np.argmax(bad))
        if row < self._first:
            got = "none" if came is None else came[row]
            self._first = row
            self.complaint = f"column {column!r}: expected {expected}, got {got}"


def floats_of(array: Any) -> Floats:
    """Numbers of a column; missing ones are NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = pc.cast(array, pa.float64(), safe=False)
    values: Floats = numbers.to_numpy(zero_copy_only=False)
    return values


def distinct_values(array: Any) -> tuple[Ints, list[str]]:
    """Distinct values of a column as text, and the code of each row; -1: missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string_view(array.type):  # which few functions know
        array = array.cast(pa.large_string())
    if pa.types.is_timestamp(array.type):  # Python knows no billionths of seconds
        array = array.cast(pa.timestamp("us", array.type.tz), safe=False)
    if not pa.types.is_dictionary(array.type):
        array = pc.dictionary_encode(array)
    indices = pc.fill_null(array.indices.cast(pa.int64()), -1)
    codes = indices.to_numpy(zero_copy_only=False)
    # of a dictionary for many batches only what this one uses
    used, places = np.unique(codes, return_inverse=True)
    used, shift = (used[1:], 1) if len(used) and used[0] < 0 else (used, 0)
    values = array.dictionary.take(pa.array(used)).to_pylist()
    codes = places - shift
    for code, value in enumerate(values):
        if value is None:
            codes[codes == code] = -1
    return codes, ["" if value is None else str(value) for value in values]


def as_block(
    rows: tuple[Ints, Ids, Floats],
    y: Floats,
    weight: Floats,
    first_row: int,
    position: int,
) -> RowBlock:
    """Put the parts of a block together."""
    return RowBlock(*rows, y, weight, first_row, position)
