"""Examples as dictionaries, one at a time: ``learn_one`` and ``predict_one``.

Any program that has examples as mappings of names to values can learn this way, such as
one written for river, which is not needed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from shortlist._online import OnlineLearner
from shortlist._preparing import Preparing, preparing_of
from shortlist._protocols import DataError, Floats, RowBlock, ShortlistError
from shortlist._scoring import Responding
from shortlist._shortlist import Shortlist
from shortlist._targets import Target, choose_target
from shortlist.losses import get_loss
from shortlist.rows._named_examples import NamedExamples, features
from shortlist.rows._read_row import margins_of_row


def target_of_one(loss: Any, y: Any, classes: Sequence[Any] | None) -> Target:
    """Decide what is to be predicted from the first label and what a user says."""
    if classes is None and isinstance(y, bool | np.bool_):
        classes = (False, True)
    if classes is not None:
        labels = sorted(_distinct(classes))
        codes = np.arange(len(labels), dtype=np.float64)
        return choose_target(loss, codes, labels=labels, classes=labels)
    auto = isinstance(loss, str) and loss == "auto"
    if auto and isinstance(y, float | np.floating):
        return choose_target("squared", np.array([float(y)]))
    target = None if auto else choose_target(loss, np.array([0.0, 1.0]))
    if target is None or target.classes is not None:
        raise ShortlistError(
            f"learn_one: expected classes= in the first call, got only the label {y!r}; "
            "numbers to predict are of type float, or there is loss='squared'"
        )
    return target


def _distinct(classes: Sequence[Any]) -> set[Any]:
    """Labels that a user names, as labels of Python."""
    return set(classes.tolist() if isinstance(classes, np.ndarray) else classes)


class _Codes:
    """What the loss wants to know of labels."""

    def __init__(self, target: Target) -> None:
        self._target = target
        codes = target.encode(target.values).tolist()
        self._of = dict(zip(target.classes or (), codes, strict=True))

    def __call__(self, y: Any) -> float:
        if self._target.classes is None:
            if not isinstance(y, Real):
                raise DataError(f"learn_one: expected a number as label, got {y!r}")
            return float(self._target.encode(np.array([float(y)]))[0])
        try:
            return float(self._of[y])
        except (KeyError, TypeError):  # not there, or nothing that could be
            known = ", ".join(map(str, self._target.classes))
            raise DataError(
                f"learn_one: expected one of the labels {known}, got {y!r}"
            ) from None


def _prepared(x: Mapping[Any, Any], preparing: Preparing) -> dict[str, float]:
    """Values by name, as a learner sees them."""
    keys, values = features(x)
    n, one = len(values), np.ones(1)
    anybody = np.arange(n, dtype=np.uint64)
    row = RowBlock(np.array([0, n]), anybody, values, one, one, 0, 0)
    prepared: Floats = preparing.apply(row).values
    return dict(zip(map(str, keys), prepared.tolist(), strict=True))


class OneByOne:
    """Mixin of estimators that learn from dictionaries.

    ``_learner`` and ``_publish`` are the estimator's own.
    """

    #: Pipelines of river ask whether their last step wants labels.
    _supervised = True

    loss: Any
    _state: Any
    _shortlist: Shortlist

    @property
    def shortlist_(self) -> Shortlist:
        """The result, made when it is asked for."""
        if getattr(self, "_is_stale", False):
            self.shortlist_ = self._one_learner.result(self._state, self._examples)
        try:
            return self._shortlist
        except AttributeError:
            raise AttributeError(f"{type(self).__name__} has not been fitted") from None

    @shortlist_.setter
    def shortlist_(self, shortlist: Shortlist) -> None:
        self._shortlist, self._is_stale = shortlist, False

    def learn_one(
        self,
        x: Mapping[Any, Any],
        y: Any,
        w: float = 1.0,
        *,
        classes: Sequence[Any] | None = None,
    ) -> Any:
        """Learn from one example.

        Settings are those of the first call.

        Parameters
        ----------
        x : mapping of names to values
            A number is a feature with the name of its key; text makes a feature
            ``key=text``, which is 1. Features that are not named are 0.
        y : label or number
        w : float, default=1.0
            Importance of the example.
        classes : sequence, default=None
            All labels there will be; needed in the first call, unless labels are True
            and False or numbers to predict.

        Returns
        -------
        self : object
        """
        if not (isinstance(w, Real) and 0.0 <= w < np.inf):
            raise ShortlistError(f"w should be at least 0 and finite, got {w!r}")
        if not hasattr(self, "_examples"):
            self._begin(x, y, classes)
        elif classes is not None:
            self._check_classes(classes)
        block = self._examples.block(x, self._codes(y), w)
        learner, state = self._one_learner, self._state
        learner.step(state, learner.ready(state, block, 1))
        self._is_stale = True
        return self

    def _begin(self, x: Mapping[Any, Any], y: Any, classes: Any) -> None:
        if hasattr(self, "_state"):
            raise ShortlistError(
                "learn_one cannot go on from partial_fit, whose features have no names "
                "of their own; use a new estimator"
            )
        self._check_request()  # type: ignore[attr-defined]
        target = target_of_one(self.loss, y, classes)
        examples = NamedExamples()
        learner: OnlineLearner = self._learner(one_pass=True)  # type: ignore[attr-defined]
        state = learner.begin(examples, target, ())
        codes = _Codes(state.target)
        codes(y), features(x)  # a first example that is refused changes nothing
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)
        self._examples, self._codes = examples, codes
        self._one_learner, self._state = learner, state
        if target.classes is not None:
            self.classes_ = np.array(target.classes)

    def _check_classes(self, classes: Sequence[Any]) -> None:
        known = self._state.target.classes
        if _distinct(classes) != set(known or ()):
            raise ShortlistError(
                f"classes should stay {known}, got {tuple(classes)}; use a new estimator"
            )

    def _check_going_on(self) -> None:
        super()._check_going_on()  # type: ignore[misc]
        if hasattr(self, "_examples"):
            raise ShortlistError(
                "partial_fit cannot go on from learn_one, whose features have names of "
                "their own; use a new estimator"
            )

    def _forget(self) -> None:
        """Drop what earlier calls have learned."""
        super()._forget()  # type: ignore[misc]
        if hasattr(self, "_examples"):
            del self._examples, self._one_learner, self._codes
            self._is_stale = False

    def _knows_nothing(self) -> bool:
        return not (hasattr(self, "_examples") or hasattr(self, "_shortlist"))

    def _margins_of_one(self, x: Mapping[Any, Any]) -> np.ndarray:
        """Margins of an example, by the weights as they are now; shape (1, margins)."""
        if hasattr(self, "_examples"):
            numbers, values = self._examples.known(x)
            preparing = self._one_learner.preparing
            z = margins_of_row(self._state.model, preparing, numbers, values)
            return z[np.newaxis]
        shortlist = self.shortlist_
        assert shortlist.weights is not None
        values_of = _prepared(x, preparing_of(shortlist.params))
        z = shortlist.intercept.copy()
        entries = zip(shortlist.names, shortlist.margin, shortlist.weights, strict=True)
        for name, margin, weight in entries:
            z[margin] += weight * values_of.get(name, 0.0)
        return z[np.newaxis]

    def _responder(self) -> Responding:
        if hasattr(self, "_examples"):
            return Responding(self._state.target.loss, self._state.target.classes)
        return Responding(get_loss(self.shortlist_.loss), self.shortlist_.classes)

    def predict_one(self, x: Mapping[Any, Any]) -> Any:
        """Predict the label, or the number, of one example.

        While a stream is learned one by one the weights of the stream predict, before
        any refit; otherwise those of the shortlist. None before anything was learned, so
        that a stream may begin with a prediction, as those of river do.

        Parameters
        ----------
        x : mapping of names to values
        """
        if self._knows_nothing():
            return None
        margins, responder = self._margins_of_one(x), self._responder()
        if responder.classes is None:
            return float(responder.responses(margins)[0, 0])
        return responder.classes[int(responder.codes(margins)[0])]

    def predict_proba_one(self, x: Mapping[Any, Any]) -> dict[Any, float]:
        """Probability of each class for one example; empty before anything was learned.

        Parameters
        ----------
        x : mapping of names to values
        """
        if self._knows_nothing():
            return {}
        responder = self._responder()
        if responder.classes is None or not responder.loss.has_probability:
            raise AttributeError(
                f"loss {responder.loss.name!r} has no probabilities; try 'logistic'"
            )
        p = responder.responses(self._margins_of_one(x))[0].tolist()
        p = [1.0 - p[0], p[0]] if len(p) == 1 else p
        return dict(zip(responder.classes, p, strict=True))
