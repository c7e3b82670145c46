"""A loss near where a model stands, as a parabola in each margin.

The intercept is not penalised, so it is left out of all that follows: inner products are
those of columns that are centred by the weights of the parabola, and the intercept is
worked out from the weights at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from shortlist._protocols import Floats
from shortlist.columns._data import Data
from shortlist.losses.arrays import (
    bend_straight_parts,
    curvatures_into,
    slopes_into,
)

#: Curvature of an example, as a share of the most there is, that parabolas have at least.
_LEAST = 1e-4


@dataclass(frozen=True)
class Parabola:
    """Weighted least squares that touch the loss; columns are rows of arrays here."""

    weight: Floats  #: (n_rows,) curvature, times the share of an example
    pull: Floats  #: (n_rows,) weight times what least squares would predict

    @cached_property
    def _total(self) -> float:
        return float(self.weight.sum())

    def gram(self, columns: Floats) -> Floats:
        """Inner products of columns with each other."""
        rooted = columns * np.sqrt(self.weight)
        sums = columns @ self.weight
        return np.asarray(rooted @ rooted.T - np.outer(sums, sums) / self._total)

    def squares(self, columns: Floats) -> Floats:
        """Inner products of columns with themselves."""
        sums = columns @ self.weight
        squares = np.einsum("ji,ji->j", columns * self.weight, columns)
        return np.asarray(squares - sums**2 / self._total)

    def products(self, columns: Floats, others: Floats) -> Floats:
        """Inner products of columns with other columns."""
        weighted = columns * self.weight
        sums = np.outer(weighted.sum(axis=1), others @ self.weight)
        return np.asarray(weighted @ others.T - sums / self._total)

    def correlations(self, columns: Floats) -> Floats:
        """Inner products of columns with what is to be predicted."""
        mean = self.pull.sum() / self._total
        return np.asarray(columns @ (self.pull - mean * self.weight))

    def intercept(self, columns: Floats, weights: Floats) -> float:
        """The best one for these weights of the columns."""
        left = self.pull.sum() - (columns @ self.weight) @ weights
        return float(left / self._total)


def parabolas(data: Data, margins: Floats) -> list[Parabola]:
    """Those that touch the loss at margins of shape (n_rows, C): one a margin.

    Margins of a vector loss are taken for themselves, as if they did not interact.
    """
    slopes, curvatures = np.empty_like(margins), np.empty_like(margins)
    slopes_into(data.loss, data.y, margins, data.share, slopes)
    curvatures_into(data.loss, data.y, margins, np.ones(len(data.y)), curvatures)
    if margins.shape[1] == 1:
        bend_straight_parts(data.loss, data.y, margins, curvatures)
    bound = steepest(data.loss, curvatures)
    weights = np.maximum(curvatures, _LEAST * bound) * data.share[:, np.newaxis]
    pulls = weights * margins - slopes
    return [Parabola(weights[:, c], pulls[:, c]) for c in range(margins.shape[1])]


def steepest(loss: Any, curvatures: Floats) -> float:
    """Curvature that a loss has at most: anywhere or, if that has no bound, here."""
    bound = float(type(loss).smoothness)
    return bound if np.isfinite(bound) else max(1e-12, float(curvatures.max()))
