"""What asynchronous workers share: a sum that each adds to, and any may read."""

from __future__ import annotations

from collections import deque
from threading import Lock
from typing import Protocol

from shortlist._protocols import Floats, ShortlistError


class Board(Protocol):
    """A sum of what workers have pushed.

    A worker numbers its pushes 1, 2, ...; one that is sent again, because nobody knew
    whether it had arrived, is applied once.
    """

    def pull(self, worker: int) -> Floats:
        """Sum of what has been pushed; a copy.

        It may lack some of the latest that others have pushed, but has all that this
        worker has.
        """
        ...

    def push(self, worker: int, sequence: int, delta: Floats) -> bool:
        """Add to the sum; False if this had been applied before."""
        ...


class SharedBoard:
    """A board for threads of one process: a lock, so that no update is lost.

    Parameters
    ----------
    start : ndarray
        What the sum is before anybody has pushed.

    Examples
    --------
    >>> import numpy as np
    >>> board = SharedBoard(np.zeros(2))
    >>> board.push(0, 1, np.array([1.0, 2.0])), board.push(0, 1, np.array([1.0, 2.0]))
    (True, False)
    >>> board.pull(1)
    array([1., 2.])
    """

    def __init__(self, start: Floats) -> None:
        self._total = start.copy()
        self._last: dict[int, int] = {}
        self._lock = Lock()

    def pull(self, worker: int) -> Floats:
        """Sum of all that has been pushed; a copy."""
        with self._lock:
            return self._total.copy()

    def push(self, worker: int, sequence: int, delta: Floats) -> bool:
        """Add to the sum; False if this had been applied before."""
        with self._lock:
            expected = self._last.get(worker, 0) + 1
            if sequence > expected:
                raise ShortlistError(
                    f"worker {worker}: expected push {expected}, got {sequence}"
                )
            if sequence < expected:
                return False
            self._last[worker] = sequence
            self._total += delta
            return True


class StaleBoard(SharedBoard):
    """A board on which nobody sees the latest of the others, always as late.

    With workers that take turns, this is the paper's simulation of asynchrony, and the
    same each time.

    Parameters
    ----------
    start : ndarray
        What the sum is before anybody has pushed.
    staleness : int
        How many of the latest pushes a pull does not see, but for the worker's own.
    """

    def __init__(self, start: Floats, staleness: int) -> None:
        super().__init__(start)
        self._latest: deque[tuple[int, Floats]] = deque(maxlen=staleness)

    def pull(self, worker: int) -> Floats:
        """Sum without the latest pushes of others; a copy."""
        seen = super().pull(worker)
        for other, delta in self._latest:
            if other != worker:
                seen -= delta
        return seen

    def push(self, worker: int, sequence: int, delta: Floats) -> bool:
        """Add to the sum; False if this had been applied before."""
        applied = super().push(worker, sequence, delta)
        if applied:
            self._latest.append((worker, delta.copy()))
        return applied
