"""Losses: what a prediction costs, with its first two derivatives.

>>> from shortlist.losses import Logistic, slope
>>> round(slope(Logistic(), 1.0, 0.0), 3)
-0.5
"""

from shortlist.losses._dispatch import (
    alone,
    curvature,
    curvature_into,
    is_apart,
    n_margins,
    response,
    response_into,
    slope,
    slope_into,
    value,
    value_of,
)
from shortlist.losses._registry import (
    get_loss,
    is_loss,
    loss_class,
    loss_names,
    register,
    spell,
)
from shortlist.losses.one_vs_rest import (
    HingeOvR,
    LogisticOvR,
    SquaredHingeOvR,
    binary_of,
    one_vs_rest,
)
from shortlist.losses.pointwise import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Poisson,
    Squared,
    SquaredHinge,
)
from shortlist.losses.vector import Softmax, SquaredVector

__all__ = [
    "EpsilonInsensitive",
    "Hinge",
    "HingeOvR",
    "Huber",
    "Logistic",
    "LogisticOvR",
    "Poisson",
    "Softmax",
    "Squared",
    "SquaredHinge",
    "SquaredHingeOvR",
    "SquaredVector",
    "alone",
    "binary_of",
    "curvature",
    "curvature_into",
    "get_loss",
    "is_apart",
    "is_loss",
    "loss_class",
    "loss_names",
    "n_margins",
    "one_vs_rest",
    "register",
    "response",
    "response_into",
    "slope",
    "slope_into",
    "spell",
    "value",
    "value_of",
]
