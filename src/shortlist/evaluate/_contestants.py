"""Who takes part in a comparison: selectors of all rooms, and two yardsticks.

A contestant is called with rows to learn from, budgets, a seed and the weights of the rows,
and answers with the columns that it chooses at each budget. Those that one fit answers all
budgets for are fitted once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from shortlist._protocols import Capabilities, Floats, Ints, ShortlistError
from shortlist._registry import selector, selectors


class Choose(Protocol):
    """Whoever chooses columns."""

    def __call__(
        self,
        X: Any,
        y: np.ndarray,
        ks: Sequence[int],
        seed: int,
        weight: Floats | None = None,
        /,
    ) -> dict[int, Ints]:
        """Columns for each budget; weights: how often rows count, None: once."""
        ...


#: Methods that are compared unless others are asked for: the best of each family.
USUAL = ("foba", "gsr", "mrmr", "relieff", "mission", "barda", "online_substitution")
L1, RANDOM = "l1", "random"
YARDSTICKS = (L1, RANDOM)

#: Penalties of the L1 path, from one that leaves hardly anything.
_PATH = np.geomspace(1e-3, 10.0, 25)


def contestant(method: Any, *, classes: bool) -> Choose:
    """Whoever goes by a name, or an estimator of ours or alike."""
    if method == L1:
        return _l1_classes if classes else _l1_numbers
    if method == RANDOM:
        return _random
    if isinstance(method, str):
        return of_estimator(selector(method).load("estimator")())
    return of_estimator(method)


def of_estimator(estimator: Any) -> Choose:
    """What an estimator with a parameter k chooses."""
    known = estimator.get_params()
    if "k" not in known:
        raise ShortlistError(
            f"estimators to compare should have a parameter k, got {estimator!r}"
        )

    def choose(
        X: Any,
        y: np.ndarray,
        ks: Sequence[int],
        seed: int,
        weight: Floats | None = None,
    ) -> dict[int, Ints]:
        from sklearn.base import clone

        if weight is not None and not takes_weights(estimator):
            raise ShortlistError(f"{type(estimator).__name__} takes no weights of rows")
        counting = {} if weight is None else {"sample_weight": weight}
        settings: dict[str, Any] = {"seed": seed} if "seed" in known else {}
        if "budget" in known:  # k features in all, as for all others
            settings["budget"] = "shared"
        chosen: dict[int, Ints] = {}
        fitted = None
        for k in sorted(ks, reverse=True):
            if fitted is None or not _answers_smaller(fitted):
                fresh = clone(estimator).set_params(k=k, **settings)
                fitted = fresh.fit(X, y, **counting)
            chosen[k] = _best(fitted, k)
        return chosen

    return choose


def takes_weights(method: Any) -> bool:
    """Whether rows can count more than once for a method, by name or as an estimator."""
    from sklearn.utils.validation import has_fit_parameter

    if isinstance(method, str):
        if method in YARDSTICKS:
            return True
        method = selector(method).load("estimator")()
    return bool(has_fit_parameter(method, "sample_weight"))


def _answers_smaller(fitted: Any) -> bool:
    """Whether a fit for k tells what one for fewer would choose."""
    return hasattr(fitted, "at") or fitted.capabilities.nested


def _best(fitted: Any, k: int) -> Ints:
    """Columns of the k best features, as far as there are so many."""
    if hasattr(fitted, "at"):
        return np.asarray(fitted.at(k).support, np.int64)
    result = fitted.shortlist_
    order = np.argsort(-result.scores, kind="stable")
    ids, first = np.unique(result.ids[order], return_index=True)
    return np.asarray(ids[np.argsort(first)][:k], np.int64)


def _random(
    X: Any,
    y: np.ndarray,
    ks: Sequence[int],
    seed: int,
    weight: Floats | None = None,
) -> dict[int, Ints]:
    order = np.random.default_rng(seed).permutation(X.shape[1])
    return {k: order[:k] for k in ks}


def _l1_classes(
    X: Any,
    y: np.ndarray,
    ks: Sequence[int],
    seed: int,
    weight: Floats | None = None,
) -> dict[int, Ints]:
    """Columns in the order in which a linear SVM with an L1 penalty takes them in."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    A, order = _scaled(X, weight), _Order()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # an order needs few digits
        for C in _PATH:
            model = LinearSVC(
                penalty="l1",
                dual=False,
                C=C,
                tol=1e-3,
                max_iter=1000,
                random_state=seed,
            )
            order.enter(np.abs(model.fit(A, y, weight).coef_).max(axis=0))
            if len(order.columns) >= max(ks):
                break
    return {k: np.array(order.columns[:k], np.int64) for k in ks}


