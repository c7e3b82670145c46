"""Names of features met while text is parsed: those asked for, or all, for some time."""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Protocol

import numpy as np

from shortlist._protocols import DataError, Ids, Ints
from shortlist.kernels.id_table import index_ids, place_of
from shortlist.kernels.name_store import (
    CLASH,
    FIRST,
    FULL,
    WANTED,
    NameStore,
    find_names,
    forget_names,
    keep_names,
    open_store,
    store_for,
    wider_store,
)
from shortlist.sources._files import Characters
from shortlist.sources._unlearned import Unlearned

#: More names or characters of a pipe than these are many: somebody should say which are
#: needed.
MANY_NAMES, MANY_CHARACTERS = 300_000, 32_000_000
#: If nobody does, and if blocks that nobody has learned from yet have more, names of
#: other features are not kept.
MOST_NAMES, MOST_CHARACTERS = 1 << 23, 1 << 28
#: Room to begin with; it doubles when it is full.
_FEW_NAMES, _FEW_CHARACTERS = 1 << 14, 1 << 19


class Names(Protocol):
    """Who wants to know the names of features.

    Names that stand in a text are looked at by ``take``. A parser that puts them together
    itself offers them to ``store`` one by one, for the ``purpose``, and holds the
    ``lock`` meanwhile.
    """

    purpose: int
    store: NameStore

    @property
    def lock(self) -> contextlib.AbstractContextManager[Any]:
        """Who holds it has the store for himself."""
        ...

    def take(self, text: Characters, ids: Ids, places: Ints) -> None:
        """Look at features by their ids and the places of their names in a text."""
        ...

    def widen(self, n: int) -> bool:
        """Make room for a name of n characters, and more, if that is allowed."""
        ...

    def found(self, ids: Ids) -> dict[int, str]:
        """Names that are known of these ids."""
        ...


class WantedNames:
    """Names of given ids, found wherever they occur first."""

    purpose = WANTED

    def __init__(self, owner: str, ids: Ids):
        self._owner = owner
        self.store: NameStore = store_for(ids, 64 * len(ids))
        self.lock = contextlib.nullcontext()  # whoever wants them reads by himself

    @property
    def complete(self) -> bool:
        """Whether all are known."""
        return bool(self.store.counts[0] == len(self.store.starts))

    def take(self, text: Characters, ids: Ids, places: Ints) -> None:
        begin = 0
        while begin < len(ids):
            n, ending = find_names(text, ids[begin:], places[begin:], self.store)
            begin += n
            if ending == CLASH:
                raise self.clash(ids[begin], _name_at(text, places[begin]))
            if ending == FULL:
                self.widen(len(_name_at(text, places[begin])))

    def widen(self, n: int) -> bool:
        """Make room for a name of n characters, and more."""
        room = np.empty(2 * (n + len(self.store.text)), np.uint8)
        room[: len(self.store.text)] = self.store.text
        self.store = self.store._replace(text=room)
        return True

    def clash(self, number: np.uint64, other: bytes) -> DataError:
        """Error that says which two names have the same id."""
        (kept,) = self.found(np.array([number])).values()
        return DataError(
            f"{self._owner}: expected features with different hashes, got {kept!r} and "
            f"{_decoded(other)!r}; another seed tells them apart"
        )

    def found(self, ids: Ids) -> dict[int, str]:
        return _found(self.store, ids)


class MetNames:
    """Names of all features of a pipe that are met, until they are not needed any more.

    While one thread parses, another may say what is needed. Names of features in blocks
    that it has not learned from yet are kept as well, also of features met before: each
    name carries the number of the last block that has it.

    Memory: ``retain`` is called for when there are more than ``MANY_NAMES`` names or
    ``MANY_CHARACTERS`` characters, and twice as many as were needed the last time; until
    then, blocks on their way add theirs.
    """

    purpose = FIRST

    def __init__(self) -> None:
        self.store: NameStore = open_store(
            min(_FEW_NAMES, MOST_NAMES), min(_FEW_CHARACTERS, MOST_CHARACTERS)
        )
        self.lock = threading.RLock()
        self._blocks = Unlearned()
        self._many = MANY_NAMES, MANY_CHARACTERS

    def take(self, text: Characters, ids: Ids, places: Ints) -> None:
        with self.lock:
            begin = 0
            while begin < len(ids):
                begin += keep_names(text, ids[begin:], places[begin:], self.store)
                if begin < len(ids) and not self.widen(
                    len(_name_at(text, places[begin]))
                ):
                    return

    def widen(self, n: int) -> bool:
        """Make room for a name of n characters, and more, up to what is allowed."""
        n_names, n_characters, _ = self.store.counts.tolist()
        wanted = n_names + 1, n_characters + n
        most = MOST_NAMES, MOST_CHARACTERS
        if wanted[0] > most[0] or wanted[1] > most[1]:
            return False
        room = len(self.store.starts), len(self.store.text)
        n_ids, n_text = (
            have if want <= have else min(2 * want, limit)
            for have, want, limit in zip(room, wanted, most, strict=True)
        )
        self.store = wider_store(self.store, n_ids, n_text)
        return True

    def close_block(self, position: int) -> None:
        """Have all names from now on belong to the next block."""
        with self.lock:
            self._blocks.close(position)
            self.store.counts[2] = self._blocks.now

    @property
    def crowded(self) -> bool:
        """Whether there are so many names that some should be forgotten."""
        n_names, n_characters, _ = self.store.counts.tolist()
        return bool(n_names > self._many[0] or n_characters > self._many[1])

    def retain(self, ids: Ids, learned: int) -> None:
        """Forget names, but not of these ids and of blocks from a position on."""
        needed = index_ids(np.unique(ids))
        with self.lock:
            forget_names(self.store, needed, self._blocks.first(after=learned))
            n_names, n_characters, _ = self.store.counts.tolist()
        self._many = (
            max(MANY_NAMES, 2 * n_names),
            max(MANY_CHARACTERS, 2 * n_characters),
        )

    def found(self, ids: Ids) -> dict[int, str]:
        with self.lock:
            return _found(self.store, ids)


def _found(store: NameStore, ids: Ids) -> dict[int, str]:
    found = {}
    for number in ids:
        place = int(place_of(store.index, number))
        if place >= 0 and store.stops[place] > store.starts[place]:
            name = store.text[store.starts[place] : store.stops[place]]
            found[int(number)] = _decoded(name.tobytes())
    return found


def _name_at(text: Characters, place: Ints) -> bytes:
    space_start, space_stop, start, stop = place.tolist()
    name = text[start:stop].tobytes()
    space = text[space_start:space_stop].tobytes()
    return space + b"^" + name if space else name


def _decoded(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")
