"""Weights of the retained columns for which a loss is smallest."""

from __future__ import annotations

import numpy as np

from shortlist._protocols import Floats
from shortlist.columns._data import Data
from shortlist.objectives import LinearObjective

#: Ridge of standardised weights, in units of one example's loss: classes may be separable.
_RIDGE = 5.0


def best_fit(data: Data, columns: Floats) -> tuple[Floats, Floats]:
    """Weights, of shape (n, C), and intercepts; columns are rows of an array."""
    n, C = len(columns), data.n_margins
    objective = LinearObjective(
        data.loss,
        columns.T if n else np.zeros((len(data.y), 1)),
        data.y,
        l2=_RIDGE / data.n_examples,
        sample_weight=data.share,
        n_outputs=C if data.loss.is_vector else None,
    )
    fit = objective.refit(np.arange(n * C))
    return fit.weights.reshape(n, C), fit.nuisance
