"""Parquet and Arrow files as a source of rows."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from shortlist._protocols import DataError, Floats, Ids, Ints, RowBlock, ShortlistError
from shortlist.kernels.csr import take_rows
from shortlist.sources._arrow_files import ArrowFile, open_arrow
from shortlist.sources._batches import (
    NUMBER,
    TEXT,
    Batches,
    Faults,
    as_block,
    distinct_values,
    floats_of,
    kind_of,
)
from shortlist.sources._columns import (
    POLICIES,
    FeatureColumns,
    NamesById,
    check_column,
    columns_in,
    listed,
    unique_columns,
)
from shortlist.sources._distinct_names import DistinctNames
from shortlist.sources._files import Paths, find_files
from shortlist.sources._labels import check_choice, too_many_labels

_MAX_CELLS = 1 << 22  # of a block, however wide the table
_MOST_NAMES = 300_000  # kept; others are looked up again


class ParquetSource:
    """Rows of Parquet and Arrow (Feather) files; features are known by their names.

    Columns are what they are for ``FrameSource`` and ``CsvSource``, with the same names
    and ids: numbers and truth values are a feature named after the column, text and
    categories make features ``column=value``. A column of lists of integers or text makes
    a feature ``column=item`` of each item, with the value 1 (items that repeat add up);
    one of maps, or of lists of pairs ``{id, value}``, ``column=key`` with that value.
    The fields of a struct ``a`` are columns ``a.b``, as keys of JSON lines are.
    Zeros are left out. Rows are counted from 0 in messages.

    Parameters
    ----------
    paths : str, path or iterable of them
        Files, patterns such as ``data/*.parquet``. All have the same columns.
    target : str, default=None
        Column of the labels. Numbers are kept (true is 1), others become codes into
        ``label_names``; a missing label is NaN.
    weight : str, default=None
        Column of the importance of each row.
    block_rows : int, default=8192
        Rows in a block; wide tables come in fewer.
    on_error : {"raise", "skip"}, default="raise"
        A bad row raises, after the rows before it have been yielded, or is left out and
        counted in ``skipped``.
    missing : {"zero", "category", "error"}, default="zero"
        Whether a missing value leaves the feature out, makes the feature
        ``column=missing``, or is an error. Infinite values are errors.
    text : iterable of str, default=()
        Columns of numbers to be taken as text: codes, for example.
    labels, only, leave_out, scoring
        As in ``CsvSource``.
    seed : int, default=0
        Of the hash; another seed gives unrelated ids.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns.
    label_names : list of str or None
        What the codes in ``y`` stand for; None if labels are numbers.
    skipped : int
        Bad rows left out by the last call of ``blocks``.

    Notes
    -----
    Needs pyarrow. Up to 300,000 names of features are kept; to name others, the files
    are read once more.

    Examples
    --------
    >>> import pandas as pd, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "visits.parquet"
    >>> visits = {"age": [31, 47], "pages": [[7, 9, 7], [9]], "y": [0, 1]}
    >>> pd.DataFrame(visits).to_parquet(path)
    >>> source = ParquetSource(path, "y")
    >>> block = next(source.blocks())
    >>> source.names(block.ids)
    ['age', 'pages=7', 'pages=9', 'pages=7', 'age', 'pages=9']
    """

    may_lack_labels = True
    unit = "bytes"
    reiterable = True
    n_features: int | None = None
    features_are = "columns of tables"

    def __init__(
        self,
        paths: Paths,
        target: str | None = None,
        *,
        weight: str | None = None,
        block_rows: int = 8192,
        on_error: str = "raise",
        missing: str = "zero",
        text: Iterable[str] = (),
        labels: Iterable[Any] | None = None,
        only: Iterable[str] | None = None,
        leave_out: Iterable[str] = (),
        scoring: bool = False,
        seed: int = 0,
    ):
        check_choice("missing", missing, POLICIES)
        check_choice("on_error", on_error, ("raise", "skip"))
        if block_rows < 1:
            raise ShortlistError(f"block_rows: expected 1 or more, got {block_rows}")
        self._files = [open_arrow(file) for file in find_files(paths)]
        first, more = self._files[0], len(self._files) - 1
        self.name = first.name + (f" and {more} more" if more else "")
        self.size: int | None = sum(file.size for file in self._files)
        self.missing, self.on_error, self.seed = missing, on_error, seed
        self.text = tuple(text)
        self.skipped = 0
        self.columns = tuple(first.schema.names)
        unique_columns(first.name, self.columns)
        self._check_schemas()
        self.target, self.weight = (
            self._special(parameter, column, scoring)
            for parameter, column in (("target", target), ("weight", weight))
        )
        self.leave_out: tuple[str, ...] = ()
        self._kinds = self._find_kinds(only, set(leave_out), scoring)
        widest = max(1, _MAX_CELLS // max(1, len(self._kinds)))
        self.block_rows = min(block_rows, widest)
        self._features = self._feature_columns()
        self._known = NamesById(self.name)
        self._distinct = DistinctNames()
        self.ids(self._features.always_there())
        self._strict = not scoring
        self.label_names: Sequence[str] | None = self._find_labels(labels, scoring)

    def leaving_out(self, names: Iterable[str]) -> ParquetSource:
        """Give the same source without the columns among these names, but for numbers."""
        other = copy.copy(self)
        out = [name for name in names if self._kinds.get(name, NUMBER) != NUMBER]
        other._kinds = {c: kind for c, kind in self._kinds.items() if c not in out}
        other.leave_out += tuple(out)
        other._features = other._feature_columns()
        return other

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the rows in order, ``block_rows`` at a time."""
        self.skipped = 0
        blocks = (block for block, _, _ in self._parts(self._keep))
        return self._distinct.counting(blocks)

    @property
    def known_labels(self) -> Sequence[str] | None:
        """All labels, if they are text: the whole column has been read."""
        return self.label_names

    @property
    def column_kinds(self) -> dict[str, str]:
        """What the columns hold that make features."""
        return self._features.kinds

    @property
    def n_names(self) -> float:
        """About how many different names of features there have been."""
        return self._distinct.n

    def names(self, ids: Ids) -> list[str]:
        """Names of features; those not kept are looked up in the files."""
        numbers = ids.tolist()
        wanted = {number for number in numbers if number not in self._known}
        if wanted:
            self._look_up(wanted)
        return [self._known.get(number) for number in numbers]

    def ids(self, names: Sequence[str]) -> Ids:
        """Ids of features; of ``column=value`` also those not seen yet."""
        for name in names:
            self._features.check(name, self._known)
        ids = self._features.hashed(names)
        self._known.add(ids.tolist(), names)
        return ids

    @property
    def target_hint(self) -> str | None:
        """What to say if labels are needed; None if they have a column."""
        if self.target is not None:
            return None
        return f"target= names their column, one of {listed(self.columns)}"

    def locate(self, row: int) -> str:
        """File of a row and its number there, from 0."""
        for block, file, numbers in self._parts(self._keep):
            if row < block.first_row + block.n_rows:
                return f"{file.name}: row {numbers[row - block.first_row]}"
        raise ShortlistError(f"{self.name}: there are not that many rows")

    def _special(self, parameter: str, column: str | None, scoring: bool) -> str | None:
        if column is None or (scoring and column not in self.columns):
            return None
        check_column(self.name, parameter, column, self.columns)
        if self._kind(column) not in (NUMBER, TEXT):
            raise self._bad_type(column)
        return column

    def _kind(self, column: str) -> str | None:
        return kind_of(self._files[0].schema.field(column).type)

    def _bad_type(self, column: str) -> DataError:
        return DataError(
            f"{self._files[0].name}: column {column!r}: expected numbers or text, got "
            f"{self._files[0].schema.field(column).type}; convert it or leave it out "
            "(leave_out= names such columns)"
        )

    def _feature_columns(self) -> FeatureColumns:
        plain = [column for column, kind in self._kinds.items() if kind == NUMBER]
        others = [column for column, kind in self._kinds.items() if kind != NUMBER]
        owner = self._files[0].name
        return FeatureColumns(
            owner, plain, others, self.missing, self.seed, self.leave_out
        )

    def _find_kinds(
        self, only: Iterable[str] | None, leave_out: set[str], scoring: bool
    ) -> dict[str, str]:
        are_text = {} if only is None else columns_in(only, self.columns)
        special = (self.target, self.weight)
        as_text = {column for column, is_text in are_text.items() if is_text}
        for column in self.text:
            if not scoring or column in self.columns:
                check_column(self.name, "text", column, self.columns)
                as_text.add(column)
        kinds = {}
        structs = self._structs()
        self.leave_out += tuple(name for name in structs if name in leave_out)
        barred = {column for name in self.leave_out for column in structs[name]}
        for column in self.columns:
            if column in special or column in barred:
                continue
            if only is not None and column not in are_text:
                continue
            kind = self._kind(column)
            if kind == NUMBER and column in as_text:
                kind = TEXT
            if kind != NUMBER and column in leave_out:
                self.leave_out += (column,)
                continue
            if kind is None:
                raise self._bad_type(column)
            kinds[column] = kind
        return kinds

    def _structs(self) -> dict[str, list[str]]:
        """Columns within each struct, by its name."""
        found: dict[str, list[str]] = {}
        for path in self._files[0].paths:
            for depth in range(1, len(path)):
                found.setdefault(".".join(path[:depth]), []).append(".".join(path))
        return found

    def _check_schemas(self) -> None:
        expected = self._files[0].schema
        for file in self._files[1:]:
            for column in expected.names:
                if column not in file.schema.names:
                    raise DataError(
                        f"{file.name}: expected a column {column!r} as in the first file, "
                        "got none"
                    )
                if kind_of(file.schema.field(column).type) != self._kind(column):
                    raise DataError(
                        f"{file.name}: column {column!r}: expected "
                        f"{expected.field(column).type} as in the first file, got "
                        f"{file.schema.field(column).type}"
                    )

    def _find_labels(
        self, labels: Iterable[Any] | None, scoring: bool
    ) -> list[str] | None:
        """Names of the labels, if they are text."""
        if self.target is None or self._kind(self.target) != TEXT:
            return None
        if labels is not None:
            given = list(labels)
            if scoring:  # numbers are none of the labels of this table
                return [label for label in given if isinstance(label, str)]
            return sorted(map(str, given))
        found: set[str] = set()
        for file in self._files:
            for batch, _ in file.batches([self.target], self.block_rows):
                codes, values = distinct_values(batch.column(self.target))
                found.update(values[code] for code in np.unique(codes) if code >= 0)
                too_many_labels(self.name, self.target, len(found))
        return sorted(found)

    def _parts(self, remember: Any) -> Iterator[tuple[RowBlock, ArrowFile, Ints]]:
        """Yield blocks, the files they are from and the numbers of their rows there."""
        batches = Batches(self._kinds, self._features, self.missing, remember)
        special = [c for c in (self.target, self.weight) if c is not None]
        first_row = before = 0
        for file in self._files:
            seen = 0
            for batch, share in file.batches([*self._kinds, *special], self.block_rows):
                faults = Faults(batch.num_rows)
                block = as_block(
                    batches.rows(batch, faults),
                    self._labels(batch, faults),
                    self._weights(batch, faults),
                    first_row,
                    before + round(share * file.size),
                )
                good = np.flatnonzero(~faults.bad)
                bad = int(np.argmax(faults.bad)) if len(good) < block.n_rows else -1
                if bad >= 0:
                    good = good if self.on_error == "skip" else np.arange(bad)
                    self.skipped += batch.num_rows - len(good)
                    block = take_rows(block, good)
                if block.n_rows:
                    yield block, file, good + seen
                if bad >= 0 and self.on_error == "raise":
                    place = f"{file.name}: row {seen + bad}"
                    raise DataError(f"{place}: {faults.complaint}")
                seen += batch.num_rows
                first_row += block.n_rows
            before += file.size

    def _labels(self, batch: Any, faults: Faults) -> Floats:
        if self.target is None:
            return np.full(batch.num_rows, np.nan)
        array = batch.column(self.target)
        if self.label_names is None:
            y = floats_of(array).copy()
            faults.note(np.isinf(y), self.target, "a finite number as label", y)
            return y
        codes, values = distinct_values(array)
        code_of = {label: float(code) for code, label in enumerate(self.label_names)}
        numbers = [code_of.get(value, np.nan) for value in values]
        y = np.array([*numbers, np.nan])[codes]
        if self._strict:
            unknown = np.isnan(y) & (codes >= 0)
            wanted = "one of the labels (labels= names others)"
            faults.note(unknown, self.target, wanted, np.array([*values, ""])[codes])
        return y

    def _weights(self, batch: Any, faults: Faults) -> Floats:
        if self.weight is None:
            return np.ones(batch.num_rows)
        weight = floats_of(batch.column(self.weight)).copy()
        bad = ~(weight >= 0) | np.isinf(weight)
        faults.note(bad, self.weight, "a weight of 0 or more", weight)
        return weight

    def _keep(self, ids: list[int], names: list[str]) -> None:
        room = max(0, _MOST_NAMES - len(self._known))
        self._known.add(ids[:room], names[:room])

    def _look_up(self, wanted: set[int]) -> None:
        """Read the files until the names of all these are known."""

        def remember(ids: list[int], names: list[str]) -> None:
            for number, name in zip(ids, names, strict=True):
                if number in wanted:
                    wanted.remove(number)
                    self._known.add([number], [name])

        batches = Batches(self._kinds, self._features, "zero", remember)
        for file in self._files:
            for batch, _ in file.batches(list(self._kinds), self.block_rows):
                batches.rows(batch, Faults(batch.num_rows))
                if not wanted:
                    return
