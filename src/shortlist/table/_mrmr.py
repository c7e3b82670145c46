"""mRMR: one feature after the other, that tells most and repeats least."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import Capabilities, Floats, ShortlistError
from shortlist._targets import Target
from shortlist.table._dependence import Binned, Dependence, Linear
from shortlist.table._filters import LOSSES, Filter, Ranking, filter_learner_of
from shortlist.table._gather import Table
from shortlist.table._sparse_bins import SparselyBinned

CAPABILITIES = Capabilities(
    method="mrmr",
    room="table",
    summary="mRMR: most relevant and least redundant features, one by one, exactly k",
    algorithm="shortlist.table._mrmr:mrmr_learner",
    estimator="shortlist.table:MRMR",
    losses=LOSSES,
    citation=(
        "Peng, Long, Ding (2005). Feature Selection Based on Mutual Information: "
        "Criteria of Max-Dependency, Max-Relevance, and Min-Redundancy. IEEE Trans. "
        "Pattern Anal. Mach. Intell. 27(8)."
    ),
    options=("relevance", "redundancy", "scheme", "bins"),
    nested=True,
)

#: Quotients have no smaller divisor: among features that repeat next to nothing, what
#: they tell should decide.
LEAST_REDUNDANCY = 1e-3


@dataclass(frozen=True)
class MrmrSettings:
    """What mRMR is asked for; see the estimator."""

    k: int
    relevance: str = "auto"
    redundancy: str = "auto"
    scheme: str = "quotient"
    bins: int = 5


def check_mrmr(settings: MrmrSettings) -> None:
    """Refuse settings that make no sense."""
    for name, known in (
        ("relevance", ("auto", "f", "mutual_info")),
        ("redundancy", ("auto", "correlation", "mutual_info")),
        ("scheme", ("difference", "quotient")),
    ):
        if (came := getattr(settings, name)) not in known:
            raise ShortlistError(
                f"{name} should be one of {', '.join(known)}, got {came!r}"
            )
    bins = settings.bins
    if not isinstance(bins, Integral) or isinstance(bins, bool) or bins < 2:
        raise ShortlistError(f"bins should be a whole number from 2, got {bins!r}")


def mrmr_filter(settings: MrmrSettings) -> Filter:
    """Return mRMR with these settings; bad ones raise."""
    check_mrmr(settings)

    def run(
        table: Table,
        target: Target,
        n_chosen: int,
        *,
        candidates: NDArray[np.bool_],
        always: tuple[int, ...],
        categorical: NDArray[np.bool_],
    ) -> Ranking:
        X, y, weight = table.X, table.y, table.weight
        if weight is None:
            weight = np.ones(len(y))
        elif not weight.all():  # as if absent, also where values are counted
            present = np.flatnonzero(weight)
            X, y, weight = X[present], y[present], weight[present]
        classes = target.classes is not None
        tells, repeats = _measures(settings, X, weight, categorical, classes)
        relevance = tells.of_labels(y, classes=classes)
        return greedy(
            relevance,
            repeats,
            n_chosen,
            candidates=candidates,
            always=always,
            quotient=settings.scheme == "quotient",
        )

    return Filter(CAPABILITIES, settings.k, run, asdict(settings))


def _measures(
    settings: MrmrSettings,
    X: Any,
    weight: Floats,
    categorical: NDArray[np.bool_],
    classes: bool,
) -> tuple[Dependence, Dependence]:
    """What relevance and redundancy are measured by; the same object if they agree."""
    tells, repeats = settings.relevance, settings.redundancy
    if tells == "auto":
        tells = "mutual_info" if classes or categorical.any() else "f"
    if repeats == "auto":
        repeats = "correlation" if tells == "f" else "mutual_info"
    if categorical.any() and (tells, repeats) != ("mutual_info", "mutual_info"):
        raise ShortlistError(
            "categories have mutual information only, got "
            f"relevance={settings.relevance!r} and redundancy={settings.redundancy!r}"
        )
    linear = binned = None
    if "f" in (tells, repeats) or "correlation" in (tells, repeats):
        linear = Linear(X, weight)
    if "mutual_info" in (tells, repeats):
        kind = SparselyBinned if hasattr(X, "tocsc") else Binned
        binned = kind(X, weight, settings.bins, categorical)
    of_labels = linear if tells == "f" else binned
    of_columns = linear if repeats == "correlation" else binned
    assert of_labels is not None
    assert of_columns is not None
    return of_labels, of_columns


def greedy(
    relevance: Floats,
    repeats: Dependence,
    n_chosen: int,
    *,
    candidates: NDArray[np.bool_],
    always: tuple[int, ...],
    quotient: bool,
) -> Ranking:
    """Add columns one by one; those always in come first, of equals the first."""
    chosen = sorted(always, key=lambda j: (-relevance[j], j))
    left = candidates.copy()
    left[chosen] = False
    total = np.zeros(len(relevance))  #: redundancy with each of those before, added up
    redundancy = np.zeros(n_chosen)
    for place in range(n_chosen):
        if place:
            total += repeats.of_column(chosen[place - 1])
        mean = total / max(place, 1)
        if place == len(chosen):
            value = relevance
            if place and quotient:
                value = relevance / np.maximum(mean, LEAST_REDUNDANCY)
            elif place:
                value = relevance - mean
            chosen.append(int(np.argmax(np.where(left, value, -np.inf))))
            left[chosen[-1]] = False
        redundancy[place] = mean[chosen[place]]
    columns = np.array(chosen, np.int64)
    trace = {"relevance": relevance[columns], "redundancy": redundancy}
    # The order of coming in is the ranking; neither relevance nor the criterion is.
    scores = np.arange(len(columns), 0, -1).astype(np.float64)
    return Ranking(columns, scores, relevance, trace)


#: The algorithm that an engine runs; parameters are those of MRMR.
mrmr_learner = filter_learner_of(
    lambda k, **asked: mrmr_filter(MrmrSettings(k, **asked))
)
