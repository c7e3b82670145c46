"""MISSION as its paper has it, against a transcription with dictionaries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from reference.mission_paper import SlowPaper
from reference.sketch import random_block, split
from shortlist import Mission
from shortlist._targets import Target
from shortlist.losses import Logistic, Softmax, Squared, SquaredHinge
from shortlist.sketch._paper import LEARNING_RATE, PaperRule, descend

LOSSES = [Logistic(), Squared(), SquaredHinge(), Softmax()]
TARGETS = {"sign": (-1, 1), "class": (0, 1, 2), "real": None}
quick = settings(max_examples=10, deadline=None)
WIDTH = 23


def fresh(loss, k):
    """State of a sketch with few cells, so that ids collide."""
    target = Target(loss, TARGETS[loss.target], np.empty(0))
    return PaperRule(k, 3 * WIDTH * target.n_margins, 3, 5).create(target, None)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@quick
@given(st.integers(0, 2**32), st.integers(1, 12), st.sampled_from([0.0, 0.3]))
def test_it_equals_the_transcription(loss, seed, k, bias_rate):
    block, state = random_block(seed, loss.target), fresh(loss, k)
    descend(loss, (0.7, bias_rate), state, block)
    slow = SlowPaper(
        state.sketch.keys,
        WIDTH,
        len(state.bias),
        k=k,
        learning_rate=0.7,
        bias_rate=bias_rate,
    )
    slow.learn(loss, block)
    np.testing.assert_allclose(state.sketch.table, slow.sketch.table, atol=1e-5)
    np.testing.assert_allclose(state.bias, slow.bias, atol=1e-7)
    for c, active in enumerate(slow.active):
        n = state.top.count[c]
        assert n == len(active) <= k
        kept = sorted(np.abs(state.top.weights[c, :n]))
        np.testing.assert_allclose(kept, sorted(map(abs, active.values())), atol=1e-5)


@quick
@given(st.integers(0, 2**32), st.lists(st.integers(1, 40)))
def test_blocks_do_not_matter(seed, cuts):
    block = random_block(seed, "sign")
    whole, parts = fresh(Logistic(), 5), fresh(Logistic(), 5)
    descend(Logistic(), (LEARNING_RATE, 0.3), whole, block)
    for part in split(block, cuts):
        descend(Logistic(), (LEARNING_RATE, 0.3), parts, part)
    np.testing.assert_array_equal(whole.sketch.table, parts.sketch.table)
    np.testing.assert_array_equal(whole.top.weights, parts.top.weights)
    np.testing.assert_array_equal(whole.top.ids, parts.top.ids)


def planted(n=3000, p=400):
    rng = np.random.default_rng(0)
    X = sparse.random_array((n, p), density=0.03, format="csr", rng=rng)
    X.data[:] = 1.0
    w = np.zeros(p)
    w[:5] = [3.0, -3.0, 3.0, -3.0, 3.0]
    return X, X @ w + 0.5 * rng.logistic(size=n) > 0.2


@pytest.mark.parametrize("how", ["fit", "partial_fit"])
def test_the_estimator_finds_planted_features_and_keeps_the_budget(how):
    X, y = planted()
    model = Mission(k=5, recipe="paper")
    for start in range(0, 3000, 500):
        if how == "partial_fit":
            rows = slice(start, start + 500)
            model.partial_fit(X[rows], y[rows], classes=[False, True])
            assert len(model.shortlist_.weights) <= 5
    if how == "fit":
        model.fit(X, y)
    assert len(set(range(5)) & set(model.get_support(indices=True).tolist())) >= 4
    assert model.shortlist_.params["recipe"] == "paper"


def test_features_asked_for_always_are_there_with_their_estimates():
    X, y = planted()
    model = Mission(k=5, recipe="paper", always=[77]).fit(X, y)
    support = model.get_support(indices=True)
    assert 77 in support
    assert len(support) == 5