def _l1_numbers(
    X: Any,
    y: np.ndarray,
    ks: Sequence[int],
    seed: int,
    weight: Floats | None = None,
) -> dict[int, Ints]:
    """Columns in the order in which the Lasso takes them in."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import Lasso

    A, order = _scaled(X, weight), _Order()
    share_of = (
        np.full(len(y), 1.0 / len(y)) if weight is None else weight / weight.sum()
    )
    target = y - share_of @ y
    largest = float(np.abs(A.T @ (share_of * target)).max())
    if largest == 0.0:
        return {k: np.empty(0, np.int64) for k in ks}
    model = Lasso(warm_start=True, max_iter=1000, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for share in np.geomspace(0.95, 1e-3, 40):
            model.set_params(alpha=share * largest).fit(A, target, weight)
            order.enter(np.abs(model.coef_))
            if len(order.columns) >= max(ks):
                break
    return {k: np.array(order.columns[:k], np.int64) for k in ks}


class _Order:
    """Columns, as they come in along a path."""

    def __init__(self) -> None:
        self.columns: list[int] = []

    def enter(self, sizes: np.ndarray) -> None:
        """Add columns that have a weight now, the largest first."""
        known = set(self.columns)
        for j in np.argsort(-sizes, kind="stable").tolist():
            if sizes[j] > 0.0 and j not in known:
                self.columns.append(j)


def _scaled(X: Any, weight: Floats | None) -> Any:
    """Columns of standard deviation one; sparse ones are not centred."""
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler(with_mean=not hasattr(X, "tocsr"))
    return scaler.fit(X, sample_weight=weight).transform(X)


def why_not(method: Any, X: Any, n_classes: int, k: int) -> str | None:
    """Why a method should be left out of a comparison on such data; None: it should not.

    By the number of operations, about, of which a core does some 3e9 a second.
    """
    if not isinstance(method, str) or method in YARDSTICKS:
        return None
    n, p = X.shape
    density = X.nnz / max(1, n * p) if hasattr(X, "nnz") else 1.0
    work = work_of(method, n, p, k, n_classes, density)
    if work > _MOST_WORK:
        return (
            f"{n:,} rows x {p:,} features would take it {work / 3e9 / 60:,.0f} minutes"
        )
    return None


def work_of(
    method: str, n: int, p: int, k: int, n_classes: int, density: float = 1.0
) -> float:
    """Operations, about, that a method takes for n rows of p features; 0: few.

    ``density`` is the share of entries that are not 0, which some go by.
    """
    margins = 1 if n_classes <= 2 else n_classes
    cost = _COSTS.get(_family(selector(method)))
    share = density if method in _GO_BY_ENTRIES else 1.0
    return 0.0 if cost is None else share * float(cost(n, p, k, margins))


#: Operations that a fit may take: a minute or two.
_MOST_WORK = 3e11
_GO_BY_ENTRIES = ("mrmr",)
_COSTS: dict[str, Callable[[float, float, float, float], float]] = {
    # a Newton step of all weights of a support, at every size
    "foba": lambda n, p, k, m: k * n * (k * m) ** 2 if m > 1 else k * n * (p + 20 * k),
    # with the search for lam and for r
    "gsr": lambda n, p, k, m: 400.0 * min(n, p) ** 2 * max(n, p),
    "mrmr": lambda n, p, k, m: 4.0 * k * n * p,
    "relieff": lambda n, p, k, m: 2.0 * n * n * p,
    # columns are met densely, several times, and each exchange refits those inside
    "online_substitution": lambda n, p, k, m: n * p * m * (700.0 + 30.0 * k),
}


def _family(capabilities: Capabilities) -> str:
    """Method whose costs are alike."""
    alike = {
        "projected_gradient": "foba", "iti": "foba", "pht": "foba",
        "mtfs": "gsr", "rfs": "gsr", "erfs": "gsr", "rk1u": "gsr",
    }  # fmt: skip
    return alike.get(capabilities.method, capabilities.method)


def all_methods() -> tuple[str, ...]:
    """Names that may be asked for."""
    return (*selectors(), *YARDSTICKS)
