"""Features one by one, more than memory holds.

The estimators need scikit-learn and are imported when first asked for; the algorithms
behind them, which the command line uses, are not.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shortlist.columns import _grafting, _substitution

if TYPE_CHECKING:
    from shortlist.columns._estimators import OnlineSubstitution
    from shortlist.columns._grafting_estimator import Grafting

__all__ = ["SELECTORS", "Grafting", "OnlineSubstitution"]

#: What this room has to offer; the registry reads it.
SELECTORS = (_substitution.CAPABILITIES, _grafting.CAPABILITIES)

_HOMES = {"Grafting": "_grafting_estimator", "OnlineSubstitution": "_estimators"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
