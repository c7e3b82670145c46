"""Pick the k features that matter, by name, under a hard budget.

Four rooms, by how the data reach you: ``table`` (in memory), ``columns`` (features one
by one), ``rows`` (examples one by one), ``sketch`` (examples one by one, features without
end). Names below are imported when first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shortlist._leaks import LeakWarning
    from shortlist._protocols import DataError, ShortlistError
    from shortlist._shortlist import Shortlist
    from shortlist.columns._estimators import OnlineSubstitution
    from shortlist.columns._grafting_estimator import Grafting
    from shortlist.evaluate import CompareDisplay, compare
    from shortlist.front._select import select
    from shortlist.resampling import Stability, stability, substitutes
    from shortlist.rows._estimators import BAMD, BARDA
    from shortlist.rows._peer_estimators import L1ARDA, OFS, SOFS, AdaFobos
    from shortlist.sketch._estimators import Mission
    from shortlist.sketch._hashed_estimator import HashedSGD
    from shortlist.sketch._iht_estimators import SGDIHT, BatchIHT
    from shortlist.sources import (
        ArraySource,
        CsvSource,
        FrameSource,
        LibsvmSource,
        ParquetSource,
        VwSource,
        open_columns,
        open_source,
    )
    from shortlist.table._estimators import FoBa
    from shortlist.table._filter_estimators import MRMR, ReliefF
    from shortlist.table._foba_cv import FoBaCV
    from shortlist.table._gsr_estimators import GSR
    from shortlist.table._gsr_family import ERFS, MTFS, RFS, RK1U
    from shortlist.table._projected_estimators import ITI, PHT, ProjectedGradient
    from shortlist.table._sensor_selector import SensorSelector

_HOMES = {
    "AdaFobos": "shortlist.rows",
    "ArraySource": "shortlist.sources",
    "BAMD": "shortlist.rows",
    "BARDA": "shortlist.rows",
    "BatchIHT": "shortlist.sketch",
    "CompareDisplay": "shortlist.evaluate",
    "CsvSource": "shortlist.sources",
    "DataError": "shortlist._protocols",
    "ERFS": "shortlist.table",
    "FoBa": "shortlist.table",
    "FoBaCV": "shortlist.table",
    "FrameSource": "shortlist.sources",
    "GSR": "shortlist.table",
    "HashedSGD": "shortlist.sketch",
    "ITI": "shortlist.table",
    "L1ARDA": "shortlist.rows",
    "LeakWarning": "shortlist._leaks",
    "LibsvmSource": "shortlist.sources",
    "MRMR": "shortlist.table",
    "MTFS": "shortlist.table",
    "Mission": "shortlist.sketch",
    "OFS": "shortlist.rows",
    "Grafting": "shortlist.columns",
    "OnlineSubstitution": "shortlist.columns",
    "PHT": "shortlist.table",
    "ParquetSource": "shortlist.sources",
    "ProjectedGradient": "shortlist.table",
    "ReliefF": "shortlist.table",
    "RFS": "shortlist.table",
    "RK1U": "shortlist.table",
    "SGDIHT": "shortlist.sketch",
    "SOFS": "shortlist.rows",
    "SensorSelector": "shortlist.table",
    "Shortlist": "shortlist._shortlist",
    "Stability": "shortlist.resampling",
    "ShortlistError": "shortlist._protocols",
    "VwSource": "shortlist.sources",
    "compare": "shortlist.evaluate",
    "open_columns": "shortlist.sources",
    "open_source": "shortlist.sources",
    "select": "shortlist.front._select",
    "stability": "shortlist.resampling",
    "substitutes": "shortlist.resampling",
}

__all__ = [
    "BAMD",
    "BARDA",
    "ERFS",
    "GSR",
    "ITI",
    "L1ARDA",
    "MRMR",
    "MTFS",
    "OFS",
    "PHT",
    "RFS",
    "RK1U",
    "SGDIHT",
    "SOFS",
    "AdaFobos",
    "ArraySource",
    "BatchIHT",
    "CompareDisplay",
    "CsvSource",
    "DataError",
    "FoBa",
    "FoBaCV",
    "FrameSource",
    "Grafting",
    "HashedSGD",
    "LeakWarning",
    "LibsvmSource",
    "Mission",
    "OnlineSubstitution",
    "ParquetSource",
    "ProjectedGradient",
    "ReliefF",
    "SensorSelector",
    "Shortlist",
    "ShortlistError",
    "Stability",
    "VwSource",
    "__version__",
    "compare",
    "open_columns",
    "open_source",
    "select",
    "stability",
    "substitutes",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("shortlist")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
