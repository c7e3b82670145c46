"""How budgets did on rows held out, where somebody has looked.

``k="auto"`` leaves scores in ``trace["budget_k"]``, ``["budget_score"]`` and
``["budget_error"]``; cross-validation of a path leaves losses in ``["cv_sizes"]``,
``["cv_loss"]`` and ``["cv_error"]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from shortlist._shortlist import Shortlist


class HeldOutCurve(NamedTuple):
    """Score or loss at each budget, with standard errors."""

    sizes: np.ndarray
    values: np.ndarray
    errors: np.ndarray
    measure: str  #: "loss", or the name of the score


def held_out_curve(shortlist: Shortlist) -> HeldOutCurve | None:
    """The curve by which k was, or may be, chosen; None if there is none."""
    trace = shortlist.trace
    if "cv_sizes" in trace:
        return HeldOutCurve(
            trace["cv_sizes"], trace["cv_loss"], trace["cv_error"], "loss"
        )
    if "budget_k" in trace:
        metric = str(shortlist.params.get("k_auto", {}).get("metric", "score"))
        return HeldOutCurve(
            trace["budget_k"], trace["budget_score"], trace["budget_error"], metric
        )
    return None
