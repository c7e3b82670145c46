"""Columns that are combinations of others."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shortlist.objectives.span import Span


def unexplained(X, members, feature, share, center):
    """Share of a column's variance that the members leave, by least squares."""
    root = np.sqrt(share)
    A = X[:, members]
    target = X[:, feature]
    if center:
        A, target = A - share @ A, target - share @ target
    A, target = root[:, None] * A, root * target
    rest = target - A @ np.linalg.lstsq(A, target, rcond=None)[0]
    return (rest @ rest) / max(target @ target, 1e-300)


@settings(max_examples=60)
@given(st.data())
def test_as_least_squares_say_whatever_was_asked_before(data):
    seed = data.draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    n, p = 12, 6
    X = rng.integers(-2, 3, size=(n, p)).astype(float)
    X[:, 3] = X[:, 0] - 2.0 * X[:, 1] + 5.0
    X[:, 5] = 1.0 - X[:, 4]
    share = rng.random(n)
    share[0] = 0.0
    share /= share.sum()
    center = data.draw(st.booleans())
    table = csr_array(X) if data.draw(st.booleans()) else X
    span = Span(table, share, center=center)
    for _ in range(4):
        members = data.draw(st.lists(st.integers(0, p - 1), unique=True, max_size=4))
        feature = data.draw(st.integers(0, p - 1))
        left = unexplained(X, members, feature, share, center)
        assert span.holds(np.array(members, int), feature) == (left < 1e-10)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_where_columns_begin_does_not_matter(offset):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) + offset
    X[:, 2] = 3.0 - X[:, 0]
    span = Span(X, np.full(200, 1 / 200), center=True)
    assert span.holds(np.array([0, 1]), 2)
    assert not span.holds(np.array([0]), 1)
