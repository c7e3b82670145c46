"""Paths of sensors: for each number of them which ones, and how often they err."""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import DataError, Fit, Floats, Ints, ShortlistError
from shortlist.engines import Interrupted
from shortlist.objectives import ChainCRF
from shortlist.objectives.chain_model import ChainModel
from shortlist.table._sensor_gauge import Gauge, gauge_of, no_gauge
from shortlist.table._sensor_search import SensorSearch, sensors_of


class Errors(NamedTuple):
    """How often labels are wrong, NaN if there are none to compare with."""

    plain: float  #: share of labelled steps
    macro: float  #: share for each label that comes, averaged over these labels
    by_label: Floats  #: share for each label; NaN for one that does not come


class SensorPoint(NamedTuple):
    """A size of the path: which sensors, and how good they are."""

    sensors: tuple[str, ...]
    n_features: int  #: weights of columns for activities
    objective: float
    train: Errors
    held_out: Errors | None  #: of all folds together; None without cv
    model: ChainModel


class SensorTable(NamedTuple):
    """Time-ordered rows, their labels and sequences."""

    X: Any
    codes: Ints  #: labels from 0, -1 where there is none
    bounds: Ints  #: of sequences
    n_labels: int

    def sequences(self, which: Ints) -> SensorTable:
        """Only some of the sequences."""
        sizes = np.diff(self.bounds)
        kept = np.repeat(np.isin(np.arange(len(sizes)), which), sizes)
        bounds = np.concatenate([[0], np.cumsum(sizes[which])]).astype(np.int64)
        return self._replace(X=self.X[kept], codes=self.codes[kept], bounds=bounds)


class ChainSettings(NamedTuple):
    """How chains are fitted; see ``SensorSelector`` for the meaning of each."""

    l2: float = 1e-4
    standardize: bool = True
    n_jobs: int = 1


class SensorPath(NamedTuple):
    """All sizes of a search."""

    points: dict[int, SensorPoint]
    fits: dict[int, Fit]  #: in the units of the gauge
    interrupted: bool  #: whether sizes, or errors of folds, are missing


class _Training:
    """What to minimise on some sequences, in units that are theirs."""

    def __init__(self, table: SensorTable, settings: ChainSettings) -> None:
        X, n = table.X, table.X.shape[1]
        self._gauge: Gauge = gauge_of(X) if settings.standardize else no_gauge(n)
        self.objective = ChainCRF(
            self._gauge.measure(X),
            table.codes,
            np.diff(table.bounds),
            l2=settings.l2,
            n_labels=table.n_labels,
            n_jobs=settings.n_jobs,
        )

    def model(self, fit: Fit) -> ChainModel:
        """Model of the columns as they come."""
        return self._gauge.restore(self.objective.model(fit))


def sensor_path(
    table: SensorTable,
    search: SensorSearch,
    sensor_of: Ints,
    sensor_names: tuple[str, ...],
    *,
    settings: ChainSettings,
    cv: int = 0,
) -> SensorPath:
    """Search, and say of each size how good it is.

    Ctrl-C ends it early: with the sizes that were reached, and without errors of folds.
    """
    folds = _folds(table, cv)
    whole, interrupted = _Training(table, settings), False
    try:
        fits = search.run(whole.objective, sensor_of)
    except Interrupted as stop:
        fits, folds, interrupted = stop.result, [], True
    held_out = [np.zeros((2, table.n_labels + 1)) for _ in fits]
    try:
        for number, tested in enumerate(folds, 1):
            trained = np.setdiff1d(np.arange(len(table.bounds) - 1), tested)
            part = _Training(table.sequences(trained), settings)
            other = table.sequences(tested)
            found = search.run(part.objective, sensor_of, number)
            for counts, size in zip(held_out, fits, strict=True):
                # a search may have stopped before this size
                fit = found[max(reached for reached in found if reached <= size)]
                counts += _counts(part.model(fit), other)
    except KeyboardInterrupt:
        folds, interrupted = [], True
    points = {}
    for counts, (size, fit) in zip(held_out, fits.items(), strict=True):
        model = whole.model(fit)
        chosen = sensors_of(fit, table.n_labels, sensor_of).tolist()
        points[size] = SensorPoint(
            tuple(sensor_names[sensor] for sensor in chosen),
            len(fit.support),
            fit.value,
            errors_of(model, table),
            _errors(counts) if folds else None,
            model,
        )
    return SensorPath(points, fits, interrupted)


def errors_of(model: ChainModel, table: SensorTable) -> Errors:
    """Errors of the most probable labels, where labels are known.

    Sequences are decoded whole; steps without a label count for nothing. A label that the
    model does not have is always missed.
    """
    return _errors(_counts(model, table))


def _counts(model: ChainModel, table: SensorTable) -> Floats:
    """Steps that are wrong, and all, by label; the last is for all that are unknown."""
    wrong = model.decode(table.X, table.bounds) != table.codes
    known = table.codes >= 0
    codes, n = table.codes[known], model.n_labels + 1
    return np.array(
        [np.bincount(codes, wrong[known], n), np.bincount(codes, minlength=n)], float
    )


def _errors(counts: Floats) -> Errors:
    n_wrong, n_each = counts
    shares = np.full(len(n_each), np.nan)
    np.divide(n_wrong, n_each, out=shares, where=n_each > 0)
    if not n_each.any():
        return Errors(np.nan, np.nan, shares[:-1])
    by_label = shares if n_each[-1] else shares[:-1]
    plain = float(n_wrong.sum() / n_each.sum())
    return Errors(plain, float(np.nanmean(shares)), by_label)


def _folds(table: SensorTable, cv: Any) -> list[Ints]:
    """Sequences that are held out in each fold: they take turns."""
    n_sequences = len(table.bounds) - 1
    if cv == 0:
        return []
    whole = isinstance(cv, Integral)
    if not (whole and 2 <= cv <= n_sequences):
        raise ShortlistError(
            f"cv should be 0 or from 2 to the number of sequences ({n_sequences}), "
            f"got {cv!r}"
        )
    turns = np.arange(n_sequences) % cv
    labelled = np.concatenate([[0], np.cumsum(table.codes >= 0)])[table.bounds]
    for fold in range(cv):
        if not np.diff(labelled)[turns != fold].any():
            raise DataError(
                f"y: expected labelled steps outside each of the {cv} folds, got none "
                f"outside fold {fold + 1}"
            )
    return [np.flatnonzero(turns == fold) for fold in range(cv)]
