"""Online Substitution as an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from shortlist._base import BaseSelector
from shortlist._protocols import ColumnSource, Observer, ShortlistError
from shortlist.columns._cluster import ClusterSubstitution, check_engine
from shortlist.columns._data import Data
from shortlist.columns._numbered import NumberedFrom
from shortlist.columns._sharing import SharedSubstitution
from shortlist.columns._substitution import CAPABILITIES, Request, Substitution
from shortlist.engines.columns import run_columns
from shortlist.engines.serial import Broken, Interrupted
from shortlist.sources import ArrayColumns, is_table, open_columns
from shortlist.sources._names import ColumnNames


class OnlineSubstitution(BaseSelector):
    """Select k features that arrive one by one, in memory for k of them.

    Minimises a smooth loss of a linear model over supports of at most k,

        min_w  (1/n) sum_i loss(y_i, <w, x_i> + b),  ||w||_0 <= k.

    Each feature that arrives is given a weight; if k are in already, the weakest goes.
    Only the columns of those that are in are kept.

    Parameters
    ----------
    k : int, default=10
        The budget.
    loss : str or loss, default="auto"
        "auto" looks at y; or "squared", "logistic", "softmax", "squared_hinge", "huber",
        "poisson". "logistic" with more than two classes means softmax.
    exchange : {"auto", "gradient", "exact"}, default="auto"
        How a newcomer and the others get their weights. "gradient": by the gradient
        steps of the paper. "exact": by least squares on all that are in and the
        newcomer, after which the feature goes that is cheapest to do without. It finds
        supports of strongly correlated columns that gradient steps miss, and goes with
        the squared loss. "auto": exact where it can be, unless ``eta`` or ``m`` are
        given or there are several workers.
    eta : float or "auto", default="auto"
        Length of a newcomer's gradient step. "auto": one over its own curvature.
    m : float or "auto", default="auto"
        Those that are in make steps of eta / m. "auto": the longest that are safe, by
        the largest eigenvalue of their Gram matrix.
    passes : int, default=4
        How often the columns are read, at most. Those of an iterator come once.
    standardize : bool, default=True
        Compare weights in units of each column's standard deviation. The weights
        published are those of the columns as they are.
    refit : bool, default=True
        Publish weights for which the loss is smallest, given the support.
    tol : float, default=1e-4
        Stop after a pass in which no feature came in and the loss fell by no more than
        this share.
    n_workers : int, default=1
        Threads that share the budget, and work asynchronously on features that are dealt
        to them afresh in each pass. With more than one the result may depend on timing.
    engine : {"threads", "ray"}, default="threads"
        Where workers are: threads of this process, or processes of a Ray cluster, which
        read their columns themselves. The cluster that this process is connected to, else
        one that is found, else one that is started for the fit. Workers that die are
        replaced.
    tau_max : int, default=None
        With Ray: how often others may push between a worker's pull and its push; None:
        four times for each worker.
    staleness : int, default=None
        Not None: instead of threads, simulate workers that see each other's work late,
        by that many pushes. The same each time.
    seed : int, default=0
        Deals features to workers.
    always, never : sequence of str or int, default=None
        Features, by name or number, to keep in any case (they count in k) and to leave
        out.
    feature_groups : None
        This selector knows no groups.

    Attributes
    ----------
    shortlist_ : Shortlist
        The result. Its trace says which features entered when, and which left for them.
    support_, ranking_, coef_, intercept_, classes_
        As in scikit-learn.

    Notes
    -----
    Deviations from the paper, with their effect on the share of the true features found
    (``benchmarks/columns.py`` prints it). Columns are centred, as there is an intercept.
    ``m`` follows the retained columns, and steps of other losses follow the curvature,
    instead of numbers to be tuned. Weights are held back by a small ridge while features
    are chosen by a loss other than the squared one. Exact exchanges are ours.

    A fitted selector holds on to the columns that are in, for ``add_columns``.

    References
    ----------
    Yang, Fujimaki, Kusumura, Liu. Online Feature Selection: A Limited-Memory Substitution
    Algorithm and Its Asynchronous Parallel Variation. KDD 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.columns import OnlineSubstitution
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=100)
    >>> def columns():
    ...     rng = np.random.default_rng(1)
    ...     for j in range(1000):
    ...         noise = rng.normal(size=100)
    ...         yield f"gene {j}", y + noise if j % 500 == 7 else noise
    >>> selector = OnlineSubstitution(k=2).fit_columns(columns, y)
    >>> sorted(selector.shortlist_.names)
    ['gene 507', 'gene 7']
    """

    capabilities = CAPABILITIES
    n_features_in_: int
    feature_names_in_: np.ndarray
    _run_so_far: Substitution

    def __init__(
        self,
        k: int = 10,
        *,
        loss: Any = "auto",
        exchange: str = "auto",
        eta: float | str = "auto",
        m: float | str = "auto",
        passes: int = 4,
        standardize: bool = True,
        refit: bool = True,
        tol: float = 1e-4,
        n_workers: int = 1,
        engine: str = "threads",
        tau_max: int | None = None,
        staleness: int | None = None,
        seed: int = 0,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        feature_groups: None = None,
    ) -> None:
        self.k = k
        self.loss = loss
        self.exchange = exchange
        self.eta = eta
        self.m = m
        self.passes = passes
        self.standardize = standardize
        self.refit = refit
        self.tol = tol
        self.n_workers = n_workers
        self.engine = engine
        self.tau_max = tau_max
        self.staleness = staleness
        self.seed = seed
        self.always = always
        self.never = never
        self.feature_groups = feature_groups

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Select from the columns of a table.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        self._check_request()
        X, codes, weight, target = self._table(X, y, sample_weight)
        known = getattr(self, "feature_names_in_", None)
        names = ColumnNames(known, X.shape[1], "X")
        for name in (*self._names_of(self.always), *self._names_of(self.never)):
            names.column(name)
        kept = "number" if known is None else [str(name) for name in known]
        source = NumberedFrom(ArrayColumns(X, name="X"), 0, kept)
        self._run(source, Data.of(target, codes, weight), None)
        return self

    def fit_columns(
        self,
        columns: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        classes: Sequence[Any] | None = None,
        observe: Observer | None = None,
    ) -> Any:
        """Select from columns that are read block by block.

        Parameters
        ----------
        columns : path, array, table, iterable of (name, column), or ColumnSource
            See ``open_columns``.
        y : array-like of shape (n_samples,), default=None
            None: the target that the source has among its columns.
        sample_weight : array-like of shape (n_samples,), default=None
        classes : array-like, default=None
            All classes there are, if y does not show each.
        observe : callable, default=None
            Called with a ``Progress`` after every block.

        Returns
        -------
        self : object

        Raises
        ------
        KeyboardInterrupt, DataError
            In mid-run: the estimator is fitted with what had been found by then.
        """
        self._check_request()
        source = open_columns(columns)
        labels = getattr(source, "y", None) if y is None else y
        if labels is None:
            raise ShortlistError(
                f"{source.name}: y should be given, or the target named (target=)"
            )
        codes, target = self._target(np.asarray(labels), classes)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(
                sample_weight, codes, dtype=np.float64, ensure_non_negative=True
            )
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)
        if getattr(source, "is_numbered", False) and source.n_columns is not None:
            self.n_features_in_ = source.n_columns
        self._run(source, Data.of(target, codes, sample_weight), observe)
        return self

    def add_columns(self, columns: Any, *, observe: Observer | None = None) -> Any:
        """Let more features arrive, on later days perhaps, for the same examples.

        They compete with the features that are in; those that left do not come back.
        After ``fit`` they become further columns of X: predictions then want them too.

        Parameters
        ----------
        columns : path, array, table, iterable of (name, column), or ColumnSource
            Rows in the same order as before.
        observe : callable, default=None
            Called with a ``Progress`` after every block.

        Returns
        -------
        self : object
        """
        check_is_fitted(self)
        if not hasattr(self, "_run_so_far"):
            raise ShortlistError("add_columns goes with n_workers=1 and threads")
        source = open_columns(columns)
        more = source
        if hasattr(self, "n_features_in_"):
            more = self._appended(source, columns)
        self._run_so_far.resume()
        try:
            self._publish(run_columns(self._run_so_far, more, observe))
        except (Broken, Interrupted) as stop:
            self._publish(stop.result)
            raise
        if isinstance(more, NumberedFrom):
            self.n_features_in_ += len(more.met)
            if hasattr(self, "feature_names_in_"):
                names = [*self.feature_names_in_, *more.met]
                self.feature_names_in_ = np.array(names, dtype=object)
        return self

    def _appended(self, source: ColumnSource, columns: Any) -> NumberedFrom:
        """Further columns of the table that was fitted."""
        known = getattr(self, "feature_names_in_", None)
        nameless = getattr(source, "is_numbered", False)
        if known is not None and nameless:
            raise ShortlistError("columns should have names, as those of X had")
        if known is None and is_table(columns):
            raise ShortlistError("columns should be an array, as X was one")
        names = "number" if known is None else "keep"
        taken = () if known is None else map(str, known)
        return NumberedFrom(source, self.n_features_in_, names, tuple(taken))

    def _run(self, source: Any, data: Data, observe: Observer | None) -> None:
        """Run over a source and publish what came of it."""
        request = self._request()
        if hasattr(self, "_run_so_far"):
            del self._run_so_far
        try:
            if self.n_workers == 1 and self.engine == "threads":
                self._run_so_far = Substitution(data, request)
                self._publish(run_columns(self._run_so_far, source, observe))
                return
            crew = (data, request, source, self.n_workers)
            shared: SharedSubstitution
            if self.engine == "ray":
                shared = ClusterSubstitution(
                    *crew, seed=self.seed, tau_max=self.tau_max
                )
            else:
                shared = SharedSubstitution(
                    *crew, seed=self.seed, staleness=self.staleness
                )
            self._publish(shared.run(observe))
        except (Broken, Interrupted) as stop:
            self._publish(stop.result)
            raise

    def _check_request(self) -> None:
        super()._check_request()
        least_of = {"n_workers": 1, "staleness": 0, "tau_max": 0, "seed": 0}
        for name, least in least_of.items():
            value = getattr(self, name)
            if value is None and name in ("staleness", "tau_max"):
                continue
            if not isinstance(value, Integral) or value < least:
                raise ShortlistError(
                    f"{name} should be a whole number from {least}, got {value!r}"
                )
        check_engine(self.engine, self.tau_max, self.staleness)

    def _request(self) -> Request:
        """Return what is asked for; bad settings raise."""
        return Request(
            self.k,
            self.eta,
            self.m,
            self.passes,
            self.exchange,
            self.standardize,
            self.refit,
            self.tol,
            self._names_of(self.always),
            self._names_of(self.never),
        )
