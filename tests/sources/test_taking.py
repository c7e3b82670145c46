import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from shortlist.sources import ArraySource, LibsvmSource, take

X = np.random.default_rng(0).integers(0, 3, (23, 6)).astype(float)


@given(st.lists(st.integers(0, 5), max_size=9), st.integers(1, 30), st.booleans())
@settings(deadline=None)
def test_columns_taken_are_those_asked_for(ids, block_rows, dense):
    source = ArraySource(X, np.arange(23), block_rows=block_rows)
    taken, y = take(source, ids, dense=dense)
    assert sparse.issparse(taken) != dense
    np.testing.assert_array_equal(taken if dense else taken.toarray(), X[:, ids])
    np.testing.assert_array_equal(y, np.arange(23))


def test_ids_of_any_size_are_found_and_repeated_ones_add_up(tmp_path):
    big = 2**64 - 1
    path = tmp_path / "rows.svm"
    path.write_text(f"1 {big}:2 5:1 {big}:3\n-1 {big - 1}:9\n2 5:4\n")
    source, ids = LibsvmSource(path, block_bytes=1), np.array([big, 5, 77], np.uint64)
    taken, y = take(source, ids)
    assert taken.toarray().tolist() == [[5, 1, 0], [0, 0, 0], [0, 4, 0]]
    assert take(source, ids, dense=True)[0].tolist() == taken.toarray().tolist()
    assert taken.has_canonical_format
    assert y.tolist() == [1, -1, 2]


@pytest.mark.parametrize("n", [0, 3])
def test_nothing_to_take_leaves_the_shape_right(n):
    taken, y = take(ArraySource(np.zeros((n, 4))), [1, 2])
    assert taken.shape == (n, 2)
    assert len(y) == n
    assert take(ArraySource(np.ones((n, 4))), [])[0].shape == (n, 0)
