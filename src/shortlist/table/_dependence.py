"""How much columns tell about labels and about each other: F, correlation, information."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import Floats
from shortlist.kernels.contingency import information_into
from shortlist.objectives.columns import transposed_product
from shortlist.objectives.moments import mean_and_spread
from shortlist.table._bins import cut

# Values that are cut into bins at a time.
_CELLS_AT_A_TIME = 1 << 20


class Dependence(Protocol):
    """A measure of dependence, at least 0, ready for the columns of a table."""

    def of_labels(self, y: Floats, *, classes: bool) -> Floats:
        """Dependence of every column and the labels."""
        ...

    def of_column(self, column: int) -> Floats:
        """Dependence of every column and this one."""
        ...


class Linear:
    """F-statistics with labels, absolute correlation with columns; 0 of constants.

    The table is neither copied nor centred: the other side is.
    """

    def __init__(self, X: Any, weight: Floats) -> None:
        self._X, self._weight = X, weight
        self._share = weight / weight.sum()
        self._mean, spread = mean_and_spread(X, self._share, center=True)
        self._per_spread = np.zeros_like(spread)
        np.divide(1.0, spread, out=self._per_spread, where=spread > 0.0)

    def of_labels(self, y: Floats, *, classes: bool) -> Floats:
        """F of an analysis of variance, or of a regression on one column.

        Both follow from the explained share of a column's variance.
        """
        if classes:
            labels, codes = np.unique(y, return_inverse=True)
            member = self._share[:, np.newaxis] * (
                codes[:, np.newaxis] == np.arange(len(labels))
            )
            share = member.sum(axis=0)
            means = transposed_product(self._X, member) / share
            apart = (means - self._mean[:, np.newaxis]) * self._per_spread[
                :, np.newaxis
            ]
            explained, degrees = apart**2 @ share, len(labels) - 1
        else:
            explained, degrees = self._with(y) ** 2, 1
        left = max(float(self._weight.sum()) - degrees - 1.0, 1.0)
        # A column that explains everything should have a large F, not an infinite one.
        unexplained = np.maximum(1.0 - explained, np.finfo(np.float64).eps)
        return np.asarray(explained / unexplained * (left / max(degrees, 1)))

    def of_column(self, column: int) -> Floats:
        """Absolute correlation."""
        x = self._X[:, [column]]
        values = x.toarray()[:, 0] if hasattr(x, "toarray") else x[:, 0]
        return np.abs(self._with(values.astype(np.float64)))

    def _with(self, values: Floats) -> Floats:
        """Correlation of every column with these values."""
        apart = values - self._share @ values
        length = np.sqrt(self._share @ apart**2)
        if length <= 1e-12 * np.abs(values).max(initial=0.0):  # a constant, rounded
            return np.zeros(len(self._mean))
        side = (self._share * apart / length)[:, np.newaxis]
        return transposed_product(self._X, side)[:, 0] * self._per_spread


class Binned:
    """Mutual information, in nats, of dense columns cut into bins of about equal weight.

    Holds a code for each value of the table: a byte, unless there are more than 256.
    """

    def __init__(
        self, X: Any, weight: Floats, bins: int, categorical: NDArray[np.bool_]
    ) -> None:
        n_rows, n_columns = X.shape
        self._weight, self._bins = weight, bins
        self._levels = np.empty(n_columns, np.int64)
        parts = []
        for first, block in _blocks(X):
            codes = np.empty((block.shape[1], n_rows), np.int32)
            for j in range(block.shape[1]):
                most = n_rows if categorical[first + j] else bins
                codes[j] = cut(block[:, j], weight, most)
                self._levels[first + j] = codes[j].max() + 1
            small = self._levels[first : first + len(codes)].max(initial=1) <= 256
            parts.append(codes.astype(np.uint8) if small else codes)
        self._codes = (
            np.concatenate(parts) if parts else np.empty((0, n_rows), np.uint8)
        )

    def of_labels(self, y: Floats, *, classes: bool) -> Floats:
        """Mutual information; labels that are numbers are cut into bins, too."""
        return self._with(cut(y, self._weight, len(y) if classes else self._bins))

    def of_column(self, column: int) -> Floats:
        """Mutual information."""
        return self._with(self._codes[column].astype(np.int64))

    def _with(self, codes: NDArray[np.int64]) -> Floats:
        out = np.empty(len(self._levels))
        n_levels = int(codes.max()) + 1
        information_into(self._codes, self._levels, codes, n_levels, self._weight, out)
        return np.maximum(out, 0.0)  # rounding may leave a little less


def _blocks(X: Any) -> Any:
    """Yield blocks of columns, each with the number of its first."""
    step = max(1, _CELLS_AT_A_TIME // max(1, X.shape[0]))
    for first in range(0, X.shape[1], step):
        yield first, X[:, first : first + step]
