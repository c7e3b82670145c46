"""MISSION with full gradients, against its transcription and the paper's claims."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.full_gradient import slow_full_gradient
from shortlist import ShortlistError
from shortlist.kernels.hashing import hash_keys
from shortlist.sketch._full_gradient import full_gradient_mission


def planted(seed, n, p, k):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) / np.sqrt(n)
    support = np.sort(rng.choice(p, k, replace=False))
    return X, X[:, support].sum(axis=1), support


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(1, 4),
    st.sampled_from([1.0, 0.9, 0.3, 0.0]),
    st.sampled_from([1.0, 0.8]),
    st.sampled_from([None, 7]),
)
def test_it_equals_the_transcription_at_every_iteration(seed, k, gamma, decay, width):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(8, 12)), rng.normal(size=8)
    keys = None if width is None else hash_keys(3, 3)
    path = slow_full_gradient(X, y, k, 0.05, gamma, decay, 6, keys, width)
    for n_iter, (support, weights) in enumerate(path, 1):
        found = full_gradient_mission(
            X,
            y,
            k,
            step=0.05,
            gamma=gamma,
            decay=decay,
            width=width,
            seed=3,
            max_iter=n_iter,
            tol=0.0,
        )
        assert found.support.tolist() == support
        np.testing.assert_allclose(found.weights, weights, atol=1e-5)


def test_gathered_gradients_recover_what_thresholding_loses():
    recovered = {"mission": 0, "iht": 0}
    for seed in range(3):
        X, y, support = planted(seed, 100, 400, 10)
        for method, gamma in (("mission", 0.999), ("iht", 0.0)):
            found = full_gradient_mission(X, y, 10, gamma=gamma, max_iter=1000)
            recovered[method] += np.array_equal(found.support, support)
    assert recovered["mission"] == 3
    assert recovered["iht"] == 0


def test_a_sketch_smaller_than_the_features_still_recovers():
    for seed in range(3):
        X, y, support = planted(seed, 200, 1000, 5)
        found = full_gradient_mission(X, y, 5, step=0.5, width=300)  # 900 cells in all
        assert found.support.tolist() == support.tolist()


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ({"k": 0}, "k should be from 1 to 20, got 0"),
        ({"k": 21}, "k should be from 1 to 20"),
        ({"k": 2, "gamma": 1.5}, "at most 1, got 1.5"),
        ({"k": 20, "step": 1e3, "max_iter": 500}, "too long"),
    ],
)
def test_what_makes_no_sense_is_refused(asked, complaint):
    X, y, _ = planted(0, 10, 20, 2)
    with pytest.raises(ShortlistError, match=complaint):
        full_gradient_mission(X, y, **asked)
