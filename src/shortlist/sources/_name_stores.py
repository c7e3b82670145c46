"""Names of features met while text is parsed: those asked for, or the first ones."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from shortlist._protocols import DataError, Ids, Ints
from shortlist.kernels.id_table import place_of
from shortlist.kernels.name_store import (
    CLASH,
    FULL,
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
    """Who wants to know the names of features."""

    def take(self, text: Characters, ids: Ids, places: Ints) -> None:
        """Look at features by their ids and the places of their names in a text."""
        ...

    def found(self, ids: Ids) -> dict[int, str]:
        """Names that are known of these ids."""
        ...


class WantedNames:
    """Names of given ids, found wherever they occur first."""

    def __init__(self, owner: str, ids: Ids):
        self._owner = owner
        self._store: NameStore = store_for(ids, 64 * len(ids))

    @property
    def complete(self) -> bool:
        """Whether all are known."""
        return bool(self._store.counts[0] == len(self._store.starts))

    def take(self, text: Characters, ids: Ids, places: Ints) -> None:
        begin = 0
        while begin < len(ids):
            n, ending = find_names(text, ids[begin:], places[begin:], self._store)
            begin += n
            if ending == CLASH:
                raise _clash(self._owner, self._store, text, ids[begin], places[begin])
            if ending == FULL:
                needed = len(_name_at(text, places[begin])) + len(self._store.text)
                room = np.empty(2 * needed, np.uint8)
                room[: len(self._store.text)] = self._store.text
                self._store = self._store._replace(text=room)

    def found(self, ids: Ids) -> dict[int, str]:
        return _found(self._store, ids)


class FirstNames:
    """Names of the features met first, as many as there is room for."""

    def __init__(self) -> None:
        self._store: NameStore = open_store(MOST_NAMES, MOST_CHARACTERS)
        self._has_room = True

    def take(self, text: Characters, ids: Ids, places: Ints) -> None:
        if self._has_room:
            self._has_room = keep_names(text, ids, places, self._store)

    def found(self, ids: Ids) -> dict[int, str]:
        return _found(self._store, ids)


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


def _clash(
    owner: str, store: NameStore, text: Characters, number: np.uint64, place: Ints
) -> DataError:
    (kept,) = _found(store, np.array([number])).values()
    other = _decoded(_name_at(text, place))
    return DataError(
        f"{owner}: expected features with different hashes, got {kept!r} and {other!r}; "
        "another seed tells them apart"
    )
