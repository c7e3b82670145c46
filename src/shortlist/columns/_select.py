"""From a source of columns to a Shortlist, free of scikit-learn: what commands run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shortlist._protocols import (
    ColumnSource,
    DataError,
    Floats,
    Observer,
    ShortlistError,
)
from shortlist._shortlist import Shortlist
from shortlist._targets import Target, choose_target
from shortlist.columns import _grafting
from shortlist.columns._cluster import ClusterSubstitution, check_engine
from shortlist.columns._data import Data
from shortlist.columns._grafting import GraftingRequest
from shortlist.columns._run import ColumnRequest, ColumnRun
from shortlist.columns._sharing import SharedSubstitution
from shortlist.columns._substitution import CAPABILITIES, Request
from shortlist.engines.columns import run_columns
from shortlist.sources import open_columns
from shortlist.sources._labels import encode_labels

Runner = Callable[[ColumnRun, ColumnSource, Observer | None], Any]


def select_columns(
    source: ColumnSource,
    k: int,
    *,
    loss: Any = "auto",
    classes: Sequence[str] | None = None,
    always: Sequence[str] = (),
    never: Sequence[str] = (),
    seed: int = 0,
    n_workers: int = 1,
    engine: str = "threads",
    observe: Observer | None = None,
    runner: Runner = run_columns,
    **settings: Any,
) -> Shortlist:
    """Choose from the columns of a source that has its target among them.

    Parameters
    ----------
    source : ColumnSource
        With ``y``.
    k : int
    loss, classes, always, never, seed, n_workers, engine, observe
        As for ``OnlineSubstitution``; classes are texts.
    runner : callable
        What steps the run of one worker through the columns; it may do more.
    **settings
        Other settings of ``Request``.
    """
    data = _data(source, loss, classes)
    request = Request(k, always=tuple(always), never=tuple(never), **settings)
    check_engine(engine, None)
    if runner is not run_columns and (engine != "threads" or n_workers > 1):
        raise ShortlistError(
            "stability and substitutes go with n_workers=1 and engine='threads'"
        )
    if engine == "ray":
        cluster = ClusterSubstitution(data, request, source, n_workers, seed=seed)
        chosen = cluster.run(observe)
    elif n_workers == 1:
        method = CAPABILITIES.method
        chosen = _by_one_worker(data, request, method, source, observe, runner)
    else:
        shared = SharedSubstitution(data, request, source, n_workers, seed=seed)
        chosen = shared.run(observe)
    return chosen


def graft_columns(
    source: ColumnSource,
    k: int,
    *,
    loss: Any = "auto",
    classes: Sequence[str] | None = None,
    observe: Observer | None = None,
    runner: Runner = run_columns,
    **settings: Any,
) -> Shortlist:
    """Choose by Grafting, which has one worker and nothing random; else as above."""
    one = {"n_workers": 1, "engine": "threads"}
    if any(settings.pop(name, only) != only for name, only in one.items()):
        raise ShortlistError("grafting goes with one worker and engine='threads'")
    settings.pop("seed", None)
    settings |= {name: tuple(settings.get(name, ())) for name in ("always", "never")}
    data, request = _data(source, loss, classes), GraftingRequest(k, **settings)
    method = _grafting.CAPABILITIES.method
    return _by_one_worker(data, request, method, source, observe, runner)


def select_from_table(
    X: Any,
    target: Target,
    y: Floats,
    weight: Floats | None,
    names: Sequence[str],
    k: int,
    *,
    always: Sequence[str] = (),
    never: Sequence[str] = (),
    **settings: Any,
) -> Shortlist:
    """Choose from a table in memory, whose columns are gone through one by one.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_columns)
    target : Target
        What is to be predicted.
    y, weight : ndarray of shape (n_rows,)
        Labels, encoded, and how much each row counts; None: all the same.
    names : sequence of str
        Of the columns.
    k : int
    always, never : sequence of str
        Names of columns to keep and to leave out.
    **settings
        Other settings of ``Request``.
    """
    request = Request(k, always=tuple(always), never=tuple(never), **settings)
    data = Data.encoded(target, y, weight)
    source = open_columns(X, names=list(names))
    return _by_one_worker(data, request, CAPABILITIES.method, source, None)


def _by_one_worker(
    data: Data,
    request: ColumnRequest,
    method: str,
    source: ColumnSource,
    observe: Observer | None,
    runner: Runner = run_columns,
) -> Shortlist:
    run = ColumnRun(data, request, method)
    chosen = runner(run, source, observe)
    assert isinstance(chosen, Shortlist)
    if source.reiterable:  # so that whoever looks for leaks reads what was chosen again
        return chosen
    return replace(chosen, notes=(*chosen.notes, *run.leak_notes()))


def _data(source: ColumnSource, loss: Any, classes: Sequence[str] | None) -> Data:
    """The target, which is a column of the source, by the loss that is wanted."""
    y = getattr(source, "y", None)
    if y is None:
        raise ShortlistError(f"{source.name}: expected a target (target=), got none")
    codes, names = encode_labels(y, len(y), f"{source.name}: target")
    known: Sequence[Any] | None = classes
    if classes is not None and names is None:
        known = [_number(text) for text in classes]
    try:
        target = choose_target(loss, codes, labels=names, classes=known)
    except DataError as error:
        raise DataError(f"{source.name}: {error}") from None
    return Data.of(target, codes, None)


def _number(text: str) -> float:
    try:
        return float(np.float64(text))
    except ValueError:
        raise ShortlistError(
            f"classes should be numbers, as the labels are, got {text!r}"
        ) from None
