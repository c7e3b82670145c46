"""Examples one by one, features without end: strings, k-mers, 2^48 ids.

The estimators need scikit-learn and are imported when first asked for; the functions
behind them, which the command line uses, are not.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shortlist.sketch._iht import BATCH_IHT as _BATCH_IHT
from shortlist.sketch._iht import SGD_IHT as _SGD_IHT
from shortlist.sketch._mission import CAPABILITIES as _MISSION

if TYPE_CHECKING:
    from shortlist.sketch._estimators import Mission
    from shortlist.sketch._hashed_estimator import HashedSGD
    from shortlist.sketch._iht_estimators import SGDIHT, BatchIHT

__all__ = ["SELECTORS", "SGDIHT", "BatchIHT", "HashedSGD", "Mission"]

#: What this room has to offer; the registry reads it.
SELECTORS = (_MISSION, _SGD_IHT, _BATCH_IHT)


_HOMES = {
    "BatchIHT": "_iht_estimators",
    "HashedSGD": "_hashed_estimator",
    "Mission": "_estimators",
    "SGDIHT": "_iht_estimators",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
