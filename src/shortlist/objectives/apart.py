"""Refits of losses that are a sum over outputs: each output is a problem of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from shortlist._protocols import Fit, Floats, Ints
from shortlist.losses import alone


def refit_apart(
    loss: Any,
    y: Floats,
    n_outputs: int,
    objective_of: Callable[[Any, Floats], Any],
    support: Ints,
    start: Fit | None,
) -> Fit:
    """Minimise over a support, one output after the other; the value is left open.

    Parameters
    ----------
    loss : loss
        A sum over classes, of each against the rest.
    y : ndarray of shape (n_samples,)
        Codes of classes.
    n_outputs : int
        How many classes there are; coordinates are numbered feature by feature.
    objective_of : callable
        Called with the loss of one output and its signs; makes the objective of it.
    support, start
        As of ``refit``.
    """
    weights, intercepts = np.zeros(len(support)), []
    for c in range(n_outputs):
        own = objective_of(alone(loss, 0.0, c)[0], np.where(y == c, 1.0, -1.0))
        here = np.flatnonzero(support % n_outputs == c)
        begin = None
        if start is not None:
            there = start.support % n_outputs == c
            bias = start.nuisance[c : c + 1]
            features = start.support[there] // n_outputs
            begin = Fit(features, start.weights[there], bias, np.inf)
        fit = own.refit(support[here] // n_outputs, begin)
        weights[here] = fit.weights
        intercepts.append(fit.nuisance)
    return Fit(support, weights, np.concatenate(intercepts), np.inf)
