"""Losses: what a prediction costs, with its first two derivatives.

>>> from shortlist.losses import Logistic, slope
>>> round(slope(Logistic(), 1.0, 0.0), 3)
-0.5
"""

from shortlist.losses._dispatch import (
    curvature,
    curvature_into,
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
    "Huber",
    "Logistic",
    "Poisson",
    "Softmax",
    "Squared",
    "SquaredHinge",
    "SquaredVector",
    "curvature",
    "curvature_into",
    "get_loss",
    "is_loss",
    "loss_class",
    "loss_names",
    "n_margins",
    "register",
    "response",
    "response_into",
    "slope",
    "slope_into",
    "spell",
    "value",
    "value_of",
]
