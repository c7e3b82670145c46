"""Steps of labelled sequences, each different observation once."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import DataError, Floats, Ints, ShortlistError
from shortlist.objectives.chain_model import read_lengths
from shortlist.objectives.checks import as_table

# Above this share of different rows it does not pay to look for equal ones.
_MOST_DISTINCT = 0.5


class Steps(NamedTuple):
    """Labelled steps, in order, without those that have no label."""

    X: Any  #: different rows of observations, an array or CSR, float64
    row_of: Ints  #: row of each step
    y: Ints  #: label of each step
    bounds: Ints  #: of runs of labelled steps; none is empty

    @property
    def n_steps(self) -> int:
        """Number of labelled steps."""
        return len(self.y)

    def label_counts(self, n_labels: int) -> Floats:
        """How often each row has each label."""
        cells = self.row_of * n_labels + self.y
        n_cells = self.X.shape[0] * n_labels
        return np.bincount(cells, minlength=n_cells).reshape(-1, n_labels).astype(float)

    def move_counts(self, n_labels: int) -> Floats:
        """Transitions between labels, then first and last labels, counted."""
        counts = np.zeros((n_labels + 2, n_labels))
        starts, ends = self.bounds[:-1], self.bounds[1:] - 1
        inside = np.ones(self.n_steps, bool)
        inside[starts] = False
        later = np.flatnonzero(inside)
        np.add.at(counts, (self.y[later - 1], self.y[later]), 1.0)
        np.add.at(counts[n_labels], self.y[starts], 1.0)
        np.add.at(counts[n_labels + 1], self.y[ends], 1.0)
        return counts

    def shares(self, n: int) -> list[Ints]:
        """Bounds of n runs of sequences that are about equally long together."""
        cuts = np.searchsorted(self.bounds, np.linspace(0, self.n_steps, n + 1)[1:-1])
        places = np.unique([0, *cuts.tolist(), len(self.bounds) - 1])
        return [self.bounds[a : b + 1] for a, b in itertools.pairwise(places)]


def labelled_steps(X: Any, y: Any, lengths: Any) -> Steps:
    """Check sequences and bring them into shape.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_steps, n_features)
    y : array-like of int of shape (n_steps,)
        Labels from 0; negative: unlabelled, where a sequence is cut.
    lengths : array-like of int, default=None
    """
    X = as_observations(X)
    y = np.asarray(y)
    if y.shape != (X.shape[0],):
        raise ShortlistError(
            f"y should have one label for each of {X.shape[0]} rows, got {y.shape}"
        )
    if y.dtype.kind not in "iu":
        raise ShortlistError(f"y should be codes of labels from 0, got {y.dtype}")
    bounds = read_lengths(lengths, len(y))
    known = np.flatnonzero(y >= 0)
    if not len(known):
        raise DataError("y: expected labelled steps, got none")
    sequence = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))[known]
    cut = (np.diff(known) > 1) | (np.diff(sequence) > 0)
    runs = np.concatenate([[0], np.flatnonzero(cut) + 1, [len(known)]]).astype(np.int64)
    X = X if len(known) == len(y) else X[known]
    rows, row_of = _distinct(X)
    return Steps(rows, row_of, y[known].astype(np.int64), runs)


def as_observations(X: Any) -> Any:
    """Return X as an array or CSR of finite float64."""
    X = as_table(X)
    if hasattr(X, "tocsr"):
        X = X.tocsr().astype(np.float64)
        values = X.data
    else:
        X = values = np.ascontiguousarray(X, np.float64)
    if not np.isfinite(values).all():
        raise DataError("X: expected finite numbers, got a NaN or an infinity")
    return X


def _distinct(X: Any) -> tuple[Any, Ints]:
    """Different rows, and which one each row is; X itself if most are different."""
    # a random combination of columns tells rows apart, and is checked
    key = X @ np.random.default_rng(0).normal(size=X.shape[1])
    _, first, row_of, repeats = np.unique(
        key, return_index=True, return_inverse=True, return_counts=True
    )
    if len(first) <= _MOST_DISTINCT * X.shape[0]:
        # frequent rows together, where caches keep them
        order = np.argsort(-repeats, kind="stable")
        first, row_of = first[order], np.argsort(order)[row_of]
        rows = X[first]
        differs = rows[row_of] != X
        if not (differs.nnz if hasattr(differs, "nnz") else differs.any()):
            return rows, row_of.astype(np.int64)
    return X, np.arange(X.shape[0])
