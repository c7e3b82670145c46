"""Importance by class: rare classes may count as much as common ones.

"balanced" gives an example of class c the weight n / (C n_c), of C classes and n_c of n
examples in c. While the first pass runs, the counts are those so far, with one example of
each class to begin with; from then on they are those of the whole pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from shortlist._protocols import Floats, RowBlock, ShortlistError
from shortlist._targets import Target

BALANCED = "balanced"

ClassWeight = Mapping[Any, float] | str | None


def check_class_weight(class_weight: ClassWeight) -> None:
    """Refuse what is neither a word for it nor weights by class."""
    if class_weight is None or class_weight == BALANCED:
        return
    if not isinstance(class_weight, Mapping):
        raise ShortlistError(
            "class_weight should be None, 'balanced' or weights by class, got "
            f"{class_weight!r}"
        )
    for label, weight in class_weight.items():
        if not (np.isreal(weight) and 0.0 <= weight < np.inf):
            raise ShortlistError(
                f"class_weight: expected a number from 0 for {label!r}, got {weight!r}"
            )


def as_params(class_weight: ClassWeight) -> dict[str, Any]:
    """What a result keeps of it: nothing, if nothing was asked for."""
    if isinstance(class_weight, Mapping):
        return {"class_weight": {str(c): float(w) for c, w in class_weight.items()}}
    return {} if class_weight is None else {"class_weight": class_weight}


def first_totals(class_weight: ClassWeight, target: Target) -> Floats:
    """What ``weigh`` starts from: counts so far, or the weights that are given."""
    if class_weight is None:
        return np.empty(0)
    if target.classes is None:
        raise ShortlistError("class_weight= goes with classes, got numbers to predict")
    if class_weight == BALANCED:
        return np.ones(len(target.classes))
    assert isinstance(class_weight, Mapping)
    for label in class_weight:
        if label not in target.classes:
            known = ", ".join(map(str, target.classes))
            raise ShortlistError(
                f"class_weight: expected one of the classes {known}, got {label!r}"
            )
    return np.array([float(class_weight.get(c, 1.0)) for c in target.classes])


def weigh(
    class_weight: ClassWeight, block: RowBlock, totals: Floats, *, counting: bool
) -> RowBlock:
    """Multiply the weights of encoded rows by those of their classes.

    Parameters
    ----------
    class_weight : None, "balanced" or mapping
    block : RowBlock
        With codes, or signs, as labels.
    totals : ndarray of shape (n_classes,)
        As ``first_totals`` made it.
    counting : bool
        Whether these rows are met for the first time: then ``totals`` takes them in.
    """
    if class_weight is None:
        return block
    n_classes = len(totals)
    codes = (block.y > 0 if n_classes == 2 else block.y).astype(np.int64)
    if class_weight != BALANCED:
        return block._replace(weight=block.weight * totals[codes])
    if not counting:
        share = totals.sum() / (n_classes * totals)
        return block._replace(weight=block.weight * share[codes])
    # Row by row, so that the sums do not depend on how rows come in blocks.
    steps = np.zeros((block.n_rows + 1, n_classes))
    steps[0] = totals
    steps[np.arange(block.n_rows) + 1, codes] = block.weight
    sums = np.cumsum(steps, axis=0)[1:]
    totals[:] = sums[-1] if block.n_rows else totals
    own = sums[np.arange(block.n_rows), codes]
    return block._replace(weight=block.weight * sums.sum(axis=1) / (n_classes * own))
