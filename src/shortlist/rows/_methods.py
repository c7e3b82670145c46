"""B-ARDA, B-AMD, OFS, SOFS, l1-ARDA and Ada-Fobos: a step and a truncation rule each.

This module makes algorithms for engines of them; the estimators live elsewhere, so that
text can be selected from without importing scikit-learn.

References
----------
Zhai, Wang, Koriche, Gao. Online Feature Selection by Adaptive Sub-gradient Methods. ECML
PKDD 2018.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

from shortlist._class_weight import ClassWeight, as_params, check_class_weight
from shortlist._online import OnlineLearner
from shortlist._preparing import Preparing
from shortlist._protocols import Capabilities, ShortlistError
from shortlist._rules import ONLINE_LOSSES
from shortlist._run_settings import check_run
from shortlist.losses import Hinge, HingeOvR, SquaredHinge, SquaredHingeOvR
from shortlist.rows._rule import RowsRule
from shortlist.rows._state import (
    CONFIDENT,
    DUAL,
    LAZY_TOP,
    MIRROR,
    PLAIN,
    SHRINK,
    TOP,
    UNITLESS,
    Method,
)

#: All there is to tell the six apart: a step rule and a truncation rule.
METHODS = {
    "barda": (DUAL, LAZY_TOP),
    "bamd": (MIRROR, TOP),
    "ofs": (PLAIN, TOP),
    "sofs": (CONFIDENT, TOP),
    "l1arda": (DUAL, SHRINK),
    "adafobos": (MIRROR, SHRINK),
}

#: Ridge of the refit, in units of the mean squared distance of restricted examples.
RIDGE = 0.2

_COMMON = ("refit", "budget", "passes", "log1p", "normalize", "class_weight")
_PAPER = (
    "Zhai, Wang, Koriche, Gao (2018). Online Feature Selection by Adaptive Sub-gradient "
    "Methods. ECML PKDD."
)
_ADAGRAD = (
    "Duchi, Hazan, Singer (2011). Adaptive Subgradient Methods for Online Learning and "
    "Stochastic Optimization. JMLR 12."
)


def _capabilities(
    method: str, estimator: str, summary: str, citation: str, options: tuple[str, ...]
) -> Capabilities:
    return Capabilities(
        method=method,
        room="rows",
        summary=summary,
        algorithm=f"shortlist.rows._methods:{method}",
        estimator=f"shortlist.rows:{estimator}",
        losses=ONLINE_LOSSES,
        citation=citation,
        options=(*options, *_COMMON),
    )


BARDA = _capabilities(
    "barda",
    "BARDA",
    "B-ARDA: dual averaging, then the k with the largest H z^2",
    _PAPER,
    ("eta", "lam", "delta", "forget", "truncation"),
)
BAMD = _capabilities(
    "bamd",
    "BAMD",
    "B-AMD: mirror descent, then the k with the largest H |z|",
    _PAPER,
    ("eta", "lam", "delta", "forget", "truncation"),
)
OFS = _capabilities(
    "ofs",
    "OFS",
    "OFS: a gradient step within a ball, then the k largest weights",
    "Wang, Zhao, Hoi, Jin (2014). Online Feature Selection and Its Applications. IEEE "
    "TKDE 26(3).",
    ("eta", "lam"),
)
SOFS = _capabilities(
    "sofs",
    "SOFS",
    "SOFS: a confidence-weighted step, then the k most certain weights",
    "Wu, Hoi, Mei, Yu (2017). Large-Scale Online Feature Selection for Ultra-High "
    "Dimensional Sparse Data. ACM TKDD 11(4).",
    ("gamma",),
)
L1ARDA = _capabilities(
    "l1arda",
    "L1ARDA",
    "l1-ARDA: dual averaging with an l1 penalty; the k largest weights are published",
    _ADAGRAD,
    ("eta", "lam", "delta", "forget"),
)
ADAFOBOS = _capabilities(
    "adafobos",
    "AdaFobos",
    "Ada-Fobos: adaptive steps, each followed by shrinking; the k largest are published",
    _ADAGRAD,
    ("eta", "lam", "delta"),
)


def reserve_for(k: int) -> int:
    """How many outsiders B-ARDA keeps an eye on."""
    return max(128, k // 4)


def _check_positive(**numbers: float) -> None:
    for name, number in numbers.items():
        if not (isinstance(number, Real) and 0.0 < number < math.inf):
            raise ShortlistError(f"{name} should be above 0 and finite, got {number!r}")


def _check_settings(
    eta: float,
    lam: float,
    delta: float,
    gamma: float,
    forget: float | None,
    truncation: str,
) -> None:
    _check_positive(eta=eta, delta=delta, gamma=gamma)
    if not (isinstance(lam, Real) and 0.0 <= lam < math.inf):
        raise ShortlistError(f"lam should be at least 0 and finite, got {lam!r}")
    if forget is not None and not (isinstance(forget, Real) and 0.0 < forget <= 1.0):
        raise ShortlistError(
            f"forget should be None or lie above 0, up to 1, got {forget!r}"
        )
    if truncation not in ("paper", "naive"):
        raise ShortlistError(
            f"truncation should be 'paper' or 'naive', got {truncation!r}"
        )


def rows_learner(
    capabilities: Capabilities,
    k: int,
    *,
    eta: float = 1.0,
    lam: float = 0.0,
    delta: float = 0.01,
    gamma: float = 1.0,
    forget: float | None = None,
    truncation: str = "paper",
    loss: Any = "auto",
    classes: Sequence[Any] | None = None,
    refit: bool = True,
    budget: str = "per_class",
    passes: int = 1,
    log1p: bool = False,
    normalize: str | None = "l2",
    class_weight: ClassWeight = None,
    always: Sequence[str] = (),
    never: Sequence[str] = (),
    seed: int = 0,
    reiterable: bool = True,
) -> OnlineLearner:
    """Make the algorithm that an engine runs.

    Parameters are those of the estimators; ``reiterable`` says whether the data can be
    read again, which a refit and more than one pass need. Nothing here is random: ``seed``
    is for callers that give one to every method.
    """
    _check_settings(eta, lam, delta, gamma, forget, truncation)
    if capabilities is OFS and lam * eta >= 1.0:
        raise ShortlistError(f"eta times lam should be below 1, got {eta * lam:g}")
    if refit not in (True, False):
        raise ShortlistError(f"refit should be True or False, got {refit!r}")
    check_run(budget, passes, seed)
    preparing = Preparing(log1p, normalize)
    preparing.check()
    check_class_weight(class_weight)
    if not reiterable:
        refit, passes = False, 1
    step, truncates = METHODS[capabilities.method]
    rho = 1.0 if forget is None else float(forget)
    method = Method(
        step,
        truncates,
        int(k),
        reserve_for(k),
        float(eta),
        float(lam),
        float(delta),
        float(gamma),
        rho,
        truncation == "naive",
        0.0,
        UNITLESS,
    )
    settings = {
        "eta": eta,
        "lam": lam,
        "delta": delta,
        "gamma": gamma,
        "forget": forget,
        "truncation": truncation,
    }
    own = {name: settings[name] for name in settings if name in capabilities.options}
    return OnlineLearner(
        method=capabilities.method,
        room=capabilities.room,
        rule=RowsRule(method),
        k=k,
        loss=loss,
        classes=classes,
        passes=passes,
        refit=bool(refit),
        budget=budget,
        ridge=RIDGE,
        always=always,
        never=never,
        preparing=preparing,
        class_weight=class_weight,
        params={
            "k": k,
            **own,
            "refit": bool(refit),
            "passes": passes,
            **as_params(class_weight),
        },
        # the losses of the papers
        two_classes=Hinge() if capabilities is OFS else SquaredHinge(),
        many_classes=HingeOvR() if capabilities is OFS else SquaredHingeOvR(),
    )


def barda(k: int, *, eta: float = 0.3, **asked: Any) -> OnlineLearner:
    """B-ARDA as an algorithm; see ``rows_learner``."""
    return rows_learner(BARDA, k, eta=eta, **asked)


def bamd(k: int, *, eta: float = 0.3, **asked: Any) -> OnlineLearner:
    """B-AMD as an algorithm; see ``rows_learner``."""
    return rows_learner(BAMD, k, eta=eta, **asked)


def ofs(k: int, *, eta: float = 0.2, lam: float = 0.01, **asked: Any) -> OnlineLearner:
    """OFS as an algorithm; see ``rows_learner``."""
    return rows_learner(OFS, k, eta=eta, lam=lam, **asked)


def sofs(k: int, **asked: Any) -> OnlineLearner:
    """SOFS as an algorithm; see ``rows_learner``."""
    return rows_learner(SOFS, k, **asked)


def l1arda(
    k: int, *, eta: float = 0.3, lam: float = 1e-3, **asked: Any
) -> OnlineLearner:
    """l1-ARDA as an algorithm; see ``rows_learner``."""
    return rows_learner(L1ARDA, k, eta=eta, lam=lam, **asked)


def adafobos(
    k: int, *, eta: float = 0.3, lam: float = 1e-3, **asked: Any
) -> OnlineLearner:
    """Ada-Fobos as an algorithm; see ``rows_learner``."""
    return rows_learner(ADAFOBOS, k, eta=eta, lam=lam, **asked)
