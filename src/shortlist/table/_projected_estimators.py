"""ProjectedGradient, ITI and PHT as estimators: one descent, three ways to take it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shortlist._targets import Target
from shortlist.table._gather import Table
from shortlist.table._projected import ProjectedSettings
from shortlist.table._projected_select import (
    ITI as ITI_CAPABILITIES,
)
from shortlist.table._projected_select import (
    PHT as PHT_CAPABILITIES,
)
from shortlist.table._projected_select import (
    PROJECTED_GRADIENT,
    projected_search,
)
from shortlist.table._selected import Search
from shortlist.table._table_selector import TableSelector


class _HardThresholding(TableSelector):
    """What the three have in common; see ProjectedGradient for the parameters."""

    n_iter_: int

    def __init__(
        self,
        k: int = 10,
        *,
        loss: Any = "auto",
        step: str = "normalized",
        step_size: float | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-6,
        feature_groups: Any = None,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        standardize: bool = True,
        fit_intercept: bool = True,
        l2: float | str = "auto",
    ) -> None:
        self.k = k
        self.loss = loss
        self.step = step
        self.step_size = step_size
        self.max_iter = max_iter
        self.tol = tol
        self.feature_groups = feature_groups
        self.always = always
        self.never = never
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.l2 = l2

    def _asked(self) -> dict[str, Any]:
        """Settings in which the three differ."""
        return {"refit": "every"}

    def _search(self) -> Search:
        settings = ProjectedSettings(
            self.k,
            step=self.step,
            step_size=self.step_size,
            max_iter=self.max_iter,
            tol=self.tol,
            **self._asked(),
        )
        return projected_search(self.capabilities, settings)

    def _finish(self, table: Table, target: Target, labels: np.ndarray) -> None:
        """Publish the result, and how many iterations it took."""
        super()._finish(table, target, labels)
        self.n_iter_ = len(self.shortlist_.trace["objective"]) - 1


class ProjectedGradient(_HardThresholding):
    """Select exactly k features from a table by projected gradient descent.

    Minimises a smooth convex loss of a linear model over supports of k,

        min_w  (1/n) sum_i loss(y_i, <w, x_i> + b) + (l2 / 2) ||w||^2,  ||w||_0 <= k,

    by gradient steps, after each of which only the k largest weights are kept. Also known
    as iterative hard thresholding (IHT).

    Parameters
    ----------
    k : int, default=10
        The budget: features, or groups if ``feature_groups`` are given.
    loss : str or loss, default="auto"
        "auto" looks at y; or "squared", "logistic", "softmax", "squared_hinge", "huber",
        "poisson". With more than two classes "logistic" means
        softmax, and the squared hinge is summed over each class against the rest.
    step : {"normalized", "fixed"}, default="normalized"
        Normalized steps are the best along the gradient on the present support, and are
        halved where the support changes until the objective falls: it never rises. Fixed
        steps are all ``step_size``.
    step_size : float or "auto", default="auto"
        Fixed step for standardised weights; "auto" is 1 / L, with L the largest curvature
        where the descent starts. Normalized steps do without.
    refit : {"never", "every", "end"}, default="end"
        When to minimise over the support: never, after each step (which makes it
        :class:`ITI`) or at the end.
    max_iter : int, default=300
        Largest number of steps.
    tol : float, default=1e-6
        Stop when the support stays and the objective falls by less, relatively.
    feature_groups : mapping or sequence, default=None
        Features that enter and leave together: ``{"sensor": ["x0", "x1"], ...}``, lists
        of features, or one label for each feature; k then counts groups.
    always, never : sequence of str or int, or mask, default=None
        Features (their groups, if there are any), by name, by number or by a mask of
        n_features booleans, to keep in any case and to leave out. Those kept count in k
        and are not penalised (but for 1e-10 of l2, so that there is a best weight even
        where they separate the classes).
    standardize : bool, default=True
        Step, compare and penalise weights in units of each column's standard deviation.
        The weights published are those of the columns as they are.
    fit_intercept : bool, default=True
    l2 : float or "auto", default="auto"
        Penalty of standardised weights: none for the squared loss; 5 / n for others,
        whose classes may be separable, with n the sum of the sample weights, or the
        number of those above 0 if that is more.

    Attributes
    ----------
    shortlist_ : Shortlist
        The result; ``shortlist_.trace["objective"]`` is the objective at the start and
        after each step.
    n_iter_ : int
        Number of steps.
    support_, ranking_, coef_, intercept_, classes_
        As in scikit-learn.

    Notes
    -----
    The result has k features whatever y is, unless fewer vary; where nothing is left to
    explain they are the first ones and have weight 0. It is the best point on the way,
    which fixed steps may leave again.

    Deviations from the paper: intercepts are minimised over after each step; any smooth
    loss, whose own second derivative takes the place of X'X; the step is halved where the
    objective has risen above its tangent by more than (1 - c) ||d||^2 / (2 step), which
    for least squares is the paper's condition; where Q is minimal on the support, the
    normalized step is that of the features that would come in.

    Of a softmax a feature has a weight for each class, and these come and go together.

    References
    ----------
    Blumensath, Davies. Iterative Hard Thresholding for Compressed Sensing. Appl. Comput.
    Harmon. Anal. 27(3), 2009.

    Blumensath, Davies. Normalized Iterative Hard Thresholding: Guaranteed Stability and
    Performance. IEEE J. Sel. Top. Signal Process. 4(2), 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.table import ProjectedGradient
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 1000))
    >>> y = X[:, 7] - 2 * X[:, 42] + 0.1 * rng.normal(size=100)
    >>> selector = ProjectedGradient(k=2).fit(X, y)
    >>> selector.get_feature_names_out()
    array(['x7', 'x42'], dtype=object)
    >>> bool(np.all(np.diff(selector.shortlist_.trace["objective"]) <= 0))
    True
    """

    capabilities = PROJECTED_GRADIENT

    def __init__(
        self,
        k: int = 10,
        *,
        loss: Any = "auto",
        step: str = "normalized",
        step_size: float | str = "auto",
        refit: str = "end",
        max_iter: int = 300,
        tol: float = 1e-6,
        feature_groups: Any = None,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        standardize: bool = True,
        fit_intercept: bool = True,
        l2: float | str = "auto",
    ) -> None:
        super().__init__(
            k,
            loss=loss,
            step=step,
            step_size=step_size,
            max_iter=max_iter,
            tol=tol,
            feature_groups=feature_groups,
            always=always,
            never=never,
            standardize=standardize,
            fit_intercept=fit_intercept,
            l2=l2,
        )
        self.refit = refit

    def _asked(self) -> dict[str, Any]:
        return {"refit": self.refit}


class ITI(_HardThresholding):
    """Select exactly k features by iterative thresholding with inversion.

    Minimises a smooth convex loss of a linear model over supports of k,

        min_w  (1/n) sum_i loss(y_i, <w, x_i> + b) + (l2 / 2) ||w||^2,  ||w||_0 <= k,

    by gradient steps, after each of which the k largest weights are kept and refitted.
    Also known as hard thresholding pursuit (HTP).

    Parameters
    ----------
    k : int, default=10
        The budget: features, or groups if ``feature_groups`` are given.
    loss, step, step_size, max_iter, tol, feature_groups, always, never, standardize, \
