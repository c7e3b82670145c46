"""Asynchronous substitution on several machines.

Workers read their columns through the source, so that what travels is the sum of margins,
and what a worker holds: names and weights, never columns. What they hold stands on the
board with each push; whoever takes the place of a dead worker reads those columns again and
goes on from there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import (
    ColumnSource,
    DataError,
    Floats,
    Observer,
    Progress,
    ShortlistError,
)
from shortlist._shortlist import Shortlist
from shortlist.columns._data import Data, Settings
from shortlist.columns._retained import Column, prepare
from shortlist.columns._sharing import SharedSubstitution, at_a_time, let_arrive
from shortlist.columns._substitution import Request, SharingWorker, sharing_worker_for
from shortlist.engines.central_board import Gathered, Report
from shortlist.engines.ray_cluster import Crew, RemoteBoard


class Holding(NamedTuple):
    """What a worker retains, in words and numbers that travel well."""

    ids: tuple[int, ...]
    names: tuple[str, ...]
    weights: Floats  #: (n, C)
    locked: tuple[bool, ...]
    intercept: Floats
    came: int  #: how many features came in during the pass

    @classmethod
    def of(cls, worker: SharingWorker, came: int = 0) -> Holding:
        """What a worker retains now."""
        columns = worker.columns()
        return cls(
            tuple(column.id for column in columns),
            tuple(column.name for column in columns),
            worker.weights,
            tuple(column.locked for column in columns),
            worker.intercept,
            came,
        )

    def restored(
        self, data: Data, settings: Settings, source: ColumnSource
    ) -> SharingWorker:
        """Make a worker that retains the same; columns are read from the source."""
        worker = sharing_worker_for(data, settings)
        columns = []
        if self.names:
            block = source.take(self.names)
            ready = prepare(block, data.share, standardize=settings.standardize)
            columns = [
                Column(
                    ready.values[a],
                    float(ready.center[a]),
                    float(ready.scale[a]),
                    self.ids[a],
                    self.names[a],
                    self.weights[a],
                    self.locked[a],
                )
                for a in range(len(self.names))
            ]
        worker.take_over(columns, self.intercept)
        return worker


@dataclass(frozen=True)
class PassOfOne:
    """One pass of one worker, which any process can begin or go on with."""

    request: Request
    settings: Settings
    numbers: NDArray[np.int64]  #: of the columns that are dealt to it
    pass_number: int

    def __call__(self, board: RemoteBoard, shared: tuple[ColumnSource, Data]) -> None:
        """Let the features arrive that have not yet."""
        source, data = shared
        # what comes from elsewhere cannot be written to, and kernels are compiled for
        # arrays that can
        data = replace(data, y=data.y.copy(), share=data.share.copy())
        _, sequence, done, holding = board.entry
        worker = holding.restored(data, self.settings, source)
        never, pushed = set(self.request.never), worker.margins()
        came, told = holding.came, 0
        while done < len(self.numbers):
            stop = done + at_a_time(self.settings.k)
            chosen = self.numbers[done:stop].tolist()
            block = source.take(chosen)  # before the pull: the sum should be fresh
            total = board.pull(board.worker)
            elsewhere = {i for other in board.notes_of_others for i in other.ids}
            others = total - pushed
            came += let_arrive(
                worker, block, never, elsewhere, others, self.pass_number
            )
            now = worker.margins()
            events = worker.retained.events
            done, sequence = done + len(chosen), sequence + 1
            report = Report(done, Holding.of(worker, came), tuple(events[told:]))
            board.push(board.worker, sequence, now - pushed, report)
            pushed, told = now, len(events)


class ClusterSubstitution(SharedSubstitution):
    """A run of workers on the machines of a Ray cluster.

    Between passes this process holds what all workers retain, and deals it afresh.

    Parameters
    ----------
    data : Data
    request : Request
        For all workers together.
    source : ColumnSource
        Reiterable, with a known number of columns; it is sent to the workers, so a path
        should be one that all machines know.
    n_workers : int
    seed : int, default=0
        Deals the features.
    tau_max : int, default=None
        How many pushes of others may come between a worker's pull and its push; None:
        four for each worker.
    """

    def __init__(
        self,
        data: Data,
        request: Request,
        source: ColumnSource,
        n_workers: int,
        *,
        seed: int = 0,
        tau_max: int | None = None,
    ) -> None:
        super().__init__(data, request, source, n_workers, seed=seed)
        self.tau_max = 4 * n_workers if tau_max is None else int(tau_max)
        self.crew = Crew(n_workers, (source, data), self.tau_max)
        self.gathered: list[Gathered] = []  #: what was on the board after each pass
        self.drift = 0.0  #: most that a sum on the board differed from the columns' own

    def run(self, observe: Observer | None = None) -> Shortlist:
        """Pass after pass, until one changes nothing."""
        with self.crew:
            return super().run(observe)

    def _one_pass(self, n: int, number: int, observe: Observer | None) -> None:
        """Let all workers loose on features that are dealt to them at random."""
        q = len(self.workers)
        dealt = self._rng.permutation(n)
        jobs = [
            PassOfOne(self.requests[t], self._settings[t], dealt[t::q], number)
            for t in range(q)
        ]

        def tell(done: int) -> None:
            if observe is not None:
                observe(Progress(number, "select", done, n, "columns", done, np.nan))

        notes = [Holding.of(worker) for worker in self.workers]
        try:
            # the sum begins anew in each pass, as the columns say it
            gathered = self.crew.run(sum_of(self._pushed), notes, jobs, tell)
        except (KeyboardInterrupt, DataError):
            if self.crew.has_begun:
                self._take_back(self.crew.gather())
            raise
        self._take_back(gathered)

    def _take_back(self, gathered: Gathered) -> None:
        """Hold here what the workers have come to hold there."""
        events = [
            [*worker.retained.events, *log]
            for worker, log in zip(self.workers, gathered.logs, strict=True)
        ]
        self.workers = [
            note.restored(self.data, settings, self.source)
            for note, settings in zip(gathered.notes, self._settings, strict=True)
        ]
        for worker, known in zip(self.workers, events, strict=True):
            worker.retained.events = known
            worker.retained.n_events = len(known)
        self._came = [note.came for note in gathered.notes]
        self._pushed = [worker.margins() for worker in self.workers]
        gap = float(np.abs(gathered.total - sum_of(self._pushed)).max(initial=0.0))
        self.drift = max(self.drift, gap)
        self.gathered.append(gathered)

    def _params(self) -> dict[str, Any]:
        told = {"engine": "ray", "tau_max": self.tau_max, "deaths": self.crew.deaths}
        return {**super()._params(), **told}


def sum_of(margins: list[Floats]) -> Floats:
    """Sum of what all workers say."""
    return sum(margins[1:], margins[0])


def check_engine(engine: Any, tau_max: Any, staleness: Any = None) -> None:
    """Refuse settings that do not go together."""
    if engine not in ("threads", "ray"):
        raise ShortlistError(f"engine should be 'threads' or 'ray', got {engine!r}")
    if engine == "ray" and staleness is not None:
        raise ShortlistError("staleness is simulated on threads, got engine='ray'")
    if engine != "ray" and tau_max is not None:
        raise ShortlistError("tau_max goes with engine='ray'")
