"""Coordinate descent under an l1 penalty ends where nothing can be gained."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.kernels.shrinking import shrink


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.floats(0.0, 1.0))
def test_slopes_are_within_the_penalty_and_at_it_where_weights_are(seed, n, lam):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(2 * n, n))
    gram, corr = A.T @ A / n, rng.normal(size=n)
    penalty = np.where(rng.random(n) < 0.2, 0.0, lam)
    w = rng.normal(size=n)
    image = gram @ w
    rounds = shrink(gram, corr, penalty, w, image, 1e-11)
    assert rounds < 10_000
    np.testing.assert_allclose(image, gram @ w, atol=1e-8)
    slope = corr - gram @ w
    np.testing.assert_allclose(slope[w != 0], (np.sign(w) * penalty)[w != 0], atol=1e-8)
    assert (np.abs(slope[w == 0]) <= penalty[w == 0] + 1e-8).all()


def test_a_coordinate_without_curvature_stays_where_it_is():
    gram, corr = np.diag([1.0, 0.0]), np.array([3.0, 5.0])
    w = np.zeros(2)
    shrink(gram, corr, np.full(2, 0.5), w, np.zeros(2), 1e-12)
    assert w.tolist() == [2.5, 0.0]
