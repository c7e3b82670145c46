"""The whole table, in memory or memory-mapped.

Estimators are imported when first asked for; the functions behind them need no
scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shortlist.table._foba import Path, Settings, Units, foba
from shortlist.table._foba_select import CAPABILITIES as _FOBA
from shortlist.table._gsr_select import SELECTORS as _GSR
from shortlist.table._mrmr import CAPABILITIES as _MRMR
from shortlist.table._projected import Projected, ProjectedSettings, project
from shortlist.table._projected_select import SELECTORS as _PROJECTED
from shortlist.table._relieff import CAPABILITIES as _RELIEFF

if TYPE_CHECKING:
    from shortlist.table._estimators import FoBa
    from shortlist.table._filter_estimators import MRMR, ReliefF
    from shortlist.table._foba_cv import FoBaCV
    from shortlist.table._gsr_estimators import GSR
    from shortlist.table._gsr_family import ERFS, MTFS, RFS, RK1U
    from shortlist.table._projected_estimators import ITI, PHT, ProjectedGradient
    from shortlist.table._sensor_selector import SensorSelector

__all__ = [
    "ERFS",
    "GSR",
    "ITI",
    "MRMR",
    "MTFS",
    "PHT",
    "RFS",
    "RK1U",
    "SELECTORS",
    "FoBa",
    "FoBaCV",
    "Path",
    "Projected",
    "ProjectedGradient",
    "ProjectedSettings",
    "ReliefF",
    "SensorSelector",
    "Settings",
    "Units",
    "foba",
    "project",
]

#: What this room has to offer; the registry reads it.
SELECTORS = (_FOBA, *_PROJECTED, *_GSR, _MRMR, _RELIEFF)


_HOMES = {
    "FoBa": "_estimators",
    "FoBaCV": "_foba_cv",
    "ERFS": "_gsr_family",
    "GSR": "_gsr_estimators",
    "ITI": "_projected_estimators",
    "MRMR": "_filter_estimators",
    "MTFS": "_gsr_family",
    "PHT": "_projected_estimators",
    "ProjectedGradient": "_projected_estimators",
    "ReliefF": "_filter_estimators",
    "RFS": "_gsr_family",
    "RK1U": "_gsr_family",
    "SensorSelector": "_sensor_selector",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
