"""Examples as dictionaries, one at a time: ``learn_one`` and ``predict_one``.

Any program that has examples as mappings of names to numbers can learn this way, such as
one written for river, which is not needed here. Names get numbers in the order in which
they come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from shortlist._online import OnlineLearner
from shortlist._preparing import Preparing, preparing_of
from shortlist._protocols import DataError, Floats, Ids, RowBlock, ShortlistError
from shortlist._scoring import Responding
from shortlist._shortlist import Shortlist
from shortlist._targets import Target, choose_target
from shortlist.kernels.slots import found
from shortlist.losses import get_loss
from shortlist.rows._kernels import weight_unit
from shortlist.rows._step_rules import add_margins


class NamedExamples:
    """A source of what has been learned one by one: it knows the names."""

    name = "learn_one"
    reiterable = True  # nobody reads it
    unit = "rows"
    size: int | None = None
    n_features: int | None = None
    label_names: Sequence[str] | None = None

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []

    def blocks(self) -> Iterator[RowBlock]:
        """Nothing is kept of examples."""
        return iter(())

    def names(self, ids: Ids) -> list[str]:
        """Names with these numbers."""
        return [self._names[i] for i in ids.tolist()]

    def ids(self, names: Sequence[str]) -> Ids:
        """Numbers of these names, which need not have come yet."""
        try:  # most have
            return np.array([self._numbers[name] for name in names], np.uint64)
        except KeyError:
            return np.array([self._number(name) for name in names], np.uint64)

    def _number(self, name: str) -> int:
        number = self._numbers.setdefault(name, len(self._names))
        if number == len(self._names):
            self._names.append(name)
        return number

    def block(self, x: Mapping[Any, float], y: float, weight: float) -> RowBlock:
        """Make a block of one example."""
        names, values = _checked(x)
        if not (there := values != 0.0).all():
            names = [names[i] for i in np.flatnonzero(there)]
            values = values[there]
        return _one_row(self.ids(names), values, y, weight)

    def known(self, x: Mapping[Any, float], preparing: Preparing) -> tuple[Ids, Floats]:
        """Numbers of the features that came before, and their prepared values."""
        names, values = _prepared(x, preparing)
        numbers = np.array([self._numbers.get(name, -1) for name in names], np.int64)
        met = numbers >= 0
        return numbers[met].astype(np.uint64), values[met]


def _checked(x: Mapping[Any, float]) -> tuple[list[str], Floats]:
    """Names and values; what is no number raises."""
    names = list(map(str, x))
    if len(set(names)) < len(names):
        double = next(name for name, n in Counter(names).items() if n > 1)
        raise DataError(
            f"feature {double!r} comes twice, as text and as something else"
        )
    values = np.array(list(x.values()))
    if values.dtype.kind not in "biuf" or not np.isfinite(values).all():
        for name, value in x.items():
            if not isinstance(value, Real) or not np.isfinite(float(value)):
                raise DataError(
                    f"feature {name!r}: expected a finite number, got {value!r}"
                )
    return names, values.astype(np.float64)


def _one_row(ids: Ids, values: Floats, y: float, weight: float) -> RowBlock:
    return RowBlock(
        np.array([0, len(ids)]),
        ids,
        values,
        np.array([y]),
        np.array([float(weight)]),
        first_row=0,
        position=0,
    )


def _prepared(x: Mapping[Any, float], preparing: Preparing) -> tuple[list[str], Floats]:
    """Names and values, as a learner sees them."""
    names, values = _checked(x)
    anybody = np.arange(len(values), dtype=np.uint64)
    return names, preparing.apply(_one_row(anybody, values, 0.0, 1.0)).values


def target_of_one(loss: Any, y: Any, classes: Sequence[Any] | None) -> Target:
    """Decide what is to be predicted from the first label and what a user says."""
    if classes is None and isinstance(y, bool | np.bool_):
        classes = (False, True)
    if classes is not None:
        labels = sorted(set(classes))
        codes = np.arange(len(labels), dtype=np.float64)
        return choose_target(loss, codes, labels=labels, classes=labels)
    auto = isinstance(loss, str) and loss == "auto"
    if auto and isinstance(y, float | np.floating):
        return choose_target("squared", np.array([float(y)]))
    target = None if auto else choose_target(loss, np.array([0.0, 1.0]))
    if target is None or target.classes is not None:
        raise ShortlistError(
            f"learn_one: expected classes= in the first call, got only the label {y!r}"
        )
    return target


def raw_label(target: Target, y: Any) -> float:
    """Number that a label stands for."""
    if target.classes is None:
        if not isinstance(y, Real):
            raise DataError(f"learn_one: expected a number as label, got {y!r}")
        return float(y)
    if y not in target.classes:
        known = ", ".join(map(str, target.classes))
        raise DataError(f"learn_one: expected one of the labels {known}, got {y!r}")
    return float(target.values[target.classes.index(y)])


class OneByOne:
    """Mixin of estimators that learn from dictionaries.

    ``_learner`` and ``_publish`` are the estimator's own.
    """

    loss: Any
    _state: Any
    _shortlist: Shortlist

    @property
    def shortlist_(self) -> Shortlist:
        """The result, made when it is asked for."""
        if getattr(self, "_is_stale", False):
            learner: OnlineLearner = self._learner(one_pass=True)  # type: ignore[attr-defined]
            self.shortlist_ = learner.result(self._state, self._examples)
        try:
            return self._shortlist
        except AttributeError:
            raise AttributeError(f"{type(self).__name__} has not been fitted") from None

    @shortlist_.setter
    def shortlist_(self, shortlist: Shortlist) -> None:
        self._shortlist, self._is_stale = shortlist, False

    def learn_one(
        self,
        x: Mapping[Any, float],
        y: Any,
        w: float = 1.0,
        *,
        classes: Sequence[Any] | None = None,
    ) -> Any:
        """Learn from one example.

        Parameters
        ----------
        x : mapping of names to numbers
            Features that are not named are 0.
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
        if not hasattr(self, "_examples"):
            self._begin(y, classes)
        if not (isinstance(w, Real) and 0.0 <= w < np.inf):
            raise ShortlistError(f"w should be at least 0 and finite, got {w!r}")
        label = raw_label(self._state.target, y)
        self._one_learner.step(self._state, self._examples.block(x, label, w))
        self._is_stale = True
        return self

    def _begin(self, y: Any, classes: Sequence[Any] | None) -> None:
        if hasattr(self, "_state"):
            raise ShortlistError(
                "learn_one cannot go on from partial_fit, whose features have no names "
                "of their own; use a new estimator"
            )
        self._check_request()  # type: ignore[attr-defined]
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)
        target = target_of_one(self.loss, y, classes)
        self._examples = NamedExamples()
        self._one_learner: OnlineLearner = self._learner(one_pass=True)  # type: ignore[attr-defined]
        self._state = self._one_learner.begin(self._examples, target, ())
        if target.classes is not None:
            self.classes_ = np.array(target.classes)

    def _forget(self) -> None:
        """Drop what earlier calls have learned."""
        super()._forget()  # type: ignore[misc]
        if hasattr(self, "_examples"):
            del self._examples, self._one_learner
            self._is_stale = False

    def _margins_of_one(self, x: Mapping[Any, float]) -> np.ndarray:
        """Margins of an example, by the weights as they are now; shape (1, margins)."""
        if hasattr(self, "_examples"):
            ids, values = self._examples.known(x, self._one_learner.preparing)
            method, state = self._state.model.method, self._state.model.state
            slots = found(self._state.model.slots, ids)
            met = slots >= 0
            z: np.ndarray = state.bias.copy()
            unit = weight_unit(method.unit, state.unit)
            add_margins(method, state, slots[met], values[met], unit, z)
            return z[np.newaxis]
        shortlist = self.shortlist_
        assert shortlist.weights is not None
        prepared = _prepared(x, preparing_of(shortlist.params))
        values_of = dict(zip(*prepared, strict=True))
        z = shortlist.intercept.copy()
        entries = zip(shortlist.names, shortlist.margin, shortlist.weights, strict=True)
        for name, margin, weight in entries:
            z[margin] += weight * values_of.get(name, 0.0)
        return z[np.newaxis]

    def _responder(self) -> Responding:
        if hasattr(self, "_examples"):
            return Responding(self._state.target.loss, self._state.target.classes)
        return Responding(get_loss(self.shortlist_.loss), self.shortlist_.classes)

    def predict_one(self, x: Mapping[Any, float]) -> Any:
        """Predict the label, or the number, of one example.

        While a stream is learned one by one the weights of the stream predict, before
        any refit; otherwise those of the shortlist.

        Parameters
        ----------
        x : mapping of names to numbers
        """
        margins, responder = self._margins_of_one(x), self._responder()
        if responder.classes is None:
            return float(responder.responses(margins)[0, 0])
        return responder.classes[int(responder.codes(margins)[0])]

    def predict_proba_one(self, x: Mapping[Any, float]) -> dict[Any, float]:
        """Probability of each class for one example.

        Parameters
        ----------
        x : mapping of names to numbers
        """
        responder = self._responder()
        if responder.classes is None or not responder.loss.has_probability:
            raise AttributeError(
                f"loss {responder.loss.name!r} has no probabilities; try 'logistic'"
            )
        p = responder.responses(self._margins_of_one(x))[0].tolist()
        p = [1.0 - p[0], p[0]] if len(p) == 1 else p
        return dict(zip(responder.classes, p, strict=True))
