"""Blocks parsed ahead of whoever uses them, by a thread of their own.

Parsing and learning release the GIL, so the two run side by side on two cores. Blocks
still come in order: what is learned does not depend on it.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Any, TypeVar

Item = TypeVar("Item")

#: Blocks that may wait; more would only take memory, as the slower side sets the pace.
DEPTH = 1
#: Seconds to wait for a thread whose blocks nobody wants any more; one that waits for a
#: pipe may never come back, and is left to it.
_PATIENCE = 0.2

_END = object()


def read_ahead(blocks: Iterator[Item]) -> Iterator[Item]:
    """Yield what an iterator yields, in order, drawn from it ahead of time.

    What the iterator raises is raised here, after all that came before it. Closing the
    iterator given back closes the one given.

    Examples
    --------
    >>> list(read_ahead(iter([])))
    []
    """
    ready: queue.Queue[object] = queue.Queue(DEPTH)
    unwanted = threading.Event()
    thread = threading.Thread(
        target=_draw, args=(blocks, ready, unwanted), name="read ahead", daemon=True
    )
    thread.start()
    try:
        while (item := ready.get()) is not _END:
            if isinstance(item, BaseException):
                raise item
            yield item  # type: ignore[misc]
    finally:
        unwanted.set()
        while not ready.empty():  # whoever waits for room finds some
            ready.get_nowait()
        thread.join(_PATIENCE)


def _draw(
    blocks: Iterator[Any], ready: queue.Queue[object], unwanted: threading.Event
) -> None:
    try:
        for block in blocks:
            ready.put(block)
            del block  # whoever takes it should be the last to hold it
            if unwanted.is_set():
                return
        ready.put(_END)
    except BaseException as error:  # whatever it is concerns the one who waits
        ready.put(error)
    finally:
        close = getattr(blocks, "close", None)
        if close is not None:
            close()
