"""MTFS, RFS, ERFS and RK1U: GSR with exponents that others had before, by their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shortlist.table import _gsr_select as methods
from shortlist.table._gsr_estimators import RowSparse


class MTFS(RowSparse):
    """Select features by least squares with an l2,1 penalty (multi-task feature selection).

    :class:`GSR` with r = 2 and p = 1, a convex problem:

        min_W,b  sum_i ||x_i W + b - y_i||^2 + lam sum_j ||W_j||.

    Parameters
    ----------
    k : int, default=10
        The budget: features, or groups if ``feature_groups`` are given.
    lam, loss, intercept, max_iter, tol, drop, smoothing, feature_groups, always, never, \
standardize, fit_intercept, l2
        See :class:`GSR`.

    Attributes
    ----------
    shortlist_, selection_path_, r_, lam_, n_iter_, support_, ranking_, coef_, \
intercept_, classes_
        See :class:`GSR`.

    References
    ----------
    Obozinski, Taskar, Jordan. Multi-Task Feature Selection. Technical report, University
    of California, Berkeley, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.table import MTFS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 300))
    >>> Y = X[:, [7, 42]] @ [[1.0, 2.0], [-1.0, 1.0]] + 0.1 * rng.normal(size=(100, 2))
    >>> MTFS(k=2).fit(X, Y).get_feature_names_out()
    array(['x7', 'x42'], dtype=object)
    """

    capabilities = methods.MTFS

    def _exponents(self) -> tuple[float | str, float]:
        return 2.0, 1.0


class RFS(RowSparse):
    """Select features by an l2,1 loss with an l2,1 penalty (robust feature selection).

    :class:`GSR` with r = p = 1, a convex problem in which an outlier counts by its
    distance, not by the square of it:

        min_W,b  sum_i ||x_i W + b - y_i|| + lam sum_j ||W_j||.

    Parameters
    ----------
    k : int, default=10
        The budget: features, or groups if ``feature_groups`` are given.
    lam, loss, intercept, max_iter, tol, drop, smoothing, feature_groups, always, never, \
standardize, fit_intercept, l2
        See :class:`GSR`.

    Attributes
    ----------
    shortlist_, selection_path_, r_, lam_, n_iter_, support_, ranking_, coef_, \
intercept_, classes_
        See :class:`GSR`.

    Notes
    -----
    The paper's algorithm, which takes the residuals for unknowns and minimises under a
    constraint, ends at the same minimum.

    References
    ----------
    Nie, Huang, Cai, Ding. Efficient and Robust Feature Selection via Joint l2,1-Norms
    Minimization. NIPS 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.table import RFS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 50))
    >>> y = X[:, 7] - 2 * X[:, 42] + 0.1 * rng.normal(size=100)
    >>> y[:10] *= -5
    >>> RFS(k=2).fit(X, y).get_feature_names_out()
    array(['x7', 'x42'], dtype=object)
    """

    capabilities = methods.RFS

    def _exponents(self) -> tuple[float | str, float]:
        return 1.0, 1.0


class _WithPower(RowSparse):
    """A method with an exponent of its own."""

    def __init__(
        self,
        k: int = 10,
        *,
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
        self.p = p


class ERFS(_WithPower):
    """Select features by an l2,p loss with an l2,p penalty (extended RFS).

    :class:`GSR` with r = p,

        min_W,b  sum_i ||x_i W + b - y_i||^p + lam sum_j ||W_j||^p.

    Parameters
    ----------
    k : int, default=10
        The budget: features, or groups if ``feature_groups`` are given.
    p : float, default=0.5
        Both exponents, above 0 and at most 1; 1 is :class:`RFS`.
    lam, loss, intercept, max_iter, tol, drop, smoothing, feature_groups, always, never, \
standardize, fit_intercept, l2
        See :class:`GSR`.

    Attributes
    ----------
    shortlist_, selection_path_, r_, lam_, n_iter_, support_, ranking_, coef_, \
intercept_, classes_
        See :class:`GSR`.

    References
    ----------
    Wang, Chen. L2,p-Matrix Norm and Its Application in Feature Selection.
    arXiv:1303.3987, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.table import ERFS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 50))
    >>> y = X[:, 7] - 2 * X[:, 42] + 0.1 * rng.normal(size=100)
    >>> y[:10] *= -5
    >>> ERFS(k=2).fit(X, y).get_feature_names_out()
    array(['x7', 'x42'], dtype=object)
    """

    capabilities = methods.ERFS

    def _exponents(self) -> tuple[float | str, float]:
        return self.p, self.p


class RK1U(_WithPower):
    """Select features by least squares with an l2,p penalty, p below 1.

    :class:`GSR` with r = 2,

        min_W,b  sum_i ||x_i W + b - y_i||^2 + lam sum_j ||W_j||^p.

    Parameters
    ----------
    k : int, default=10
        The budget: features, or groups if ``feature_groups`` are given.
    p : float, default=0.5
        Exponent of the penalty, above 0 and at most 1.
    lam, loss, intercept, max_iter, tol, drop, smoothing, feature_groups, always, never, \
standardize, fit_intercept, l2
        See :class:`GSR`.

    Attributes
    ----------
    shortlist_, selection_path_, r_, lam_, n_iter_, support_, ranking_, coef_, \
intercept_, classes_
        See :class:`GSR`.

    Notes
    -----
    The problem is that of the paper, whose rank-one updates are named by RK1U; here it is
    solved as all of GSR's are.

    References
    ----------
    Zhang, Ding, Zhang, Nie. Feature Selection at the Discrete Limit. AAAI 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.table import RK1U
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 300))
    >>> Y = X[:, [7, 42]] @ [[1.0, 2.0], [-1.0, 1.0]] + 0.1 * rng.normal(size=(100, 2))
    >>> RK1U(k=2).fit(X, Y).get_feature_names_out()
    array(['x7', 'x42'], dtype=object)
    """

    capabilities = methods.RK1U

    def _exponents(self) -> tuple[float | str, float]:
        return 2.0, self.p