fit_intercept, l2
        See :class:`ProjectedGradient`.

    Attributes
    ----------
    shortlist_ : Shortlist
        The result; ``shortlist_.trace["objective"]`` is the objective at the start and
        after each step.
    n_iter_ : int
        Number of steps.
    support_, ranking_, coef_, intercept_, classes_
        As in scikit-learn.

    Notes
    -----
    Refits are exact for every loss (the paper has least squares), so the descent ends
    as soon as the support stays. Normalized steps keep it from going round in circles,
    which fixed ones may; see :class:`ProjectedGradient` for these and other deviations.

    References
    ----------
    Maleki. Coherence Analysis of Iterative Thresholding Algorithms. Allerton Conference
    on Communication, Control, and Computing, 2009.

    Foucart. Hard Thresholding Pursuit: An Algorithm for Compressive Sensing. SIAM J.
    Numer. Anal. 49(6), 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.table import ITI
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 1000))
    >>> y = X[:, 7] - 2 * X[:, 42] + 0.1 * rng.normal(size=100)
    >>> ITI(k=2).fit(X, y).get_feature_names_out()
    array(['x7', 'x42'], dtype=object)
    """

    capabilities = ITI_CAPABILITIES


class PHT(_HardThresholding):
    """Select exactly k features by partial hard thresholding.

    Minimises a smooth convex loss of a linear model over supports of k,

        min_w  (1/n) sum_i loss(y_i, <w, x_i> + b) + (l2 / 2) ||w||^2,  ||w||_0 <= k,

    by gradient steps, after each of which at most ``exchange`` features of the support
    are replaced by larger ones from outside, and the support is refitted.

    Parameters
    ----------
    k : int, default=10
        The budget: features, or groups if ``feature_groups`` are given.
    exchange : int, default=1
        How many features (or groups) a step may replace: 1 is orthogonal matching
        pursuit with replacement, k or more is :class:`ITI`.
    loss, step, step_size, max_iter, tol, feature_groups, always, never, standardize, \
fit_intercept, l2
        See :class:`ProjectedGradient`.

    Attributes
    ----------
    shortlist_ : Shortlist
        The result; ``shortlist_.trace["objective"]`` is the objective at the start and
        after each step.
    n_iter_ : int
        Number of steps.
    support_, ranking_, coef_, intercept_, classes_
        As in scikit-learn.

    Notes
    -----
    The first step chooses all k at once, by the gradient where nothing is selected: the
    paper starts anywhere. See :class:`ProjectedGradient` for other deviations.

    References
    ----------
    Jain, Tewari, Dhillon. Partial Hard Thresholding. IEEE Trans. Inf. Theory 63(5), 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.table import PHT
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 1000))
    >>> y = X[:, 7] - 2 * X[:, 42] + 0.1 * rng.normal(size=100)
    >>> PHT(k=2, exchange=1).fit(X, y).get_feature_names_out()
    array(['x7', 'x42'], dtype=object)
    """

    capabilities = PHT_CAPABILITIES

    def __init__(
        self,
        k: int = 10,
        *,
        exchange: int = 1,
        loss: Any = "auto",
        step: str = "normalized",
        step_size: float | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-6,
        feature_groups: Any = None,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        standardize: bool = True,
        fit_intercept: bool = True,
        l2: float | str = "auto",
    ) -> None:
        super().__init__(
            k,
            loss=loss,
            step=step,
            step_size=step_size,
            max_iter=max_iter,
            tol=tol,
            feature_groups=feature_groups,
            always=always,
            never=never,
            standardize=standardize,
            fit_intercept=fit_intercept,
            l2=l2,
        )
        self.exchange = exchange

    def _asked(self) -> dict[str, Any]:
        return {"refit": "every", "exchange": self.exchange}
