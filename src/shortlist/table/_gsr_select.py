"""GSR and its family on tables, and as algorithms for engines."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import Capabilities, Ints, ShortlistError
from shortlist.table._foba import Path
from shortlist.table._gather import TableLearner
from shortlist.table._gsr import Standing, reweight
from shortlist.table._gsr_exponent import EXPONENTS, choose_exponent, spoken
from shortlist.table._gsr_lambda import LambdaSearch, find_lambda, largest_lambda
from shortlist.table._gsr_path import COPY, NEVER, SelectionPath
from shortlist.table._gsr_prepare import Prepared, prepare
from shortlist.table._gsr_problem import SURVIVES, GsrSettings
from shortlist.table._problem import TableProblem
from shortlist.table._selected import Found, Search, search_learner_of

_HERE = "shortlist.table._gsr_select"
#: Lengths that are taken for 0, where targets have length 1; of residuals, whose weights
#: grow with their inverse, in less precision a larger one.
_SMOOTHING, _SOFTENING = 1e-6, {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-3}
_LARGEST = float(np.finfo(np.float64).max)
#: With more parameters than this, conjugate gradients refit faster than exact Hessians.
_DENSE_REFIT = 400
#: A first guess at lam, as a share of what would leave nothing for p = 1 and r = 2, and
#: how it grows with p; as it was on ISOLET for a tenth of the features.
_GUESS, _GUESS_GROWS = 0.05, 5.0


def _capabilities(
    method: str, name: str, options: tuple[str, ...], summary: str, citation: str
) -> Capabilities:
    return Capabilities(
        method=method,
        room="table",
        summary=summary,
        algorithm=f"{_HERE}:{method}_learner",
        estimator=f"shortlist.table:{name}",
        losses=("squared", "logistic", "softmax", "squared_hinge", "huber"),
        citation=citation,
        groups=True,
        outputs=True,
        options=(*options, "groups"),
    )


GSR = _capabilities(
    "gsr",
    "GSR",
    ("r", "p", "lam"),
    "GSR-FS: l2,r loss and l2,p penalty of rows, ranked by survival",
    "Peng, Fan (2017). A General Framework for Sparsity Regularized Feature Selection "
    "via Iteratively Reweighted Least Square Minimization. AAAI.",
)
MTFS = _capabilities(
    "mtfs",
    "MTFS",
    ("lam",),
    "MTFS: least squares with an l2,1 penalty of rows",
    "Obozinski, Taskar, Jordan (2006). Multi-Task Feature Selection. Technical report, "
    "University of California, Berkeley.",
)
RFS = _capabilities(
    "rfs",
    "RFS",
    ("lam",),
    "RFS: l2,1 loss, which outliers upset less, with an l2,1 penalty of rows",
    "Nie, Huang, Cai, Ding (2010). Efficient and Robust Feature Selection via Joint "
    "l2,1-Norms Minimization. NIPS.",
)
ERFS = _capabilities(
    "erfs",
    "ERFS",
    ("p", "lam"),
    "E-RFS: l2,p loss with an l2,p penalty of rows",
    "Wang, Chen (2013). L2,p-Matrix Norm and Its Application in Feature Selection. "
    "arXiv:1303.3987.",
)
RK1U = _capabilities(
    "rk1u",
    "RK1U",
    ("p", "lam"),
    "RK1U: least squares with an l2,p penalty of rows, p < 1",
    "Zhang, Ding, Zhang, Nie (2014). Feature Selection at the Discrete Limit. AAAI.",
)

SELECTORS = (GSR, MTFS, RFS, ERFS, RK1U)


@dataclass(frozen=True)
class GsrRequest:
    """What a user asks of GSR; see the estimator."""

    k: int
    r: float | str = "auto"
    p: float = 0.5
    lam: float | str = "auto"
    intercept: str = "mean"
    max_iter: int = 100
    tol: float = 1e-5
    drop: float | str = "auto"
    smoothing: float | str = "auto"


class GsrRecord(NamedTuple):
    """What the estimators tell besides the Shortlist."""

    r: float
    lam: float
    path: SelectionPath


def check_request(asked: GsrRequest) -> None:
    """Refuse settings that make no sense."""
    _between("r", asked.r, 2.0, "auto")
    _between("p", asked.p, 1.0)
    _between("lam", asked.lam, _LARGEST, "auto")
    _between("smoothing", asked.smoothing, 1.0, "auto")
    _between("drop", asked.drop, 1.0, "auto", zero=True)
    if asked.intercept not in ("mean", "weighted"):
        raise ShortlistError(
            f"intercept should be 'mean' or 'weighted', got {asked.intercept!r}"
        )
    if not isinstance(asked.max_iter, Integral) or asked.max_iter < 1:
        raise ShortlistError(
            f"max_iter should be a whole number from 1, got {asked.max_iter!r}"
        )
    if not (isinstance(asked.tol, Real) and asked.tol >= 0.0):
        raise ShortlistError(f"tol should be at least 0, got {asked.tol!r}")


def _between(
    name: str, value: Any, top: float, word: str | None = None, *, zero: bool = False
) -> None:
    if isinstance(value, str) and value == word:
        return
    number = float(value) if isinstance(value, Real) else -1.0
    if 0.0 < number <= top or (zero and number == 0.0):
        return
    least = "from 0" if zero else "above 0"
    limit = "" if top == _LARGEST else f" and at most {top:g}"
    other = "" if word is None else f", or {word!r}"
    raise ShortlistError(
        f"{name} should be a number {least}{limit}{other}, got {value!r}"
    )


def gsr_search(capabilities: Capabilities, asked: GsrRequest) -> Search:
    """GSR with these settings, for ``select``; bad ones raise."""
    check_request(asked)

    def run(
        problem: TableProblem,
        k: int,
        *,
        unit_of: Ints | None,
        always: tuple[int, ...],
        never: tuple[int, ...],
    ) -> Found:
        units, never = problem.units(unit_of, always, never)
        own = np.arange(len(problem.scale)) if unit_of is None else unit_of
        ready = prepare(problem, own, always, never)
        if ready is None:  # nothing to explain, or nothing to explain it by
            chosen = [u for u in np.unique(own).tolist() if u not in {*always, *never}]
            path = SelectionPath((), np.full(len(own), NEVER))
            r = EXPONENTS[0] if isinstance(asked.r, str) else float(asked.r)
            lam = math.nan if isinstance(asked.lam, str) else float(asked.lam)
            return Found(
                _path(problem, units, chosen[:k], always),
                {"objective": np.zeros(0)},
                scores=np.zeros(len(own)),
                record=GsrRecord(r, lam, path),
            )
        done = _minimised(asked, ready, max(k, 1))
        order = ready.units[done.found.run.order(ready.problem.n_units)]
        free = [u for u in order.tolist() if u not in always] + ready.copies.tolist()
        return _told(done, ready, own, _path(problem, units, free[:k], always))

    limits = {"dense_limit": _DENSE_REFIT}
    return Search(capabilities, asked.k, run, asdict(asked), False, asked=limits)


def _path(
    problem: TableProblem, units: Any, chosen: list[int], always: tuple[int, ...]
) -> Path:
    """A path of one support, whose weights minimise the table's own loss."""
    path = Path()
    fit = problem.objective.refit(units.coordinates(sorted({*chosen, *always})))
    path.add(chosen, fit)
    return path


