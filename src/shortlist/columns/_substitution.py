"""Online Substitution: features arrive, and take the place of weaker ones.

This module makes the algorithm that engines run; the estimator lives elsewhere.

References
----------
Yang, Fujimaki, Kusumura, Liu. Online Feature Selection: A Limited-Memory Substitution
Algorithm and Its Asynchronous Parallel Variation. KDD 2016.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import Capabilities, ColumnBlock, DataError, ShortlistError
from shortlist._shortlist import Shortlist
from shortlist.columns._data import Data, Settings
from shortlist.columns._retained import MOST_EVENTS, Event, Prepared, prepare
from shortlist.columns._smooth import SmoothWorker
from shortlist.columns._squared import SquaredWorker
from shortlist.kernels.substitution import ALWAYS, CANDIDATE, SKIPPED
from shortlist.losses import Squared, spell

LOSSES = ("squared", "logistic", "softmax", "squared_hinge", "huber", "poisson")

CAPABILITIES = Capabilities(
    method="online_substitution",
    room="columns",
    summary="features one by one, each in the place of the weakest",
    algorithm="shortlist.columns._select:select_columns",
    estimator="shortlist.columns._estimators:OnlineSubstitution",
    losses=LOSSES,
    citation=(
        "Yang, Fujimaki, Kusumura, Liu (2016). Online Feature Selection: A Limited-Memory "
        "Substitution Algorithm and Its Asynchronous Parallel Variation. KDD."
    ),
    options=("eta", "m", "passes", "exchange", "standardize", "refit", "tol"),
)

Worker = SquaredWorker | SmoothWorker


@dataclass(frozen=True)
class Request:
    """What a user asks for; bad settings raise."""

    k: int
    eta: float | str = "auto"
    m: float | str = "auto"
    passes: int = 4
    exchange: str = "auto"
    standardize: bool = True
    refit: bool = True
    tol: float = 1e-4
    always: tuple[str, ...] = ()
    never: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("eta", "m"):
            value = getattr(self, name)
            if value != "auto" and not (isinstance(value, Real) and float(value) > 0):
                raise ShortlistError(
                    f"{name} should be a number above 0 or 'auto', got {value!r}"
                )
        if not isinstance(self.passes, Integral) or self.passes < 1:
            raise ShortlistError(
                f"passes should be a whole number from 1, got {self.passes!r}"
            )
        if self.exchange not in ("auto", "gradient", "exact"):
            raise ShortlistError(
                "exchange should be 'auto', 'gradient' or 'exact', got "
                f"{self.exchange!r}"
            )
        if not isinstance(self.tol, Real) or not self.tol >= 0:
            raise ShortlistError(f"tol should be a number from 0, got {self.tol!r}")
        if len(set(self.always)) > self.k:
            raise ShortlistError(
                f"always= names {len(set(self.always))} features, more than the budget "
                f"k={self.k}"
            )
        if both := sorted(set(self.always) & set(self.never)):
            raise ShortlistError(f"{both[0]!r} is named by always= and by never=")

    def settings(self, data: Data, n_workers: int = 1) -> Settings:
        """Decide what was left open; for one worker."""
        squared = isinstance(data.loss, Squared)
        exchange = self.exchange
        if exchange == "auto":
            plain = n_workers == 1 and self.eta == "auto" and self.m == "auto"
            exchange = "exact" if squared and plain else "gradient"
        if exchange == "exact" and not squared:
            raise ShortlistError(
                f"exchange='exact' goes with loss='squared', got {data.loss.name!r}"
            )
        return Settings(
            self.k,
            self.k - len(set(self.always)),
            0.0 if self.eta == "auto" else float(self.eta),
            0.0 if self.m == "auto" else float(self.m),
            exchange,
            self.standardize,
            n_workers,
        )

    def params(self, settings: Settings) -> dict[str, Any]:
        """Return the settings, for the result."""
        return {
            "eta": self.eta,
            "m": self.m,
            "passes": int(self.passes),
            "exchange": settings.exchange,
            "standardize": bool(self.standardize),
            "refit": bool(self.refit),
            "tol": float(self.tol),
        }


def worker_for(data: Data, settings: Settings) -> Worker:
    """Make a worker that fits the loss."""
    kind = SquaredWorker if isinstance(data.loss, Squared) else SmoothWorker
    return kind(data, settings)


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


@dataclass
class Substitution:
    """A run in progress: what an engine steps through blocks of columns.

    Parameters
    ----------
    data : Data
    request : Request
    method : str, default="online_substitution"
        What the result calls itself.
    """

    data: Data
    request: Request
    method: str = CAPABILITIES.method
    pass_number: int = 1
    last_pass: int = 0
    seen: int = 0  #: columns in this pass
    n_features: int = 0
    history: list[tuple[int, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.settings = self.request.settings(self.data)
        self.worker = worker_for(self.data, self.settings)
        self.last_pass = int(self.request.passes)
        self._came = 0
        self._missed = dict.fromkeys((*self.request.always, *self.request.never))
        self._first = True
        self._loss = self.worker.objective()

    def step(self, block: ColumnBlock) -> None:
        """Let the columns of a block arrive."""
        if block.values.shape[1] != len(self.data.y):
            raise DataError(
                f"column {block.names[0]!r}: expected {len(self.data.y)} rows, as there "
                f"are labels, got {block.values.shape[1]}"
            )
        if self._first:
            self.n_features += len(block.names)
            for name in block.names if self._missed else ():
                self._missed.pop(name, None)
        self.seen += len(block.names)
        share = self.data.share
        ready = prepare(block, share, standardize=self.settings.standardize)
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
        still = not self._came and before - self._loss <= self.request.tol * before
        self._first, self._came = False, 0
        if still or self.pass_number >= self.last_pass:
            return False
        self.pass_number, self.seen = self.pass_number + 1, 0
        return True

    def resume(self) -> None:
        """Be ready for other columns, which come for the first time."""
        self.pass_number, self.seen = self.pass_number + 1, 0
        self.last_pass = self.pass_number + int(self.request.passes) - 1
        self._first, self._missed = True, {}

    def standing(self) -> tuple[int, float]:
        """Columns of this pass so far, and the loss after the last one."""
        return self.seen, self._loss

    def result(self) -> Shortlist:
        """What is retained now, refitted if wanted; the run may go on."""
        worker = self.worker
        searched, bias = worker.weights, worker.intercept
        if self.request.refit:
            worker.refit()
        chosen = published(
            worker,
            self.data,
            method=self.method,
            k=self.request.k,
            n_features=self.n_features,
            params=self.request.params(self.settings),
            trace=trace_of(worker.retained.events, self.history),
        )
        if self.request.refit:
            worker.restore(searched, bias)
        return chosen


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
    worker: Worker,
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
        room=CAPABILITIES.room,
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


def quotas(request: Request, n_workers: int) -> list[Request]:
    """Shares of the budget, which sum to it; features always in go to the first."""
    n_always = len(set(request.always))
    free = request.k - n_always
    if not 1 <= n_workers <= max(1, free):
        raise ShortlistError(
            f"n_workers should be from 1 to {max(1, free)}, one feature each at least, "
            f"got {n_workers}"
        )
    shares = [free // n_workers + (t < free % n_workers) for t in range(n_workers)]
    return [
        replace(
            request,
            k=share + (n_always if t == 0 else 0),
            always=request.always if t == 0 else (),
            never=(*request.never, *(request.always if t else ())),
        )
        for t, share in enumerate(shares)
    ]
