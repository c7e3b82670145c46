"""Peers of BARDA as estimators: OFS, SOFS, L1ARDA, AdaFobos."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shortlist._class_weight import ClassWeight
from shortlist.rows._methods import ADAFOBOS as _ADAFOBOS
from shortlist.rows._methods import L1ARDA as _L1ARDA
from shortlist.rows._methods import OFS as _OFS
from shortlist.rows._methods import SOFS as _SOFS
from shortlist.rows._selector import RowsSelector


class OFS(RowsSelector):
    """Select by gradient steps, after each of which the k largest weights stay.

        w = (1 - eta lam) w - eta g, within the ball of radius 1 / sqrt(lam); the k
        largest |w| stay.

    Parameters
    ----------
    k : int, default=10
        The budget: at most this many features (for each class, if there are more than
        two, unless ``budget="shared"``).
    eta : float, default=0.2
        Length of steps.
    lam : float, default=0.01
        Ridge on the weights; 0 for no ridge and no ball.
    loss, refit, budget, passes, log1p, normalize, class_weight, always, never, \
feature_groups
        See :class:`BARDA`; for two classes
        "auto" means the hinge here.

    Attributes
    ----------
    shortlist_ : Shortlist
        The result: names, weights and scores of the chosen features. Its trace has the
        weights of the stream and who was a member from when to when.
    support_, ranking_, coef_, intercept_, classes_
        As in scikit-learn; the first three only where the number of features allows.

    Notes
    -----
    For numbers to predict, whose slopes have no bound, steps are damped by the curvature
    along the example, and the ball is in units of the slopes of the first examples.

    References
    ----------
    Wang, Zhao, Hoi, Jin. Online Feature Selection and Its Applications. IEEE TKDE 26(3),
    2014.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.rows import OFS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 100)) * (rng.random((500, 100)) < 0.1)
    >>> X[:, [7, 42]] = rng.normal(size=(500, 2))
    >>> y = X[:, 7] - 2 * X[:, 42] > 0
    >>> OFS(k=2, normalize=None).fit(X, y).get_feature_names_out()
    array(['x7', 'x42'], dtype=object)
    """

    capabilities = _OFS

    def __init__(
        self,
        k: int = 10,
        *,
        eta: float = 0.2,
        lam: float = 0.01,
        loss: Any = "auto",
        refit: bool = True,
        budget: str = "per_class",
        passes: int = 1,
        log1p: bool = False,
        normalize: str | None = "l2",
        class_weight: ClassWeight = None,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        feature_groups: None = None,
    ) -> None:
        super().__init__(
            k,
            loss=loss,
            refit=refit,
            budget=budget,
            passes=passes,
            log1p=log1p,
            normalize=normalize,
            class_weight=class_weight,
            always=always,
            never=never,
            feature_groups=feature_groups,
        )
        self.eta = eta
        self.lam = lam


class SOFS(RowsSelector):
    """Select the features whose weights are most certain, by a second-order method.

    Diagonal AROW: Sigma is the variance of each weight, and an example with a loss moves

        w += loss' Sigma x / (x' Sigma x + gamma),   1 / Sigma += x^2 / gamma;

    the k features with the smallest Sigma keep their weights. These are the ones that
    were seen most, whether or not they matter: it is here to compare with.

    Parameters
    ----------
    k : int, default=10
        The budget: at most this many features (for each class, if there are more than
        two, unless ``budget="shared"``).
    gamma : float, default=1.0
        How little an example counts.
    loss, refit, budget, passes, log1p, normalize, class_weight, always, never, \
feature_groups
        See :class:`BARDA`.

    Attributes
    ----------
    shortlist_ : Shortlist
        The result: names, weights and scores of the chosen features. Its trace has the
        weights of the stream and who was a member from when to when.
    support_, ranking_, coef_, intercept_, classes_
        As in scikit-learn; the first three only where the number of features allows.

    Notes
    -----
    For losses other than the squared hinge and the square the step is the implicit one,
    which for these two is AROW's, and 1 / Sigma grows by the curvature of the loss.

    References
    ----------
    Wu, Hoi, Mei, Yu. Large-Scale Online Feature Selection for Ultra-High Dimensional
    Sparse Data. ACM TKDD 11(4), 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.rows import SOFS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 100)) * (rng.random((500, 100)) < 0.1)
    >>> X[:, [7, 42]] = rng.normal(size=(500, 2))
    >>> y = X[:, 7] - 2 * X[:, 42] > 0
    >>> SOFS(k=2).fit(X, y).get_feature_names_out()
    array(['x7', 'x42'], dtype=object)
    """

    capabilities = _SOFS

    def __init__(
        self,
        k: int = 10,
        *,
        gamma: float = 1.0,
        loss: Any = "auto",
        refit: bool = True,
        budget: str = "per_class",
        passes: int = 1,
        log1p: bool = False,
        normalize: str | None = "l2",
        class_weight: ClassWeight = None,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        feature_groups: None = None,
    ) -> None:
        super().__init__(
            k,
            loss=loss,
            refit=refit,
            budget=budget,
            passes=passes,
            log1p=log1p,
            normalize=normalize,
            class_weight=class_weight,
            always=always,
            never=never,
            feature_groups=feature_groups,
        )
        self.gamma = gamma


class L1ARDA(RowsSelector):
    """Dual averaging with an l1 penalty; of the weights it leaves the k largest count.

        w = -eta sign(G) max(0, |G| - lam t) / H,   as many as there are.

    Parameters
    ----------
    k : int, default=10
        The budget: at most this many features (for each class, if there are more than
        two, unless ``budget="shared"``).
    eta : float, default=0.3
        Length of steps: the one setting that matters.
    lam : float, default=0.001
        The l1 penalty, for each example.
    delta : float, default=0.01
        What H begins at.
    forget : float, default=None
        Share of the past that is left after each example, such as 0.9999, for data that
        drift; None forgets nothing.
    loss, refit, budget, passes, log1p, normalize, class_weight, always, never, \
