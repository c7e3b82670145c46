"""Several workers, each with work in pieces: on threads, or taking turns.

Work is an iterator that does one piece each time it is asked for the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from threading import Event

from threadpoolctl import threadpool_limits

Work = Iterator[object]


def take_turns(work: Sequence[Work]) -> None:
    """Do a piece of each in turn, until all are done: the same every time."""
    left = list(work)
    while left:
        left = [one for one in left if next(one, left) is not left]


def on_threads(work: Sequence[Work]) -> None:
    """Do all at once, a thread each; the first error ends all and is raised.

    So does Ctrl-C: no thread begins another piece. Matrix products take one thread each
    meanwhile: with more they would wait for each other.
    """
    stop = Event()

    def do(one: Work) -> None:
        for _ in one:
            if stop.is_set():
                return

    with threadpool_limits(1, "blas"), ThreadPoolExecutor(len(work)) as pool:
        running = [pool.submit(do, one) for one in work]
        try:
            wait(running, return_when=FIRST_EXCEPTION)
        finally:
            stop.set()
    for done in running:
        done.result()
