import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist._protocols import RowBlock
from shortlist.kernels.csr import draw_rows, take_rows


def make_block(lengths):
    n = sum(lengths)
    return RowBlock(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.arange(n, dtype=np.uint64) + np.uint64(2**63),
        np.arange(n) / 7,
        np.arange(len(lengths)) + 0.5,
        np.arange(len(lengths)) + 0.25,
        first_row=11,
        position=99,
    )


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.data())
@settings(deadline=None)  # compiling takes its time
def test_taken_rows_are_those_asked_for(lengths, data):
    block = make_block(lengths)
    rows = data.draw(st.lists(st.integers(0, len(lengths) - 1), max_size=15))
    taken = take_rows(block, np.array(rows, np.int64))
    assert taken.n_rows == len(rows)
    assert (taken.first_row, taken.position) == (11, 99)
    for i, row in enumerate(rows):
        ours = slice(taken.indptr[i], taken.indptr[i + 1])
        theirs = slice(block.indptr[row], block.indptr[row + 1])
        assert taken.ids[ours].tolist() == block.ids[theirs].tolist()
        assert taken.values[ours].tolist() == block.values[theirs].tolist()
    assert taken.y.tolist() == block.y[rows].tolist()
    assert taken.weight.tolist() == block.weight[rows].tolist()


def test_taken_arrays_belong_to_the_new_block():
    block = make_block([2, 3])
    taken = take_rows(block, np.array([0, 1]))
    for array in taken[:5]:
        array[:] = 0
    assert block.values[-1] > 0
    assert block.weight[1] > 0
    assert block.indptr[-1] == 5


@given(st.integers(0, 2**40), st.integers(), st.floats(0.01, 0.99), st.integers(0, 60))
@settings(deadline=None)  # compiling takes its time
def test_a_row_is_drawn_by_its_number_alone(first_row, seed, fraction, cut):
    whole = draw_rows(first_row, 60, seed, fraction)
    parts = (
        draw_rows(first_row, cut, seed, fraction),
        draw_rows(first_row + cut, 60 - cut, seed, fraction),
    )
    assert np.concatenate(parts).tolist() == whole.tolist()


def test_the_fraction_drawn_is_the_one_asked_for_whatever_the_seed():
    for seed in range(5):
        for fraction in (0.03, 0.5, 0.9):
            drawn = draw_rows(0, 40_000, seed, fraction).mean()
            # five standard deviations of a fair draw
            assert (
                abs(drawn - fraction) < 5 * (fraction * (1 - fraction) / 40_000) ** 0.5
            )


def test_seeds_draw_independently():
    first, second = draw_rows(0, 40_000, 1, 0.5), draw_rows(0, 40_000, 2, 0.5)
    assert abs((first == second).mean() - 0.5) < 0.0125
    shifted = draw_rows(1, 40_000, 1, 0.5)
    assert abs((first == shifted).mean() - 0.5) < 0.0125