feature_groups
        See :class:`BARDA`.

    Attributes
    ----------
    shortlist_ : Shortlist
        The result: names, weights and scores of the chosen features. Its trace has the
        weights of the stream.
    support_, ranking_, coef_, intercept_, classes_
        As in scikit-learn; the first three only where the number of features allows.

    Notes
    -----
    The budget is no part of the method: while it learns there may be any number of
    weights, of which the k largest are published, and refitted. Without a refit they
    predict as if the others had never been there.

    References
    ----------
    Duchi, Hazan, Singer. Adaptive Subgradient Methods for Online Learning and Stochastic
    Optimization. JMLR 12, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.rows import L1ARDA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 100))
    >>> y = X[:, 7] - 2 * X[:, 42] > 0
    >>> L1ARDA(k=2).fit(X, y).get_feature_names_out()
    array(['x7', 'x42'], dtype=object)
    """

    capabilities = _L1ARDA

    def __init__(
        self,
        k: int = 10,
        *,
        eta: float = 0.3,
        lam: float = 0.001,
        delta: float = 0.01,
        forget: float | None = None,
        loss: Any = "auto",
        refit: bool = True,
        budget: str = "per_class",
        passes: int = 1,
        log1p: bool = False,
        normalize: str | None = "l2",
        class_weight: ClassWeight = None,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        feature_groups: None = None,
    ) -> None:
        super().__init__(
            k,
            loss=loss,
            refit=refit,
            budget=budget,
            passes=passes,
            log1p=log1p,
            normalize=normalize,
            class_weight=class_weight,
            always=always,
            never=never,
            feature_groups=feature_groups,
        )
        self.eta = eta
        self.lam = lam
        self.delta = delta
        self.forget = forget


class AdaFobos(RowsSelector):
    """Adaptive steps that are followed by shrinking; the k largest weights count.

        v = w - eta g / H,   w = sign(v) max(0, |v| - eta lam / H),   at every example.

    Parameters
    ----------
    k : int, default=10
        The budget: at most this many features (for each class, if there are more than
        two, unless ``budget="shared"``).
    eta : float, default=0.3
        Length of steps: the one setting that matters.
    lam : float, default=0.001
        The l1 penalty, for each example.
    delta : float, default=0.01
        What H begins at.
    loss, refit, budget, passes, log1p, normalize, class_weight, always, never, \
feature_groups
        See :class:`BARDA`.

    Attributes
    ----------
    shortlist_ : Shortlist
        The result: names, weights and scores of the chosen features. Its trace has the
        weights of the stream.
    support_, ranking_, coef_, intercept_, classes_
        As in scikit-learn; the first three only where the number of features allows.

    Notes
    -----
    As for :class:`L1ARDA`.

    References
    ----------
    Duchi, Hazan, Singer. Adaptive Subgradient Methods for Online Learning and Stochastic
    Optimization. JMLR 12, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.rows import AdaFobos
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 100))
    >>> y = X[:, 7] - 2 * X[:, 42] > 0
    >>> AdaFobos(k=2).fit(X, y).get_feature_names_out()
    array(['x7', 'x42'], dtype=object)
    """

    capabilities = _ADAFOBOS

    def __init__(
        self,
        k: int = 10,
        *,
        eta: float = 0.3,
        lam: float = 0.001,
        delta: float = 0.01,
        loss: Any = "auto",
        refit: bool = True,
        budget: str = "per_class",
        passes: int = 1,
        log1p: bool = False,
        normalize: str | None = "l2",
        class_weight: ClassWeight = None,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        feature_groups: None = None,
    ) -> None:
        super().__init__(
            k,
            loss=loss,
            refit=refit,
            budget=budget,
            passes=passes,
            log1p=log1p,
            normalize=normalize,
            class_weight=class_weight,
            always=always,
            never=never,
            feature_groups=feature_groups,
        )
        self.eta = eta
        self.lam = lam
        self.delta = delta
