"""The serial engine: how data begin, whatever blocks they come in."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from shortlist import ArraySource
from shortlist._units import HEAD_NONZEROS
from shortlist.engines import run
from shortlist.engines.serial import HEAD_ROWS, look_at_head
from shortlist.sketch._mission import mission


class Passing(ArraySource):
    """Rows that come once, as from a pipe."""

    reiterable = False
    all_labels = None


def rows_like(seed, n, most):
    """Rows with up to ``most`` nonzeros each."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, most + 1, n)
    rows = np.repeat(np.arange(n), sizes)
    columns = rng.integers(0, 10**6, len(rows))
    X = sparse.csr_array((rng.normal(size=len(rows)), (rows, columns)), (n, 10**6))
    X.sum_duplicates()
    return X, rng.integers(0, 2, n)


def head_of(source):
    head, blocks = look_at_head(source)
    ids = [block.ids for block in head.rows]
    return (
        head.labels,
        np.concatenate(ids or [np.empty(0, np.uint64)]),
        sum(block.n_rows for block in head.rows),
        sum(block.n_rows for block in blocks),
    )


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.sampled_from([1, 50, 3000]),
    most=st.sampled_from([3, 60, 700]),
    block_rows=st.integers(1, 400),
    kind=st.sampled_from([ArraySource, Passing]),
)
def test_a_head_does_not_depend_on_blocks(seed, n, most, block_rows, kind):
    X, y = rows_like(seed, n, most)
    labels, ids, n_rows, n_left = head_of(kind(X, y, block_rows=block_rows))
    expected = head_of(kind(X, y, block_rows=n))
    np.testing.assert_array_equal(ids, expected[1])
    assert (n_rows, n_left) == (expected[2], n)
    if kind is Passing:
        np.testing.assert_array_equal(labels, expected[0])
        if X.nnz < HEAD_NONZEROS:
            assert n_rows == n
            assert len(labels) == min(n, HEAD_ROWS)


@pytest.mark.parametrize("recipe", ["newton", "refit"])
def test_units_are_told_by_the_same_rows_whatever_the_blocks(recipe):
    rng = np.random.default_rng(0)
    n = 6000
    X = sparse.random_array((n, 500), density=0.02, rng=rng).tolil()
    X[1500:, 7] = rng.normal(1e4, 1e3, size=(n - 1500, 1))  # years, later on
    X = X.tocsr()
    y = np.asarray(X[:, [0]].todense()).ravel() > 0
    kind = Passing if recipe == "newton" else ArraySource
    found = [
        run(mission(20, recipe=recipe), kind(X, y, block_rows=rows))
        for rows in (100, 997, n)
    ]
    assert found[0] == found[1] == found[2]
    assert found[0].params["scale"] == "max_abs"


@pytest.mark.parametrize("kind", [ArraySource, Passing])
def test_rows_without_nonzeros_do_not_make_a_head_of_all_rows(kind):
    n = HEAD_NONZEROS + 5000
    X = sparse.csr_array((n, 3))
    head, blocks = look_at_head(kind(X, np.arange(n) % 2, block_rows=1000))
    assert sum(block.n_rows for block in head.rows) == HEAD_NONZEROS
    assert sum(block.n_rows for block in blocks) == n
