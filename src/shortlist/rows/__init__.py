"""Examples one by one, with numbers kept for every feature that comes.

The estimators need scikit-learn and are imported when first asked for; the functions
behind them, which the command line uses, are not.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shortlist.rows import _methods

if TYPE_CHECKING:
    from shortlist.rows._estimators import BAMD, BARDA
    from shortlist.rows._peer_estimators import L1ARDA, OFS, SOFS, AdaFobos

__all__ = ["BAMD", "BARDA", "L1ARDA", "OFS", "SELECTORS", "SOFS", "AdaFobos"]

#: What this room has to offer; the registry reads it.
SELECTORS = (
    _methods.BARDA,
    _methods.BAMD,
    _methods.OFS,
    _methods.SOFS,
    _methods.L1ARDA,
    _methods.ADAFOBOS,
)


_HOMES = {
    "AdaFobos": "_peer_estimators",
    "BAMD": "_estimators",
    "BARDA": "_estimators",
    "L1ARDA": "_peer_estimators",
    "OFS": "_peer_estimators",
    "SOFS": "_peer_estimators",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
