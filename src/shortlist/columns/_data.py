"""What a run is about: the target and the settings, fixed from its beginning."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from shortlist._protocols import Floats, Ints, ShortlistError
from shortlist._targets import Target


@dataclass(frozen=True)
class Data:
    """Labels of all examples, and how much each example counts."""

    target: Target
    y: Floats  #: encoded as the loss wants it
    share: Floats  #: weights of the examples, which sum to 1
    total: float  #: what their weights sum to

    @property
    def loss(self) -> Any:
        """The loss."""
        return self.target.loss

    @property
    def n_examples(self) -> float:
        """Weights count as repetitions, but not those that only add up to little."""
        return max(self.total, float(np.count_nonzero(self.share)))

    @property
    def n_margins(self) -> int:
        """How many margins there are."""
        return self.target.n_margins

    @cached_property
    def is_uniform(self) -> bool:
        """Whether all examples count the same."""
        return bool((self.share == self.share[0]).all())

    @property
    def weight(self) -> Floats | None:
        """Weights of the examples; None if all are 1."""
        if self.is_uniform and self.total == len(self.y):
            return None
        return self.share * self.total

    def of_rows(self, rows: Ints) -> Data:
        """The same of some rows only; what is to be predicted stays as it was decided."""
        weight = None if self.weight is None else self.weight[rows]
        if weight is not None and not weight.any():
            raise ShortlistError("some rows of each half should have weight, none has")
        return Data.encoded(self.target, self.y[rows], weight)

    @classmethod
    def of(cls, target: Target, labels: Floats, weight: Floats | None) -> Data:
        """Encode labels; weights are 1 if there are none."""
        return cls.encoded(target, target.encode(labels), weight)

    @classmethod
    def encoded(cls, target: Target, y: Floats, weight: Floats | None) -> Data:
        """Of labels that have been encoded."""
        weight = np.ones(len(y)) if weight is None else weight
        total = float(weight.sum())
        return cls(target, y, weight / total, total)


@dataclass(frozen=True)
class Settings:
    """How features are substituted."""

    k: int  #: slots
    free: int  #: of these, for features that are not always in
    eta: float = 0.0  #: step of a newcomer; 0: by curvature
    m: float = 0.0  #: steps of the retained are eta / m; 0: as long as is safe
    exchange: str = "gradient"  #: or "exact"
    standardize: bool = True
    n_sharing: int = 1  #: workers whose margins add up
    #: Whether this one moves the intercept: of several, each of which sees the same need,
    #: one does. If all did, they would go that many times too far.
    moves_intercept: bool = True
