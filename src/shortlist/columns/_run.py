"""A run over columns: passes, names, and what is published in the end.

Who retains columns, and by what rule, is a *worker*; methods differ in these alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shortlist._leaks import leaks
from shortlist._protocols import ColumnBlock, DataError, Floats, ShortlistError
from shortlist._shortlist import Shortlist
from shortlist.columns._data import Data
from shortlist.columns._retained import MOST_EVENTS, Event, Prepared, Retained, prepare
from shortlist.engines._interrupts import uninterrupted
from shortlist.kernels.substitution import ALWAYS, CANDIDATE, SKIPPED
from shortlist.losses import spell


class ColumnWorker(Protocol):
    """Retains columns, and weights for them."""

    retained: Retained

    @property
    def weights(self) -> Floats:
        """Of the retained columns, shape (n, C)."""
        ...

    @property
    def intercept(self) -> Floats:
        """Of columns that are centred, shape (C,)."""
        ...

    def objective(self) -> float:
        """Mean loss."""
        ...

    def step(self, block: Prepared, status: NDArray[np.int64], pass_number: int) -> int:
        """Let the columns of a block arrive; return how many came in."""
        ...

    def refit(self) -> None:
        """Move the weights to where the loss is smallest."""
        ...

    def restore(self, weights: Floats, intercept: Floats) -> None:
        """Go back to weights as they were before a refit."""
        ...


class ColumnRequest(Protocol):
    """What a user asks for."""

    @property
    def k(self) -> int: ...
    @property
    def passes(self) -> int: ...
    @property
    def standardize(self) -> bool: ...
    @property
    def refit(self) -> bool: ...
    @property
    def tol(self) -> float: ...
    @property
    def always(self) -> tuple[str, ...]: ...
    @property
    def never(self) -> tuple[str, ...]: ...

    def worker(self, data: Data) -> Any:
        """Make what retains columns."""
        ...

    def params(self, worker: Any) -> dict[str, Any]:
        """Return the settings, for the result."""
        ...


@dataclass
class ColumnRun:
    """A run in progress: what an engine steps through blocks of columns.

    Parameters
    ----------
    data : Data
    request : ColumnRequest
    method : str
        What the result calls itself.
    """

    data: Data
    request: ColumnRequest
    method: str
    pass_number: int = 1
    last_pass: int = 0
    seen: int = 0  #: columns in this pass
    n_features: int = 0
    history: list[tuple[int, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.worker = self.request.worker(self.data)
        self.last_pass = int(self.request.passes)
        self._came = 0
        self._missed = dict.fromkeys((*self.request.always, *self.request.never))
        self._first = True
        self._has_come_once = False
        self._loss = self.worker.objective()

    @uninterrupted()  # weights move before the columns they belong to
    def step(self, block: ColumnBlock) -> None:
        """Let the columns of a block arrive."""
        check_rows(block.values.shape[1], self.data, f"column {block.names[0]!r}")
        if self._first:
            self.n_features += len(block.names)
            for name in block.names if self._missed else ():
                self._missed.pop(name, None)
        self.seen += len(block.names)
        share = self.data.share
        ready = prepare(block, share, standardize=self.request.standardize)
        always, never = set(self.request.always), set(self.request.never)
        status = status_of(ready, always, never)
        self._came += self.worker.step(ready, status, self.pass_number)

    def next_pass(self) -> bool:
        """Close a pass; False if it changed nothing, or was the last one."""
        if self._missed:
            name = next(iter(self._missed))
            raise ShortlistError(
                f"always= and never= should name columns that come, got {name!r}"
            )
        before, self._loss = self._loss, self.worker.objective()
        self.history.append((self._came, self._loss))
        still = not self._came and before - self._loss <= self.request.tol * abs(before)
        self._first, self._came = False, 0
        if still or self.pass_number >= self.last_pass:
            return False
        self.pass_number, self.seen = self.pass_number + 1, 0
        return True

    def came_once(self) -> None:
        """Take back a pass that cannot be; the result will say so."""
        self.pass_number -= 1
        self._has_come_once = True

    def resume(self) -> None:
        """Be ready for other columns, which come for the first time."""
        self.pass_number, self.seen = self.pass_number + 1, 0
        self.last_pass = self.pass_number + int(self.request.passes) - 1
        self._first, self._missed = True, {}

    @property
    def n_candidates(self) -> int:
        """Columns that there were to choose from: not those to leave out."""
        return self.n_features - len(set(self.request.never) - set(self._missed))

    def standing(self) -> tuple[int, float]:
        """Columns of this pass so far, and the loss after the last one."""
        return self.seen, self._loss

    def result(self) -> Shortlist:
        """What is retained now, refitted if wanted; the run may go on."""
        worker = self.worker
        searched, bias = worker.weights, worker.intercept
        if self.request.refit:
            worker.refit()
        once = f"one pass, not {self.request.passes}: the columns can be read only once"
        chosen = published(
            worker,
            self.data,
            method=self.method,
            k=self.request.k,
            n_features=self.n_features,
            params=self.request.params(worker),
            trace=trace_of(worker.retained.events, self.history),
            notes=(once,) if self._has_come_once else (),
        )
        if self.request.refit:
            worker.restore(searched, bias)
        return chosen

    def leak_notes(self) -> tuple[str, ...]:
        """Warn of retained columns that predict nearly perfectly on their own."""
        held, classes = self.worker.retained, self.data.target.classes
        y = self.data.y
        if classes is not None:
            y = np.unique(y, return_inverse=True)[1].astype(np.float64)
        found = leaks(
            held.values[: held.n].T,
            y,
            held.names[: held.n],
            self.n_features,
            n_classes=len(classes or ()),
        )
        return tuple(found)


def check_rows(n_rows: int, data: Data, owner: str) -> None:
    """Refuse columns of which nobody knows the labels."""
    if n_rows != len(data.y):
        raise DataError(
            f"{owner}: expected {len(data.y)} rows, as there are labels, got {n_rows}"
        )


def status_of(
    block: Prepared, always: Collection[str], never: Collection[str]
) -> NDArray[np.int64]:
    """Which columns of a block are candidates, left out, or kept in any case."""
    status = np.where(block.scale > 0.0, CANDIDATE, SKIPPED)
    for j, name in enumerate(block.names if always or never else ()):
        if name in never:
            status[j] = SKIPPED
        elif name in always:
            status[j] = ALWAYS
    return status


def trace_of(
    events: Sequence[Event], history: Sequence[tuple[int, float]]
) -> dict[str, np.ndarray]:
    """What came in and what left, and how each pass went."""
    came, loss = zip(*history, strict=True) if history else ((), ())
    return {
        "entered": np.array([event.entered for event in events], dtype=np.str_),
        "left": np.array([event.left for event in events], dtype=np.str_),
        "arrival": np.array([event.arrival for event in events], np.int64),
        "pass": np.array([event.pass_number for event in events], np.int64),
        "entered_in_pass": np.array(came, np.int64),
        "loss": np.array(loss, np.float64),
    }


def published(
    worker: ColumnWorker,
    data: Data,
    *,
    method: str,
    k: int,
    n_features: int,
    params: Mapping[str, Any],
    trace: Mapping[str, np.ndarray],
    notes: tuple[str, ...] = (),
) -> Shortlist:
    """Result with the weights of the columns as they came."""
    held, C = worker.retained, data.n_margins
    n = held.n
    # a column that is always in may not vary: its weight is then 0, in any unit
    scale = np.where(held.scale[:n] > 0.0, held.scale[:n], 1.0)
    raw = worker.weights / scale[:, np.newaxis]
    intercept = worker.intercept - held.center[:n] @ raw
    if worker.retained.n_events > MOST_EVENTS:
        notes = (*notes, f"the trace has the first {MOST_EVENTS:,} exchanges")
    note = data.target.note
    return Shortlist(
        method=method,
        room="columns",
        loss=spell(data.loss),
        k=k,
        ids=np.repeat(held.ids[:n], C),
        names=tuple(name for name in held.names[:n] for _ in range(C)),
        margin=np.tile(np.arange(C), n),
        weights=raw.ravel(),
        scores=np.abs(worker.weights).ravel(),
        intercept=intercept,
        classes=data.target.classes,
        n_examples=len(data.y),
        n_features=n_features,
        params={**params, "objective": worker.objective()},
        trace=trace,
        notes=notes if note is None else (note, *notes),
    )
