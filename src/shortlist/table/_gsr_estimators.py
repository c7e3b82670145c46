"""GSR as an estimator, and what it has in common with its special cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shortlist._targets import Target
from shortlist.table._gather import Table
from shortlist.table._gsr_path import SelectionPath
from shortlist.table._gsr_select import GSR as CAPABILITIES
from shortlist.table._gsr_select import GsrRequest, gsr_search
from shortlist.table._selected import Search
from shortlist.table._table_selector import TableSelector


class RowSparse(TableSelector):
    """What GSR and its special cases have in common; see GSR for the parameters."""

    n_iter_: int
    r_: float
    lam_: float
    selection_path_: SelectionPath

    def __init__(
        self,
        k: int = 10,
        *,
        lam: float | str = "auto",
        loss: Any = "auto",
        intercept: str = "mean",
        max_iter: int = 100,
        tol: float = 1e-5,
        drop: float | str = "auto",
        smoothing: float | str = "auto",
        feature_groups: Any = None,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        standardize: bool = True,
        fit_intercept: bool = True,
        l2: float | str = "auto",
    ) -> None:
        self.k = k
        self.lam = lam
        self.loss = loss
        self.intercept = intercept
        self.max_iter = max_iter
        self.tol = tol
        self.drop = drop
        self.smoothing = smoothing
        self.feature_groups = feature_groups
        self.always = always
        self.never = never
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.l2 = l2

    def _exponents(self) -> tuple[float | str, float]:
        """Exponents r and p, in which they differ."""
        raise NotImplementedError

    def _search(self) -> Search:
        r, p = self._exponents()
        asked = GsrRequest(
            self.k,
            r,
            p,
            self.lam,
            self.intercept,
            self.max_iter,
            self.tol,
            self.drop,
            self.smoothing,
        )
        return gsr_search(self.capabilities, asked)

    def _finish(self, table: Table, target: Target, labels: np.ndarray) -> None:
        """Publish the result, and what was decided on the way."""
        super()._finish(table, target, labels)
        self.r_, self.lam_, self.selection_path_ = self._selected.record
        self.n_iter_ = len(self.selection_path_)


class GSR(RowSparse):
    """Select features from a table by a robust loss and a sparse penalty of rows.

    With a row of weights W_j for each feature, and a column for each class or output,
    minimises

        sum_i ||x_i W + b - y_i||^r + lam sum_j ||W_j||^p

    by iteratively reweighted least squares (GSR-FS). Classes are coded as -1 and +1.
    Features are ranked by the norm of their rows, those whose rows vanished by how late
    they did; the best k are refitted, and these weights predict.

    Parameters
    ----------
    k : int, default=10
        The budget: features, or groups if ``feature_groups`` are given.
    r : float or "auto", default="auto"
        Exponent of the loss, above 0 and at most 2; the smaller, the less outliers count.
        "auto" tries 2, 1 and 0.5, as long as these do not get clearly worse, and takes the
        one whose weights do best on a third of the rows, held out: of whole groups of
        them, where ``fit`` is told of ``groups``.
    p : float, default=0.5
        Exponent of the penalty, above 0 and at most 1; the smaller, the fewer rows
        survive and the less these are shrunk.
    lam : float or "auto", default="auto"
        Penalty beside the sum over rows; "auto" searches for one under which about k
        features survive, or as many as half the rows if k is more: beyond that all rows
        would be fitted exactly, and survival mean little. The rest of the k are those that
        vanished last. For p = 1, where survivors would be shrunk too far, it is a twentieth
        of what would leave none.
    loss : str or loss, default="auto"
        What the weights of the chosen features minimise, and what y holds: "auto" looks
        at y; "squared" or "huber" for numbers; "logistic", "softmax", "squared_hinge" for
        classes. The choice of features does not depend on it otherwise.
    intercept : {"mean", "weighted"}, default="mean"
        Intercepts while features are chosen: b by centring x and y once, or minimised
        over with the rest. For r = 2 they are the same.
    max_iter : int, default=100
        Largest number of iterations for one lam.
    tol : float, default=1e-5
        Stop when the objective falls by less, relatively.
    drop : float or "auto", default="auto"
        Features whose norm falls below this share of the largest leave for good, unless
        the objective is lower with them; 0 keeps all. "auto" is 1e-3, and 0 for p = 1.
    smoothing : float or "auto", default="auto"
        Rows of weights, and residuals, of this length, with targets of length 1, count as
        0. "auto" is 1e-6, and 1e-3 for residuals where X is float32.
    feature_groups : mapping or sequence, default=None
        Features that survive or vanish together: ``{"sensor": ["x0", "x1"], ...}``, lists
        of features, or one label for each feature; k then counts groups.
    always, never : sequence of str or int, default=None
        Features (their groups, if any), by name, number or mask, to keep in any case
        (they count in k, and are hardly penalised) and to leave out.
    standardize : bool, default=True
        Penalise and rank weights in units of each column's standard deviation. The
        weights published are those of the columns as they are.
    fit_intercept : bool, default=True
    l2 : float or "auto", default="auto"
        Ridge of the refit, from which features that are always in are spared: none for
        the squared loss; for others, whose classes may be separable, as :class:`FoBa`.

    Attributes
    ----------
    shortlist_ : Shortlist
        The result, with scores by which it is ranked: norms, or below these a measure of
        how late a feature vanished. ``trace["objective"]`` is the objective after each
        iteration, ``trace["lam"]`` and ``trace["survivors"]`` what was tried.
    selection_path_ : SelectionPath
        ``weights`` and ``ranks`` of all features against iteration.
    r_, lam_ : float
        Exponent and penalty that were used; a penalty to be found is NaN if y is constant.
    n_iter_ : int
        Iterations for this penalty; 0 if y is constant.
    support_, ranking_, coef_, intercept_, classes_
        As in scikit-learn.

    Notes
    -----
    Deviations from the paper: an intercept, without which labels far from zero on average
    cost several points of accuracy; features that vanished are ranked; the tolerance is
    relative; the iteration starts from the same weights for all rows in units of y, so
    that neither its unit nor that of x matters; two classes are one column, not two.
    The objective never rises from one iteration to the next.

    Features that are the same once they are centred and scaled, up to their sign, would
    share their weight: the first stands for them, and the others rank last. (Groups are
    taken as they are.)

    Iterations solve systems as large as the features that are left, or, if cheaper, as
    the rows. A scaled copy of X is held, in the precision of X; where float32 is too little
    for a step, which then raises the objective, a copy in float64 takes its place. Sparse
    tables stay so, in float64, if less than a tenth of their entries are not 0.

    With r < 2 because of outliers in y, a refit by least squares would be upset by them
    again; for one output ``loss="huber"`` is not.

    References
    ----------
    Peng, Fan. A General Framework for Sparsity Regularized Feature Selection via
    Iteratively Reweighted Least Square Minimization. AAAI 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.table import GSR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 300))
    >>> y = np.select([X[:, 7] > 0.5, X[:, 42] > 0.0], ["high", "middle"], "low")
    >>> selector = GSR(k=2).fit(X, y)
    >>> selector.get_feature_names_out()
    array(['x7', 'x42'], dtype=object)
    >>> bool(np.all(np.diff(selector.shortlist_.trace["objective"]) <= 0))
    True
    """

    capabilities = CAPABILITIES

    def __init__(
        self,
        k: int = 10,
        *,
        r: float | str = "auto",
        p: float = 0.5,
        lam: float | str = "auto",
        loss: Any = "auto",
        intercept: str = "mean",
        max_iter: int = 100,
        tol: float = 1e-5,
        drop: float | str = "auto",
        smoothing: float | str = "auto",
        feature_groups: Any = None,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        standardize: bool = True,
        fit_intercept: bool = True,
        l2: float | str = "auto",
    ) -> None:
        super().__init__(
            k,
            lam=lam,
            loss=loss,
            intercept=intercept,
            max_iter=max_iter,
            tol=tol,
            drop=drop,
            smoothing=smoothing,
            feature_groups=feature_groups,
            always=always,
            never=never,
            standardize=standardize,
            fit_intercept=fit_intercept,
            l2=l2,
        )
        self.r = r
        self.p = p

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Select from a table.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Several outputs share their features.
        sample_weight : array-like of shape (n_samples,), default=None
        groups : array-like of shape (n_samples,), default=None
            Rows of one group, such as those of a patient, are held out together where
            ``r="auto"`` holds rows out. (Groups of features are ``feature_groups``.)

        Returns
        -------
        self : object
        """
        return self._fitted(X, y, sample_weight, groups)

    def _exponents(self) -> tuple[float | str, float]:
        return self.r, self.p
