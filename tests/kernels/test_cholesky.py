"""The growing and shrinking Cholesky factor against NumPy."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.kernels.cholesky import append, inverse_diagonal, remove, solve


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 99), min_size=1, max_size=25))
def test_any_sequence_of_rows_in_and_out_keeps_the_factor(seed, moves):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(40, 12))
    G = A.T @ A + 0.1 * np.eye(12)
    L, order = np.zeros((12, 12)), []
    for move in moves:
        outside = [j for j in range(12) if j not in order]
        if outside and (move < 60 or not order):
            j = outside[move % len(outside)]
            assert append(L, len(order), G[j, order], G[j, j], 0.0) > 0
            order.append(j)
        else:
            place = move % len(order)
            remove(L, len(order), place)
            del order[place]
        m = len(order)
        kept = G[np.ix_(order, order)]
        np.testing.assert_allclose(np.tril(L[:m, :m]), np.linalg.cholesky(kept))
        b = rng.normal(size=m)
        found = b.copy()
        solve(L, m, found)
        np.testing.assert_allclose(kept @ found, b, atol=1e-9)
        np.testing.assert_allclose(
            inverse_diagonal(L, m), np.diag(np.linalg.inv(kept)), rtol=1e-8
        )


def test_a_row_that_depends_on_the_others_is_refused():
    L = np.zeros((2, 2))
    assert append(L, 0, np.empty(0), 4.0, 0.0) == 4.0
    assert append(L, 1, np.array([2.0]), 1.0, 1e-10) <= 1e-10
    assert L[1, 1] == 0.0
