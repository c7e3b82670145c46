"""Stability of methods that go through columns: one reading feeds all halves of the rows.

All rows are known before the first column comes, so halves are drawn as for tables. A run
over all rows and runs over halves are then stepped side by side, as one algorithm for
engines: a block of columns is read once, and each run gets its own rows of it. A half holds
k columns of half of the rows; where that is too much for all halves together, pairs follow
each other in batches, and the columns are read again for each batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from shortlist._protocols import (
    ColumnBlock,
    ColumnSource,
    Ids,
    Ints,
    Observer,
    Progress,
    ShortlistError,
)
from shortlist._shortlist import Shortlist
from shortlist.columns._run import ColumnRun, check_rows
from shortlist.engines import Broken, Interrupted
from shortlist.engines.columns import run_columns
from shortlist.resampling._halves import complementary_halves, labels_of
from shortlist.resampling._result import Stability, Tally

#: Bytes that halves may hold at a time; one pair may hold more, as the run over all rows.
MOST_BYTES = 1 << 30
#: Columns that a half holds besides those that it retains: labels, weights, row numbers,
#: and one to go over.
_BESIDES = 4

Pair = tuple["HalfRun", "HalfRun"]


def stability_of_columns(
    selector: Any,
    columns: Any,
    y: Any,
    n_pairs: int,
    threshold: float,
    seed: int,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    watch: Callable[[str, int, int], None] | None = None,
) -> Stability:
    """Stability of a selector of this room on columns that come by; see ``stability``."""
    from sklearn.base import clone

    own = clone(selector)
    source, data = own._opened(columns, y, sample_weight)
    if not own._works_alone:
        raise ShortlistError("stability goes with n_workers=1 and engine='threads'")
    look = StableColumns(n_pairs, threshold, seed, groups)

    def observe(now: Progress) -> None:
        if watch is not None:
            watch(now.stage, now.position, now.size or 0)

    try:
        look.run(own._run_over(data), source, observe)
    except Interrupted as stop:
        if look.found is None:
            raise KeyboardInterrupt(stop.result.notes[-1]) from None
        raise Interrupted(look.found) from None
    assert look.found is not None
    return look.found


class StableColumns:
    """What halves of the rows choose, along with a run over all rows.

    Parameters
    ----------
    n_pairs : int
    threshold : float
    seed : int
    groups : array-like of shape (n_rows,), default=None
        Rows of one group are never in both halves.

    Attributes
    ----------
    found : Stability or None
        All that is known about it, once a pair of halves is done.
    """

    def __init__(
        self, n_pairs: int, threshold: float, seed: int, groups: Any = None
    ) -> None:
        self._n_pairs, self._threshold = n_pairs, threshold
        self._seed, self._groups = seed, groups
        self.found: Stability | None = None

    def run(
        self, run: ColumnRun, source: ColumnSource, observe: Observer | None = None
    ) -> Shortlist:
        """Do as ``run_columns`` does; the result has shares of halves.

        Ctrl-C and bad data keep the pairs both of whose halves were done.
        """
        at_a_time = self._at_a_time(run, source)
        cuts = complementary_halves(
            len(run.data.y),
            self._n_pairs,
            classes=labels_of(run.data.y, run.data.target),
            groups=self._groups,
            seed=self._seed,
        )
        self.found, self._tally, self._names = None, Tally(), dict[int, str]()
        chosen: Shortlist | None = None
        try:
            for first in range(0, self._n_pairs, at_a_time):
                some = islice(cuts, at_a_time)
                result = self._read(run, source, some, first, at_a_time, observe)
                chosen = result if chosen is None else chosen
        except Broken as stop:
            chosen = stop.result if chosen is None else chosen
            raise Broken(str(stop), self._with_shares(run, chosen)) from stop
        except KeyboardInterrupt as stop:
            chosen = getattr(stop, "result", None) if chosen is None else chosen
            if chosen is None:
                raise
            raise Interrupted(self._with_shares(run, chosen)) from None
        assert chosen is not None
        return self._with_shares(run, chosen)

    def _at_a_time(self, run: ColumnRun, source: ColumnSource) -> int:
        """How many pairs are run side by side."""
        held = run.request.k + _BESIDES + run.data.n_margins
        bytes_of_pair = 8 * len(run.data.y) * held
        most = max(1, MOST_BYTES // bytes_of_pair)
        if self._n_pairs > most and not source.reiterable:
            raise ShortlistError(
                f"{self._n_pairs} pairs of halves would hold "
                f"{self._n_pairs * bytes_of_pair / 1e9:.3g} GB, more than the "
                f"{MOST_BYTES / 1e9:.3g} GB there are for them at a time, and "
                f"{source.name} gives its columns once: ask for {most} pairs, or give a "
                "file, a list or a function that returns columns"
            )
        return min(self._n_pairs, most)

    def _read(
        self,
        run: ColumnRun,
        source: ColumnSource,
        cuts: Iterator[tuple[Ints, Ints]],
        first: int,
        at_a_time: int,
        observe: Observer | None,
    ) -> Any:
        """Go through the columns for some pairs, the first time for all rows as well."""
        pairs = [(HalfRun(run, one), HalfRun(run, other)) for one, other in cuts]
        last = min(first + at_a_time, self._n_pairs)
        stage = f"pairs {first + 1} to {last} of {self._n_pairs}"

        def tell(now: Progress) -> None:
            if observe is not None:
                observe(now if first == 0 else now._replace(stage=stage))

        try:
            return run_columns(SideBySide(run, pairs, first == 0), source, tell)
        finally:
            for one, other in pairs:
                if one.chosen is not None and other.chosen is not None:
                    self._names |= one.chosen | other.chosen
                    self._tally.add(_ids(one.chosen), _ids(other.chosen))

    def _with_shares(self, run: ColumnRun, shortlist: Shortlist) -> Shortlist:
        if not self._tally.n_pairs:
            note = f"partial: none of {self._n_pairs} pairs of halves was fitted: no shares"
            return replace(shortlist, notes=(*shortlist.notes, note))
        names = self._names | shortlist.names_by_id()

        def called(ids: Ids) -> Sequence[str]:
            return [names[i] for i in ids.tolist()]

        self.found = Stability(
            self._tally,
            shortlist,
            called,
            asked=self._n_pairs,
            n_features=run.n_candidates,
            threshold=self._threshold,
        )
        assert self.found.shortlist is not None
        return self.found.shortlist


class HalfRun:
    """A run over the columns of half of the rows; once it is over, what it chose.

    Parameters
    ----------
    whole : ColumnRun
        The run over all rows.
    rows : ndarray of int
        Numbers of those that count.

    Attributes
    ----------
    chosen : dict of int to str, or None
        Names by ids, once the run is over; it holds no columns any more then.
    """

    def __init__(self, whole: ColumnRun, rows: Ints) -> None:
        self._rows = rows
        own = whole.data.of_rows(rows)
        self._run: ColumnRun | None = ColumnRun(own, whole.request, whole.method)
        self.chosen: dict[int, str] | None = None

    def step(self, block: ColumnBlock) -> None:
        """Let the columns of a block arrive, which stays as it is."""
        if self._run is not None:
            own = np.take(block.values, self._rows, axis=1)
            self._run.step(block._replace(values=own))

    def next_pass(self) -> bool:
        """Close a pass; True if another one is wanted."""
        if self._run is None:
            return False
        if not self._run.next_pass():
            self.end()
        return self._run is not None

    def end(self) -> None:
        """Keep what is retained by now, by name, and nothing else."""
        if self._run is not None:
            self.chosen = self._run.worker.retained.names_by_id()
            self._run = None


class SideBySide:
    """Runs over halves, and one over all rows or none, as one algorithm for engines.

    Parameters
    ----------
    whole : ColumnRun
        The run over all rows.
    pairs : sequence of pairs of HalfRun
    steps_whole : bool
        Whether it runs as well; it may have done so before.
    """

    def __init__(
        self, whole: ColumnRun, pairs: Sequence[Pair], steps_whole: bool
    ) -> None:
        self._whole, self._is_asked = whole, steps_whole
        self._steps_whole = steps_whole
        self._halves = [half for pair in pairs for half in pair]
        self._seen = 0

    def step(self, block: ColumnBlock) -> None:
        """Let the columns of a block arrive everywhere."""
        check_rows(
            block.values.shape[1], self._whole.data, f"column {block.names[0]!r}"
        )
        self._seen += len(block.names)
        if (
            self._steps_whole
        ):  # first, as Ctrl-C may come before all halves had their turn
            # it centres the columns in place, and halves want them as they came
            self._whole.step(block._replace(values=block.values.copy()))
        for half in self._halves:
            half.step(block)

    def next_pass(self) -> bool:
        """Close a pass; True if any run wants another one."""
        wanted = [half.next_pass() for half in self._halves]
        self._steps_whole = self._steps_whole and self._whole.next_pass()
        self._seen = 0
        return self._steps_whole or any(wanted)

    def came_once(self) -> None:
        """There is no further pass, so all are as done as they can be."""
        for half in self._halves:
            half.end()
        if self._steps_whole:
            self._whole.came_once()

    def standing(self) -> tuple[int, float]:
        """Columns of this pass so far, and the loss on all rows."""
        return self._seen, self._whole.standing()[1] if self._is_asked else np.nan

    def result(self) -> Shortlist | None:
        """What all rows choose; None if they are not asked."""
        return self._whole.result() if self._is_asked else None


def _ids(chosen: dict[int, str]) -> Ids:
    return np.array(list(chosen), np.uint64)
