"""Online Substitution as an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

from shortlist._protocols import Observer, ShortlistError
from shortlist._shortlist import Shortlist
from shortlist.columns._cluster import ClusterSubstitution, check_engine
from shortlist.columns._column_selector import ColumnSelector
from shortlist.columns._data import Data
from shortlist.columns._sharing import SharedSubstitution
from shortlist.columns._substitution import CAPABILITIES, Request


class OnlineSubstitution(ColumnSelector):
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
        "poisson". With more than two classes "logistic" means
        softmax, and the squared hinge is summed over each class against the rest.
    exchange : {"auto", "gradient", "exact"}, default="auto"
        How a newcomer and the others get their weights. "gradient": by the gradient
        steps of the paper. "exact": by least squares on all that are in and the
        newcomer, after which the feature goes that is cheapest to do without. It finds
        supports of strongly correlated columns that gradient steps miss. Losses other
        than the squared one, of one margin, are replaced by parabolas for that, block by
        block, and want one worker. "auto": exact where it can be, unless ``eta`` or ``m``
        are given or there are several workers.
    eta : float or "auto", default="auto"
        Length of a newcomer's gradient step. "auto": one over its own curvature.
    m : float or "auto", default="auto"
        Those that are in make steps of eta / m. "auto": the longest that are safe, by
        the largest eigenvalue of their Gram matrix.
    passes : int, default=4
        How often the columns are read, at most. Those of an iterator come once, and the
        result says so.
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
    are chosen by a loss other than the squared one. Exact exchanges are ours; for losses
    other than the squared one they depend, a little, on how features come in blocks.

    A column that is a copy of one that is in, but for its unit, does not come in. Several
    workers each look at those that they hold.

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

    def _choose(self, source: Any, data: Data, observe: Observer | None) -> Shortlist:
        if self._works_alone:
            return super()._choose(source, data, observe)
        crew = (data, self._request(), source, self.n_workers)
        shared: SharedSubstitution
        if self.engine == "ray":
            shared = ClusterSubstitution(*crew, seed=self.seed, tau_max=self.tau_max)
        else:
            shared = SharedSubstitution(*crew, seed=self.seed, staleness=self.staleness)
        return shared.run(observe)

    @property
    def _works_alone(self) -> bool:
        return self.n_workers == 1 and self.engine == "threads"

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
