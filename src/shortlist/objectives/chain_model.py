"""A linear-chain CRF as numbers: what it says about sequences of observations.

A label of a step is scored by its observations and a bias, a pair of labels that follow
each other by a transition, and the ends of a sequence by scores of their own. The
probability of a path of labels is proportional to the exponential of its score.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import Floats, Ints, ShortlistError
from shortlist.kernels.chain import best_paths, exponentials, forward_backward
from shortlist.kernels.lanes import WIDE

# Factors are kept from vanishing, so that no sum over paths does: a label that is e^460
# times less probable than another by its observations, or a move that is by e^230, is
# taken to be just that.
_LEAST_SCORE, _LEAST_MOVE = -460.0, -230.0


class ChainModel(NamedTuple):
    """Scores of a chain."""

    weights: Floats  #: shape (n_features, n_labels)
    bias: Floats  #: one a label
    first: Floats  #: of the label that a sequence begins with
    last: Floats  #: of the label that it ends with
    transitions: Floats  #: shape (n_labels, n_labels), from row to column

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return len(self.bias)

    @property
    def moves(self) -> Floats:
        """Transitions, first and last as one matrix, as kernels want them."""
        return np.vstack([self.transitions, self.first, self.last])

    def scores(self, X: Any) -> Floats:
        """Score of each label for each row of observations."""
        return np.asarray(X @ self.weights + self.bias)

    def decode(self, X: Any, bounds: Ints) -> Ints:
        """Most probable path of labels of each sequence (Viterbi)."""
        labels = np.empty(X.shape[0], np.int64)
        scores = np.ascontiguousarray(self.scores(X))
        best_paths(scores, _occupied(bounds), self.moves, labels)
        return labels

    def marginals(self, X: Any, bounds: Ints) -> Floats:
        """Probability of each label of each step, given all of its sequence."""
        factors, _ = label_factors(self.scores(X))
        moves, _ = move_factors(self.moves)
        every, out = np.arange(X.shape[0]), np.zeros_like(factors)
        forward_backward(
            factors, every, _occupied(bounds), moves, out, np.zeros_like(moves)
        )
        return np.ascontiguousarray(out[:, : self.n_labels])


def unpacked(weights: Floats, nuisance: Floats) -> ChainModel:
    """Model of a matrix of weights and the nuisance of a fit."""
    n = weights.shape[1]
    bias, first, last, transitions = np.split(nuisance, [n, 2 * n, 3 * n])
    return ChainModel(weights, bias, first, last, transitions.reshape(n, n))


def label_factors(scores: Floats) -> tuple[Floats, Floats]:
    """Exponentials of scores, padded, and the score that is 1 in each row."""
    factors, top = (
        np.empty((len(scores), _padded(scores.shape[1]))),
        np.empty(len(scores)),
    )
    exponentials(np.ascontiguousarray(scores), _LEAST_SCORE, factors, top)
    return factors, top


def move_factors(moves: Floats) -> tuple[Floats, Floats]:
    """Exponentials of moves, padded, and what is 1 of transitions, first and last."""
    n, width = moves.shape[1], _padded(moves.shape[1])
    tops = np.array([moves[:n].max(), moves[n].max(), moves[n + 1].max()])
    factors = np.zeros((width + 2, width))
    lowered = np.maximum(moves - np.repeat(tops, [n, 1, 1])[:, np.newaxis], _LEAST_MOVE)
    factors[:n, :n] = np.exp(lowered[:n])
    factors[width:, :n] = np.exp(lowered[n:])
    return factors, tops


def read_lengths(lengths: Any, n_steps: int) -> Ints:
    """Bounds of sequences from their lengths; None: one sequence.

    Lengths of 0 are fine: there is nothing to learn from and nothing to say about them.
    """
    if lengths is None:
        return np.array([0, n_steps], np.int64)
    sizes = np.asarray(lengths)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or (sizes < 0).any():
        raise ShortlistError(
            f"lengths should be whole numbers from 0, one a sequence, got {lengths!r}"
        )
    if sizes.sum() != n_steps:
        raise ShortlistError(
            f"lengths should add up to the {n_steps} rows of X, got {sizes.sum()}"
        )
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _occupied(bounds: Ints) -> Ints:
    """Bounds without empty sequences."""
    return np.asarray(bounds[np.concatenate([[True], np.diff(bounds) > 0])])


def _padded(n_labels: int) -> int:
    return -(-n_labels // WIDE) * WIDE
