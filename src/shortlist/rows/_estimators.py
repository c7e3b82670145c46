"""BARDA and BAMD as estimators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shortlist._class_weight import ClassWeight
from shortlist.rows._methods import BAMD as _BAMD
from shortlist.rows._methods import BARDA as _BARDA
from shortlist.rows._selector import RowsSelector


class _Adaptive(RowsSelector):
    """Settings that the two methods of the paper share."""

    def __init__(
        self,
        k: int = 10,
        *,
        eta: float = 0.3,
        lam: float = 0.0,
        delta: float = 0.01,
        forget: float | None = None,
        truncation: str = "paper",
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
        self.truncation = truncation


class BARDA(_Adaptive):
    """Select by dual averaging with a budget, from examples that come one by one.

    B-ARDA: sums G of gradients and H = delta + sqrt(sum of squared gradients) are kept of
    every feature; after each example

        z = -eta G / (lam eta t + H),   w = z where H z^2 is among the k largest, else 0.

    The k largest are exact at every step, at a cost that does not grow with the number of
    features.

    Parameters
    ----------
    k : int, default=10
        The budget: at most this many features (for each class, if there are more than
        two, unless ``budget="shared"``).
    eta : float, default=0.3
        Length of steps: the one setting that matters.
    lam : float, default=0.0
        Ridge on the weights.
    delta : float, default=0.01
        What H begins at.
    forget : float, default=None
        Share of the past that is left after each example, such as 0.9999, for data that
        drift; None forgets nothing.
    truncation : {"paper", "naive"}, default="paper"
        "naive" keeps the largest |z|, as the paper advises against.
    loss : str or loss, default="auto"
        "auto" looks at y: squared hinge for classes, squared for numbers; or "logistic",
        "softmax", "squared_hinge", "hinge", "squared", "huber", "epsilon_insensitive",
        "poisson", or a loss of your own. With more than two classes the hinges are of
        each class against the rest ("squared_hinge_ovr", "hinge_ovr"), "logistic" means
        softmax, and "logistic_ovr" is there, too.
    refit : bool, default=True
        Fit the weights of the features chosen again, exactly while they are few; the
        weights of the stream are then in the trace. Needs data that can be read again;
        ``partial_fit``, ``learn_one`` and pipes do without.
    budget : {"per_class", "shared"}, default="per_class"
        With more than two classes: k features for each class, or k in all.
    passes : int, default=1
        Passes over the data before the refit.
    log1p : bool, default=False
        Take sign(x) log(1 + |x|) of all values first; for counts.
    normalize : {"l2", None}, default="l2"
        Scale rows to length 1 after that. The steps that are right by default are so for
        rows of about this length.
    class_weight : {None, "balanced"} or mapping of class to float, default=None
        Importance of examples by their class; "balanced" makes all classes weigh the
        same.
    always, never : sequence of str or int, default=None
        Features, by name or number, to publish in any case (they count in k; without a
        refit their weight is 0 unless they were members) and to leave out.
    feature_groups : None
        Not supported by this selector.

    Attributes
    ----------
    shortlist_ : Shortlist
        The result: names, weights and scores of the chosen features. Its trace has the
        weights of the stream (``online_ids``, ``online_weights``), the truncation error
        (``xi``, after ``xi_rows`` examples) and who was a member from when to when
        (``stay_ids``, ``stay_entered``, ``stay_left``), with names of the longest that
        left (``left_ids``, ``left_names``).
    support_, ranking_, coef_, intercept_, classes_
        As in scikit-learn; the first three only where the number of features allows.

    Notes
    -----
    Losses have the factor 1/2 that the squared hinge of the paper lacks, so ``lam`` and
    ``delta`` of the paper are twice those here. There is a bias. For numbers to predict,
    gradients and weights are in units of the slopes of the first examples, so that eta
    needs no unit. With ``forget`` the time t is discounted like the sums.

    Several classes have weights, and a budget, of their own: each learns, by the squared
    hinge, to be told from the rest, just as it would alone. Softmax, which was the other
    choice, was less accurate (``papers/barda``); ``loss="softmax"`` is for whom wants
    probabilities.

    Memory grows with the number of different features, about 80 bytes each;
    :class:`Mission` has no such need.

    References
    ----------
    Zhai, Wang, Koriche, Gao. Online Feature Selection by Adaptive Sub-gradient Methods.
    ECML PKDD 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.rows import BARDA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 100))
    >>> y = X[:, 7] - 2 * X[:, 42] > 0
    >>> BARDA(k=2).fit(X, y).get_feature_names_out()
    array(['x7', 'x42'], dtype=object)
    """

    capabilities = _BARDA


class BAMD(_Adaptive):
    """Select by mirror descent with a budget, from examples that come one by one.

    B-AMD: with H = delta + sqrt(sum of squared gradients), after each example

        z = w - eta (g + lam w) / H,   w = z where H |z| is among the k largest, else 0.

    A feature that is not kept starts anew when it comes again; :class:`BARDA` remembers.

    Parameters
    ----------
    k : int, default=10
        The budget: at most this many features (for each class, if there are more than
        two, unless ``budget="shared"``).
    eta : float, default=0.3
        Length of steps: the one setting that matters.
    lam : float, default=0.0
        Ridge on the weights.
    delta : float, default=0.01
        What H begins at.
    forget : float, default=None
        Share of H that is left after each example, for data that drift.
    truncation : {"paper", "naive"}, default="paper"
        "naive" keeps the largest |z|.
    loss, refit, budget, passes, log1p, normalize, class_weight, always, never, \
feature_groups
        See :class:`BARDA`.

    Attributes
    ----------
    shortlist_ : Shortlist
        The result: names, weights and scores of the chosen features. Its trace has the
        weights of the stream (``online_ids``, ``online_weights``), the truncation error
        (``xi``, after ``xi_rows`` examples) and who was a member from when to when
        (``stay_ids``, ``stay_entered``, ``stay_left``).
    support_, ranking_, coef_, intercept_, classes_
        As in scikit-learn; the first three only where the number of features allows.

    Notes
    -----
    As for :class:`BARDA`. The truncation error in the trace is the mean of the examples
    since the one noted before.

    References
    ----------
    Zhai, Wang, Koriche, Gao. Online Feature Selection by Adaptive Sub-gradient Methods.
    ECML PKDD 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.rows import BAMD
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 100)) * (rng.random((500, 100)) < 0.1)
    >>> X[:, [7, 42]] = rng.normal(size=(500, 2))
    >>> y = X[:, 7] - 2 * X[:, 42] > 0
    >>> BAMD(k=2, passes=5).fit(X, y).get_feature_names_out()
    array(['x7', 'x42'], dtype=object)
    """

    capabilities = _BAMD
