"""Dictionaries, one a row, as a source of rows: features without end, known by name."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from numbers import Real
from typing import Any

import numpy as np

from shortlist._protocols import DataError, Ids, RowBlock, ShortlistError
from shortlist.kernels.name_hash import hash_bytes
from shortlist.sources._columns import NamesById, encoded
from shortlist.sources._labels import check_choice, is_missing, too_many_labels

Row = Mapping[str, Any] | tuple[Mapping[str, Any], Any]
Rows = Iterable[Row]

#: Names of an iterator from which on somebody should say which are needed.
MANY_NAMES = 300_000


class MappingSource:
    """Rows that are mappings of names to values.

    A number or truth value is a feature with the name of its key; text makes a feature
    ``key=value``, which is 1. Zeros are left out. A feature's id is a 64-bit hash of its
    name, as in tables.

    Parameters
    ----------
    rows : iterable of mappings, or of pairs (mapping, label); or callable that returns one
        A list or a function can be read again; a generator is read once.
    target : str, default=None
        Key of the labels, if rows are no pairs. Whether labels are numbers or text is
        decided by the first; of text, all labels have to be among the first
        ``block_rows`` rows, or in ``labels``.
    labels : iterable, default=None
        All labels there are, if they are text.
    missing : {"error", "zero"}, default="error"
        Whether None and NaN are errors, or leave the feature out.
    block_rows : int, default=1000
    name : str, default="rows"
        What messages call the source.

    Examples
    --------
    >>> rows = [{"age": 31, "city": "Bonn", "y": 0}, {"age": 47, "y": 1}]
    >>> source = MappingSource(rows, "y")
    >>> block = next(source.blocks())
    >>> source.names(block.ids), block.y
    (['age', 'city=Bonn', 'age'], array([0., 1.]))
    """

    may_lack_labels = True
    unit = "rows"
    n_features: int | None = None
    features_are = "columns of tables"

    def __init__(
        self,
        rows: Rows | Callable[[], Rows],
        target: str | None = None,
        *,
        labels: Iterable[Any] | None = None,
        missing: str = "error",
        block_rows: int = 1000,
        name: str = "rows",
    ):
        check_choice("missing", missing, ("error", "zero"))
        if block_rows < 1:
            raise ShortlistError(f"block_rows: expected 1 or more, got {block_rows}")
        self.name, self.target, self.missing = name, target, missing
        self.block_rows = block_rows
        self.reiterable = callable(rows) or not isinstance(rows, Iterator)
        self.size: int | None = len(rows) if isinstance(rows, Sequence) else None
        self._rows = rows
        self._head: list[Row] | None = None  # of an iterator: rows looked at, not given
        self._spent = False
        self._given = None if labels is None else sorted({str(one) for one in labels})
        self._label_names: list[str] | None = None
        self._labels_are_known = False
        self._names = NamesById(name)
        self._last_at: dict[int, int] = {}  # where each name came last
        self._id_of: dict[str, int] = {}
        self._many = MANY_NAMES
        self.leave_out: tuple[str, ...] = ()

    def leaving_out(self, names: Iterable[str]) -> MappingSource:
        """Give the same source without the keys among these names, whatever they hold."""
        other = copy.copy(self)
        other.leave_out += tuple(names)
        return other

    @property
    def label_names(self) -> Sequence[str] | None:
        """What the codes in ``y`` stand for; the first rows are looked at for that."""
        if not self._labels_are_known:
            self._look_at_labels()
        return self._label_names

    @label_names.setter
    def label_names(self, names: Sequence[str] | None) -> None:
        self._label_names = None if names is None else list(names)
        self._labels_are_known = True

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the rows in order, ``block_rows`` at a time."""
        if self._spent and not self.reiterable:
            raise ShortlistError(
                f"{self.name}: an iterator gives its rows once; a list of them, or a "
                "function that returns one, can be read again"
            )
        if not self._labels_are_known:
            self._look_at_labels()
        self._spent = True
        return self._all_blocks()

    def names(self, ids: Ids) -> list[str]:
        """Names of features seen so far; of others "#" and their digits."""
        return [self._names.get(number) for number in ids.tolist()]

    def ids(self, names: Sequence[str]) -> Ids:
        """Ids of features, seen or not."""
        return np.array([self._id(str(name), 0) for name in names], np.uint64)

    @property
    def crowded(self) -> bool:
        """Whether so many names of an iterator are held that some should go."""
        return not self.reiterable and len(self._names) > self._many

    def retain(self, ids: Ids, learned: int) -> None:
        """Forget names, but not of these ids and of rows after the number ``learned``."""
        late = (number for number, at in self._last_at.items() if at >= learned)
        kept = set(ids.tolist()) | set(late)
        self._names.keep(kept)
        self._id_of = {n: i for n, i in self._id_of.items() if i in kept}
        self._last_at = {i: at for i, at in self._last_at.items() if i in kept}
        self._many = max(MANY_NAMES, 2 * len(self._names))

    def _iterator(self) -> Iterator[Row]:
        return iter(self._rows() if callable(self._rows) else self._rows)

    def _look_at_labels(self) -> None:
        rows = self._iterator()
        head = list(islice(rows, self.block_rows))
        if not self.reiterable:
            self._head = head
        found = [self._parts(row, i)[1] for i, row in enumerate(head)]
        some = [label for label in found if label is not None]
        self._labels_are_known = True
        if some and not isinstance(some[0], Real):
            if self._given is None:
                # a list is all there, so that late classes are no surprise
                every = self._rows if isinstance(self._rows, Sequence) else head
                parts = (self._parts(row, i)[1] for i, row in enumerate(every))
                self._given = sorted({str(one) for one in parts if one is not None})
            too_many_labels(self.name, str(self.target), len(self._given))
            self._label_names = self._given

    def _all_blocks(self) -> Iterator[RowBlock]:
        rows = self._iterator()
        if self._head is not None:
            rows, self._head = chain(self._head, rows), None
        first = 0
        while part := list(islice(rows, self.block_rows)):
            yield self._block(part, first)
            first += len(part)

    def _block(self, rows: list[Row], first: int) -> RowBlock:
        ids: list[int] = []
        values: list[float] = []
        ends, y = [0], []
        unread = {*self.leave_out, self.target}
        for i, row in enumerate(rows, first):
            x, label = self._parts(row, i)
            for key, value in x.items():
                if key not in unread:
                    self._add(str(key), value, i, ids, values)
            ends.append(len(ids))
            y.append(self._code(label, i))
        n = len(rows)
        return RowBlock(
            np.array(ends, np.int64),
            np.array(ids, np.uint64),
            np.array(values, np.float64),
            np.array(y, np.float64),
            np.ones(n),
            first_row=first,
            position=first + n,
        )

    def _parts(self, row: Any, i: int) -> tuple[Mapping[str, Any], Any]:
        """Features and label of a row."""
        if isinstance(row, tuple) and len(row) == 2 and isinstance(row[0], Mapping):
            return row[0], None if is_missing(row[1]) else row[1]
        if not isinstance(row, Mapping):
            raise DataError(
                f"{self.name}: row {i}: expected a mapping of names to values, or such a "
                f"mapping and a label, got {type(row).__name__}"
            )
        label = None if self.target is None else row.get(self.target)
        return row, None if is_missing(label) else label

    def _add(
        self, key: str, value: Any, row: int, ids: list[int], values: list[float]
    ) -> None:
        if value is None or (isinstance(value, float) and np.isnan(value)):
            if self.missing == "error":
                raise DataError(
                    f"{self.name}: row {row}, {key!r}: expected a value, got {value}; "
                    "missing='zero' leaves it out"
                )
        elif isinstance(value, str):
            ids.append(self._id(f"{key}={value}", row))
            values.append(1.0)
        elif isinstance(value, (Real, np.bool_)) and np.isfinite(float(value)):
            if value:
                ids.append(self._id(key, row))
                values.append(float(value))
        else:
            raise DataError(
                f"{self.name}: row {row}, {key!r}: expected a finite number or text, got "
                f"{value!r}"
            )

    def _id(self, name: str, row: int) -> int:
        number = self._id_of.get(name)
        if number is None:
            number = int(hash_bytes([encoded(name)], 0)[0])
            self._names.add([number], [name])
            self._id_of[name] = number
        self._last_at[number] = row
        return number

    def _code(self, label: Any, row: int) -> float:
        if label is None:
            return float("nan")
        if self._label_names is None:
            if isinstance(label, Real):
                return float(label)
            expected = "a number, as the first label is"
        else:
            text = str(label)
            if text in self._label_names:
                return float(self._label_names.index(text))
            expected = (
                f"a label among {', '.join(self._label_names)} (labels= names all)"
            )
        raise DataError(f"{self.name}: row {row}: expected {expected}, got {label!r}")
