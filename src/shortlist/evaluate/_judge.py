"""One judge for all methods: a ridge model of the chosen columns, and how it predicts.

Methods differ in the models they fit, and filters have none. So chosen columns are
standardised, and a logistic or linear model is fitted to them, whose ridge is chosen within
the rows to learn from. Nothing is chosen by the rows to judge by.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from shortlist.evaluate._splits import folds

#: Strengths of the ridge, for each row and standardised weight, that are tried.
RIDGES = (0.3, 0.03, 0.003)
#: Rows from which on the ridge is chosen by a single split of them.
_MANY_ROWS = 2000
_INNER_FOLDS = 3

#: What is measured, and whether more of it is better.
CLASS_METRICS = {"accuracy": True, "auc": True, "log_loss": False}
NUMBER_METRICS = {"r2": True, "rmse": False}


def judge(
    A: np.ndarray,
    y: np.ndarray,
    A_new: np.ndarray,
    y_new: np.ndarray,
    *,
    classes: bool,
    groups: np.ndarray | None = None,
    seed: int = 0,
) -> dict[str, float]:
    """Fit a model to chosen columns; say how it predicts new rows.

    Parameters
    ----------
    A, A_new : ndarray of shape (n_rows, n_chosen)
        Rows to learn from and to judge by.
    y, y_new : ndarray of shape (n_rows,)
    classes : bool
        Whether y holds classes; otherwise numbers.
    groups : ndarray of shape (n_rows,), default=None
        Groups of the rows to learn from, which are kept together.
    seed : int, default=0
    """
    measure = _measure_classes if classes else _measure_numbers
    # many small fits: threads would wait for each other longer than they work
    with _controller().limit(limits=1, user_api="blas"):
        ridge = RIDGES[0]
        if A.shape[1]:
            ridge = _best_ridge(A, y, groups, classes=classes, seed=seed)
        return measure(_fitted(A, y, ridge, classes=classes), A_new, y_new)


def _best_ridge(
    A: np.ndarray, y: np.ndarray, groups: Any, *, classes: bool, seed: int
) -> float:
    """The ridge with the least loss on rows held out of those to learn from."""
    loss = _log_loss if classes else _squared_error
    inner = _inner(y, groups, classes=classes, seed=seed)
    losses = [
        [
            loss(_fitted(A[train], y[train], ridge, classes=classes), A[test], y[test])
            for train, test in inner
        ]
        for ridge in RIDGES
    ]
    return RIDGES[int(np.argmin(np.mean(losses, axis=1)))]


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _inner(y: np.ndarray, groups: Any, *, classes: bool, seed: int) -> list[Any]:
    """Splits of the rows to learn from, fewer if there are few of a class or group."""
    n = _INNER_FOLDS
    if classes and groups is None:
        n = min(n, int(np.unique(y, return_counts=True)[1].min()))
    if groups is not None:
        n = min(n, len(np.unique(groups)))
    if n < 2:
        every = np.arange(len(y))
        return [(every, every)]
    inner = folds(y, n, groups, classes=classes, seed=seed)
    inner = [pair for pair in inner if not classes or len(np.unique(y[pair[0]])) > 1]
    return inner[:1] if len(y) > _MANY_ROWS else inner


def _fitted(A: np.ndarray, y: np.ndarray, ridge: float, *, classes: bool) -> Any:
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if A.shape[1] == 0:
        dummy = DummyClassifier(strategy="prior") if classes else DummyRegressor()
        return dummy.fit(A, y)
    if classes:
        model = LogisticRegression(C=1.0 / (ridge * len(y)), max_iter=1000, tol=1e-3)
    else:
        model = Ridge(alpha=ridge * len(y))
    return make_pipeline(StandardScaler(), model).fit(A, y)


def _measure_classes(model: Any, A: np.ndarray, y: np.ndarray) -> dict[str, float]:
    from sklearn.metrics import roc_auc_score

    known, chances = model.classes_, model.predict_proba(A)
    found = {"accuracy": float(np.mean(known[np.argmax(chances, axis=1)] == y))}
    if len(known) == 2:
        both = len(np.unique(y)) == 2
        area = roc_auc_score(y == known[1], chances[:, 1]) if both else np.nan
        found["auc"] = float(area)
    return {**found, "log_loss": _log_loss(model, A, y)}


def _log_loss(model: Any, A: np.ndarray, y: np.ndarray) -> float:
    known, chances = model.classes_, model.predict_proba(A)
    places = np.searchsorted(known, y)
    places[places == len(known)] = 0
    seen = known[places] == y  # a class may be missing from the rows to learn from
    own = np.where(seen, chances[np.arange(len(y)), places], 0.0)
    return float(-np.mean(np.log(np.maximum(own, 1e-15))))


def _measure_numbers(model: Any, A: np.ndarray, y: np.ndarray) -> dict[str, float]:
    spread, mean_square = float(np.var(y)), _squared_error(model, A, y)
    r2 = 1.0 - mean_square / spread if spread > 0.0 else np.nan
    return {"r2": r2, "rmse": float(np.sqrt(mean_square))}


def _squared_error(model: Any, A: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean((model.predict(A) - y) ** 2))
