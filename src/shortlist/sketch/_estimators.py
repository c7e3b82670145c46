"""Estimators of the sketch room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shortlist._class_weight import ClassWeight
from shortlist._online import OnlineLearner
from shortlist.sketch._mission import CAPABILITIES, mission
from shortlist.sketch._sharding import Sharding
from shortlist.sources.pairs import Interactions

#: Recipes that ``partial_fit`` cannot follow.
_SEVERAL = ("auto", "refit")


class Mission(Sharding):
    """Select from features without end, in a fixed amount of memory.

    Minimises the mean loss of a linear model with at most k weights,

        min_w  (1/n) sum_i loss(y_i, <w, x_i> + b)   subject to  ||w||_0 <= k,

    with the weights of all features held in a Count-Sketch while the examples stream by.

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
        Size of the sketch with its candidates ("16MB"), or a number of cells, or how
        far off an estimate may be, as a percentage of the length of all weights
        together, one time in a hundred ("1%"). Less is used when the number of features
        is known and small.
    rows : int, default=3
        Rows of the sketch: odd, at most 9.
    recipe : {"auto", "refit", "newton", "shards", "paper"}, default="auto"
        "refit": over-select in the first pass, refit exactly on the candidates, cut to k
        by weight over error and refit again; needs data that can be read again. Beyond
        65,536 rows the refits stream, too, and rows set apart for it may find that weights
        below a few errors are better made smaller (``params["doubt"]``). "newton":
        one pass of diagonal Newton steps. "shards": the same steps, stored so that runs on
        parts of the data can be added up (``branch``, ``merge``); takes half as much memory
        again. "paper": the algorithm of the paper to the letter, plain gradient steps with
        margins from the current top k. "auto": "refit" where possible, and "newton" in
        ``partial_fit`` and for streams.
    budget : {"per_class", "shared"}, default="per_class"
        With more than two classes: k features for each class, or k in all.
    passes : int, default=1
        Passes over the data before the refit.
    log1p : bool, default=False
        Take sign(x) log(1 + |x|) of all values first; for counts.
    normalize : {None, "l2"}, default=None
        Scale rows to length 1 after that; for text.
    scale : {"auto", "max_abs", None}, default="auto"
        "max_abs": learn in units in which the largest value of each feature so far is 1,
        however it is measured; weights in the result are of values as they come. These
        maxima are hashed, too, and count in ``memory``. None: as the values are. "auto":
        "max_abs" if the first rows show features in very different units, as years beside
        categories are; words, pixels or clicks are learned from better as they come. The
        result says which it was. ``partial_fit`` takes "auto" for None, as its first call
        may be a single row; ``recipe="paper"`` knows no scales.
    class_weight : {None, "balanced"} or mapping of class to float, default=None
        Importance of examples by their class; "balanced" makes all classes weigh the
        same.
    interactions : {None, 2} or sequence of str, default=None
        2: the product of any two features of a row is a feature as well, named ``a*b``.
        ``["user*ad"]``: only of a feature in the namespace user and one in ad, where the
        data are Vowpal Wabbit text. Pairs are made on the fly and held in the sketch as
        all others.
    sketch : {"count", "identity"}, default="count"
        With ``recipe="paper"``: "identity" holds exact weights, in an array or, where
        the number of features is not known or large, in a table with as much room as
        ``memory`` gives; more features than that are refused.
    gamma : float, default=None
        With ``recipe="paper"``: factor between 0 and 1 of all weights but the k largest,
        after each example. Takes time that grows with k.
    lazy : float, default=0.0
        With ``recipe="paper"``: a weight that has changed by less, since the k largest
        last heard of it, is not compared with them.
    always, never : sequence of str or int, default=None
        Features, by name or number, to keep in any case (they count in k) and to leave
        out. In a source, ``never`` may also name a column of text: none of its values is
        a feature then.
    feature_groups : None
        Not supported by this selector.
    seed : int, default=0
        Seed of the hash functions.

    Attributes
    ----------
    shortlist_ : Shortlist
        The result: names, weights, scores and errors of the chosen features.
    support_, ranking_, coef_, intercept_, classes_
        As in scikit-learn; the first three only where the number of features allows.

    Notes
    -----
    Deviations from the paper, and why. The margin is taken over all sketched weights, not
    the current top k, and the learning rate is one over the mean squared norm of an
    example, so nothing needs tuning. The cells of a feature share a block of the sketch,
    so one fetch from memory brings them all, but rows do not err independently. Heavy
    hitters are found by threshold crossing instead of a heap. With ``recipe="refit"``
    the weights that count come from an exact refit on the candidates, not from the
    sketch. Without a refit the intercept is that which suits the k weights in the last
    few thousand rows: the one that was learned belongs to the weights of all features.
    With ``recipe="paper"`` none of this applies, but for the learning rate; for counts,
    which the paper does not have, its steps are damped, as plain ones diverge.
    ``benchmarks/house.py`` prints the accuracy of all recipes on a click log.

    Diagonal steps would take a column whose values lie far from zero (years, ages, row
    numbers) for a copy of the intercept. If the first 65,536 rows show such columns, a
    refit of more rows is exact on these, and then goes on with such columns as distances
    from their running means: of 150,000 rows it finds weights and errors much like those
    of an exact one.

    Errors of weights are standard errors for the features that were chosen; what choosing
    by the same rows adds is not in them. After an exact refit (up to 65,536 rows and half a
    million nonzeros of candidates) they know the noise and how features go together; of a
    softmax, within each class. Otherwise (``recipe="newton"``, or more rows) rows
    have streamed by, and the errors are made of the noise, of what each feature by itself
    was told, and of the spread of the sketch's rows. They are lower bounds, and may be far
    too small: steps by the diagonal have not converged, also where features do not
    correlate, and nothing that a single pass leaves behind says how far they are from it.
    Weights of one pass are too small rather than too large. With
    ``recipe="paper"`` and for losses without curvature (hinge, epsilon-insensitive) they
    are NaN: not known.

    References
    ----------
    Aghazadeh, Spring, LeJeune, Dasarathy, Shrivastava, Baraniuk. MISSION: Ultra
    Large-Scale Feature Selection using Count-Sketches. ICML 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.sketch import Mission
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 1000))
    >>> y = X[:, 7] - 2 * X[:, 42] > 0
    >>> Mission(k=2).fit(X, y).get_feature_names_out()
    array(['x7', 'x42'], dtype=object)
    """

    capabilities = CAPABILITIES

    def __init__(
        self,
        k: int = 10,
        *,
        loss: Any = "auto",
        memory: str | int = "16MB",
        rows: int = 3,
        recipe: str = "auto",
        budget: str = "per_class",
        passes: int = 1,
        log1p: bool = False,
        normalize: str | None = None,
        scale: str | None = "auto",
        class_weight: ClassWeight = None,
        interactions: Interactions = None,
        sketch: str = "count",
        gamma: float | None = None,
        lazy: float = 0.0,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        feature_groups: None = None,
        seed: int = 0,
    ) -> None:
        self.k = k
        self.loss = loss
        self.memory = memory
        self.rows = rows
        self.recipe = recipe
        self.budget = budget
        self.passes = passes
        self.log1p = log1p
        self.normalize = normalize
        self.scale = scale
        self.class_weight = class_weight
        self.interactions = interactions
        self.sketch = sketch
        self.gamma = gamma
        self.lazy = lazy
        self.always = always
        self.never = never
        self.feature_groups = feature_groups
        self.seed = seed

    def _learner(
        self,
        *,
        classes: Sequence[Any] | None = None,
        reiterable: bool = True,
        one_pass: bool = False,
    ) -> OnlineLearner:
        return mission(
            self.k,
            loss=self.loss,
            classes=classes,
            memory=self.memory,
            rows=self.rows,
            recipe="newton" if one_pass and self.recipe in _SEVERAL else self.recipe,
            budget=self.budget,
            passes=self.passes,
            log1p=self.log1p,
            normalize=self.normalize,
            scale=self.scale,
            class_weight=self.class_weight,
            interactions=self.interactions,
            sketch=self.sketch,
            gamma=self.gamma,
            lazy=self.lazy,
            always=self._names_of(self.always),
            never=self._names_of(self.never),
            seed=self.seed,
            reiterable=reiterable,
        )
