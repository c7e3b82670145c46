"""Linear chains the slow way: every path of labels, and sums in logarithms."""

from itertools import pairwise, product

import numpy as np
from scipy.special import logsumexp


def path_score(scores, moves, path):
    """Score of a path; moves are transitions, then scores of first and last labels."""
    total = moves[-2, path[0]] + moves[-1, path[-1]]
    total += sum(scores[t, label] for t, label in enumerate(path))
    return total + sum(moves[a, b] for a, b in pairwise(path))


def every_path(scores, moves):
    """All paths and the logarithms of their probabilities, and that of their sum."""
    n, n_labels = scores.shape
    paths = list(product(range(n_labels), repeat=n))
    each = np.array([path_score(scores, moves, path) for path in paths])
    whole = logsumexp(each)
    return np.array(paths), each - whole, whole


def forward_backward(scores, moves):
    """Log partition, marginals of shape (n, L), expected moves, in logarithms."""
    n, n_labels = scores.shape
    A, first, last = moves[:-2], moves[-2], moves[-1]
    ahead, back = np.zeros((n, n_labels)), np.zeros((n, n_labels))
    ahead[0] = first + scores[0]
    for t in range(1, n):
        ahead[t] = logsumexp(ahead[t - 1][:, None] + A, axis=0) + scores[t]
    back[-1] = last
    for t in range(n - 2, -1, -1):
        back[t] = logsumexp(A + scores[t + 1] + back[t + 1], axis=1)
    whole = logsumexp(ahead[-1] + last)
    marginals = np.exp(ahead + back - whole)
    expected = np.zeros_like(moves)
    for t in range(1, n):
        pairs = ahead[t - 1][:, None] + A + scores[t] + back[t]
        expected[:-2] += np.exp(pairs - whole)
    expected[-2:] = marginals[0], marginals[-1]
    return whole, marginals, expected


def objective(X, y, lengths, weights, nuisance, l2):
    """Mean negative log-likelihood and penalty, a sequence at a time.

    ``weights`` has a row a feature; ``nuisance`` is bias, first, last and transitions.
    """
    n_labels = weights.shape[1]
    bias, first, last = nuisance[: 3 * n_labels].reshape(3, n_labels)
    A = nuisance[3 * n_labels :].reshape(n_labels, n_labels)
    moves = np.vstack([A, first, last])
    total, begin = 0.0, 0
    for n in lengths:
        steps = slice(begin, begin + n)
        scores = X[steps] @ weights + bias
        total += forward_backward(scores, moves)[0]
        total -= path_score(scores, moves, y[steps].tolist())
        begin += n
    return total / begin + 0.5 * l2 * ((weights**2).sum() + (nuisance**2).sum())
