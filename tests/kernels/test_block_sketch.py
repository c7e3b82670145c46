"""The sketch of blocks equals the slow one and errs as seldom as it says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.sketch import SlowBlocks
from shortlist.kernels.block_sketch import (
    CELLS,
    add_and_inform,
    add_located,
    block_size,
    block_sketch,
    inform,
    information_at,
    locate,
    medians,
    medians_and_information,
    raise_scales,
    scales_at,
    spreads,
)
from shortlist.kernels.count_sketch import MAX_ROWS, width_for_error

quick = settings(max_examples=15, deadline=None)
ALL_ROWS = range(1, MAX_ROWS + 1, 2)
ids_lists = st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=30)


def places_in(sketch, ids):
    places = np.empty(len(ids), np.uint64)
    locate(sketch, np.asarray(ids, np.uint64), places)
    return places


def estimates(sketch, ids):
    out = np.empty((sketch.n_margins, len(ids)), np.float32)
    medians(sketch, sketch.n_margins, places_in(sketch, ids), out)
    return out


def filled(sketch, ids, numbers):
    for c, row in enumerate(numbers.astype(np.float32)):
        add_located(sketch, sketch.n_margins, places_in(sketch, ids), c, row)
    return sketch


@pytest.mark.parametrize("rows", ALL_ROWS)
@quick
@given(
    ids=ids_lists,
    n_blocks=st.integers(1, 7),
    n_margins=st.integers(1, 3),
    seed=st.integers(),
    direct=st.booleans(),
)
def test_all_that_blocks_hold_equals_the_reference(
    rows, ids, n_blocks, n_margins, seed, direct
):
    n_ids = n_blocks * CELLS if direct else None
    ids = [i % n_ids for i in ids] if direct else ids
    extras = {"informed": True, "scaled": True}
    sketch = block_sketch(rows, n_blocks, n_margins, seed, n_ids=n_ids, **extras)
    slow = SlowBlocks(sketch.keys, n_blocks, rows, n_margins, is_direct=direct)
    rng = np.random.default_rng(len(ids))
    numbers = rng.normal(size=(n_margins, len(ids))).astype(np.float32)
    filled(sketch, ids, numbers)
    places = places_in(sketch, ids)
    for c in range(n_margins):
        inform(sketch, n_margins, places, c, np.abs(numbers[c]))
    raise_scales(sketch, places, numbers[0])
    for c, row in enumerate(numbers):
        for i, number in enumerate(ids):
            slow.add(number, c, row[i])
            slow.known(number)[c] += abs(row[i])
    for i, number in enumerate(ids):
        scale = slow.scale(number, informed=True)
        scale[0] = max(scale[0], abs(numbers[0, i]))
    out, known = estimates(sketch, ids), np.empty(len(ids), np.float32)
    spread, scales = np.empty(len(ids)), np.empty(len(ids), np.float32)
    scales_at(sketch, places, scales)
    for c in range(n_margins):
        information_at(sketch, n_margins, places, c, known)
        spreads(sketch, places, c, spread)
        for i, number in enumerate(ids):
            assert out[c, i] == slow.estimate(number, c)
            assert known[i] == slow.known(number)[c]
            assert scales[i] == slow.scale(number, informed=True)[0]
            assert spread[i] == pytest.approx(slow.spread(number, c), rel=1e-6)


@pytest.mark.parametrize("rows", ALL_ROWS)
@quick
@given(ids=ids_lists, n_blocks=st.integers(1, 7), n_margins=st.integers(1, 3))
def test_what_is_done_to_blocks_together_equals_what_is_done_apart(
    rows, ids, n_blocks, n_margins
):
    apart, together = (
        block_sketch(rows, n_blocks, n_margins, informed=True) for _ in range(2)
    )
    places = places_in(apart, ids)
    numbers = np.random.default_rng(len(ids)).normal(size=(n_margins, len(ids)))
    numbers = numbers.astype(np.float32)
    for c, row in enumerate(numbers):
        add_located(apart, n_margins, places, c, row)
        inform(apart, n_margins, places, c, np.abs(row))
        add_and_inform(together, n_margins, places, c, row, np.abs(row))
    np.testing.assert_array_equal(together.cells, apart.cells)
    weights, known, alone = (np.empty_like(numbers) for _ in range(3))
    medians_and_information(together, n_margins, places, weights, known)
    np.testing.assert_array_equal(weights, estimates(apart, ids))
    for c in range(n_margins):
        information_at(apart, n_margins, places, c, alone[c])
    np.testing.assert_array_equal(known, alone)


def test_ids_that_have_cells_of_their_own_never_collide():
    rng = np.random.default_rng(0)
    ids, numbers = np.arange(40), rng.normal(size=(2, 40)).astype(np.float32)
    sketch = filled(block_sketch(3, 10, 2, n_ids=40), ids, numbers)
    assert sketch.is_direct
    np.testing.assert_array_equal(estimates(sketch, ids), numbers)
    assert not block_sketch(3, 10, n_ids=41).is_direct


def test_blocks_begin_where_lines_of_the_processor_do():
    for n_blocks in (1, 100, 10_000):
        assert block_sketch(3, n_blocks, informed=True).cells.ctypes.data % 64 == 0
    assert block_size(3, 1, informed=True, scaled=False) * 4 == 64
    assert block_size(3, 1, informed=False, scaled=True) * 4 == 64


@pytest.mark.parametrize("rows", [1, 3, 5])
def test_estimates_keep_the_promised_error(rows):
    rng = np.random.default_rng(0)
    error, failure = 0.1, 0.05
    numbers = rng.standard_t(3, size=(1, 1000))
    width = width_for_error(rows, error, failure, independent=False)

    def misses(seed, n_blocks):
        ids = rng.integers(0, 2**64, 1000, np.uint64)
        out = estimates(
            filled(block_sketch(rows, n_blocks, seed=seed), ids, numbers), ids
        )
        return np.mean(np.abs(out - numbers) > error * np.linalg.norm(numbers))

    assert np.mean([misses(seed, width // CELLS + 1) for seed in range(20)]) <= failure
    assert np.mean([misses(seed, width // 200) for seed in range(20)]) > failure


@pytest.mark.parametrize("rows", [-1, 0, 2, 8, 10])
def test_rows_that_have_no_median_or_are_too_many_are_refused(rows):
    with pytest.raises(ValueError, match=f"rows should be odd .* got {rows}"):
        block_sketch(rows, 8)


@pytest.mark.parametrize(("n_blocks", "words"), [(0, "at least 1"), (2**28, "8 GB")])
def test_sketches_of_no_size_or_too_large_are_refused(n_blocks, words):
    with pytest.raises(ValueError, match=words):
        block_sketch(3, n_blocks)
