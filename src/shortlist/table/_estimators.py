"""FoBa as an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import _get_feature_names, check_is_fitted

from shortlist._protocols import Fit, Objective, ShortlistError
from shortlist._shortlist import Shortlist
from shortlist.table._foba import Settings, check_settings
from shortlist.table._foba_select import CAPABILITIES, foba_search, select_coordinates
from shortlist.table._path import PathPoint, named_path, path_frame
from shortlist.table._selected import Search
from shortlist.table._table_selector import TableSelector


class FoBa(TableSelector):
    """Select exactly k features from a table, greedily forward and backward.

    Minimises a smooth convex loss of a linear model over supports of at most k,

        min_w  (1/n) sum_i loss(y_i, <w, x_i> + b) + (l2 / 2) ||w||^2,  ||w||_0 <= k,

    by adding the feature with the largest gradient, refitting, dropping what has become
    cheap to drop, and eliminating back from somewhat more than k.

    Parameters
    ----------
    k : int, default=10
        The budget: features, or groups if ``feature_groups`` are given. One fit answers
        every smaller budget too, see ``at``.
    loss : str or loss, default="auto"
        "auto" looks at y; or "squared", "logistic", "softmax", "squared_hinge", "huber",
        "poisson". With more than two classes "logistic" means
        softmax, and the squared hinge is summed over each class against the rest.
    criterion : {"gradient", "objective"}, default="gradient"
        FoBa-gdt or FoBa-obj: what a forward step goes by.
    backward : bool, default=True
        Whether to take backward steps on the way up.
    overshoot : float, default=0.2
        Go up to (1 + overshoot) k, then eliminate. 0 is the paper's algorithm.
    feature_groups : mapping or sequence, default=None
        Features that enter and leave together: ``{"sensor": ["x0", "x1"], ...}``, lists
        of features, or one label for each feature; k then counts groups.
    always, never : sequence of str or int, or mask, default=None
        Features (their groups, if there are any), by name, by number or by a mask of
        n_features booleans, to keep in any case and to leave out. Those kept count in k
        and are not penalised, neither by l2 nor by search_l2 (see Notes).
    standardize : bool, default=True
        Judge gradients, and penalise weights, in units of each column's standard
        deviation. The weights published are those of the columns as they are.
    fit_intercept : bool, default=True
    l2 : float or "auto", default="auto"
        Penalty of standardised weights: none for the squared loss; 5 / n for others,
        whose classes may be separable, with n the sum of the sample weights, or the
        number of those above 0 if that is more.
    search_l2 : float, None or "auto", default="auto"
        Penalty while features are chosen, whose weights are then fitted with ``l2``:
        None is the same as l2, and so is "auto" unless l2 is "auto" as well, when it is
        ten times as much. With few examples a greedy choice that is held back is the
        better one.
    positive : bool, default=False
        Allow no negative weights (two classes or one number to predict).
    epsilon, delta : float, default=0.0
        Stop when no gradient exceeds epsilon, or when a step gains less than delta.
    tol : float, default=0.0
        Relative tolerance of refits: they end when no gradient exceeds it, as a cosine
        between a column and the slopes of the loss. 0 refits to the last digits, which
        Newton's method soon reaches; least squares are always solved so.
    objective : Objective or callable, default=None
        A convex smooth function of your own to minimise instead of a loss of Xw, or one
        that makes it from X and y. ``fit`` then needs neither. Parameters that describe
        a table (loss, standardize, fit_intercept, l2, search_l2, positive, tol) do not
        matter, and there is no sample_weight.

    Attributes
    ----------
    shortlist_ : Shortlist
        The result for k.
    path_ : dict of int to PathPoint
        For each size the best support (``.best``) and the one reached last
        (``.latest``), each with names, weights, intercept and objective.
    objective_, fit_ : Objective, Fit
        With ``objective``: the function, and where it is smallest on the support.
    support_, ranking_, coef_, intercept_, classes_
        As in scikit-learn.

    Notes
    -----
    Deviation from the paper: elimination from (1 + overshoot) k, by the cost of removal
    after a refit (the paper zeroes a weight and keeps the others). It recovers supports
    of strongly correlated columns that forward and backward steps alone miss.

    X is never copied, be it dense, CSR or CSC, but for sparse tables that hold entries in
    several parts. For the squared loss only those columns of its Gram matrix that were
    ever candidates are computed, 32 at a time; of a sparse table so wide that these would
    outweigh it, none.

    Features that are always in keep a ten thousand millionth of the ridge, so that there
    is a best weight even where they separate the classes; it is then large. Where they
    depend on each other, the squared loss gives weight 0 to the later ones (least norm
    without Gram columns).

    Means are subtracted before a column is multiplied by anything that counts, so columns
    may lie far from zero for their spread, as times in seconds do; one that varies by less
    than 1e-14 of its mean is a constant.

    References
    ----------
    Liu, Fujimaki, Ye. Forward-Backward Greedy Algorithms for General Convex Smooth
    Functions over A Cardinality Constraint. ICML 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.table import FoBa
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 1000))
    >>> y = X[:, 7] - 2 * X[:, 42] + 0.1 * rng.normal(size=100)
    >>> selector = FoBa(k=2).fit(X, y)
    >>> selector.get_feature_names_out()
    array(['x7', 'x42'], dtype=object)
    >>> selector.at(1).names
    ('x42',)
    """

    capabilities = CAPABILITIES

    def __init__(
        self,
        k: int = 10,
        *,
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
        objective: Any = None,
    ) -> None:
        self.k = k
        self.loss = loss
        self.criterion = criterion
        self.backward = backward
        self.overshoot = overshoot
        self.feature_groups = feature_groups
        self.always = always
        self.never = never
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.l2 = l2
        self.search_l2 = search_l2
        self.positive = positive
        self.epsilon = epsilon
        self.delta = delta
        self.tol = tol
        self.objective = objective

    def fit(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Any:
        """Select from a table, or from the coordinates of ``objective``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Several outputs share their features.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        for name in ("objective_", "fit_"):  # of an earlier fit
            if hasattr(self, name):
                delattr(self, name)
        if self.objective is None:
            return super().fit(X, y, sample_weight)
        if sample_weight is not None:
            raise ShortlistError(
                "sample_weight should be None with objective=, which weighs by itself, got "
                f"{type(sample_weight).__name__}"
            )
        self._check_request()
        self._fit_objective(X, y)
        return self

    def _fit_objective(self, X: Any, y: Any) -> None:
        """Select from the coordinates of an objective."""
        objective = self.objective
        makes_one = isinstance(objective, type) or not hasattr(objective, "refit")
        if makes_one and callable(objective):
            objective = objective(X, y)
        if not isinstance(objective, Objective):
            raise ShortlistError(
                "objective should have n_coordinates, value, gradient and refit, got "
                f"{type(objective).__name__}"
            )
        self.objective_, self.n_features_in_ = objective, int(objective.n_coordinates)
        names = getattr(objective, "names", None)
        if names is None and X is not None and self.n_features_in_ == np.shape(X)[-1]:
            names = _get_feature_names(X)  # of a frame, a coordinate a column
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        unit_of, always, never = self._units(self.n_features_in_)
        self._selected, fits = select_coordinates(
            objective, self._settings(), unit_of=unit_of, always=always, never=never
        )
        self.fit_: Fit = fits[self._selected.best_size(self.k)]
        self._publish(self._selected.at(self.k, self._names_by_id))

    def at(self, k: int) -> Shortlist:
        """Result for a smaller budget, from the same fit.

        Parameters
        ----------
        k : int
            From the number of features always in, to the k of the fit.
        """
        check_is_fitted(self)
        lowest = max(1, min(self._selected.steps))
        highest = self._selected.params["k"]  # self.k may have been set since
        whole = isinstance(k, Integral) and not isinstance(k, bool)
        if not (whole and lowest <= k <= highest):
            raise ShortlistError(
                f"k should be a whole number from {lowest} to {highest}, got {k!r}"
            )
        return self._selected.at(int(k), self._names_by_id)

    @property
    def path_(self) -> dict[int, PathPoint]:
        """Supports of all sizes; see Attributes."""
        check_is_fitted(self)
        return named_path(self._selected, self._names_by_id)

    def path_frame(self, backend: str = "pandas") -> Any:
        """Return the path as a data frame: a row for each size, kind and weight.

        Parameters
        ----------
        backend : {"pandas", "polars"}, default="pandas"

        Returns
        -------
        pandas.DataFrame or polars.DataFrame
            Columns size, kind ("best" or "latest"), objective, name, id, margin, weight.
        """
        return path_frame(self.path_, backend)

    def _options(self) -> dict[str, Any]:
        return {**super()._options(), "positive": self.positive}

    def _search(self) -> Search:
        self._check_penalty("search_l2", self.search_l2, others=("auto", None))
        return foba_search(self._settings(), self.search_l2)

    def _settings(self) -> Settings:
        settings = Settings(
            self.k,
            criterion=self.criterion,
            backward=self.backward,
            overshoot=self.overshoot,
            epsilon=self.epsilon,
            delta=self.delta,
            tol=self.tol,
        )
        check_settings(settings)
        return settings
