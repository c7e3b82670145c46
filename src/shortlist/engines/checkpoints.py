"""Checkpoints: where a run stands, in a file, so that a stop of any kind loses little.

A file holds the state of the algorithm after a block, the place in the data, and the
settings of the run; it is there whole or not at all (see ``shortlist.storage``). Whoever
resumes reads the data again up to that place, so any source that can be read again will
do, and goes on to the same bits as if nothing had happened.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from shortlist import storage
from shortlist._protocols import DataError, ShortlistError
from shortlist.engines.states import flatten, unflatten

KIND, VERSION = "checkpoint", 1


class Place(NamedTuple):
    """How far a run has come."""

    pass_number: int = 1
    rows: int = 0  #: learned from in this pass
    learned: int = 0  #: in all passes


class Snapshot(NamedTuple):
    """A state and its place."""

    state: Any
    place: Place


def _never() -> bool:
    return False


def _accept(data: Any) -> None:
    pass


@dataclass
class Keeper:
    """Writes checkpoints of one run.

    Parameters
    ----------
    path : str or path
        File to write; an older one is replaced.
    settings : mapping
        What a run must share with this one to be resumed from the file: plain values.
    every : float, default=60.0
        Seconds between checkpoints.
    wants_stop : callable, default=None
        Asked after every block; when it returns True a last checkpoint is written and
        the run ends as if interrupted.
    data : plain values, default=None
        What the data are known by, for whoever resumes to compare.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from shortlist.engines import Interrupted, Keeper, load_snapshot, run
    >>> from shortlist.sketch._mission import mission
    >>> from shortlist.sources import ArraySource
    >>> source = ArraySource([[1.0, 0.0], [0.0, 1.0]] * 50, [1, -1] * 50, block_rows=20)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.checkpoint"
    >>> keeper = Keeper(path, {"k": 1}, wants_stop=lambda: True)
    >>> try:
    ...     run(mission(1), source, keeper=keeper)
    ... except Interrupted:
    ...     snapshot = load_snapshot(path, {"k": 1})
    >>> snapshot.place.rows
    20
    >>> run(mission(1), source, resume=snapshot) == run(mission(1), source)
    True
    """

    path: str | os.PathLike[str]
    settings: Mapping[str, Any]
    every: float = 60.0
    wants_stop: Callable[[], bool] = _never
    data: Any = None
    _last: float = field(default_factory=time.monotonic)

    def is_due(self) -> bool:
        """Whether the last checkpoint is old enough for a new one."""
        return time.monotonic() - self._last >= self.every

    def save(self, snapshot: Snapshot) -> None:
        """Write a checkpoint."""
        tree, arrays = flatten(snapshot.state)
        header = {
            "settings": dict(self.settings),
            "data": self.data,
            "place": list(snapshot.place),
            "state": tree,
        }
        storage.save(
            self.path, kind=KIND, version=VERSION, header=header, arrays=arrays
        )
        self._last = time.monotonic()


def load_snapshot(
    path: str | os.PathLike[str],
    settings: Mapping[str, Any],
    check_data: Callable[[Any], None] = _accept,
) -> Snapshot:
    """Read a checkpoint of a run with the same settings; others are refused.

    ``check_data`` is called with what the keeper was told about the data, and may refuse.
    """
    header, arrays = storage.load(path, kind=KIND, version=VERSION)
    # as they look after a trip through JSON, which has no tuples
    ours = storage.from_json(storage.to_json(dict(settings)))
    theirs = header["settings"]
    for name in sorted({*ours, *theirs}):
        if ours.get(name) != theirs.get(name):
            raise ShortlistError(
                f"{os.fspath(path)}: the run had {name} = {theirs.get(name)!r}, "
                f"got {ours.get(name)!r}; resume with the settings it had"
            )
    check_data(header["data"])
    try:
        place = Place(*map(int, header["place"]))
        return Snapshot(unflatten(header["state"], arrays), place)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, ShortlistError):
            raise
        raise DataError(f"{os.fspath(path)}: a damaged checkpoint ({error})") from None
