"""Units that sensors are measured in, so that degrees and watts do not outweigh doors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import Floats
from shortlist.objectives.chain_model import ChainModel

# A column with more zeros than this stays sparse: its mean is small beside its spread.
_MOST_ZEROS = 0.5


class Gauge(NamedTuple):
    """Where each column is measured from, and in which unit.

    Columns that say yes or no, 0 and 1, stay as they are. Other numbers are given in units
    of two standard deviations, which is how far apart yes and no lie in a column that has
    as many of each, and from their mean unless most of them are 0.
    """

    origin: Floats
    unit: Floats

    def measure(self, X: Any) -> Any:
        """Return X, an array or CSR, in these units; X itself if all stay as they are."""
        moved = np.flatnonzero((self.origin != 0.0) | (self.unit != 1.0))
        if not len(moved):
            return X
        if not hasattr(X, "tocsr"):
            out = X.copy()
            out[:, moved] = (X[:, moved] - self.origin[moved]) / self.unit[moved]
            return out
        from scipy import sparse

        columns = X.tocsc(copy=True)
        columns.data /= np.repeat(self.unit, np.diff(columns.indptr))
        thin, full = np.flatnonzero(self.origin == 0.0), np.flatnonzero(self.origin)
        level = (self.origin / self.unit)[full]
        parts = [columns[:, thin], sparse.csc_array(columns[:, full].toarray() - level)]
        order = np.argsort(np.concatenate([thin, full]))
        return sparse.hstack(parts, format="csc")[:, order].tocsr()

    def restore(self, model: ChainModel) -> ChainModel:
        """Return a model of measured columns as one of the columns as they come."""
        weights = model.weights / self.unit[:, np.newaxis]
        return model._replace(weights=weights, bias=model.bias - self.origin @ weights)


def no_gauge(n_columns: int) -> Gauge:
    """All columns as they come."""
    return Gauge(np.zeros(n_columns), np.ones(n_columns))


def gauge_of(X: Any) -> Gauge:
    """Units for the columns of X, an array or CSR."""
    n_rows, n_columns = X.shape
    origin, unit = no_gauge(n_columns)
    thin = hasattr(X, "tocsr")
    columns = X.tocsc() if thin else X
    if thin:
        columns.sum_duplicates()
    for j in range(n_columns):
        if thin:
            values = columns.data[columns.indptr[j] : columns.indptr[j + 1]]
        else:
            values = columns[:, j]
        if ((values == 0.0) | (values == 1.0)).all():
            continue
        n_zero = n_rows - np.count_nonzero(values)
        if not n_zero and np.ptp(values) == 0.0:
            origin[j] = values[0]
            continue
        peak = np.abs(values).max()  # squares of the largest numbers would overflow
        parts = values / peak
        mean = parts.sum() / n_rows
        squares = ((parts - mean) ** 2).sum() + (n_rows - len(parts)) * mean**2
        unit[j] = 2.0 * peak * np.sqrt(squares / n_rows)
        if n_zero <= _MOST_ZEROS * n_rows:
            origin[j] = peak * mean
    return Gauge(origin, unit)
