"""Predict with a shortlist, and say how good the predictions are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from shortlist._preparing import preparing_of
from shortlist._protocols import BadRow, Floats, RowBlock, RowSource, ShortlistError
from shortlist._refit import Coordinates, coordinates, margins_of
from shortlist._shortlist import Shortlist
from shortlist._targets import Label, Target, rows_to_skip, with_codes
from shortlist.kernels._jit import kernel
from shortlist.losses import get_loss, is_loss, response_into, value_of

#: The objective of sensors for sequences, which are predicted as a whole.
_CHAIN = "ChainCRF"


class Score(NamedTuple):
    """How well a shortlist predicts rows, with the best that a constant can do beside."""

    metric: str  #: "accuracy" or "r2"
    value: float
    baseline: float  #: of always the commonest class, or the mean
    loss: float  #: mean loss
    n_rows: int


@kernel
def _responses(loss, margins, out):  # type: ignore[no-untyped-def]
    for i in range(margins.shape[0]):
        response_into(loss, margins[i], out[i])


@kernel
def _add_up(total, values):  # type: ignore[no-untyped-def]
    # One after the other: sums of blocks would depend, in their last digits, on blocks.
    for value in values:
        total += value
    return total


@kernel
def _add_losses(total, loss, y, margins, weight):  # type: ignore[no-untyped-def]
    for i in range(margins.shape[0]):
        if weight[i] != 0.0:
            total += weight[i] * value_of(loss, y[i], margins[i])
    return total


class Responding:
    """A linear model for blocks of rows: margins, and what they mean.

    Subclasses say how margins come about.
    """

    def __init__(self, loss: Any, classes: tuple[Label, ...] | None) -> None:
        self.loss, self.classes = loss, classes

    def margins(self, block: RowBlock) -> Floats:
        """Shape (n_rows, n_margins)."""
        raise NotImplementedError

    def responses(self, margins: Floats) -> Floats:
        """Probabilities, rates or the margins themselves, one a margin."""
        out = np.empty_like(margins)
        _responses(self.loss, margins, out)
        return out

    def codes(self, margins: Floats) -> np.ndarray:
        """Position in ``classes`` of the class that the margins point at."""
        if margins.shape[1] == 1:
            return np.asarray(margins[:, 0] > 0, np.int64)
        return np.asarray(np.argmax(margins, axis=1))

    def predict(self, block: RowBlock) -> np.ndarray:
        """Labels, or numbers for a regression."""
        z = self.margins(block)
        if self.classes is None:
            return self.responses(z)[:, 0]
        return np.asarray(np.array(self.classes)[self.codes(z)])


class Predictor(Responding):
    """The linear model that a shortlist is."""

    def __init__(self, shortlist: Shortlist) -> None:
        if shortlist.weights is None:
            raise ShortlistError(
                f"a shortlist by {shortlist.method} has no weights to predict with; "
                "refit a model on its features"
            )
        if shortlist.loss == _CHAIN:
            raise ShortlistError(
                "sequences are predicted by what follows what, too, which no saved model "
                "has: fit SensorSelector to its features (shortlist transform writes them)"
            )
        if not is_loss(shortlist.loss):
            raise ShortlistError(
                f"these features minimise {shortlist.loss}, an objective that is no loss "
                "of a linear model: predict with it yourself"
            )
        super().__init__(get_loss(shortlist.loss), shortlist.classes)
        self.shortlist = shortlist
        self._preparing = preparing_of(shortlist.params)
        self._chosen: Coordinates = coordinates(
            shortlist.ids, shortlist.margin, shortlist.weights, shortlist.intercept
        )

    def margins(self, block: RowBlock) -> Floats:
        """Shape (n_rows, n_margins)."""
        return margins_of(self.loss, self._chosen, self._preparing.apply(block))


def target_for(model: Shortlist | Responding, source: RowSource) -> Target:
    """How the labels of a source map to the classes of a shortlist."""
    loss = get_loss(model.loss)
    if model.classes is None:
        return Target(loss, None, np.empty(0))
    try:
        values = _values_of(model.classes, source.label_names)
    except ValueError:
        known = ", ".join(map(str, model.classes))
        raise ShortlistError(
            f"{source.name}: its labels are not the classes of the model ({known})"
        ) from None
    return Target(loss, model.classes, values)


def _values_of(classes: Sequence[Any], labels: Sequence[str] | None) -> Floats:
    """Numbers by which a source knows the classes; of one it has not, no whole number."""
    if labels is None:
        return np.array(classes, np.float64)
    codes = {label: float(code) for code, label in enumerate(labels)}
    if not codes.keys() & set(classes):
        raise ValueError
    values, last = [], -1.0
    for label in classes:
        last = codes.get(label, math.floor(last) + 0.5)  # numbers have to increase
        values.append(last)
    return np.array(values)


def evaluate(model: Shortlist | Responding, source: RowSource) -> Score:
    """Score a shortlist on labelled rows it has not learned from."""
    predictor = model if isinstance(model, Responding) else Predictor(model)
    target = target_for(predictor, source)
    weight = loss = hits = 0.0
    per_class = np.zeros(len(model.classes or ()))
    first = second = missed = 0.0  # weighted moments of y - origin, squared errors
    origin: float | None = None
    n_rows, skip = 0, rows_to_skip(source)
    for block in source.blocks():
        try:
            block = with_codes(target, block, skip=skip)
        except BadRow as error:
            raise error.located(source) from None
        y, s = block.y, block.weight
        z = predictor.margins(block)
        n_rows += block.n_rows
        weight = _add_up(weight, s)
        loss = _add_losses(loss, predictor.loss, y, z, s)
        if model.classes is not None:
            truth = ((y + 1) / 2 if target.loss.target == "sign" else y).astype(int)
            np.add.at(per_class, truth, s)
            hits = _add_up(hits, s[predictor.codes(z) == truth])
        else:
            if origin is None and n_rows:
                origin = float(y[0])  # moments about 0 would lose digits far from it
            shifted = y - (origin or 0.0)
            first, second = _add_up(first, s * shifted), _add_up(second, s * shifted**2)
            missed = _add_up(missed, s * (predictor.responses(z)[:, 0] - y) ** 2)
    if weight == 0.0:
        raise ShortlistError(f"{source.name}: no rows to score")
    if model.classes is not None:
        rate, base = hits / weight, per_class.max() / weight
        return Score("accuracy", float(rate), float(base), float(loss / weight), n_rows)
    spread = second - first**2 / weight
    r2 = 1.0 - missed / spread if spread > 0 else float("nan")
    return Score("r2", float(r2), 0.0, float(loss / weight), n_rows)
