"""The whole table, in memory or memory-mapped.

Estimators are imported when first asked for; the functions behind them need no
scikit-learn.
"""

from typing import TYPE_CHECKING, Any

from shortlist.table._foba_select import CAPABILITIES as _FOBA

if TYPE_CHECKING:
    from shortlist.table._estimators import FoBa

__all__ = ["SELECTORS", "FoBa"]

#: What this room has to offer; the registry reads it.
SELECTORS = (_FOBA,)


def __getattr__(name: str) -> Any:
    if name == "FoBa":
        from shortlist.table import _estimators

        return getattr(_estimators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
