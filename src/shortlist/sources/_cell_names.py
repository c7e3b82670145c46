"""Names of the features that cells of text make, found while delimited text is parsed."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from shortlist._protocols import Ids, Ints
from shortlist.sources._columns import NamesById
from shortlist.sources._csv_head import QUOTE, unquoted
from shortlist.sources._files import Characters
from shortlist.sources._unlearned import Unlearned

#: More names than this are a burden that can be taken off by ``retain``.
MANY_NAMES = 300_000
#: If nobody does, names of other features are not kept.
MOST_NAMES = 2_000_000


class CellNames:
    """Names ``column=value`` by their ids.

    Parameters
    ----------
    owner : str
        What messages call the table.
    columns : sequence of str
        Names of its columns.
    wanted : ndarray of uint64, default=None
        Ids to find the names of; None keeps all names that come by, two million at
        most, until ``retain`` says which of them are needed still.
    quote : str, default='"'
        What quotes cells.
    """

    def __init__(
        self,
        owner: str,
        columns: Sequence[str],
        wanted: Ids | None = None,
        quote: str = QUOTE,
    ):
        self._quote = quote
        self._columns = columns
        self._wanted = wanted
        self.found = NamesById(owner)
        self.lock = threading.RLock()  # one thread parses, another says what is needed
        self._blocks = Unlearned()
        self._met: dict[int, int] = {}  # number of the last block that has a name
        self._many = MANY_NAMES

    @property
    def complete(self) -> bool:
        """Whether all that are wanted have been found."""
        return self._wanted is not None and len(self.found) == len(self._wanted)

    @property
    def crowded(self) -> bool:
        """Whether so many names are kept that some should be forgotten."""
        return len(self.found) > self._many

    def close_block(self, position: int) -> None:
        """Have all names from now on belong to the next block."""
        with self.lock:
            self._blocks.close(position)

    def retain(self, ids: Ids, learned: int) -> None:
        """Forget names, but not of these ids and of blocks from a position on."""
        with self.lock:
            first = self._blocks.first(after=learned)
            needed = {n for n, block in self._met.items() if block >= first}
            needed.update(ids.tolist())
            self.found.keep(needed)
            self._met = {n: block for n, block in self._met.items() if n in needed}
            self._many = max(MANY_NAMES, 2 * len(self.found))

    def take(self, text: Characters, ids: Ids, places: Ints) -> None:
        """Look at the features of a text by their ids and the places of their cells."""
        relevant = places[:, 0] >= 0
        if self._wanted is not None:
            relevant &= np.isin(ids, self._wanted)
        here = np.flatnonzero(relevant)
        distinct, first = np.unique(ids[here], return_index=True)
        with self.lock:
            for number, place in zip(
                distinct.tolist(), places[here[first]].tolist(), strict=True
            ):
                if number not in self.found and len(self.found) < MOST_NAMES:
                    column, value = place[0], value_at(text, place, self._quote)
                    self.found.add([number], [f"{self._columns[column]}={value}"])
                if number in self.found:
                    self._met[number] = self._blocks.now


def value_at(text: Characters, place: Sequence[int], quote: str = QUOTE) -> str:
    """Characters of a cell at the place that ``kernels.csv_text`` has noted."""
    _, start, stop, has_quotes = place
    cell = text[start:stop].tobytes()
    plain = unquoted(cell, quote) if has_quotes else cell
    return plain.decode("utf-8", "surrogateescape")
