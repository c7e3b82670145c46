"""Chains of labels: compiled sums over paths against every path, one by one."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import chain_crf as reference
from shortlist.kernels.chain import log_partition
from shortlist.objectives import ChainCRF, Fit
from shortlist.objectives.chain_model import (
    ChainModel,
    label_factors,
    move_factors,
    unpacked,
)

CRFSUITE = Path(__file__).parents[1] / "objectives" / "crfsuite_chain.json"


def model_of(rng, n_features, n_labels, size=1.0):
    weights = size * rng.normal(size=(n_features, n_labels))
    return unpacked(weights, size * rng.normal(size=n_labels * (n_labels + 3)))


def bounds_of(lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    n_labels=st.integers(1, 4),
    lengths=st.lists(st.integers(0, 4), min_size=1, max_size=4),
)
def test_small_chains_are_those_of_enumeration(seed, n_labels, lengths):
    rng = np.random.default_rng(seed)
    X, model = rng.normal(size=(sum(lengths), 2)), model_of(rng, 2, n_labels)
    bounds = bounds_of(lengths)
    marginals, decoded = model.marginals(X, bounds), model.decode(X, bounds)
    assert marginals.shape == (len(X), n_labels)
    for begin, end in itertools.pairwise(bounds):
        if begin == end:
            continue
        scores = model.scores(X[begin:end])
        paths, logs, _ = reference.every_path(scores, model.moves)
        assert decoded[begin:end].tolist() == paths[np.argmax(logs)].tolist()
        for t in range(end - begin):
            sure = np.bincount(paths[:, t], np.exp(logs), n_labels)
            np.testing.assert_allclose(marginals[begin + t], sure, atol=1e-12)


@pytest.mark.parametrize("n_labels", [1, 3, 8, 9, 17])
@pytest.mark.parametrize("size", [0.5, 8.0])
def test_long_chains_are_those_of_sums_in_logarithms(n_labels, size):
    rng = np.random.default_rng(n_labels)
    lengths = [1, 200, 65, 64, 2]
    X, model = rng.normal(size=(sum(lengths), 3)), model_of(rng, 3, n_labels, size)
    bounds = bounds_of(lengths)
    marginals = model.marginals(X, bounds)
    whole = 0.0
    for begin, end in itertools.pairwise(bounds):
        scores = model.scores(X[begin:end])
        total, sure, _ = reference.forward_backward(scores, model.moves)
        whole += total
        np.testing.assert_allclose(marginals[begin:end], sure, rtol=1e-9, atol=1e-12)
    factors, top = label_factors(model.scores(X))
    moves, tops = move_factors(model.moves)
    ours = log_partition(factors, np.arange(len(X)), bounds, moves)
    n_moves = [len(X) - len(lengths), len(lengths), len(lengths)]
    np.testing.assert_allclose(ours + top.sum() + tops @ n_moves, whole, rtol=1e-12)


def test_probabilities_stay_probabilities_where_factors_would_vanish():
    n = 6
    model = ChainModel(
        weights=np.array([[0.0, 5000.0, -5000.0]]),
        bias=np.zeros(3),
        first=np.array([0.0, -800.0, 0.0]),
        last=np.zeros(3),
        transitions=-900.0 * (1.0 - np.eye(3)),
    )
    X = np.array([0.0, 1.0, -1.0, 1.0, 0.0, 1.0])[:, np.newaxis]
    marginals = model.marginals(X, np.array([0, n]))
    assert np.isfinite(marginals).all()
    np.testing.assert_allclose(marginals.sum(axis=1), 1.0, rtol=1e-9)


def test_sums_that_hardly_overlap_are_exact_too():
    """What comes and what went say the opposite of each other: shares leave their range."""
    rng = np.random.default_rng(2)
    n, n_labels = 40, 3
    scores = rng.choice([0.0, -400.0], (n, n_labels)) + rng.normal(size=(n, n_labels))
    model = unpacked(np.eye(n_labels), np.zeros(n_labels * (n_labels + 3)))
    model = model._replace(transitions=-200.0 * (1.0 - np.eye(n_labels)))
    _, sure, _ = reference.forward_backward(scores, model.moves)
    marginals = model.marginals(scores, np.array([0, n]))
    np.testing.assert_allclose(marginals, sure, rtol=1e-9, atol=1e-12)


def test_of_equally_good_paths_the_lowest_labels_win():
    zeros = np.zeros((1, 3))
    model = unpacked(zeros, np.zeros(18))
    assert model.decode(np.ones((4, 1)), np.array([0, 2, 4])).tolist() == [0] * 4


def test_crfsuite_says_the_same_with_the_same_weights():
    """As kept by ``python -m benchmarks.sensors --write``; weights have six digits."""
    kept = json.loads(CRFSUITE.read_text())
    X, y = np.array(kept["X"], float), np.array(kept["y"])
    bounds = bounds_of(kept["lengths"])
    none = np.zeros(4)
    model = ChainModel(
        *map(np.array, (kept["weights"], kept["bias"])),
        none,
        none,
        np.array(kept["moves"]),
    )
    assert model.decode(X, bounds).tolist() == kept["tags"]
    np.testing.assert_allclose(model.marginals(X, bounds), kept["marginals"], atol=1e-6)
    nuisance = np.concatenate([model.bias, none, none, model.transitions.ravel()])
    support = np.arange(model.weights.size)
    fit = Fit(support, model.weights.ravel(), nuisance, np.nan)
    squares = (model.weights**2).sum() + nuisance @ nuisance
    for (begin, end), said in zip(
        itertools.pairwise(bounds), kept["log_likelihoods"], strict=True
    ):
        chain = ChainCRF(X[begin:end], y[begin:end], l2=1e-3, n_labels=4)
        ours = -(end - begin) * (chain.value(fit) - 0.5e-3 * squares)
        assert ours == pytest.approx(said, abs=1e-4)
