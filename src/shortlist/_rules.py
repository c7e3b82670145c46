"""What one online selector does differently from another, and what it finds.

A *rule* says how weights are held and how to learn from a block; ``shortlist._online`` does
everything around that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from shortlist._protocols import Floats, Ids, Ints, RowBlock
from shortlist._targets import Target

#: Losses that every online selector takes.
ONLINE_LOSSES = (
    "squared",
    "logistic",
    "softmax",
    "squared_hinge",
    "hinge",
    "huber",
    "epsilon_insensitive",
    "poisson",
)

#: AdaGrad rate of the bias for classes; a regression's bias takes Newton steps.
_CLASS_BIAS_RATE = 0.3


class Found(NamedTuple):
    """What a rule holds to be the best coordinates, with its own weights and scores."""

    ids: Ids
    margin: Ints
    weight: Floats
    score: Floats
    error: Floats  #: but for noise, if there is ``information``; NaN: not known
    bias: Floats
    scale: Floats | None = None  #: units to refit in, if features have different ones
    information: Floats | None = None  #: what the variance of noise is divided by


class Rule(Protocol):
    """What one online selector does differently from another.

    It may have ``history(model, target)``, arrays for the trace of a result,
    ``remembered(model)``, features whose names belong there though they were not chosen,
    and ``decided(model)``, settings that the first rows settled. ``weighs_all`` says that
    it learns with the weights of all features, of which the best are then published.
    """

    def create(
        self, target: Target, n_features: int | None, rows: Sequence[RowBlock] = ()
    ) -> Any:
        """Fresh arrays for a target.

        ``n_features`` is None if nobody knows, ``rows`` are some of the first, prepared.
        """
        ...

    def learn(self, model: Any, target: Target, block: RowBlock) -> None:
        """Learn from a block with encoded labels, in place, row by row in order."""
        ...

    def totals(self, model: Any) -> Floats:
        """Running totals as ``shortlist._steps`` lays them out."""
        ...

    def candidates(self, model: Any) -> Ids:
        """All features that could be found now, apart from those asked for always."""
        ...

    def found(self, model: Any, target: Target, always: Ids) -> Found:
        """The best candidates and the features asked for always, at every margin."""
        ...


def bias_rate(target: Target) -> float:
    """AdaGrad rate of the bias; 0 asks for Newton steps."""
    return _CLASS_BIAS_RATE if target.classes is not None else 0.0


def best(
    ids: Ids, margin: Ints, score: Floats, k: int, budget: str, always: Ids
) -> np.ndarray:
    """Mark the coordinates that a budget of k keeps; ``always`` come first."""
    forced = np.isin(ids, always)
    keep_these = np.zeros(len(ids), bool)
    if budget == "shared":
        # A feature's score over all margins is the length of its vector of scores.
        distinct, place = np.unique(ids, return_inverse=True)
        total = np.bincount(place, score**2, len(distinct))
        order = np.lexsort((distinct, -total, ~np.isin(distinct, always)))
        return np.isin(ids, distinct[order[:k]])
    for c in np.unique(margin):
        here = np.flatnonzero(margin == c)
        order = np.lexsort((ids[here], -score[here], ~forced[here]))
        keep_these[here[order[:k]]] = True
    return keep_these
