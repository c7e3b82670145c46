"""HashedSGD as an estimator: it predicts, and does not select."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shortlist._online import OnlineLearner
from shortlist._online_selector import OnlineFitting
from shortlist.sketch._hashed import CAPABILITIES, HashedModel, hashed_sgd


class HashedSGD(OnlineFitting):
    """Learn from features without end by hashing them into buckets; no selector.

    Minimises the mean loss of a linear model with as many weights as there are buckets,

        min_w  (1/n) sum_i loss(y_i, sum_j w_h(j) s(j) x_ij + b),

    where h(j) is the bucket of feature j and s(j) = +-1. It is here as a peer of
    :class:`Mission` that is free to use all features: the accuracy to come near to. Which
    features matter it cannot say, since a bucket does not know who shares it; so it has no
    budget, no ``shortlist_``, no ``transform`` and no ``coef_``.

    Parameters
    ----------
    loss : str or loss, default="auto"
        "auto" looks at y; or "logistic", "softmax", "squared_hinge", "hinge", "squared",
        "huber", "epsilon_insensitive", "poisson", or a loss of your own. With more
        than two classes "logistic" means softmax, and hinges are summed over each class
        against the rest.
    memory : str or int, default="16MB"
        Size of all buckets ("16MB"), or how many there are. Less is used when the number
        of features is known and small.
    passes : int, default=1
        Passes over the data.
    log1p : bool, default=False
        Take sign(x) log(1 + |x|) of all values first; for counts.
    normalize : {None, "l2"}, default=None
        Scale rows to length 1 after that; for text.
    seed : int, default=0
        Seed of the hash function.

    Attributes
    ----------
    model_ : HashedModel
        The weights of the buckets, which predict blocks of rows.
    classes_ : ndarray
        Of a classifier.

    Notes
    -----
    Steps are those of gradient descent, damped where they would go too far; the learning
    rate is one over the mean squared norm of an example.

    References
    ----------
    Weinberger, Dasgupta, Langford, Smola, Attenberg. Feature Hashing for Large Scale
    Multitask Learning. ICML 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.sketch import HashedSGD
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 50))
    >>> y = X[:, 7] - 2 * X[:, 42] > 0
    >>> model = HashedSGD().fit(X[:900], y[:900])
    >>> model.score(X[900:], y[900:]) > 0.9
    True
    """

    capabilities = CAPABILITIES

    def __init__(
        self,
        *,
        loss: Any = "auto",
        memory: str | int = "16MB",
        passes: int = 1,
        log1p: bool = False,
        normalize: str | None = None,
        seed: int = 0,
    ) -> None:
        self.loss = loss
        self.memory = memory
        self.passes = passes
        self.log1p = log1p
        self.normalize = normalize
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Any:  # type: ignore[override]
        """Learn from a table.

        One pass of steps depends on the order of rows, so a row of weight 2 would not be
        the row twice: weights come with sources only.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : object
        """
        return super().fit(X, y)

    def partial_fit(  # type: ignore[override]
        self, X: Any, y: Any, classes: Sequence[Any] | None = None
    ) -> Any:
        """Learn from more examples; earlier ones are not needed again.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like, default=None
            All classes there will ever be. Needed in the first call, unless that call
            shows them all.

        Returns
        -------
        self : object
        """
        return super().partial_fit(X, y, classes)

    @property
    def _learned(self) -> HashedModel:
        return self.model_

    def _responding(self) -> HashedModel:
        return self.model_

    def _check_request(self) -> None:
        self._check_loss()

    def _publish(self, learned: HashedModel) -> None:
        self.model_ = learned
        if learned.classes is not None:
            self.classes_ = np.array(learned.classes)
        elif hasattr(self, "classes_"):
            del self.classes_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _learner(
        self,
        *,
        classes: Sequence[Any] | None = None,
        reiterable: bool = True,
        one_pass: bool = False,
    ) -> OnlineLearner:
        return hashed_sgd(
            loss=self.loss,
            classes=classes,
            memory=self.memory,
            passes=self.passes,
            log1p=self.log1p,
            normalize=self.normalize,
            seed=self.seed,
        )
