"""Names of features met while text is parsed: those asked for, or the first ones."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from shortlist._protocols import DataError, Ids, Ints
from shortlist.kernels.id_table import place_of
from shortlist.kernels.name_store import (
    CLASH,
    FIRST,
    FULL,
    WANTED,
    NameStore,
    find_names,
    keep_names,
    open_store,
    store_for,
)
from shortlist.sources._files import Characters

MOST_NAMES = 300_000
MOST_CHARACTERS = 32_000_000


class Names(Protocol):
    """Who wants to know the names of features.

    Names that stand in a text are looked at by ``take``. A parser that puts them together
    itself offers them to ``store`` one by one, for the ``purpose``.
    """

    purpose: int
    store: NameStore

    def take(self, text: Characters, ids: Ids, places: Ints) -> None:
        """Look at features by their ids and the places of their names in a text."""
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

    def widen(self, n: int) -> None:
        """Make room for a name of n characters, and more."""
        room = np.empty(2 * (n + len(self.store.text)), np.uint8)
        room[: len(self.store.text)] = self.store.text
        self.store = self.store._replace(text=room)

    def clash(self, number: np.uint64, other: bytes) -> DataError:
        """Error that says which two names have the same id."""
        (kept,) = self.found(np.array([number])).values()
        return DataError(
            f"{self._owner}: expected features with different hashes, got {kept!r} and "
            f"{_decoded(other)!r}; another seed tells them apart"
        )

    def found(self, ids: Ids) -> dict[int, str]:
        return _found(self.store, ids)


class FirstNames:
    """Names of the features met first, as many as there is room for."""

    purpose = FIRST

    def __init__(self) -> None:
        self.store: NameStore = open_store(MOST_NAMES, MOST_CHARACTERS)
        self._has_room = True

    def take(self, text: Characters, ids: Ids, places: Ints) -> None:
        if self._has_room:
            self._has_room = keep_names(text, ids, places, self.store)

    def found(self, ids: Ids) -> dict[int, str]:
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
