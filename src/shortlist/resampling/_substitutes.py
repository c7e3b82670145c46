"""Features that could take the place of a chosen one at little loss.

For each chosen feature j, the linear model of the others is fitted, and at its minimum
the gradient says of every column how promising it is to bring it in: by about g^2 / (2 h),
h the curvature along the column. The few most promising ones are then brought in, one at a
time, and fitted exactly. With Q the objective on the same rows, i keeps of what j is worth

    kept = (Q(without j) - Q(i in its place)) / (Q(without j) - Q(with j)).

All numbers are of the rows that were learned from: a substitute may be as good by chance.
So Q has the ridge that FoBa chooses by, where classes may be separable: with the weaker
one that weights are fitted with in the end, whatever helps to separate few examples looks
better than features that do better on others. What the other chosen ones add up to, a copy
of one of them for example, is no candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shortlist._preparing import AS_IT_IS, preparing_of
from shortlist._protocols import Fit, Floats, Ids, Ints, ShortlistError
from shortlist._shortlist import Shortlist
from shortlist._targets import Target, choose_target
from shortlist.engines import Interrupted
from shortlist.losses import SquaredVector, get_loss, is_loss
from shortlist.resampling._forms import are_columns
from shortlist.sources import ArraySource
from shortlist.sources._labels import check_weights
from shortlist.sources.pairs import has_pairs
from shortlist.table._gather import Table, gather
from shortlist.table._problem import TableProblem, table_problem

#: Candidates that are fitted beyond those wanted.
MORE = 5
#: Share of its worth that a substitute keeps at least.
LEAST_KEPT = 0.5
#: A worth below this share of the objective is rounding.
_ROUNDING = 1e-9

Watch = Callable[[str, int, int], None]
Names = Callable[[Ids], Sequence[str]]


def substitutes(
    chosen: Any,
    X: Any,
    y: Any = None,
    *,
    n: int = 3,
    sample_weight: Any = None,
    watch: Watch | None = None,
) -> Shortlist:
    """Find features that could take the place of chosen ones.

    Parameters
    ----------
    chosen : Shortlist or fitted selector
        Chosen from the columns of X.
    X : ndarray, sparse matrix or DataFrame of shape (n_samples, n_features), or columns
        Also what ``open_columns`` takes, if it can be read again: a path, a list of pairs
        of a name and a column, a source of columns. They are known by their names.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        None: the target that a source of columns has among them.
    n : int, default=3
        Substitutes of each feature, at most; those that keep less than half of its worth
        are left out.
    sample_weight : array-like of shape (n_samples,), default=None
    watch : callable, default=None
        Called with what is being done, the number of features behind and that of all.

    Returns
    -------
    shortlist : Shortlist
        The same, with ``substitutes``.

    Raises
    ------
    KeyboardInterrupt
        An ``Interrupted`` after Ctrl-C; its ``result`` has what was found by then.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist import FoBa, substitutes
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 20))
    >>> X[:, 5] = X[:, 3] + 0.3 * rng.normal(size=200)
    >>> y = 2 * X[:, 3] - X[:, 8] + rng.normal(size=200)
    >>> found = substitutes(FoBa(k=2).fit(X, y), X, y).substitutes
    >>> [(s.name, s.substitute) for s in found]
    [('x3', 'x5')]
    """
    shortlist: Shortlist = getattr(chosen, "shortlist_", chosen)
    if has_pairs(shortlist.params):
        raise ShortlistError("pairs of features have no substitutes")
    if are_columns(X):
        from shortlist.resampling._column_substitutes import substitutes_of_columns

        return substitutes_of_columns(chosen, X, y, n, sample_weight, watch)
    if y is None:
        raise ShortlistError("y should have a label for each row, got None")
    X = _as_chosen_from(chosen, shortlist, X)
    named = getattr(X, "columns", None)
    table, target = _table(shortlist, X, np.asarray(y), sample_weight)
    if len(shortlist) and int(shortlist.ids.max()) >= table.X.shape[1]:
        raise ShortlistError(
            f"X should have the columns that were chosen from, got {table.X.shape[1]}"
        )

    def names(ids: Ids) -> list[str]:
        return [f"x{i}" if named is None else str(named[i]) for i in ids.tolist()]

    return find_substitutes(shortlist, table, target, names, n, watch=watch)


def _as_chosen_from(chosen: Any, shortlist: Shortlist, X: Any) -> Any:
    """A frame with its columns in the order of the one that was chosen from."""
    if not hasattr(X, "columns"):
        return X
    known = [str(name) for name in getattr(chosen, "feature_names_in_", ())]
    here = {str(name): name for name in X.columns}
    if known and set(known) == set(here):
        X = X[[here[name] for name in known]]
    columns = [str(name) for name in X.columns]
    for number, name in shortlist.names_by_id().items():
        if number < len(columns) and columns[number] != name:
            raise ShortlistError(
                f"X should have the columns that were chosen from, in their order: "
                f"column {number} was {name!r}, got {columns[number]!r}"
            )
    return X


def _table(
    shortlist: Shortlist, X: Any, y: np.ndarray, weight: Any
) -> tuple[Table, Target]:
    """Arrays as the table that a search would have, with the target of a result."""
    from sklearn.utils import check_array

    X = check_array(X, accept_sparse=["csr", "csc"], dtype=[np.float64, np.float32])
    n_rows, n_features = X.shape
    if len(y) != n_rows:
        raise ShortlistError(f"y should have {n_rows} entries, got {len(y)}")
    preparing = preparing_of(shortlist.params)
    if preparing != AS_IT_IS:
        blocks = [preparing.apply(b) for b in ArraySource(X).blocks()]
        X = _widened(gather(blocks, n_features), n_features)
    labels, target = target_of(shortlist, y)
    ids = np.arange(n_features, dtype=np.uint64)
    own = None if weight is None else check_weights(weight, n_rows, "sample_weight")
    return Table(X, target.encode(labels), own, ids, n_features), target


def _widened(table: Table, n_features: int) -> Any:
    """A table with all columns, those that no row has included."""
    from scipy.sparse import csr_array

    X = table.X
    columns = table.ids.astype(np.int64)[X.indices]
    return csr_array((X.data, columns, X.indptr), shape=(X.shape[0], n_features))


def target_of(shortlist: Shortlist, y: np.ndarray) -> tuple[Floats, Target]:
    """Labels as numbers, and what the loss makes of them."""
    loss = get_loss(shortlist.loss) if is_loss(shortlist.loss) else "auto"
    if y.ndim == 2 and y.shape[1] > 1:
        none: Floats = np.empty(0)
        return y.astype(np.float64), Target(
            SquaredVector(), None, none, n_outputs=y.shape[1]
        )
    y = y.ravel()
    if shortlist.classes is None and y.dtype.kind in "fiub":
        numbers = y.astype(np.float64)
        return numbers, choose_target(loss, numbers)
    classes = (
        np.unique(y).tolist() if shortlist.classes is None else list(shortlist.classes)
    )
    code_of = {label: code for code, label in enumerate(classes)}
    unknown = [label for label in y.tolist() if label not in code_of][:1]
    if unknown:
        raise ShortlistError(f"y should hold the classes {classes}, got {unknown[0]!r}")
    codes = np.array([code_of[label] for label in y.tolist()], np.float64)
    return codes, choose_target(loss, codes, labels=classes, classes=classes)


def find_substitutes(
    shortlist: Shortlist,
    table: Table,
    target: Target,
    names: Names,
    n: int,
    *,
    never: Sequence[int] = (),
    watch: Watch | None = None,
) -> Shortlist:
    """Look for substitutes in a table with encoded labels; see ``substitutes``.

    ``never``: columns that are no candidates.
    """
    if n < 1:
        raise ShortlistError(f"n should be a whole number from 1, got {n!r}")
    best_first = shortlist.ids[np.argsort(-shortlist.scores, kind="stable")]
    order = np.array(list(dict.fromkeys(best_first.tolist())), np.uint64)
    chosen = np.array(table.columns(order), np.int64)
    found: list[tuple[int, int, float, float]] = []
    try:
        problem = table_problem(
            table.X,
            table.y,
            target,
            sample_weight=table.weight,
            search_l2="auto",
            gram=False,
        )
        search = Search(problem, never)
        fit = search.fit(chosen)
        for place, column in enumerate(chosen.tolist()):
            if watch is not None:
                watch("substitutes", place, len(chosen))
            found += search.instead_of(column, chosen, fit, n)
    except KeyboardInterrupt:
        # none found so far does not mean that there are none
        some = _attached(shortlist, table, names, found) if found else shortlist
        raise Interrupted(some) from None
    return _attached(shortlist, table, names, found)


class Search:
    """Exchanges of one feature of a model by another."""

    def __init__(self, problem: TableProblem, never: Sequence[int] = ()) -> None:
        self._problem = problem
        self._usable = ~problem.constant
        self._usable[list(never)] = False

    def fit(self, columns: Ints, start: Fit | None = None) -> Fit:
        """The model of some columns, in all margins."""
        fit: Fit = self._problem.objective.refit(self._coordinates(columns), start)
        return fit

    def instead_of(
        self, column: int, chosen: Ints, fit: Fit, n: int
    ) -> list[tuple[int, int, float, float]]:
        """The best other columns: whom they replace, they, what is kept, the rise of Q."""
        others = chosen[chosen != column]
        without = self.fit(others, fit)
        worth = without.value - fit.value
        if worth <= _ROUNDING * abs(without.value):
            return []  # it can simply be left out
        found = []
        for candidate in self._promising(without, chosen, n + MORE):
            value = self.fit(np.append(others, candidate), without).value
            kept = (without.value - value) / worth
            size = abs(fit.value)
            rise = (value - fit.value) / size if size > 0.0 else np.inf
            found.append((column, candidate, kept, rise))
        found.sort(key=lambda one: -one[2])
        return [one for one in found if one[2] >= LEAST_KEPT][:n]

    def _promising(self, fit: Fit, chosen: Ints, n: int) -> list[int]:
        """Columns along which the objective falls most, by its gradient.

        Not those that the others add up to, copies among them: a ridge alone favours them.
        """
        objective, n_outputs = self._problem.objective, self._problem.n_outputs
        slopes = objective.gradient(fit).reshape(-1, n_outputs)
        gains = (slopes**2).sum(axis=1) / self._problem.scale**2
        usable = self._usable.copy()
        usable[chosen] = False
        gains = np.where(usable, gains, -1.0)
        best: list[int] = []
        for column in np.argsort(-gains, kind="stable").tolist():
            if len(best) == n or gains[column] <= 0.0:
                break
            if not objective.adds_nothing(fit, self._coordinates(column)):
                best.append(column)
        return best

    def _coordinates(self, columns: Any) -> Ints:
        """Places of columns in the weights: of each one a margin."""
        n = self._problem.n_outputs
        places = np.sort(np.atleast_1d(columns))[:, np.newaxis] * n + np.arange(n)
        return places.ravel()


def _attached(
    shortlist: Shortlist,
    table: Table,
    names: Names,
    found: Sequence[tuple[int, int, float, float]],
) -> Shortlist:
    columns = list(zip(*found, strict=True)) if found else [(), (), (), ()]
    of, others = (np.array(column, np.int64) for column in columns[:2])
    ids = table.ids[others]
    trace = {
        "substitute_of": table.ids[of],
        "substitute_ids": ids,
        "substitute_names": np.array(list(names(ids)), np.str_),
        "substitute_kept": np.array(columns[2], np.float64),
        "substitute_increase": np.array(columns[3], np.float64),
    }
    return replace(shortlist, trace={**shortlist.trace, **trace})
