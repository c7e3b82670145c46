"""Examples one by one, features without end: strings, k-mers, 2^48 ids.

The estimators need scikit-learn and are imported when first asked for; the functions
behind them, which the command line uses, are not.
"""

from typing import TYPE_CHECKING, Any

from shortlist.sketch._mission import CAPABILITIES as _MISSION

if TYPE_CHECKING:
    from shortlist.sketch._estimators import Mission

__all__ = ["SELECTORS", "Mission"]

#: What this room has to offer; the registry reads it.
SELECTORS = (_MISSION,)


def __getattr__(name: str) -> Any:
    if name == "Mission":
        from shortlist.sketch import _estimators

        return getattr(_estimators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
