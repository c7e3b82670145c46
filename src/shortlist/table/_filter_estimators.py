"""mRMR and ReliefF as estimators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shortlist.table._categories import code_categories
from shortlist.table._filters import Filter, Ranking, select_by
from shortlist.table._gather import Table
from shortlist.table._mrmr import CAPABILITIES as MRMR_CAPABILITIES
from shortlist.table._mrmr import MrmrSettings, mrmr_filter
from shortlist.table._relieff import CAPABILITIES as RELIEFF_CAPABILITIES
from shortlist.table._relieff import ReliefSettings, relieff_filter
from shortlist.table._table_selector import TableSelector


class FilterSelector(TableSelector):
    """Base of selectors that rank columns without a model.

    Subclasses store ``categorical_features`` and ``refit`` besides what TableSelector
    wants, and implement ``fit``, which ends with ``_fit_filter``.
    """

    categorical_features: Any
    refit: bool

    def _fit_filter(self, X: Any, y: Any, sample_weight: Any, asked: Filter) -> Ranking:
        """Choose from a table and publish; return all that the filter says."""
        self._check_penalty("l2", self.l2, others=("auto",))
        X, categorical = code_categories(X, self.categorical_features)
        X, codes, weight, target = self._table(X, y, sample_weight)
        n_features = X.shape[1]
        ids = np.arange(n_features, dtype=np.uint64)
        table = Table(X, target.encode(codes), weight, ids, n_features)
        _, always, never = self._units(n_features)
        shortlist, ranking = select_by(
            table,
            target,
            asked,
            self._names_by_id,
            always=always,
            never=never,
            categorical=categorical,
            refit=self.refit,
            **self._options(),
        )
        self._publish(shortlist)
        return ranking


class MRMR(FilterSelector):
    """Select exactly k features that tell most about y and least about each other.

    Features come in one by one: next is the one with the largest

        relevance(x_j, y) / mean_s redundancy(x_j, x_s),    s among those already in,

    or difference of the two. A linear model is then fitted on the chosen features, which
    has no say in the choice.

    Parameters
    ----------
    k : int, default=10
        The budget. As features come in one by one, ``shortlist_.top(j)`` has the features
        that a budget of j would.
    relevance : {"auto", "f", "mutual_info"}, default="auto"
        F-statistic (of an analysis of variance for classes, of a regression for numbers)
        or mutual information. "auto" is "mutual_info" for classes and where there are
        categories, "f" for numbers from numbers.
    redundancy : {"auto", "correlation", "mutual_info"}, default="auto"
        Absolute correlation or mutual information; "auto" goes with the relevance.
    scheme : {"quotient", "difference"}, default="quotient"
        With mutual information these are called MIQ and MID, with F-statistics FCQ and
        FCD. An F-statistic has no bound and a correlation has: their difference is
        hardly more than the F-statistic.
    bins : int, default=5
        Bins of about equal weight that numbers are cut into for mutual information. At
        most so many distinct values are each their own bin.
    categorical_features : "from_dtype", None or sequence, default="from_dtype"
        Columns whose values have no order: names, numbers or one bool a column.
        "from_dtype" takes the columns of a frame that are of a categorical type.
        Categories have mutual information only.
    refit : bool, default=True
        Whether to fit a model on the chosen features. There is none if there are
        categories, whose codes mean nothing to a linear model.
    loss : str or loss, default="auto"
        Loss of that model, and so whether y holds classes or numbers: "auto" looks at y;
        or "squared", "logistic", "softmax", "squared_hinge", "huber", "poisson".
    feature_groups : None
        Groups cannot be selected.
    always, never : sequence of str or int, default=None
        Features, by name, number or mask, that come in first (they count in k) or not at
        all.
    standardize, fit_intercept : bool, default=True
    l2 : float or "auto", default="auto"
        How that model is fitted; see :class:`FoBa`.

    Attributes
    ----------
    shortlist_ : Shortlist
        The result. Scores count down in the order of coming in; ``shortlist_.trace`` has
        the relevance and the mean redundancy of each feature as it came in.
    relevance_ : ndarray of shape (n_features,)
        Relevance of every feature.
    support_, ranking_, coef_, intercept_, classes_
        As in scikit-learn.

    Notes
    -----
    The table is read once a feature and never copied, sparse or dense; mutual information
    holds a byte for each of its values. Weights of rows count as repetitions. Columns
    that do not vary are never chosen. A mean redundancy below 0.001 counts as 0.001.
    Deviation from the paper: it cuts numbers at one standard deviation around the mean.
    The defaults are those that chose best on isolet and semeion
    (``benchmarks/filters.py``).

    References
    ----------
    Peng, Long, Ding. Feature Selection Based on Mutual Information: Criteria of
    Max-Dependency, Max-Relevance, and Min-Redundancy. IEEE Trans. Pattern Anal. Mach.
    Intell. 27(8), 2005.

    Ding, Peng. Minimum Redundancy Feature Selection from Microarray Gene Expression Data.
    J. Bioinform. Comput. Biol. 3(2), 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.table import MRMR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 50))
    >>> X[:, 8] = X[:, 7] + 0.1 * rng.normal(size=300)  # tells what 7 tells
    >>> y = np.where(2 * X[:, 7] + X[:, 42] > 0, "yes", "no")
    >>> selector = MRMR(k=2).fit(X, y)
    >>> selector.get_feature_names_out()
    array(['x7', 'x42'], dtype=object)
    >>> selector.score(X, y) > 0.95
    True
    """

    capabilities = MRMR_CAPABILITIES
    relevance_: np.ndarray

    def __init__(
        self,
        k: int = 10,
        *,
        relevance: str = "auto",
        redundancy: str = "auto",
        scheme: str = "quotient",
        bins: int = 5,
        categorical_features: Any = "from_dtype",
        refit: bool = True,
        loss: Any = "auto",
        feature_groups: Any = None,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        standardize: bool = True,
        fit_intercept: bool = True,
        l2: float | str = "auto",
    ) -> None:
        self.k = k
        self.relevance = relevance
        self.redundancy = redundancy
        self.scheme = scheme
        self.bins = bins
        self.categorical_features = categorical_features
        self.refit = refit
        self.loss = loss
        self.feature_groups = feature_groups
        self.always = always
        self.never = never
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.l2 = l2

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MRMR:
        """Select from a table.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        self._check_request()
        settings = MrmrSettings(
            self.k,
            relevance=self.relevance,
            redundancy=self.redundancy,
            scheme=self.scheme,
            bins=self.bins,
        )
        ranking = self._fit_filter(X, y, sample_weight, mrmr_filter(settings))
        self.relevance_ = ranking.every
        return self


