"""The columns that are retained: all that a run keeps of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import ColumnBlock, Floats, Ids
from shortlist.kernels.standardise import standardise

#: Comings and goings that are kept for the trace.
MOST_EVENTS = 1 << 16


class Prepared(NamedTuple):
    """A block of columns, centred and scaled."""

    values: Floats  #: (b, n_rows)
    center: Floats
    scale: Floats  #: 0 for a column that does not vary
    squares: Floats  #: (b,) mean squares of the values
    ids: Ids
    names: Sequence[str]

    def part(self, first: int, stop: int) -> Prepared:
        """Some of its columns."""
        inside = slice(first, stop)
        return Prepared(*(item[inside] for item in self))  # type: ignore[arg-type]


def prepare(block: ColumnBlock, share: Floats, *, standardize: bool) -> Prepared:
    """Centre the columns of a block, which is changed, and scale them if wanted."""
    center, scale, squares = np.empty((3, len(block.names)))
    standardise(block.values, share, standardize, center, scale, squares)
    return Prepared(block.values, center, scale, squares, block.ids, block.names)


class Event(NamedTuple):
    """A feature came in; another may have left for it."""

    arrival: int  #: how many candidates had come to this worker by then, from 1
    pass_number: int
    entered: str
    left: str  #: "" if there was room


class Memory(NamedTuple):
    """What some slots held, and how many events had been noted by then."""

    slots: list[tuple[int, Floats, float, float, int, str]]
    listed: int
    n_events: int


class Column(NamedTuple):
    """A column that is retained, as one worker hands it to another."""

    values: Floats
    center: float
    scale: float
    id: int
    name: str
    weight: Floats  #: one a margin
    locked: bool  #: whether it is always in


@dataclass
class Retained:
    """At most ``k`` columns, each in a slot, with what they are called.

    Rows of ``values`` are columns of the data, centred and scaled, as they have to be
    read one after the other.
    """

    values: Floats  #: (k, n_rows)
    center: Floats
    scale: Floats
    ids: Ids
    names: list[str]
    n: int = 0
    events: list[Event] = field(default_factory=list)
    n_events: int = 0

    @classmethod
    def empty(cls, k: int, n_rows: int) -> Retained:
        """No column yet."""
        return cls(
            np.empty((k, n_rows)),
            np.zeros(k),
            np.zeros(k),
            np.zeros(k, np.uint64),
            [""] * k,
        )

    def seat(self, block: Prepared, j: int, slot: int) -> None:
        """Put column j of a block into a slot."""
        self.values[slot] = block.values[j]
        self.center[slot], self.scale[slot] = block.center[j], block.scale[j]
        self.ids[slot], self.names[slot] = block.ids[j], block.names[j]
        self.n = max(self.n, slot + 1)

    def leave(self, slot: int) -> None:
        """Free a slot; the last column takes it."""
        last = self.n - 1
        self.values[slot] = self.values[last]
        self.center[slot], self.scale[slot] = self.center[last], self.scale[last]
        self.ids[slot], self.names[slot] = self.ids[last], self.names[last]
        self.n = last

    def hold(self, columns: Sequence[Column]) -> None:
        """Hold these columns and no others."""
        for slot, column in enumerate(columns):
            self.values[slot] = column.values
            self.center[slot], self.scale[slot] = column.center, column.scale
            self.ids[slot], self.names[slot] = column.id, column.name
        self.n = len(columns)

    def column(self, slot: int, weights: Floats, locked: bool) -> Column:
        """All about the column in a slot, with the weights that somebody gives it."""
        return Column(
            self.values[slot],
            float(self.center[slot]),
            float(self.scale[slot]),
            int(self.ids[slot]),
            self.names[slot],
            weights[slot],
            locked,
        )

    def note(self, arrival: int, pass_number: int, entered: str, left: str) -> None:
        """Remember who came and who went, unless too many have."""
        self.n_events += 1
        if self.n_events <= MOST_EVENTS:
            self.events.append(Event(arrival, pass_number, entered, left))

    def recognised(
        self, block: Prepared, status: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Status of the columns of a block, with slots for those that are in already."""
        slot_of = {
            number: slot for slot, number in enumerate(self.ids[: self.n].tolist())
        }
        known = [slot_of.get(number, -1) for number in block.ids.tolist()]
        return np.where(np.array(known) >= 0, known, status)

    def follow(
        self,
        block: Prepared,
        taken: NDArray[np.int64],
        holder: NDArray[np.int64],
        pass_number: int,
    ) -> None:
        """Do with columns and names what a kernel has done with inner products."""
        names, n = list(self.names), self.n
        for j in np.flatnonzero(taken[:, 0] >= 0).tolist():
            slot, arrival = taken[j].tolist()
            left = names[slot] if slot < n else ""
            n = max(n, slot + 1)
            names[slot] = block.names[j]
            self.note(arrival, pass_number, names[slot], left)
        for slot in np.flatnonzero(holder >= 0).tolist():
            self.seat(block, int(holder[slot]), slot)

    def remember(self, slots: Sequence[int]) -> Memory:
        """What these slots hold now, to come back to."""
        kept = [(slot, self.values[slot].copy(), *self._label(slot)) for slot in slots]
        return Memory(kept, len(self.events), self.n_events)

    def undo(self, memory: Memory) -> None:
        """Hold in some slots what they held then; forget what has been noted since."""
        for slot, values, center, scale, number, name in memory.slots:
            self.values[slot] = values
            self.center[slot], self.scale[slot] = center, scale
            self.ids[slot], self.names[slot] = number, name
        del self.events[memory.listed :]
        self.n_events = memory.n_events

    def _label(self, slot: int) -> tuple[float, float, int, str]:
        center, scale = float(self.center[slot]), float(self.scale[slot])
        return center, scale, int(self.ids[slot]), self.names[slot]

    def names_by_id(self) -> dict[int, str]:
        """What is retained, and what it is called."""
        return dict(zip(self.ids[: self.n].tolist(), self.names, strict=False))

    def holds(self) -> set[int]:
        """Ids of what is retained."""
        return set(self.ids[: self.n].tolist())
