"""Whole tables out of sources of rows, for methods that need all rows at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import (
    DataError,
    Floats,
    Head,
    Ids,
    Ints,
    RowBlock,
    RowSource,
    ShortlistError,
    Standing,
)
from shortlist._shortlist import Shortlist
from shortlist._splits import check_all_came, groups_of
from shortlist._targets import (
    NO_ROWS,
    NO_WEIGHT,
    UNLABELLED,
    Target,
    empty_classes,
    kept_rows,
    notes_on,
    rows_to_skip,
    target_of,
    with_codes,
)
from shortlist.engines.serial import Interrupted
from shortlist.objectives.checks import as_table
from shortlist.sources._distinct_names import collision_params
from shortlist.sources.arrays import ArraySource


class Table(NamedTuple):
    """A table with encoded labels."""

    X: Any  #: dense, CSR or CSC, (n_rows, n_columns)
    y: Floats
    weight: Floats | None
    ids: Ids  #: feature of each column
    n_features: int | None  #: how many there were to choose from
    groups: Ints | None = None  #: of rows that belong together, if anybody has told

    def columns(self, ids: Ids) -> tuple[int, ...]:
        """Columns of some features; those that no row has are left out."""
        place = np.searchsorted(self.ids, ids)
        place[place == len(self.ids)] = 0
        return tuple(place[self.ids[place] == ids].tolist()) if len(self.ids) else ()


@dataclass
class GatherState:
    """Rows so far, and the result once all are in."""

    target: Target
    always: Ids
    never: Ids
    n_features: int | None
    skip: str = NO_ROWS  #: which rows to leave out
    n_skipped: int = 0
    n_read: int = 0  #: rows that came, if their groups are known
    groups: list[Ints] = field(default_factory=list)  #: of the rows that stay
    parts: list[RowBlock] = field(default_factory=list)
    chosen: Shortlist | None = None
    is_solving: bool = False


@dataclass(frozen=True)
class TableLearner:
    """An algorithm for engines that gathers the rows in memory, then solves.

    Parameters
    ----------
    k : int
    solve : callable
        Called with a Table, the target, the columns to keep and to leave out, and a
        function that names ids; returns a Shortlist.
    loss, classes, always, never
        As for all selectors.
    params : mapping
        Settings, for the result and for messages.
    groups : mapping or "columns", default=None
        Groups of features that are chosen whole, as of ``groups_by_name``, of which
        ``solve`` knows already.
    row_groups : ndarray of int of shape (n_rows,), default=None
        Group of each row of the source; the Table has those of its rows.
    """

    k: int
    solve: Callable[..., Shortlist]
    loss: Any = "auto"
    classes: Sequence[Any] | None = None
    always: Sequence[str] = ()
    never: Sequence[str] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    groups: Mapping[str, str] | str | None = None
    row_groups: Ints | None = field(default=None, compare=False)

    def knowing_groups(self, groups: Ints) -> TableLearner:
        """The same for rows of these groups."""
        return replace(self, row_groups=groups)

    def start(self, source: RowSource, head: Head) -> GatherState:
        """Decide on the target by the first labels."""
        target = target_of(source, self.loss, self.classes, head.labels)
        wanted, barred = source.ids(self.always), source.ids(self.never)
        skip = rows_to_skip(source)
        return GatherState(target, wanted, barred, source.n_features, skip)

    def step(self, state: GatherState, block: RowBlock) -> None:
        """Keep a block, with its labels encoded."""
        state.parts.append(with_codes(state.target, block, skip=state.skip))
        state.n_skipped += block.n_rows - state.parts[-1].n_rows
        if self.row_groups is not None:
            own = groups_of(self.row_groups, state.n_read, block.n_rows)
            kept = kept_rows(state.target, block, state.skip)
            state.groups.append(own if kept is None else own[kept])
            state.n_read += block.n_rows

    def next_pass(self, state: GatherState) -> bool:
        """All rows are in: no other pass is needed."""
        if self.row_groups is not None:
            check_all_came(self.row_groups, state.n_read)
        return False

    def standing(self, state: GatherState) -> Standing:
        """Stage, and no loss: nothing has been learned yet."""
        return Standing("gather", math.nan)

    def result(self, state: GatherState, source: RowSource) -> Shortlist:
        """Solve on the rows that have been gathered."""
        if state.is_solving and state.chosen is None:
            raise KeyboardInterrupt  # it ended the search, and left nothing to give
        if not state.parts and state.chosen is None:
            raise ShortlistError(f"{source.name}: no rows to learn from")
        if state.chosen is None:
            table = gather(state.parts, state.n_features)
            if self.row_groups is not None:
                table = table._replace(groups=np.concatenate(state.groups))
            state.parts, state.is_solving = [], True
            try:
                state.chosen = self._solved(state, table, source)
            except Interrupted as stop:  # with what there is; asked again, give it
                state.chosen = stop.result
                raise KeyboardInterrupt from None
        return state.chosen

    def choose_from(self, source: ArraySource) -> Shortlist:
        """Choose from an array as it is: nothing is gathered, all labels are looked at."""
        X = source.matrix
        values = X.data if hasattr(X, "tocsr") else X
        if not all(np.isfinite(part).all() for part in _runs(values)):
            X, *_ = gather(list(source.blocks()), source.n_features, every=True)
        state = self.start(source, Head(source.all_labels))
        ids = np.arange(X.shape[1], dtype=np.uint64)
        labels, weight = source.all_labels, source.weights
        groups = self.row_groups
        if groups is not None:
            check_all_came(groups, len(labels))
            groups = groups_of(groups, 0, len(labels))
        if state.skip == UNLABELLED and np.isnan(labels).any():
            rows = np.flatnonzero(~np.isnan(labels))
            state.n_skipped = len(labels) - len(rows)
            X, labels, weight = X[rows], labels[rows], weight[rows]
            groups = None if groups is None else groups[rows]
        y = state.target.encode(labels)
        X = as_table(X if X.dtype.kind == "f" else X.astype(np.float64))
        table = Table(X, y, weight, ids, X.shape[1], groups)
        return self._solved(state, table, source)

    def _solved(self, state: GatherState, table: Table, source: RowSource) -> Shortlist:
        if table.weight is not None and not table.weight.any():
            raise DataError(f"{source.name}: {NO_WEIGHT}")
        chosen = self.solve(
            table,
            state.target,
            table.columns(state.always),
            table.columns(state.never),
            source.names,
        )
        counts = state.target.count(table.y)
        empty = empty_classes(state.target, counts)
        about_rows = notes_on(state.target, state.n_skipped, source, counts)
        notes = (*about_rows, *chosen.notes)
        for name, number in zip(self.always, state.always.tolist(), strict=True):
            if not np.isin(np.uint64(number), table.ids):
                notes = (*notes, f"no row has {name!r}, so it was not chosen")
        # all rows are here: where a source does not know, these are all there are
        n_features = chosen.n_features or table.X.shape[1]
        return replace(
            chosen,
            n_features=n_features,
            notes=tuple(dict.fromkeys(notes)),
            params={**chosen.params, **collision_params(source), **empty},
        )


def _runs(values: Any) -> Iterator[Any]:
    """An array in pieces, so that what is made of each is small."""
    step = max(1, (1 << 22) // max(1, values[:1].size))
    return (values[i : i + step] for i in range(0, len(values), step))


def gather(
    parts: Sequence[RowBlock], n_features: int | None, *, every: bool = False
) -> Table:
    """Stack blocks as a CSR table whose columns are the features that occur, or all."""
    from scipy.sparse import csr_array

    found = np.concatenate([block.ids for block in parts])
    if every and n_features is not None:
        ids, columns = np.arange(n_features, dtype=np.uint64), found.astype(np.int64)
    else:
        ids, columns = np.unique(found, return_inverse=True)
    ends = np.concatenate([np.diff(block.indptr) for block in parts])
    indptr = np.concatenate([[0], np.cumsum(ends)])
    values = np.concatenate([block.values for block in parts])
    X = csr_array((values, columns, indptr), shape=(len(ends), len(ids)))
    X.sum_duplicates()
    y = np.concatenate([block.y for block in parts])
    weight = np.concatenate([block.weight for block in parts])
    return Table(X, y, weight, ids, n_features)
