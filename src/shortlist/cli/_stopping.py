"""Ctrl-C and SIGTERM: end a run in good order."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType


@dataclass
class Stop:
    """Which signal asked for a stop, if any did."""

    defer: bool  #: the first one only leaves a note
    signal: int | None = None

    def is_wanted(self) -> bool:
        """Whether somebody asked."""
        return self.signal is not None

    def no_longer_deferred(self) -> None:
        """From now on, and for whoever asked so far, a stop is one at once."""
        self.defer = False
        if self.is_wanted():
            raise KeyboardInterrupt

    @property
    def exit_code(self) -> int:
        """What a shell reports of a program that such a signal ended."""
        return 128 + (self.signal or signal.SIGINT)


@contextlib.contextmanager
def stopping(*, defer: bool) -> Iterator[Stop]:
    """Take Ctrl-C and SIGTERM alike.

    They raise KeyboardInterrupt, at once or, with ``defer``, only from the second one on:
    whoever runs asks ``is_wanted`` and ends where it suits.
    """
    stop = Stop(defer)

    def ask(number: int, frame: FrameType | None) -> None:
        first, stop.signal = stop.signal is None, number
        if not (stop.defer and first):
            raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in _SIGNALS}
    try:
        for number in _SIGNALS:
            signal.signal(number, ask)
    except ValueError:  # not the main thread: signals are somebody else's business
        yield stop
        return
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_SIGNALS = (signal.SIGINT, signal.SIGTERM)
