"""What the columns of delimited text are, for people and for the parser."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from shortlist._protocols import ShortlistError
from shortlist.kernels.csv_text import (
    COUNT,
    IGNORED,
    LABEL,
    LEAVE_OUT,
    NO_QUOTE,
    NUMBER,
    REFUSE,
    TEXT,
    TEXT_LABEL,
    TRUTH,
    TRUTH_LABEL,
    WEIGHT,
    Columns,
)
from shortlist.kernels.id_table import index_ids
from shortlist.kernels.name_hash import hash_bytes
from shortlist.sources._columns import (
    MISSING,
    POLICIES,
    FeatureColumns,
    check_column,
    columns_in,
    encoded,
)
from shortlist.sources._csv_head import NO_QUOTE as UNQUOTED
from shortlist.sources._csv_head import Head, Layout, kinds_of
from shortlist.sources._labels import check_choice

_POLICY_CODES = {"zero": LEAVE_OUT, "category": COUNT, "error": REFUSE}


class CsvColumns:
    """Kinds of columns, decided by the head, by the user and by wanted features.

    Parameters are those of ``CsvSource``. A target or weight that need not be there and
    is not, is None.
    """

    def __init__(
        self,
        owner: str,
        layout: Layout,
        head: Head,
        *,
        target: str | None,
        weight: str | None,
        missing: str,
        text: Iterable[str],
        only: Iterable[str] | None,
        scoring: bool,
        seed: int,
        leave_out: Iterable[str] = (),
    ):
        check_choice("missing", missing, POLICIES)
        self._layout, self._missing, self._seed = layout, missing, seed
        self._owner, self._scoring = owner, scoring
        self.target = self._special("target", target)
        self.weight = self._special("weight", weight)
        if self.target is not None and self.target == self.weight:
            raise ShortlistError(
                f"{owner}: expected different columns as target and weight, "
                f"got {self.target!r} as both"
            )
        self._remarks: dict[str, str] = {}
        self.kinds = self._find_kinds(head, only)
        for column in text:
            if not scoring or column in layout.columns:
                check_column(owner, "text", column, layout.columns)
                if self.kinds[column] != IGNORED:
                    self.kinds[column] = TEXT
                self._remarks.pop(column, None)
        self.left_out: tuple[str, ...] = ()
        self._leave_out(leave_out)

    def without(self, columns: Iterable[str]) -> CsvColumns:
        """The same, but for those of these columns that hold text."""
        other = copy.copy(self)
        other.kinds = dict(self.kinds)
        other._leave_out(columns)
        return other

    def _leave_out(self, columns: Iterable[str]) -> None:
        """Ignore those of the columns that hold text, and say what makes features."""
        features = {
            column: kind
            for column, kind in self.kinds.items()
            if column not in (self.target, self.weight)
        }
        for column in columns:
            if features.get(column) == TEXT:
                self.left_out += (column,)
                self.kinds[column] = features[column] = IGNORED
        numbers = [c for c, kind in features.items() if kind in (NUMBER, TRUTH)]
        texts = [column for column, kind in features.items() if kind == TEXT]
        self.features = FeatureColumns(
            self._owner, numbers, texts, self._missing, self._seed, self.left_out
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """Columns that are text though most of their cells are numbers, or left out."""
        of_text = tuple(
            f"column {column!r} {remark}"
            for column, remark in self._remarks.items()
            if self.kinds[column] == TEXT
        )
        places = [i for i, name in enumerate(self._layout.columns, 1) if not name]
        nameless = f"column {places[0]} has no name and is left out" if places else ""
        if len(places) > 1:
            nameless = f"{len(places)} columns have no name and are left out"
        return (*of_text, nameless) if nameless else of_text

    def parser(
        self, labels: Sequence[str] | None = None, strict: bool = True
    ) -> Columns:
        """Columns for the parser; ``labels`` are given if they are text.

        If not ``strict``, labels that cannot be read count as missing.
        """
        kinds = dict(self.kinds)
        if self.target is not None:
            is_truth = kinds[self.target] == TRUTH
            kinds[self.target] = TRUTH_LABEL if is_truth else LABEL
            if labels is not None:
                kinds[self.target] = TEXT_LABEL
        if self.weight is not None:
            kinds[self.weight] = WEIGHT
        policy = _POLICY_CODES[self._missing]
        return self._columns(kinds, policy, labels or (), strict)

    def parser_of_labels(self) -> Columns:
        """Columns of which only the target is read, as if it made features."""
        assert self.target is not None
        return self._columns({self.target: TEXT}, LEAVE_OUT, (), True)

    def _special(self, parameter: str, column: str | None) -> str | None:
        columns = self._layout.columns
        if column is None or (self._scoring and column not in columns):
            return None
        delimiter = repr(self._layout.delimiter)
        cut = f", cut at {delimiter} (delimiter= says otherwise)"
        check_column(self._owner, parameter, column, columns, cut + self._layout.hint)
        return column

    def _find_kinds(self, head: Head, only: Iterable[str] | None) -> dict[str, int]:
        columns = self._layout.columns
        if only is None:
            found = dict(zip(columns, kinds_of(head, self._layout), strict=True))
            kinds = {column: kind.code for column, kind in found.items()}
            self._remarks = {c: kind.remark for c, kind in found.items() if kind.remark}
            if "" in kinds:  # the numbers of rows, most likely
                kinds[""] = IGNORED
            return kinds
        kinds = dict.fromkeys(columns, IGNORED)
        for column, is_text in columns_in(only, columns).items():
            kinds[column] = TEXT if is_text else NUMBER
        if self.target is not None:
            place = columns.index(self.target)
            kinds[self.target] = kinds_of(head, self._layout)[place].code
        return kinds

    def _columns(
        self, kinds: Mapping[str, int], policy: int, labels: Sequence[str], strict: bool
    ) -> Columns:
        columns, quote = self._layout.columns, self._layout.quote
        prefixes = [encoded(f"{column}=") for column in columns]
        missing = [f"{column}={MISSING}" for column in columns]
        mark = NO_QUOTE if quote == UNQUOTED else ord(quote)
        return Columns(
            np.array([kinds.get(column, IGNORED) for column in columns], np.int64),
            self.features.hashed(columns),
            self.features.hashed(missing),
            np.frombuffer(b"".join(prefixes), np.uint8),
            np.cumsum([0, *map(len, prefixes)], dtype=np.int64),
            index_ids(hash_bytes([encoded(label) for label in labels], self._seed)),
            np.array([ord(self._layout.delimiter), policy, strict, mark], np.int64),
            np.uint64(self._seed % 2**64),
        )
