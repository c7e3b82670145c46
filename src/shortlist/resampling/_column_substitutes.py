"""Substitutes where columns come by: one more reading finds those that are promising.

For each chosen feature the model of the others is fitted; its slopes, a number a row and
margin, are all that a column has to be compared with to know how promising it is. So one
reading compares every column with the slopes of all chosen features. The few best are then
held in memory, beside those that are chosen, and exchanged as columns of a table are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from shortlist._preparing import AS_IT_IS, preparing_of
from shortlist._protocols import (
    ColumnBlock,
    ColumnSource,
    DataError,
    Floats,
    Ids,
    Observer,
    Progress,
    ShortlistError,
)
from shortlist._shortlist import Shortlist
from shortlist.columns._data import Data
from shortlist.columns._retained import prepare
from shortlist.columns._run import ColumnRun, check_rows
from shortlist.engines import Broken, Interrupted
from shortlist.engines.columns import run_columns
from shortlist.losses.arrays import slopes_into
from shortlist.resampling._columns import MOST_BYTES, StableColumns
from shortlist.resampling._second_look import THRESHOLD
from shortlist.resampling._spanned import SpannedByOthers
from shortlist.resampling._substitutes import (
    MORE,
    Search,
    find_substitutes,
    target_of,
)
from shortlist.sources import open_columns
from shortlist.sources._labels import check_weights
from shortlist.table._gather import Table
from shortlist.table._problem import table_problem


class LookAtColumns:
    """What is asked for beyond a choice from columns.

    Parameters
    ----------
    n_pairs : int, default=0
        Pairs of halves that stability is judged by; 0: none.
    n_substitutes : int, default=0
        Substitutes to name of each chosen feature at most; 0: none.
    threshold : float, default=0.75
    groups : array-like of shape (n_rows,), default=None
        Rows of one group are never in both halves.
    seed : int, default=0
    """

    def __init__(
        self,
        *,
        n_pairs: int = 0,
        n_substitutes: int = 0,
        threshold: float = THRESHOLD,
        groups: Any = None,
        seed: int = 0,
    ) -> None:
        self._n = n_substitutes
        self._halves = None
        if n_pairs:
            self._halves = StableColumns(n_pairs, threshold, seed, groups)

    def run(
        self, run: ColumnRun, source: ColumnSource, observe: Observer | None = None
    ) -> Shortlist:
        """Do as ``run_columns`` does, and what else is asked for."""
        if self._n:
            _check(source, run.data, run.request.k, self._n)
        go = run_columns if self._halves is None else self._halves.run
        chosen: Shortlist = go(run, source, observe)
        if not self._n:
            return chosen
        never = run.request.never
        return substitutes_among(
            chosen, source, run.data, self._n, never=never, observe=observe
        )


def substitutes_of_columns(
    chosen: Any,
    columns: Any,
    y: Any,
    n: int,
    sample_weight: Any = None,
    watch: Callable[[str, int, int], None] | None = None,
) -> Shortlist:
    """Look for substitutes in whatever holds columns; see ``substitutes``."""
    shortlist: Shortlist = getattr(chosen, "shortlist_", chosen)
    if preparing_of(shortlist.params) != AS_IT_IS:
        raise ShortlistError(
            f"substitutes of {shortlist.method} need rows, which it has prepared"
        )
    source = open_columns(columns)
    y = getattr(source, "y", None) if y is None else y
    if y is None:
        raise ShortlistError(f"{source.name}: y should be given, got None")
    labels, target = target_of(shortlist, np.asarray(y))
    weight = None
    if sample_weight is not None:
        weight = check_weights(sample_weight, len(labels), "sample_weight")
    data = Data.of(target, labels, weight)
    never = tuple(map(str, getattr(chosen, "never", None) or ()))

    def observe(now: Progress) -> None:
        if watch is not None:
            watch(now.stage, now.position, now.size or 0)

    return substitutes_among(shortlist, source, data, n, never=never, observe=observe)


def substitutes_among(
    shortlist: Shortlist,
    source: ColumnSource,
    data: Data,
    n: int,
    *,
    never: Sequence[str] = (),
    observe: Observer | None = None,
) -> Shortlist:
    """Look for substitutes among columns that are read once more; see ``substitutes``.

    Ctrl-C raises ``Interrupted`` with what was found by then.
    """
    names = shortlist.names_by_id()
    _check(source, data, len(names), n)
    if not names:
        return shortlist
    called = list(names.values())

    def tell(now: Progress) -> None:
        if observe is not None:
            observe(now._replace(pass_number=0, stage="substitutes"))

    try:
        values = source.take(called).values
        check_rows(values.shape[1], data, source.name)
        slopes = slopes_without(values, data)
        barred = {*called, *never}
        screen = Screen(slopes, n + MORE, data, barred, values)
        others = run_columns(screen, source, tell)
        more = source.take(list(others.values())) if others else None
        found = names | others
        ids = np.array(list(found), np.uint64)
        order = np.argsort(ids)
        held = values if more is None else np.concatenate([values, more.values])
        table = Table(held[order].T, data.y, data.weight, ids[order], None)
    except KeyboardInterrupt:
        raise Interrupted(shortlist) from None
    except Broken as stop:
        raise DataError(str(stop)) from None

    def name(ids: Ids) -> list[str]:
        return [found[i] for i in ids.tolist()]

    return find_substitutes(
        shortlist, table, data.target, name, n, watch=_watching(observe)
    )


def _watching(observe: Observer | None) -> Callable[[str, int, int], None]:
    def watch(what: str, done: int, total: int) -> None:
        if observe is not None:
            observe(Progress(0, what, done, total, "fits", 0, np.nan))

    return watch


def _check(source: ColumnSource, data: Data, k: int, n: int) -> None:
    """Refuse what cannot be done, before any work."""
    if n < 1:
        raise ShortlistError(f"n should be a whole number from 1, got {n!r}")
    if not source.reiterable:
        raise ShortlistError(
            f"{source.name}: substitutes read the columns once more, and an iterator gives "
            "them once; a file, a list or a function that returns columns will do"
        )
    needed = 8 * len(data.y) * k * (2 + n + MORE + data.n_margins)
    if needed > MOST_BYTES:
        raise ShortlistError(
            f"{n} substitutes of {k} features would hold {needed / 1e9:.3g} GB of columns, "
            f"more than the {MOST_BYTES / 1e9:.3g} GB there are for them: ask for fewer, "
            "or for a smaller k"
        )


def slopes_without(values: Floats, data: Data) -> Floats:
    """Slopes of the loss where each column in turn is left out, of shape (k, C, n_rows)."""
    k, n_rows = values.shape
    problem = table_problem(
        values.T,
        data.y,
        data.target,
        sample_weight=data.weight,
        search_l2="auto",
        gram=False,
    )
    search, every = Search(problem), np.arange(k)
    fit = search.fit(every)
    slopes = np.empty((k, data.n_margins, n_rows))
    for j in range(k):
        Z = problem.objective.margins(search.fit(every[every != j], fit))
        out = np.empty_like(Z)
        slopes_into(data.loss, data.y, Z, data.share, out)
        slopes[j] = out.T
    return slopes


class Screen:
    """Finds, in one pass, the columns along which losses fall most.

    Parameters
    ----------
    slopes : ndarray of shape (k, C, n_rows)
        Of each of k models.
    n : int
        Columns to keep for each of them.
    data : Data
    barred : set of str
        Names of those that are no candidates.
    chosen : ndarray of shape (k, n_rows)
        What others of them add up to is no candidate for one either.
    """

    def __init__(
        self, slopes: Floats, n: int, data: Data, barred: set[str], chosen: Floats
    ) -> None:
        self._slopes = slopes.reshape(-1, slopes.shape[2])
        self._shape = slopes.shape[:2]
        self._n, self._data, self._barred = n, data, barred
        centred = chosen - (chosen @ data.share)[:, np.newaxis]
        self._adds_nothing = SpannedByOthers(centred, data.share)
        self._gains = np.zeros((slopes.shape[0], 0))
        self._ids = np.zeros((slopes.shape[0], 0), np.uint64)
        self._names: dict[int, str] = {}
        self._seen = 0

    def step(self, block: ColumnBlock) -> None:
        """Compare the columns of a block with those that are best so far."""
        check_rows(block.values.shape[1], self._data, f"column {block.names[0]!r}")
        self._seen += len(block.names)
        ready = prepare(block, self._data.share, standardize=True)
        along = (self._slopes @ ready.values.T).reshape(*self._shape, -1)
        gains = (along**2).sum(axis=1)
        gains[:, [name in self._barred for name in block.names]] = 0.0
        gains[self._adds_nothing(ready.values)] = 0.0
        ids = np.broadcast_to(block.ids, gains.shape)
        gains = np.concatenate([self._gains, gains], axis=1)
        ids = np.concatenate([self._ids, ids], axis=1)
        best = np.argsort(-gains, axis=1, kind="stable")[:, : self._n]
        self._gains = np.take_along_axis(gains, best, axis=1)
        self._ids = np.take_along_axis(ids, best, axis=1)
        known = self._names | dict(zip(block.ids.tolist(), block.names, strict=True))
        held = set(self._ids.ravel().tolist())
        self._names = {i: name for i, name in known.items() if i in held}

    def next_pass(self) -> bool:
        """One pass is enough."""
        return False

    def came_once(self) -> None:
        """One pass is enough."""

    def standing(self) -> tuple[int, float]:
        """Columns so far; there is no loss."""
        return self._seen, np.nan

    def result(self) -> dict[int, str]:
        """Names by ids of all that somebody may be exchanged for."""
        held = np.unique(self._ids[self._gains > 0.0])
        return {i: self._names[i] for i in held.tolist()}
