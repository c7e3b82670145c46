"""One judge for all methods: a ridge model of the chosen columns, and how it predicts.

Methods differ in the models they fit, and filters have none. So chosen columns are
standardised, and a logistic or linear model is fitted to them, whose ridge is chosen within
the rows to learn from. Nothing is chosen by the rows to judge by.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from shortlist._protocols import Floats
from shortlist._splits import folds
from shortlist.evaluate._examples import Examples, spread

#: Strengths of the ridge, for each row and standardised weight, that are tried.
RIDGES = (0.3, 0.03, 0.003)
#: Rows from which on the ridge is chosen by a single split of them.
_MANY_ROWS = 2000
_INNER_FOLDS = 3

#: What is measured, and whether more of it is better.
CLASS_METRICS = {"accuracy": True, "auc": True, "log_loss": False}
NUMBER_METRICS = {"r2": True, "rmse": False}


def judge(
    known: Examples,
    new: Examples,
    *,
    classes: bool,
    among: float | None = None,
    seed: int = 0,
) -> dict[str, float]:
    """Fit a model to chosen columns; say how it predicts new rows.

    Parameters
    ----------
    known, new : Examples
        Rows to learn from, whose groups are kept together, and to judge by: their chosen
        columns, as arrays.
    classes : bool
        Whether y holds classes; otherwise numbers.
    among : float, default=None
        Variance that R2 goes by; None: that of the new rows.
    seed : int, default=0
    """
    # many small fits: threads would wait for each other longer than they work
    with _controller().limit(limits=1, user_api="blas"):
        ridge = RIDGES[0]
        if known.X.shape[1]:
            ridge = _best_ridge(known, classes=classes, seed=seed)
        model = _fitted(known, ridge, classes=classes)
        if classes:
            return _measure_classes(model, new)
        return _measure_numbers(model, new, among)


def _best_ridge(known: Examples, *, classes: bool, seed: int) -> float:
    """The ridge with the least loss on rows held out of those to learn from."""
    loss = _log_loss if classes else _squared_error
    inner = _inner(known.y, known.groups, classes=classes, seed=seed)
    parts = [(known.part(train), known.part(test)) for train, test in inner]
    losses = [
        [loss(_fitted(train, ridge, classes=classes), test) for train, test in parts]
        for ridge in RIDGES
    ]
    return RIDGES[int(np.argmin(np.mean(losses, axis=1)))]


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _inner(y: np.ndarray, groups: Any, *, classes: bool, seed: int) -> list[Any]:
    """Splits of the rows to learn from, fewer if there are few of a class or group."""
    n = len(y) if groups is None else len(np.unique(groups))
    if classes and groups is None:
        n = int(np.unique(y, return_counts=True)[1].min())
    n = min(n, _INNER_FOLDS)
    inner = folds(y, n, groups, classes=classes, seed=seed) if n > 1 else []
    # where every group has one class, some parts have no other
    inner = [pair for pair in inner if not classes or len(np.unique(y[pair[0]])) > 1]
    if not inner:
        every = np.arange(len(y))
        return [(every, every)]
    return inner[:1] if len(y) > _MANY_ROWS else inner


def _fitted(known: Examples, ridge: float, *, classes: bool) -> Any:
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    A, y, weight = known.X, known.y, known.weight
    if A.shape[1] == 0:
        dummy = DummyClassifier(strategy="prior") if classes else DummyRegressor()
        return dummy.fit(A, y, sample_weight=weight)
    total = len(y) if weight is None else float(weight.sum())
    model: Any = Ridge(alpha=ridge * total)
    if classes:
        model = LogisticRegression(C=1.0 / (ridge * total), max_iter=1000, tol=1e-3)
    pipeline = make_pipeline(StandardScaler(), model)
    if weight is None:
        return pipeline.fit(A, y)
    steps = {f"{step}__sample_weight": weight for step, _ in pipeline.steps}
    return pipeline.fit(A, y, **steps)


def _measure_classes(model: Any, new: Examples) -> dict[str, float]:
    from sklearn.metrics import roc_auc_score

    y, weight = new.y, new.weight
    known, chances = model.classes_, model.predict_proba(new.X)
    right = known[np.argmax(chances, axis=1)] == y
    found = {"accuracy": _mean(right, weight)}
    if len(known) == 2:
        area = np.nan
        if len(np.unique(y)) == 2:
            are_second = y == known[1]
            area = roc_auc_score(are_second, chances[:, 1], sample_weight=weight)
        found["auc"] = float(area)
    return {**found, "log_loss": _log_loss(model, new)}


def _mean(values: np.ndarray, weight: Floats | None) -> float:
    return float(
        np.mean(values) if weight is None else np.average(values, weights=weight)
    )


def _log_loss(model: Any, new: Examples) -> float:
    y = new.y
    known, chances = model.classes_, model.predict_proba(new.X)
    places = np.searchsorted(known, y)
    places[places == len(known)] = 0
    seen = known[places] == y  # a class may be missing from the rows to learn from
    own = np.where(seen, chances[np.arange(len(y)), places], 0.0)
    return -_mean(np.log(np.maximum(own, 1e-15)), new.weight)


def _measure_numbers(
    model: Any, new: Examples, among: float | None
) -> dict[str, float]:
    variance = spread(new.y, new.weight) if among is None else among
    mean_square = _squared_error(model, new)
    r2 = 1.0 - mean_square / variance if variance > 0.0 else np.nan
    return {"r2": r2, "rmse": float(np.sqrt(mean_square))}


def _squared_error(model: Any, new: Examples) -> float:
    return _mean((model.predict(new.X) - new.y) ** 2, new.weight)
