"""The projected gradient methods on tables, and as algorithms for engines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from shortlist._protocols import Capabilities
from shortlist.table._gather import TableLearner
from shortlist.table._problem import TableProblem
from shortlist.table._projected import ProjectedSettings, check_projected, project
from shortlist.table._selected import Found, Search, search_learner_of

_HERE = "shortlist.table._projected_select"
_LOSSES = ("squared", "logistic", "softmax", "squared_hinge", "huber", "poisson")

PROJECTED_GRADIENT = Capabilities(
    method="projected_gradient",
    room="table",
    summary="projected gradient (iterative hard thresholding), exactly k",
    algorithm=f"{_HERE}:projected_gradient_learner",
    estimator="shortlist.table:ProjectedGradient",
    losses=_LOSSES,
    citation=(
        "Blumensath, Davies (2010). Normalized Iterative Hard Thresholding: Guaranteed "
        "Stability and Performance. IEEE J. Sel. Top. Signal Process. 4(2)."
    ),
    groups=True,
    outputs=True,
    options=("l2", "groups"),
)

ITI = Capabilities(
    method="iti",
    room="table",
    summary="ITI: projected gradient with a refit after each step, exactly k",
    algorithm=f"{_HERE}:iti_learner",
    estimator="shortlist.table:ITI",
    losses=_LOSSES,
    citation=(
        "Maleki (2009). Coherence Analysis of Iterative Thresholding Algorithms. "
        "Allerton Conference on Communication, Control, and Computing."
    ),
    groups=True,
    outputs=True,
    options=("l2", "groups"),
)

PHT = Capabilities(
    method="pht",
    room="table",
    summary="PHT: partial hard thresholding, few exchanges a step, exactly k",
    algorithm=f"{_HERE}:pht_learner",
    estimator="shortlist.table:PHT",
    losses=_LOSSES,
    citation=(
        "Jain, Tewari, Dhillon (2017). Partial Hard Thresholding. "
        "IEEE Trans. Inf. Theory 63(5)."
    ),
    groups=True,
    outputs=True,
    options=("l2", "groups"),
)

SELECTORS = (PROJECTED_GRADIENT, ITI, PHT)


def projected_search(
    capabilities: Capabilities, settings: ProjectedSettings, **asked: Any
) -> Search:
    """Descent with these settings, for ``select``; bad ones raise.

    Others are those of the problem. Supports change by many features at a time, so Gram
    columns would not pay.
    """
    check_projected(settings)

    def run(
        problem: TableProblem,
        k: int,
        *,
        unit_of: Any,
        always: tuple[int, ...],
        never: tuple[int, ...],
    ) -> Found:
        units, never = problem.units(unit_of, always, never)
        free = replace(settings, k=k)
        found = project(problem.objective, units, free, always=always, never=never)
        notes = (
            () if found.converged else (f"not converged after {found.n_iter} steps",)
        )
        return Found(found.path, {"objective": found.values}, notes)

    params = {**asdict(settings), **asked}
    return Search(capabilities, settings.k, run, params, gram=False, asked=asked)


def _learner(capabilities: Capabilities, **fixed: Any) -> Callable[..., TableLearner]:
    """Make the algorithm that an engine runs; parameters are those of the estimator."""

    def make(k: int, l2: float | str = "auto", **settings: Any) -> Search:
        asked = ProjectedSettings(k, **fixed, **settings)
        return projected_search(capabilities, asked, l2=l2)

    return search_learner_of(make)


projected_gradient_learner = _learner(PROJECTED_GRADIENT)
iti_learner = _learner(ITI, refit="every")
pht_learner = _learner(PHT, refit="every", exchange=1)
