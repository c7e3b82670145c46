"""A board for workers that may die: it knows what a successor needs to go on.

With each push a worker reports what it holds from then on. Delta and report are taken
together or not at all, so the sum is always that of what the reports say: whoever takes the
place of a dead worker takes over its last report, and the sum need not be mended.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from shortlist._protocols import Floats, ShortlistError
from shortlist.engines.board import SharedBoard


class Superseded(ShortlistError):
    """Another has taken the place of this worker, which was thought dead."""


class Report(NamedTuple):
    """What a worker says with a push."""

    done: int  #: how much of its work lies behind it
    note: Any  #: all that a successor has to know
    log: tuple[Any, ...] = ()  #: what has happened since the last report


class Entry(NamedTuple):
    """Where a worker begins, or a successor goes on."""

    life: int  #: tells it from those that had its place before
    sequence: int  #: of the last push that was applied; 0: none
    done: int
    note: Any


class Gathered(NamedTuple):
    """All that a board knows."""

    total: Floats
    notes: list[Any]
    logs: list[list[Any]]
    applied: int  #: pushes
    repeated: int  #: pushes that had been applied before
    stalest: int  #: the most pushes of others that came between a pull and its push


class CentralBoard(SharedBoard):
    """A board that bounds how stale a pull can get, and remembers reports.

    Between a pull and the push that follows it others push at most ``tau_max`` times. That
    is kept by making pulls wait: one is due when even with all pushes that can then come
    nobody falls behind by more. Pushes never wait, so nobody waits in a circle.

    Parameters
    ----------
    start : ndarray
        What the sum is before anybody has pushed.
    notes : sequence
        What each worker holds at the beginning.
    tau_max : int
        0: workers take turns.
    lives : sequence of int, default=None
        What an earlier board of the same workers had counted up to: those that entered
        there are refused here. None: there was none.

    Examples
    --------
    >>> import numpy as np
    >>> board = CentralBoard(np.zeros(1), notes=["-", "-"], tau_max=1)
    >>> first = board.enter(0)
    >>> board.push(0, 1, np.ones(1), Report(16, "x7"), first.life)
    True
    >>> board.enter(0)  # the first has died
    Entry(life=2, sequence=1, done=16, note='x7')
    >>> board.push(0, 2, np.ones(1), Report(32, "x8"), first.life)
    Traceback (most recent call last):
    ...
    shortlist.engines.central_board.Superseded: worker 0: expected life 2, got 1
    """

    def __init__(
        self,
        start: Floats,
        notes: Sequence[Any],
        tau_max: int,
        lives: Sequence[int] | None = None,
    ) -> None:
        super().__init__(start)
        self._tau_max = tau_max
        self._reports = [Report(0, note) for note in notes]
        self._logs: list[list[Any]] = [[] for _ in notes]
        self.lives = [0] * len(notes) if lives is None else list(lives)
        self._behind: dict[int, int] = {}  # of those that have pulled and not pushed
        self._applied = self._repeated = self._stalest = 0

    def enter(self, worker: int) -> Entry:
        """Begin, or take the place of one that has died."""
        self._behind.pop(worker, None)
        self.lives[worker] += 1
        report = self._reports[worker]
        last = self._last.get(worker, 0)
        return Entry(self.lives[worker], last, report.done, report.note)

    def is_due(self, worker: int) -> bool:
        """Whether a worker may pull now."""
        others = [n for other, n in self._behind.items() if other != worker]
        return all(behind + len(others) <= self._tau_max for behind in (0, *others))

    def pull(self, worker: int) -> Floats:
        """Sum of all that has been pushed; a copy."""
        self._behind[worker] = 0
        return super().pull(worker)

    def push(
        self,
        worker: int,
        sequence: int,
        delta: Floats,
        report: Report | None = None,
        life: int | None = None,
    ) -> bool:
        """Add to the sum and take a report; False if this had been applied before."""
        self.check_life(worker, life)
        if not super().push(worker, sequence, delta):
            self._repeated += 1
            return False
        self._applied += 1
        self._stalest = max(self._stalest, self._behind.pop(worker, 0))
        for other in self._behind:
            self._behind[other] += 1
        if report is not None:
            self._reports[worker] = report
            self._logs[worker] += report.log
        return True

    def check_life(self, worker: int, life: int | None) -> None:
        """Refuse one whose place another has taken."""
        if life is not None and life != self.lives[worker]:
            raise Superseded(
                f"worker {worker}: expected life {self.lives[worker]}, got {life}"
            )

    def notes_of_others(self, worker: int) -> list[Any]:
        """What all others hold, by their last reports."""
        return [r.note for other, r in enumerate(self._reports) if other != worker]

    def done(self) -> int:
        """How much of all work lies behind."""
        return sum(report.done for report in self._reports)

    def close(self) -> Gathered:
        """Take no more from anybody, and tell all."""
        self.lives = [life + 1 for life in self.lives]
        return Gathered(
            super().pull(-1),
            [report.note for report in self._reports],
            self._logs,
            self._applied,
            self._repeated,
            self._stalest,
        )
