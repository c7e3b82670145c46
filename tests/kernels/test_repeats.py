import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.sketch import make_block
from shortlist.kernels.repeats import add_up, added_up, counter_for


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=30), max_size=6))
def test_adding_up_keeps_rows_apart(rows):
    rows = [row + row[: len(row) // 2] for row in rows]
    indptr = np.append(0, np.cumsum([len(row) for row in rows], dtype=np.int64))
    ids = np.array([word for row in rows for word in row], np.uint64)
    values = np.ones(len(ids))
    n = add_up(indptr, ids, values, counter_for(45))
    assert n == indptr[-1]
    for i, row in enumerate(rows):
        part = slice(indptr[i], indptr[i + 1])
        assert ids[part].tolist() == list(dict.fromkeys(row))
        assert values[part].tolist() == [row.count(word) for word in ids[part].tolist()]


def test_parts_of_a_feature_are_one_and_the_block_given_stays_as_it_is():
    rows = [[(7, 1.0), (3, 2.0), (7, 4.0)], [], [(7, 8.0)], [(3, 1.0), (3, -1.0)]]
    block = make_block(rows, [0.0, 1.0, 2.0, 3.0])
    before = block.values.copy()
    found = added_up(block)
    assert found.indptr.tolist() == [0, 2, 2, 3, 4]
    assert found.ids.tolist() == [7, 3, 7, 3]
    assert found.values.tolist() == [5.0, 2.0, 8.0, 0.0]
    assert found.y is block.y
    np.testing.assert_array_equal(block.values, before)


@pytest.mark.parametrize("ids", [(), (3,), (1, 2, 3), (3, 1, 2), (2**64 - 1, 0)])
def test_rows_without_repeats_are_not_copied(ids):
    block = make_block([[(number, 1.0) for number in ids]] * 3, [0.0, 1.0, 2.0])
    assert added_up(block) is block
