"""FoBa with the budget chosen by cross-validation: one path a fold, not one fit a k."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from shortlist._protocols import Floats, ShortlistError
from shortlist._splits import folds
from shortlist._targets import Target
from shortlist.losses.arrays import mean_loss
from shortlist.table._estimators import FoBa
from shortlist.table._gather import Table
from shortlist.table._selected import PathStep, Selected

#: As of scikit-learn, where nobody says how to split.
_FOLDS = 5


def held_out_losses(
    selected: Selected,
    target: Target,
    table: Table,
    sizes: Sequence[int],
    rows: np.ndarray,
) -> Floats:
    """Mean loss on some rows of the best support of at most each size."""
    weight = np.ones(len(rows)) if table.weight is None else table.weight[rows]
    if not weight.any():
        return np.full(len(sizes), np.nan)
    losses = []
    for size in sizes:
        Z = _margins(selected.best(size), target, table.X, rows)
        losses.append(mean_loss(target.loss, table.y[rows], Z, weight))
    return np.array(losses)


def _margins(step: PathStep, target: Target, X: Any, rows: np.ndarray) -> Floats:
    columns, place = np.unique(step.ids.astype(np.intp), return_inverse=True)
    W = np.zeros((len(columns), target.n_margins))
    W[place, step.margin] = step.weights
    # the few columns first, whole rows of a wide table never
    part = X[:, columns][rows] if hasattr(X, "tocsr") else X[np.ix_(rows, columns)]
    return np.ascontiguousarray(part @ W + step.intercept)


def one_standard_error(losses: Floats) -> tuple[int, Floats, Floats]:
    """Place of the smallest size that is within one standard error of the best.

    Parameters
    ----------
    losses : ndarray of shape (n_folds, n_sizes)

    Returns
    -------
    place : int
    mean, error : ndarray of shape (n_sizes,)
        Over the folds.
    """
    known = losses[~np.isnan(losses).any(axis=1)]
    mean = known.mean(axis=0)
    spread = known.std(axis=0, ddof=1) if len(known) > 1 else np.zeros_like(mean)
    error: Floats = spread / np.sqrt(len(known))
    best = int(np.argmin(mean))
    return int(np.argmax(mean <= mean[best] + error[best])), mean, error


class FoBaCV(FoBa):
    """FoBa that chooses its budget: the smallest within one standard error of the best.

    Each fold runs FoBa once, up to k, and scores the best support of every size on its
    held-out rows; then all rows are fitted.

    Parameters
    ----------
    k : int, default=20
        Largest budget to consider.
    cv : int, splitter, iterable or None, default=5
        Folds, as in scikit-learn; stratified for classes; None: 5. With ``groups`` given to
        ``fit`` a number of folds has whole groups in each, drawn.
    loss, criterion, backward, overshoot, feature_groups, always, never, standardize, \
fit_intercept, l2, search_l2, positive, epsilon, delta, tol
        See :class:`FoBa`.

    Attributes
    ----------
    k_ : int
        The budget that was chosen; ``shortlist_`` has it.
    cv_sizes_ : ndarray of shape (n_sizes,)
    cv_losses_ : ndarray of shape (n_folds, n_sizes)
        Held-out mean loss of every size.

    References
    ----------
    Liu, Fujimaki, Ye. Forward-Backward Greedy Algorithms for General Convex Smooth
    Functions over A Cardinality Constraint. ICML 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.table import FoBaCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 50))
    >>> y = X[:, 7] - 2 * X[:, 42] + 0.5 * rng.normal(size=200)
    >>> FoBaCV(k=10).fit(X, y).get_feature_names_out()
    array(['x7', 'x42'], dtype=object)
    """

    def __init__(
        self,
        k: int = 20,
        *,
        cv: Any = 5,
        loss: Any = "auto",
        criterion: str = "gradient",
        backward: bool = True,
        overshoot: float = 0.2,
        feature_groups: Any = None,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        standardize: bool = True,
        fit_intercept: bool = True,
        l2: float | str = "auto",
        search_l2: float | str | None = "auto",
        positive: bool = False,
        epsilon: float = 0.0,
        delta: float = 0.0,
        tol: float = 0.0,
    ) -> None:
        super().__init__(
            k,
            loss=loss,
            criterion=criterion,
            backward=backward,
            overshoot=overshoot,
            feature_groups=feature_groups,
            always=always,
            never=never,
            standardize=standardize,
            fit_intercept=fit_intercept,
            l2=l2,
            search_l2=search_l2,
            positive=positive,
            epsilon=epsilon,
            delta=delta,
            tol=tol,
        )
        self.cv = cv

    def fit(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Any:
        """Select from a table.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Several outputs share their features.
        sample_weight : array-like of shape (n_samples,), default=None
        groups : array-like of shape (n_samples,), default=None
            Rows of one group, such as those of a patient, are never on both sides of a
            fold. (Groups of features are ``feature_groups``.)

        Returns
        -------
        self : object
        """
        return self._fitted(X, y, sample_weight, groups)

    def _splits(
        self, table: Table, target: Target, labels: np.ndarray
    ) -> Iterable[tuple[Any, Any]]:
        """Rows to learn from and to hold out, fold by fold."""
        classes = target.classes is not None
        if table.groups is not None:
            cv = _FOLDS if self.cv is None else self.cv
            return folds(labels, cv, table.groups, classes=classes)
        splitter = check_cv(self.cv, labels, classifier=classes)
        # scikit-learn's folds go by the number of rows, and would turn CSC into CSR
        counted = type(splitter).__module__.startswith("sklearn.")
        X = np.arange(len(table.y)) if counted else table.X
        pairs: Iterable[tuple[Any, Any]] = splitter.split(X, labels)
        return pairs

    def _finish(self, table: Table, target: Target, labels: np.ndarray) -> None:
        """Choose the budget by cross-validation, then publish the fit of all rows."""
        lowest = max(1, min(self._selected.steps))
        self.cv_sizes_ = np.arange(lowest, max(max(self._selected.steps), lowest) + 1)
        self.cv_sizes_ = self.cv_sizes_[self.cv_sizes_ <= self.k]
        sizes = self.cv_sizes_.tolist()
        losses = []
        every = np.arange(len(table.y))
        for train, test in self._splits(table, target, labels):
            weight = _weight_in(table, every[train])
            if not weight.any():
                losses.append(np.full(len(sizes), np.nan))
                continue
            # weights of 0 leave rows out without copying the others
            part = self._select(table._replace(weight=weight), target, self._search())
            losses.append(held_out_losses(part, target, table, sizes, every[test]))
        self.cv_losses_ = np.array(losses)
        if np.isnan(self.cv_losses_).any(axis=1).all():
            raise ShortlistError(
                "cv: no fold has weight above 0 both in the rows it learns from and in "
                "those it holds out; spread sample_weight, or fold the rows otherwise"
            )
        place, mean, error = one_standard_error(self.cv_losses_)
        self.k_ = int(self.cv_sizes_[place])
        chosen = self._selected.at(self.k_, self._names_by_id)
        curve = {"cv_sizes": self.cv_sizes_, "cv_loss": mean, "cv_error": error}
        self._publish(replace(chosen, trace={**chosen.trace, **curve}))


def _weight_in(table: Table, rows: np.ndarray) -> Floats:
    """Weight of each row of a table among some of its rows, which may repeat."""
    weight = np.zeros(len(table.y))
    np.add.at(weight, rows, 1.0 if table.weight is None else table.weight[rows])
    return weight
