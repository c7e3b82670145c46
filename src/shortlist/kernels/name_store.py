"""Names of features by their ids, kept as bytes in arrays of a fixed size.

Names are taken from a text by places such as ``kernels.vw_text`` notes: start and stop of
a namespace, which may be empty, and of a name in it. Either those of ids that are wanted
are taken, or of all ids as they are met, while there is room. Of the latter it is noted
when they were met last, so that old ones can be forgotten.
"""

from typing import NamedTuple

import numpy as np

from shortlist.kernels._jit import kernel
from shortlist.kernels.id_table import (
    EMPTY,
    IdIndex,
    index_ids,
    n_slots,
    place_of,
    slot_of,
)
from shortlist.kernels.number_text import inlined, parsing_kernel
from shortlist.kernels.vw_text import CARET

DONE, FULL, CLASH = 0, 1, 2  # why finding names ended
NOBODY, WANTED, FIRST = 0, 1, 2  # which names are kept: none, of given ids, of all

_U0 = np.uint64(0)


class NameStore(NamedTuple):
    """Names of some ids; one that is not known yet is empty."""

    index: IdIndex  #: from an id to its number
    starts: np.ndarray  #: int64, by number: where its name is in ``text``
    stops: np.ndarray  #: int64
    met: np.ndarray  #: int64, by number: the time when the id was met last
    text: np.ndarray  #: uint8
    counts: np.ndarray  #: int64: names kept, characters of ``text`` in use, time


def store_for(wanted, n_characters):
    """Empty names for these distinct ids, with room for so many characters."""
    return NameStore(
        index_ids(wanted),
        np.zeros(len(wanted), np.int64),
        np.zeros(len(wanted), np.int64),
        np.zeros(len(wanted), np.int64),
        np.empty(n_characters, np.uint8),
        np.zeros(3, np.int64),
    )


def open_store(n_ids, n_characters):
    """Room for so many ids, whichever come first."""
    slots = n_slots(n_ids)
    return NameStore(
        IdIndex(np.full(slots, EMPTY), np.full(slots, -1, np.int32)),
        np.zeros(n_ids, np.int64),
        np.zeros(n_ids, np.int64),
        np.zeros(n_ids, np.int64),
        np.empty(n_characters, np.uint8),
        np.zeros(3, np.int64),
    )


@inlined
def _put(index, number, place):
    slot = slot_of(index.keys, number)
    index.keys[slot] = _U0 if number == EMPTY else number
    index.places[slot] = place


@inlined
def _same(one, i, other, j, n):
    """Whether n characters from i on equal those of another text from j on."""
    k = 0
    while k < n and one[np.uint64(i + k)] == other[np.uint64(j + k)]:  # never negative
        k += 1
    return k == n


@inlined
def _lengths(places, i):
    """Length of the prefix, caret included, and of the whole name at place i."""
    n_space = places[i, 1] - places[i, 0]
    n_prefix = n_space + 1 if n_space > 0 else 0
    return n_prefix, n_prefix + places[i, 3] - places[i, 2]


@inlined
def _is_kept(text, places, i, store, number):
    """Whether the name at place i is the one kept for a number."""
    n_prefix, n = _lengths(places, i)
    kept = store.starts[number]
    if store.stops[number] - kept != n:
        return False
    start = kept + n_prefix
    if n_prefix > 0 and not (
        store.text[start - 1] == CARET
        and _same(store.text, kept, text, places[i, 0], n_prefix - 1)
    ):
        return False
    return _same(store.text, start, text, places[i, 2], n - n_prefix)


@inlined
def _keep(text, places, i, store, number):
    """Keep the name at place i for a number."""
    n_prefix, n = _lengths(places, i)
    start = store.counts[1]
    for k in range(n_prefix - 1):
        store.text[start + k] = text[places[i, 0] + k]
    if n_prefix > 0:
        store.text[start + n_prefix - 1] = CARET
    for k in range(n - n_prefix):
        store.text[start + n_prefix + k] = text[places[i, 2] + k]
    store.starts[number], store.stops[number] = start, start + n
    store.counts[0] += 1
    store.counts[1] += n


