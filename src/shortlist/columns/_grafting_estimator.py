"""Grafting as an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shortlist.columns._column_selector import ColumnSelector
from shortlist.columns._grafting import CAPABILITIES, GraftingRequest


class Grafting(ColumnSelector):
    """Select features that arrive one by one, under an l1 penalty.

    Minimises a smooth loss of a linear model and the size of its weights,

        min_w  (1/n) sum_i loss(y_i, <w, x_i> + b) + lam ||w||_1.

    A feature that arrives comes in if the loss falls faster along it than the penalty
    rises. The weights of all that are in are then optimised; those that become 0 leave.

    Parameters
    ----------
    k : int, default=10
        The budget. While more features than that would be in, the penalty rises.
    loss : str or loss, default="auto"
        "auto" looks at y; or "squared", "logistic", "softmax", "squared_hinge", "huber",
        "poisson". "logistic" with more than two classes means softmax.
    lam : float, default=0.0
        The penalty to begin with, of weights of standardised columns. 0: hardly any, so
        that the budget decides; for losses other than the squared one there is then a
        small ridge as well, as classes may be separable.
    passes : int, default=4
        How often the columns are read, at most. Those of an iterator come once.
    standardize : bool, default=True
        Penalise weights in units of each column's standard deviation. The weights
        published are those of the columns as they are.
    refit : bool, default=True
        Publish weights without the penalty, for which the loss is smallest given the
        support.
    tol : float, default=1e-4
        Stop after a pass in which no feature came in and the loss fell by no more than
        this share.
    always, never : sequence of str or int, default=None
        Features, by name or number, to keep in any case (they count in k, and are not
        penalised) and to leave out.
    feature_groups : None
        This selector knows no groups.

    Attributes
    ----------
    shortlist_ : Shortlist
        The result. Its trace says which features entered when, and which left; its
        params say what the penalty was in the end.
    support_, ranking_, coef_, intercept_, classes_
        As in scikit-learn.

    Notes
    -----
    After a pass in which no feature came in, the weights are those of the Lasso (or of
    its like for other losses) on all features, at the penalty of the end. One pass alone
    gives those of the Lasso on the features that are in.

    Deviation from the paper: the budget, for which the penalty rises. Columns are centred,
    as there is an intercept. The paper optimises by conjugate gradients, this does so by
    coordinate descent on parabolas that touch the loss.

    A fitted selector holds on to the columns that are in, for ``add_columns``.

    References
    ----------
    Perkins, Theiler. Online Feature Selection using Grafting. ICML 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.columns import Grafting
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 50))
    >>> y = X[:, 7] - 2 * X[:, 42] + 0.1 * rng.normal(size=100)
    >>> selector = Grafting(k=20, lam=0.3).fit(X, y)
    >>> selector.get_support(indices=True).tolist()
    [7, 42]
    """

    capabilities = CAPABILITIES

    def __init__(
        self,
        k: int = 10,
        *,
        loss: Any = "auto",
        lam: float = 0.0,
        passes: int = 4,
        standardize: bool = True,
        refit: bool = True,
        tol: float = 1e-4,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        feature_groups: None = None,
    ) -> None:
        self.k = k
        self.loss = loss
        self.lam = lam
        self.passes = passes
        self.standardize = standardize
        self.refit = refit
        self.tol = tol
        self.always = always
        self.never = never
        self.feature_groups = feature_groups

    def _request(self) -> GraftingRequest:
        """Return what is asked for; bad settings raise."""
        return GraftingRequest(
            self.k,
            self.lam,
            self.passes,
            self.standardize,
            self.refit,
            self.tol,
            self._names_of(self.always),
            self._names_of(self.never),
        )
