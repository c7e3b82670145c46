"""Paths of sensors: for each number of them which ones, and how often they err."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import Fit, Floats, Ints, ShortlistError
from shortlist.objectives import ChainCRF
from shortlist.objectives.chain_model import ChainModel
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

    def objective(self, l2: float, n_jobs: int) -> ChainCRF:
        """Return what to minimise."""
        lengths = np.diff(self.bounds)
        return ChainCRF(
            self.X, self.codes, lengths, l2=l2, n_labels=self.n_labels, n_jobs=n_jobs
        )


def sensor_path(
    table: SensorTable,
    search: SensorSearch,
    sensor_of: Ints,
    sensor_names: tuple[str, ...],
    *,
    l2: float,
    n_jobs: int = 1,
    cv: int = 0,
) -> tuple[dict[int, SensorPoint], dict[int, Fit]]:
    """Search, and say of each size how good it is; also the fits themselves."""
    folds = _folds(len(table.bounds) - 1, cv)
    objective = table.objective(l2, n_jobs)
    fits = search.run(objective, sensor_of)
    held_out = [np.zeros((2, table.n_labels + 1)) for _ in fits]
    for number, tested in enumerate(folds, 1):
        trained = np.setdiff1d(np.arange(len(table.bounds) - 1), tested)
        part, other = (
            table.sequences(trained).objective(l2, n_jobs),
            table.sequences(tested),
        )
        found = search.run(part, sensor_of, number)
        for counts, size in zip(held_out, fits, strict=True):
            # a search may have stopped before this size
            fit = found[max(reached for reached in found if reached <= size)]
            counts += _counts(part.model(fit), other)
    points = {}
    for counts, (size, fit) in zip(held_out, fits.items(), strict=True):
        model = objective.model(fit)
        chosen = sensors_of(fit, table.n_labels, sensor_of).tolist()
        points[size] = SensorPoint(
            tuple(sensor_names[sensor] for sensor in chosen),
            len(fit.support),
            fit.value,
            errors_of(model, table),
            _errors(counts) if folds else None,
            model,
        )
    return points, fits


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


def _folds(n_sequences: int, cv: int) -> list[Ints]:
    """Sequences that are held out in each fold: they take turns."""
    if cv == 0:
        return []
    if not 2 <= cv <= n_sequences:
        raise ShortlistError(
            f"cv should be 0 or from 2 to the number of sequences ({n_sequences}), "
            f"got {cv}"
        )
    turns = np.arange(n_sequences) % cv
    return [np.flatnonzero(turns == fold) for fold in range(cv)]