class ReliefF(FilterSelector):
    """Select exactly k features in which near rows differ if their labels do.

    A feature scores where a row differs in it from the nearest rows of other classes (by
    the share of each class), and loses where it differs from the nearest of its own. For
    numbers to predict this is RReliefF. Unlike a filter that looks at one feature at a
    time it finds features that tell only together. A linear model is then fitted on the
    chosen features, which has no say in the choice.

    Parameters
    ----------
    k : int, default=10
        The budget.
    n_neighbors : int, default=10
        Nearest rows to compare with, of each class.
    n_samples : int, default=None
        How many rows, drawn at random, to compare with their neighbours; None: all. Time
        is proportional to it.
    seed : int, default=0
        For that draw.
    categorical_features : "from_dtype", None or sequence, default="from_dtype"
        Columns whose values have no order, so that they differ wholly or not at all:
        names, numbers or one bool a column. "from_dtype" takes the columns of a frame that
        are of a categorical type.
    refit : bool, default=True
        Whether to fit a model on the chosen features. There is none if there are
        categories, whose codes mean nothing to a linear model.
    loss : str or loss, default="auto"
        Loss of that model, and so whether y holds classes or numbers: "auto" looks at y;
        or "squared", "logistic", "softmax", "squared_hinge", "huber", "poisson".
    feature_groups : None
        Groups cannot be selected.
    always, never : sequence of str or int, default=None
        Features, by name, number or mask, to keep in any case (they count in k) and to
        leave out of the choice; distances are made of all columns.
    standardize, fit_intercept : bool, default=True
    l2 : float or "auto", default="auto"
        How that model is fitted; see :class:`FoBa`.

    Attributes
    ----------
    shortlist_ : Shortlist
        The result.
    scores_ : ndarray of shape (n_features,)
        Score of every feature, between -1 and 1.
    support_, ranking_, coef_, intercept_, classes_
        As in scikit-learn.

    Notes
    -----
    Differences of numbers are relative to the range of their column, and a distance is
    their sum. Time is n_samples x n_rows x n_features, less for sparse tables, which are
    not made dense. Memory beyond a scaled copy of the table does not grow with the number
    of pairs of rows. There is no ``sample_weight``: a neighbour is one or it is not.
    Columns that do not vary are never chosen. Deviations from the paper: all rows by
    default instead of a draw; where a class has fewer rows than ``n_neighbors`` the mean
    is over those it has; of RReliefF all neighbours have the same influence.

    References
    ----------
    Robnik-Sikonja, Kononenko. Theoretical and Empirical Analysis of ReliefF and RReliefF.
    Mach. Learn. 53, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.table import ReliefF
    >>> rng = np.random.default_rng(0)
    >>> X = rng.choice([-1.0, 1.0], size=(300, 20))
    >>> y = X[:, 3] * X[:, 7]  # neither tells anything alone
    >>> ReliefF(k=2).fit(X, y).get_feature_names_out()
    array(['x3', 'x7'], dtype=object)
    """

    capabilities = RELIEFF_CAPABILITIES
    scores_: np.ndarray

    def __init__(
        self,
        k: int = 10,
        *,
        n_neighbors: int = 10,
        n_samples: int | None = None,
        seed: int = 0,
        categorical_features: Any = "from_dtype",
        refit: bool = True,
        loss: Any = "auto",
        feature_groups: Any = None,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        standardize: bool = True,
        fit_intercept: bool = True,
        l2: float | str = "auto",
    ) -> None:
        self.k = k
        self.n_neighbors = n_neighbors
        self.n_samples = n_samples
        self.seed = seed
        self.categorical_features = categorical_features
        self.refit = refit
        self.loss = loss
        self.feature_groups = feature_groups
        self.always = always
        self.never = never
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.l2 = l2

    # It takes no weights, which others of this room do.
    def fit(self, X: Any, y: Any) -> ReliefF:  # type: ignore[override]
        """Select from a table.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : object
        """
        self._check_request()
        settings = ReliefSettings(
            self.k,
            n_neighbors=self.n_neighbors,
            n_samples=self.n_samples,
            seed=self.seed,
        )
        ranking = self._fit_filter(X, y, None, relieff_filter(settings))
        self.scores_ = ranking.every
        return self
