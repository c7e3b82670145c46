"""Online Substitution: features arrive, and take the place of weaker ones.

This module knows the settings, and who works by them; the estimator lives elsewhere.

References
----------
Yang, Fujimaki, Kusumura, Liu. Online Feature Selection: A Limited-Memory Substitution
Algorithm and Its Asynchronous Parallel Variation. KDD 2016.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from shortlist._protocols import Capabilities, ShortlistError
from shortlist.columns._data import Data, Settings
from shortlist.columns._linearised import LinearisedWorker
from shortlist.columns._request import check_lists, check_passes, check_switches
from shortlist.columns._smooth import SmoothWorker
from shortlist.columns._squared import SquaredWorker
from shortlist.losses import Squared

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

#: Workers of which there may be several.
SharingWorker = SquaredWorker | SmoothWorker
Worker = SharingWorker | LinearisedWorker


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
            if value != "auto" and not _is_length(value):
                raise ShortlistError(
                    f"{name} should be a number above 0 or 'auto', got {value!r}"
                )
        check_passes(self.passes, self.tol)
        check_switches(standardize=self.standardize, refit=self.refit)
        check_lists(self.k, self.always, self.never)
        if self.exchange not in ("auto", "gradient", "exact"):
            raise ShortlistError(
                "exchange should be 'auto', 'gradient' or 'exact', got "
                f"{self.exchange!r}"
            )

    def settings(self, data: Data, n_sharing: int | None = None) -> Settings:
        """Decide what was left open; for one of some workers, or None: that is alone."""
        squared = isinstance(data.loss, Squared)
        can = data.n_margins == 1 and (squared or n_sharing is None)
        exchange = self.exchange
        if exchange == "auto":
            plain = self.eta == "auto" and self.m == "auto" and n_sharing in (None, 1)
            exchange = "exact" if can and plain else "gradient"
        if exchange == "exact" and not can:
            place = "a loss of one margin" if n_sharing is None else "loss='squared'"
            raise ShortlistError(
                f"exchange='exact' goes with {place} here, got {data.loss.name!r}"
            )
        return Settings(
            self.k,
            self.k - len(set(self.always)),
            0.0 if self.eta == "auto" else float(self.eta),
            0.0 if self.m == "auto" else float(self.m),
            exchange,
            self.standardize,
            n_sharing or 1,
        )

    def worker(self, data: Data) -> Worker:
        """Make what retains columns, alone."""
        return worker_for(data, self.settings(data))

    def params(self, worker: Worker) -> dict[str, Any]:
        """Return the settings, for the result."""
        return {
            "eta": self.eta,
            "m": self.m,
            "passes": int(self.passes),
            "exchange": worker.settings.exchange,
            "standardize": bool(self.standardize),
            "refit": bool(self.refit),
            "tol": float(self.tol),
        }


def _is_length(value: Any) -> bool:
    return isinstance(value, Real) and 0.0 < float(value) < np.inf


def worker_for(data: Data, settings: Settings) -> Worker:
    """Make a worker that fits the loss and works alone."""
    if settings.exchange == "exact" and not isinstance(data.loss, Squared):
        return LinearisedWorker(data, settings)
    return sharing_worker_for(data, settings)


def sharing_worker_for(data: Data, settings: Settings) -> SharingWorker:
    """Make a worker that fits the loss and can do with others."""
    kind = SquaredWorker if isinstance(data.loss, Squared) else SmoothWorker
    return kind(data, settings)


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
