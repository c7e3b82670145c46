"""How much memory a piece of work takes, by looking at the process now and then."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from types import TracebackType

_STATUS = Path("/proc/self/statm")
_EVERY = 0.01  # seconds


class PeakMemory:
    """The most memory that a process gains while something is done, in megabytes.

    ``megabytes`` is not a number where the system does not tell (other than Linux).
    """

    megabytes = float("nan")

    def __enter__(self) -> PeakMemory:
        self._done = threading.Event()
        self._before = self._most = _resident()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(_EVERY):
            self._most = max(self._most, _resident())

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        self._watcher.join()
        self._most = max(self._most, _resident())
        if _STATUS.exists():
            self.megabytes = (self._most - self._before) / 2**20


def _resident() -> int:
    """Bytes of the process that lie in memory."""
    if not _STATUS.exists():
        return 0
    return int(_STATUS.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
