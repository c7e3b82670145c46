"""Asynchronous substitution: workers with a share of the budget each, and one sum.

Each worker knows its own columns, and of those of all others only what they add up to. It
pulls the sum of all margins, lets a few features arrive, and pushes by how much its own
margins have changed. Nobody waits for anybody within a pass.

Features are dealt to the workers afresh in each pass, those that are retained as well, and
these so that each worker has its share of the weak ones. With a fixed division a worker
whose features hold more of the truth than its share has room for could never give any away.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from threading import Lock
from typing import Any

import numpy as np

from shortlist._protocols import (
    ColumnBlock,
    ColumnSource,
    DataError,
    Floats,
    Observer,
    Progress,
    ShortlistError,
)
from shortlist._shortlist import Shortlist
from shortlist.columns._data import Data
from shortlist.columns._retained import Column, Event, prepare
from shortlist.columns._run import check_rows, published, status_of, trace_of
from shortlist.columns._substitution import (
    CAPABILITIES,
    Request,
    SharingWorker,
    quotas,
    sharing_worker_for,
)
from shortlist.engines.board import Board, SharedBoard, StaleBoard
from shortlist.engines.serial import Broken, Interrupted
from shortlist.engines.workers import on_threads, take_turns
from shortlist.kernels.substitution import ALWAYS, SKIPPED

#: Features that arrive between a pull and a push, at least and at most.
_FEWEST_AT_A_TIME, _MOST_AT_A_TIME = 16, 64


def at_a_time(k: int) -> int:
    """Features that arrive between a pull and a push, for a worker that retains k.

    After a pull it has to go over all that it retains, and so before a push: twice as many
    arrivals keep that from being most of the work. Of more the others would know too late.
    """
    return min(_MOST_AT_A_TIME, max(_FEWEST_AT_A_TIME, 2 * k))


class SharedSubstitution:
    """A run of several workers over a source that can be read in any order.

    Parameters
    ----------
    data : Data
    request : Request
        For all workers together.
    source : ColumnSource
        Reiterable, with a known number of columns.
    n_workers : int
    seed : int, default=0
        Deals the features.
    staleness : int, default=None
        None: threads. A number: workers take turns, and see the sum as it was that many
        pushes ago.
    """

    def __init__(
        self,
        data: Data,
        request: Request,
        source: ColumnSource,
        n_workers: int,
        *,
        seed: int = 0,
        staleness: int | None = None,
    ) -> None:
        if not source.reiterable or source.n_columns is None:
            raise ShortlistError(
                f"{source.name}: n_workers above 1 need columns that can be read in any "
                "order: an array, a table or files"
            )
        if source.n_rows is not None:
            check_rows(source.n_rows, data, source.name)
        self.data, self.request, self.source = data, request, source
        self.requests = quotas(request, n_workers)
        self._settings = [
            replace(r.settings(data, n_workers), moves_intercept=t == 0)
            for t, r in enumerate(self.requests)
        ]
        self.workers: list[SharingWorker] = [
            sharing_worker_for(data, s) for s in self._settings
        ]
        self._staleness = staleness
        self._rng = np.random.default_rng(seed)
        self._pushed = [worker.margins() for worker in self.workers]
        self._events: list[Event] = []
        self._came = [0] * n_workers
        self._seen, self._watch = 0, Lock()
        self.history: list[tuple[int, float]] = []

    def run(self, observe: Observer | None = None) -> Shortlist:
        """Pass after pass, until one changes nothing."""
        assert self.source.n_columns is not None
        self._begin()
        before = np.inf
        try:
            for number in range(1, int(self.request.passes) + 1):
                if number > 1:
                    self._deal_retained()
                self._one_pass(self.source.n_columns, number, observe)
                loss = self._loss()
                self.history.append((sum(self._came), loss))
                still = before - loss <= self.request.tol * abs(before)
                if not any(self._came) and still:
                    break
                before = loss
        except KeyboardInterrupt:
            raise Interrupted(self.result()) from None
        except DataError as error:
            if not any(worker.retained.n for worker in self.workers):
                raise
            raise Broken(str(error), self.result()) from error
        return self.result()

    def _one_pass(self, n: int, number: int, observe: Observer | None) -> None:
        """Let all workers loose on features that are dealt to them at random."""
        q = len(self.workers)
        self._seen, self._came, self._sequence = 0, [0] * q, [0] * q
        total = sum(self._pushed[1:], self._pushed[0])
        stale = self._staleness
        self.board: Board = (
            SharedBoard(total) if stale is None else StaleBoard(total, stale)
        )
        dealt = self._rng.permutation(n)
        work = [self._pass(t, dealt[t::q], number, observe) for t in range(q)]
        (on_threads if stale is None else take_turns)(work)

    def _deal_retained(self) -> None:
        """Give each worker its share of the strong and of the weak ones."""
        q = len(self.workers)
        columns = [column for worker in self.workers for column in worker.columns()]
        columns.sort(key=lambda c: (not c.locked, np.linalg.norm(c.weight), c.id))
        hands: list[list[Column]] = [[] for _ in range(q)]
        t = 0
        for column in columns:  # the weakest first, to one worker after the other
            while not column.locked and len(hands[t % q]) >= self.requests[t % q].k:
                t += 1
            hands[0 if column.locked else t % q].append(column)
            t += not column.locked
        intercept = sum((w.intercept for w in self.workers), np.zeros(1)) / q
        self._events += [e for w in self.workers for e in w.retained.events]
        self.workers = [sharing_worker_for(self.data, s) for s in self._settings]
        for worker, hand in zip(self.workers, hands, strict=True):
            worker.take_over(hand, intercept)
        self._pushed = [worker.margins() for worker in self.workers]

    def _begin(self) -> None:
        """Give the first worker what is always in; refuse names that are not there."""
        if self.request.never:
            self.source.take(self.request.never)
        if names := list(dict.fromkeys(self.request.always)):
            block, share = self.source.take(names), self.data.share
            ready = prepare(block, share, standardize=self.request.standardize)
            status = np.full(len(names), ALWAYS)
            self._came[0] += self.workers[0].step(ready, status, 1)
            self._pushed[0] = self.workers[0].margins()

    def _pass(
        self, t: int, numbers: Any, pass_number: int, observe: Observer | None
    ) -> Iterator[None]:
        """Let a worker's features arrive, some at a time."""
        worker, request = self.workers[t], self.requests[t]
        never, some = set(request.never), at_a_time(request.k)
        for first in range(0, len(numbers), some):
            block = self.source.take(numbers[first : first + some].tolist())
            elsewhere = self._held_by_others(t)
            others = self.board.pull(t) - self._pushed[t]
            self._came[t] += let_arrive(
                worker, block, never, elsewhere, others, pass_number
            )
            self._push(t)
            with self._watch:
                self._seen += len(block.names)
                if observe is not None:
                    size = self.source.n_columns
                    place = (self._seen, size, "columns", self._seen)
                    observe(Progress(pass_number, "select", *place, np.nan))
            yield

    def _held_by_others(self, t: int) -> set[int]:
        held = (w.retained.holds() for i, w in enumerate(self.workers) if i != t)
        return set().union(*held)

    def _push(self, t: int) -> None:
        """Tell by how much a worker's own margins have changed."""
        now = self.workers[t].margins()
        self._sequence[t] += 1
        self.board.push(t, self._sequence[t], now - self._pushed[t])
        self._pushed[t] = now

    def _loss(self) -> float:
        others = sum(self._pushed[1:], np.zeros_like(self._pushed[0]))
        return self.workers[0].objective(others)

    def _params(self) -> dict[str, Any]:
        """Settings of this engine, for the result."""
        return {"n_workers": len(self.workers)}

    def result(self) -> Shortlist:
        """What all workers retain now, refitted together if wanted."""
        whole = sharing_worker_for(
            self.data, replace(self.request, exchange="gradient").settings(self.data)
        )
        bias = sum((worker.intercept for worker in self.workers), np.zeros(1))
        columns = [column for worker in self.workers for column in worker.columns()]
        whole.take_over(columns, bias)
        if self.request.refit:
            whole.refit()
        events = [e for worker in self.workers for e in worker.retained.events]
        return published(
            whole,
            self.data,
            method=CAPABILITIES.method,
            k=self.request.k,
            n_features=self.source.n_columns or 0,
            params={**self.request.params(self.workers[0]), **self._params()},
            trace=trace_of([*self._events, *events], self.history),
        )


def let_arrive(
    worker: SharingWorker,
    block: ColumnBlock,
    never: Collection[str],
    elsewhere: Collection[int],
    others: Floats,
    pass_number: int,
) -> int:
    """Let the columns of a block arrive at a worker; return how many came in.

    A feature is dealt to one worker a pass, so nobody else can take it meanwhile; who has
    it since an earlier pass (``elsewhere``: ids) keeps it.
    """
    ready = prepare(block, worker.data.share, standardize=worker.settings.standardize)
    status = status_of(ready, (), never)
    status[[i in elsewhere for i in block.ids.tolist()]] = SKIPPED
    return worker.step(ready, status, pass_number, others)
