"""Who takes part in a comparison: selectors of all rooms, and two yardsticks.

A contestant is called with rows to learn from, budgets, a seed and the weights and groups
of the rows, and answers with the columns that it chooses at each budget. Those that one fit
answers all budgets for are fitted once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from shortlist._protocols import Capabilities, Floats, Ids, Ints, ShortlistError
from shortlist._registry import selector, selectors
from shortlist._shortlist import Shortlist


class Choose(Protocol):
    """Whoever chooses columns."""

    def __call__(
        self,
        X: Any,
        y: np.ndarray,
        ks: Sequence[int],
        seed: int,
        weight: Floats | None = None,
        groups: Ints | None = None,
        /,
    ) -> dict[int, Ints]:
        """Columns for each budget; weights: how often rows count, None: once.

        Groups: of the rows, for whoever splits them once more; None: nobody knows any.
        """
        ...


#: Methods that are compared unless others are asked for: the best of each family.
USUAL = ("foba", "gsr", "mrmr", "relieff", "mission", "barda", "online_substitution")
L1, RANDOM = "l1", "random"
YARDSTICKS = (L1, RANDOM)

#: Penalties of the L1 path, from one that leaves hardly anything.
_PATH = np.geomspace(1e-3, 10.0, 25)


def contestant(method: Any, *, classes: bool, always: Ints | None = None) -> Choose:
    """Whoever goes by a name, or an estimator; ``always``: columns to choose anyway."""
    if isinstance(method, str) and method in YARDSTICKS:
        choose: Choose = _random
        if method == L1:
            choose = _l1_classes if classes else _l1_numbers
        return choose if always is None else _beside(choose, always)
    if isinstance(method, str):
        method = selector(method).load("estimator")()
    return of_estimator(method, always)


def of_estimator(estimator: Any, always: Ints | None = None) -> Choose:
    """What an estimator chooses whose budget can be set, ours or scikit-learn's."""
    if hasattr(estimator, "named_steps"):
        from shortlist.evaluate._piped import PipedSelector

        estimator = PipedSelector(estimator, _BUDGETS)
        estimator.last_selector()  # or it says what is missing
    known = estimator.get_params() if hasattr(estimator, "get_params") else {}
    budget = next((name for name in _BUDGETS if name in known), None)
    if budget is None:
        raise ShortlistError(
            "estimators to compare should have a parameter k or n_features_to_select, "
            f"got {estimator!r}"
        )
    settings: dict[str, Any] = {}
    if "budget" in known:  # k features in all, as for all others
        settings["budget"] = "shared"
    if always is not None and "always" in known:
        settings["always"] = always.tolist()

    def choose(
        X: Any,
        y: np.ndarray,
        ks: Sequence[int],
        seed: int,
        weight: Floats | None = None,
        groups: Ints | None = None,
    ) -> dict[int, Ints]:
        from sklearn.base import clone

        if weight is not None and not takes_weights(estimator):
            raise ShortlistError(f"{type(estimator).__name__} takes no weights of rows")
        told: dict[str, Any] = {} if weight is None else {"sample_weight": weight}
        if groups is not None and takes_groups(estimator):
            told["groups"] = groups
        chosen: dict[int, Ints] = {}
        fitted = None
        for k in sorted(ks, reverse=True):
            if fitted is None or not _answers_smaller(fitted):
                own = {budget: k, **settings, **_seeds(known, seed)}
                fitted = clone(estimator).set_params(**own).fit(X, y, **told)
            chosen[k] = _best(fitted, k, settings.get("always", ()))
        return chosen

    return choose if always is None or "always" in known else _beside(choose, always)


#: What estimators call the number of features that they may choose.
_BUDGETS = ("k", "n_features_to_select")


def _seeds(known: Mapping[str, Any], seed: int) -> dict[str, int]:
    """Seeds of an estimator that nobody has set."""
    if "seed" in known:
        return {"seed": seed}
    unset = "random_state" in known and known["random_state"] is None
    return {"random_state": seed} if unset else {}


def _beside(choose: Choose, always: Ints) -> Choose:
    """Let a method that cannot be told what to keep choose from the other columns."""

    def chosen(
        X: Any,
        y: np.ndarray,
        ks: Sequence[int],
        seed: int,
        weight: Floats | None = None,
        groups: Ints | None = None,
    ) -> dict[int, Ints]:
        others = np.setdiff1d(np.arange(X.shape[1]), always)
        left = sorted({k - len(always) for k in ks} - {0})
        found = choose(X[:, others], y, left, seed, weight, groups) if left else {}
        found = {0: np.empty(0, np.int64), **found}
        return {k: np.append(always, others[found[k - len(always)]]) for k in ks}

    return chosen


def takes_weights(method: Any) -> bool:
    """Whether rows can count more than once for a method, by name or as an estimator."""
    from sklearn.utils.validation import has_fit_parameter

    if isinstance(method, str):
        if method in YARDSTICKS:
            return True
        method = selector(method).load("estimator")()
    return bool(has_fit_parameter(method, "sample_weight"))


def takes_groups(estimator: Any) -> bool:
    """Whether an estimator splits rows for itself, and can be told of their groups."""
    from sklearn.utils.validation import has_fit_parameter

    return bool(has_fit_parameter(estimator, "groups"))


def _answers_smaller(fitted: Any) -> bool:
    """Whether a fit for k tells what one for fewer would choose."""
    capabilities = getattr(fitted, "capabilities", None)
    return hasattr(fitted, "at") or (capabilities is not None and capabilities.nested)


def _best(fitted: Any, k: int, always: Sequence[int]) -> Ints:
    """Columns of the k best features, as far as there are so many."""
    if hasattr(fitted, "at"):
        return np.asarray(fitted.at(k).support, np.int64)
    if not hasattr(fitted, "shortlist_"):
        return _supported(fitted, k)
    ranked = ranking(fitted.shortlist_, np.array(always, np.uint64)).astype(np.int64)
    return ranked[:k] if _answers_smaller(fitted) else ranked  # k groups may hold more


def ranking(shortlist: Shortlist, always: Ids) -> Ids:
    """Ids of the chosen features by their best score in any margin, ``always`` first."""
    order = np.argsort(-shortlist.scores, kind="stable")
    ids, first = np.unique(shortlist.ids[order], return_index=True)
    ranked, always = ids[np.argsort(first)], np.unique(always)
    return np.concatenate([always, ranked[~np.isin(ranked, always)]])


def _supported(fitted: Any, k: int) -> Ints:
    """Columns that a selector of scikit-learn's kind has chosen."""
    chosen = np.asarray(fitted.get_support(indices=True), np.int64)
    if len(chosen) > k:
        raise ShortlistError(
            f"{type(fitted).__name__} should choose {k} features at most, got "
            f"{len(chosen)}"
        )
    return chosen


def _random(
    X: Any,
    y: np.ndarray,
    ks: Sequence[int],
    seed: int,
    weight: Floats | None = None,
    groups: Ints | None = None,
) -> dict[int, Ints]:
    order = np.random.default_rng(seed).permutation(X.shape[1])
    return {k: order[:k] for k in ks}


def _l1_classes(
    X: Any,
    y: np.ndarray,
    ks: Sequence[int],
    seed: int,
    weight: Floats | None = None,
    groups: Ints | None = None,
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
    groups: Ints | None = None,
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
