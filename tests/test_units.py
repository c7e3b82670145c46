"""Units are judged by nonzeros of features seen often, whatever the blocks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.sketch import make_block, random_block, split
from shortlist._units import HEAD_NONZEROS, first_rows, units_differ


def block_of(*sizes, n_rows=30):
    """Rows in which feature j has values about the j-th size."""
    rng = np.random.default_rng(0)
    return make_block(
        [[(j, size * rng.uniform(0.5, 1.5)) for j, size in enumerate(sizes)]] * n_rows
    )


@pytest.mark.parametrize(
    ("sizes", "differ"),
    [
        ((1.0, 1.0), False),
        ((1.0, 8.0), False),
        ((1.0, 40.0), True),
        ((1e-9, 40e-9), True),
        ((1e9, 2e9), False),
        ((-1.0, 1.0), False),
        ((0.0, 5.0), False),
    ],
)
def test_units_differ_from_a_factor_of_about_twenty_on(sizes, differ):
    assert units_differ([block_of(*sizes)]) is differ


def test_columns_of_numbers_count_however_many_categories_there_are():
    rows = [[(0, 45.0), (1 + i % 60, 1.0)] for i in range(600)]
    assert units_differ([make_block(rows)])


def test_rare_features_and_single_outliers_tell_nothing():
    rows = [[(0, 1.0), (1, 1.5)] for _ in range(50)]
    rows[7] = [(0, 500.0), (1, 1.5), (2, 1e6)]
    assert not units_differ([make_block(rows)])


def test_no_rows_and_no_nonzeros_have_no_units():
    assert not units_differ([])
    assert not units_differ([make_block([[], []])])


@given(st.lists(st.integers(1, 40)), st.integers(0, 200))
def test_first_rows_do_not_depend_on_blocks(cuts, seed):
    block = random_block(seed)
    parts = first_rows(split(block, cuts))
    assert sum(part.n_rows for part in parts) == block.n_rows
    ids = np.concatenate([part.ids for part in parts])
    np.testing.assert_array_equal(ids, block.ids)


def test_first_rows_end_where_enough_nonzeros_are_seen():
    wide = block_of(*np.ones(HEAD_NONZEROS // 4), n_rows=6)
    for cuts in ([], [1], [3, 5]):
        parts = first_rows(split(wide, cuts))
        assert sum(part.n_rows for part in parts) == 4
    endless = make_block([[(i, 1.0) for i in range(HEAD_NONZEROS + 1)]] * 2)
    assert [part.n_rows for part in first_rows([endless])] == [1]
