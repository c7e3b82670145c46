"""SGDIHT and BatchIHT as estimators: one thresholding, after each example or each batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shortlist._class_weight import ClassWeight
from shortlist._online import OnlineLearner
from shortlist._online_selector import OnlineSelector
from shortlist.sketch._iht import BATCH, BATCH_IHT, SGD_IHT, iht


class SGDIHT(OnlineSelector):
    """Select by stochastic gradient steps that keep only the largest weights.

    Minimises the mean loss of a linear model with at most k weights,

        min_w  (1/n) sum_i loss(y_i, <w, x_i> + b)   subject to  ||w||_0 <= k,

    with weights for the features that are kept and for no others: after each example its
    features compete with them, and what loses is forgotten. It is here as a peer of
    :class:`Mission`, which remembers.

    Parameters
    ----------
    k : int, default=10
        The budget: at most this many features (for each class, if there are more than
        two, unless ``budget="shared"``).
    loss : str or loss, default="auto"
        "auto" looks at y; or "logistic", "softmax", "squared_hinge", "hinge", "squared",
        "huber", "epsilon_insensitive", "poisson", or a loss of your own. With more
        than two classes "logistic" means softmax, and hinges are summed over each class
        against the rest.
    memory : str or int, default="16MB"
        Room for the weights that are kept and the gradient of an example. An example
        with more features than that is refused.
    recipe : {"auto", "refit", "paper"}, default="auto"
        "refit": keep max(1024, 4k) features in the first pass, refit exactly on them, cut
        to k by weight over error and refit again; needs data that can be read again.
        "paper": keep k, by plain gradient steps, and publish the weights these lead to.
        "auto": "refit" where possible, and "paper" in ``partial_fit`` and for streams.
    budget : {"per_class", "shared"}, default="per_class"
        With more than two classes: k features for each class, or k in all.
    passes : int, default=1
        Passes over the data before the refit.
    log1p : bool, default=False
        Take sign(x) log(1 + |x|) of all values first; for counts.
    normalize : {None, "l2"}, default=None
        Scale rows to length 1 after that; for text.
    class_weight : {None, "balanced"} or mapping of class to float, default=None
        Importance of examples by their class; "balanced" makes all classes weigh the
        same.
    always, never : sequence of str or int, default=None
        Features, by name or number, to publish in any case (they count in k; with
        ``recipe="paper"`` their weight is 0 unless they were kept) and to leave out.
    feature_groups : None
        Not supported by this selector.

    Attributes
    ----------
    shortlist_ : Shortlist
        The result: names, weights and scores of the chosen features.
    support_, ranking_, coef_, intercept_, classes_
        As in scikit-learn; the first three only where the number of features allows.

    Notes
    -----
    The learning rate is one over the mean squared norm of an example, as for
    ``Mission(recipe="paper")``. With ``recipe="refit"`` steps are damped where they would
    go too far, so that no loss needs a rate of its own.

    References
    ----------
    Blumensath, Davies. Iterative Hard Thresholding for Compressed Sensing. Appl. Comput.
    Harmon. Anal. 27(3), 2009.

    Aghazadeh, Spring, LeJeune, Dasarathy, Shrivastava, Baraniuk. MISSION: Ultra
    Large-Scale Feature Selection using Count-Sketches. ICML 2018, section 6.1.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.sketch import SGDIHT
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 1000))
    >>> y = X[:, 7] - 2 * X[:, 42] > 0
    >>> SGDIHT(k=2).fit(X, y).get_feature_names_out()
    array(['x7', 'x42'], dtype=object)
    """

    capabilities = SGD_IHT

    def __init__(
        self,
        k: int = 10,
        *,
        loss: Any = "auto",
        memory: str | int = "16MB",
        recipe: str = "auto",
        budget: str = "per_class",
        passes: int = 1,
        log1p: bool = False,
        normalize: str | None = None,
        class_weight: ClassWeight = None,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        feature_groups: None = None,
    ) -> None:
        self.k = k
        self.loss = loss
        self.memory = memory
        self.recipe = recipe
        self.budget = budget
        self.passes = passes
        self.log1p = log1p
        self.normalize = normalize
        self.class_weight = class_weight
        self.always = always
        self.never = never
        self.feature_groups = feature_groups

    def _batch(self) -> int:
        """Examples between two cuts."""
        return 1

    def _learner(
        self,
        *,
        classes: Sequence[Any] | None = None,
        reiterable: bool = True,
        one_pass: bool = False,
    ) -> OnlineLearner:
        return iht(
            self.capabilities,
            self.k,
            batch=self._batch(),
            loss=self.loss,
            classes=classes,
            memory=self.memory,
            recipe="paper" if one_pass and self.recipe == "auto" else self.recipe,
            budget=self.budget,
            passes=self.passes,
            log1p=self.log1p,
            normalize=self.normalize,
            class_weight=self.class_weight,
            always=self._names_of(self.always),
            never=self._names_of(self.never),
            reiterable=reiterable,
        )


class BatchIHT(SGDIHT):
    """Select by gradient steps, of which the largest weights outlast a batch.

    Minimises the mean loss of a linear model with at most k weights,

        min_w  (1/n) sum_i loss(y_i, <w, x_i> + b)   subject to  ||w||_0 <= k,

    by gradient steps on exact weights of all features that come by, until a batch ends;
    then all but the largest are forgotten.

    Parameters
    ----------
    k : int, default=10
        The budget: at most this many features (for each class, if there are more than
        two, unless ``budget="shared"``).
    batch : int, default=1000
        Examples in a batch. It ends earlier when ``memory`` is full.
    memory : str or int, default="16MB"
        Room for the weights that are kept and the gradient of a batch.
    loss, recipe, budget, passes, log1p, normalize, class_weight, always, never, \
feature_groups
        See :class:`SGDIHT`.

    Attributes
    ----------
    shortlist_ : Shortlist
        The result: names, weights and scores of the chosen features.
    support_, ranking_, coef_, intercept_, classes_
        As in scikit-learn; the first three only where the number of features allows.

    Notes
    -----
    The paper gives Batch IHT three words: accumulate, sort, prune. Read here as steps that
    gather in a table and count in the margins at once, so that a batch of any length is as
    stable as its examples; with frozen margins the sum of a long batch goes much too far,
    and its mean almost nowhere where features are rare. A batch that the data leave
    unfinished counts as it is.

    References
    ----------
    Aghazadeh, Spring, LeJeune, Dasarathy, Shrivastava, Baraniuk. MISSION: Ultra
    Large-Scale Feature Selection using Count-Sketches. ICML 2018, section 6.1.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.sketch import BatchIHT
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 1000))
    >>> y = X[:, 7] - 2 * X[:, 42] > 0
    >>> BatchIHT(k=2, batch=100).fit(X, y).get_feature_names_out()
    array(['x7', 'x42'], dtype=object)
    """

    capabilities = BATCH_IHT

    def __init__(
        self,
        k: int = 10,
        *,
        batch: int = BATCH,
        loss: Any = "auto",
        memory: str | int = "16MB",
        recipe: str = "auto",
        budget: str = "per_class",
        passes: int = 1,
        log1p: bool = False,
        normalize: str | None = None,
        class_weight: ClassWeight = None,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        feature_groups: None = None,
    ) -> None:
        super().__init__(
            k,
            loss=loss,
            memory=memory,
            recipe=recipe,
            budget=budget,
            passes=passes,
            log1p=log1p,
            normalize=normalize,
            class_weight=class_weight,
            always=always,
            never=never,
            feature_groups=feature_groups,
        )
        self.batch = batch

    def _batch(self) -> int:
        return self.batch
