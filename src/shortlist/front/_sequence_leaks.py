"""Leaks among sensors that were chosen for the activities of sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from shortlist._leaks import leaks
from shortlist.table._sensor_steps import (
    NOBODY_KNOWS,
    label_codes,
    listed,
    plain_labels,
)


def sequence_leak_notes(
    fitted: Any, X: Any, y: Any, names: Sequence[str]
) -> tuple[str, ...]:
    """Warn of chosen columns that alone tell the activity of nearly every step.

    Parameters
    ----------
    fitted : SensorSelector
    X : array, table or sparse matrix of shape (n_steps, n_columns)
    y : array-like of shape (n_steps,)
        As it was fitted to.
    names : sequence of str
        Of all columns.
    """
    labels: Sequence[Any] = plain_labels(y, X.shape[0])
    classes = fitted.classes_.tolist()
    codes = label_codes(labels, classes, listed(fitted.unlabelled))
    known = codes != NOBODY_KNOWS
    table = X.tocsc() if sparse.issparse(X) else np.asarray(X)
    places = fitted.get_support(indices=True)
    chosen: Any = table[:, places]
    if sparse.issparse(chosen):
        chosen = chosen.toarray()
    found = leaks(
        chosen[known].astype(np.float64),
        codes[known].astype(np.float64),
        [names[j] for j in places.tolist()],
        X.shape[1],
        n_classes=len(classes),
    )
    return tuple(found)