@inlined
def _has_room(places, i, store):
    return store.counts[1] + _lengths(places, i)[1] <= len(store.text)


@inlined
def _find(text, places, i, number, store):
    """Keep the name at place i if its id is wanted; DONE, FULL or CLASH."""
    place = np.int64(place_of(store.index, number))
    if place < 0:
        return DONE
    if store.stops[place] > store.starts[place]:
        return DONE if _is_kept(text, places, i, store, place) else CLASH
    if not _has_room(places, i, store):
        return FULL
    _keep(text, places, i, store, place)
    return DONE


@inlined
def _keep_first(text, places, i, number, store):
    """Keep the name at place i unless its id has one; whether there was room."""
    keys = store.index.keys
    slot = slot_of(keys, number)
    if keys[slot] != EMPTY:
        store.met[store.index.places[slot]] = store.counts[2]
        return True
    place = store.counts[0]
    if place == len(store.starts) or not _has_room(places, i, store):
        return False
    keys[slot] = _U0 if number == EMPTY else number
    store.index.places[slot] = place
    store.met[place] = store.counts[2]
    _keep(text, places, i, store, place)
    return True


@parsing_kernel
def find_names(text, ids, places, store):
    """Keep the names of the wanted ids; return how many features it got through, and why.

    FULL: the next name finds no room; CLASH: it is another name of an id.
    """
    for i in range(len(ids)):
        ending = _find(text, places, i, ids[i], store)
        if ending != DONE:
            return i, ending
    return len(ids), DONE


@parsing_kernel
def keep_names(text, ids, places, store):
    """Keep the names of all ids, each as it is met first; return how many it got through.

    They are fewer if the next name finds no room. Names of an id that is there are not
    looked at: it would take several times as long.
    """
    i = 0
    while i < len(ids) and _keep_first(text, places, i, ids[i], store):
        i += 1
    return i


@parsing_kernel
def _put_again(index, wide):
    last = len(index.keys) - 1
    for slot in range(last + 1):
        if index.keys[slot] != EMPTY:
            number = EMPTY if slot == last else index.keys[slot]
            _put(wide, number, index.places[slot])


def wider_store(store, n_ids, n_characters):
    """Same names with room for more ids and characters."""
    wide = open_store(n_ids, n_characters)
    n, n_used = store.counts[:2].tolist()
    for old, new in zip(store[1:4], wide[1:4], strict=True):
        new[:n] = old[:n]
    wide.text[:n_used] = store.text[:n_used]
    wide.counts[:] = store.counts
    _put_again(store.index, wide.index)
    return wide


@kernel
def forget_names(store, needed, time):
    """Forget the names of ids met before a time, except for those in an index of ids."""
    keys, places = store.index
    last, n = len(keys) - 1, store.counts[0]
    ids = np.empty(n, np.uint64)
    for slot in range(last + 1):
        if keys[slot] != EMPTY:
            ids[places[slot]] = EMPTY if slot == last else keys[slot]
            keys[slot], places[slot] = EMPTY, -1
    kept = end = np.int64(0)
    for i in range(n):
        if store.met[i] < time and place_of(needed, ids[i]) < 0:
            continue
        # Names are in the order of their numbers, so each moves to the left.
        start = store.starts[i]
        length = store.stops[i] - start
        for k in range(length):
            store.text[end + k] = store.text[start + k]
        store.starts[kept], store.stops[kept] = end, end + length
        store.met[kept] = store.met[i]
        _put(store.index, ids[i], kept)
        kept += 1
        end += length
    store.counts[0], store.counts[1] = kept, end


@parsing_kernel
def take_name(text, place, number, store, purpose):
    """Do as ``find_names`` or ``keep_names`` would, by the purpose, with one name.

    Place is its place as an array of one row. Returns DONE, FULL or CLASH.
    """
    if purpose == WANTED:
        return _find(text, place, 0, number, store)
    return DONE if _keep_first(text, place, 0, number, store) else FULL