class _Done(NamedTuple):
    """A minimum, in GSR's units, and what was decided on the way to it."""

    found: LambdaSearch
    settings: GsrSettings
    notes: tuple[str, ...]


def _minimised(asked: GsrRequest, ready: Prepared, k: int) -> _Done:
    """Decide on r and lam where they are left open, and minimise."""
    problem = ready.problem
    drop, smoothing = asked.drop, asked.smoothing
    if isinstance(drop, str):  # rows shrink too slowly for it to pay where p = 1
        drop = SURVIVES if asked.p < 1.0 else 0.0
    softening = None
    if isinstance(smoothing, str):
        smoothing, softening = _SMOOTHING, _SOFTENING[problem.table.dtype]
    settings = GsrSettings(
        2.0 if isinstance(asked.r, str) else float(asked.r),
        float(asked.p),
        int(asked.max_iter),
        float(asked.tol),
        float(drop),
        float(smoothing),
        asked.intercept == "weighted" and problem.centred,
        softening,
    )
    n_free = int(np.count_nonzero(~problem.kept))
    wanted = max(1, k if k < n_free else (n_free + 1) // 2)
    share = _GUESS * math.exp((2.0 * settings.p - 1.0) * math.log(_GUESS_GROWS))
    guess = share * largest_lambda(problem, replace(settings, r=2.0))
    notes: tuple[str, ...] = ()
    own = None if isinstance(asked.lam, str) else ready.lam_for(asked.lam, settings.p)
    if isinstance(asked.r, str):
        chosen = choose_exponent(problem, settings, wanted, guess, ready.level, own)
        settings = replace(settings, r=chosen.r)
        guess = guess if chosen.guess is None else chosen.guess
        notes = tuple(spoken(chosen))
    if isinstance(asked.lam, str) and n_free:
        return _Done(find_lambda(problem, settings, wanted, guess), settings, notes)
    lam = guess if own is None else own(settings.r)
    run = reweight(problem, settings, lam)
    tried = [lam], [run.n_survivors(problem.kept)]
    return _Done(LambdaSearch(lam, run, *tried), settings, notes)


def _told(done: _Done, ready: Prepared, own: Ints, path: Path) -> Found:
    """Say it in the units of the user."""
    (found, settings, notes), unit = done, ready.weight_unit
    run, per_lam = found.run, ready.lam_unit(settings.r, settings.p)
    scores = np.zeros(own.max() + 1)
    scores[ready.units] = unit * run.scores(ready.problem.n_units)
    local = np.where(np.isin(own, ready.copies), COPY, NEVER)
    local[ready.columns] = ready.problem.unit_of
    history = tuple(Standing(s.units, unit * s.norms) for s in run.history)
    if not run.converged:
        notes = (*notes, f"not converged after {len(run.values)} iterations")
    lam = found.lam * per_lam
    return Found(
        path,
        {
            "objective": ready.y_scale**settings.r * np.array(run.values),
            "lam": per_lam * np.array(found.tried),
            "survivors": np.array(found.survivors, np.int64),
        },
        notes,
        {"r": settings.r, "lam": lam},
        scores[own],
        GsrRecord(settings.r, lam, SelectionPath(history, local)),
    )


def _learner(capabilities: Capabilities, **fixed: Any) -> Callable[..., TableLearner]:
    """Make the algorithm that an engine runs; parameters are those of the estimator."""

    def make(k: int, **settings: Any) -> Search:
        asked = {**fixed, **settings}
        if capabilities is ERFS:  # one exponent for both
            asked["r"] = asked["p"]
        return gsr_search(capabilities, GsrRequest(k, **asked))

    return search_learner_of(make)


gsr_learner = _learner(GSR)
mtfs_learner = _learner(MTFS, r=2.0, p=1.0)
rfs_learner = _learner(RFS, r=1.0, p=1.0)
erfs_learner = _learner(ERFS, p=0.5)
rk1u_learner = _learner(RK1U, r=2.0, p=0.5)
