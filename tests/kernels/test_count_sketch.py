"""The sketch equals the slow one, merges exactly and keeps the error it promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from reference.sketch import SlowSketch
from shortlist.kernels.count_sketch import (
    MAX_ROWS,
    add,
    count_sketch,
    estimate,
    merge,
    size_for_error,
)

quick = settings(max_examples=25, deadline=None)
ALL_ROWS = range(1, MAX_ROWS + 1, 2)
ids_lists = st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=30)


def filled(sketch, ids, numbers):
    add(sketch, np.asarray(ids, np.uint64), numbers)
    return sketch


def estimates(sketch, ids):
    out = np.empty((len(ids), sketch.table.shape[2]))
    spread = np.empty_like(out)
    estimate(sketch, np.asarray(ids, np.uint64), out, spread)
    return out, spread


@pytest.mark.parametrize("rows", ALL_ROWS)
@quick
@given(
    ids=ids_lists,
    width=st.integers(1, 20),
    n_margins=st.integers(1, 3),
    seed=st.integers(),
)
def test_cells_estimates_and_spreads_equal_the_reference(
    rows, ids, width, n_margins, seed
):
    rng = np.random.default_rng(len(ids))
    numbers = rng.normal(size=(len(ids), n_margins))
    sketch = filled(count_sketch(rows, width, n_margins, seed), ids, numbers)
    slow = SlowSketch(sketch.keys, width, n_margins)
    for number, row in zip(ids, numbers, strict=True):
        for c in range(n_margins):
            slow.add(number, c, row[c])
    out, spread = estimates(sketch, ids)
    np.testing.assert_array_equal(sketch.table, slow.table)
    for i, number in enumerate(ids):
        for c in range(n_margins):
            assert out[i, c] == slow.estimate(number, c)
            # The range may be taken before or after going to float64.
            assert spread[i, c] == pytest.approx(slow.spread(number, c), rel=1e-6)


def test_a_lone_id_is_estimated_without_error():
    sketch = filled(count_sketch(5, 8, 2), [2**64 - 1], np.array([[1.5, -0.25]]))
    out, spread = estimates(sketch, [2**64 - 1])
    np.testing.assert_array_equal(out, [[1.5, -0.25]])
    np.testing.assert_array_equal(spread, [[0.0, 0.0]])


@quick
@given(
    parts=st.lists(
        # Eighths add up without rounding, so even the order does not matter.
        st.lists(st.tuples(st.integers(0, 50), st.integers(-800, 800)), max_size=20),
        min_size=1,
        max_size=4,
    )
)
def test_merging_parts_equals_sketching_everything(parts):
    def sketch_of(pairs):
        numbers = np.array([[eighths / 8] for _, eighths in pairs]).reshape(-1, 1)
        return filled(count_sketch(3, 16, seed=1), [i for i, _ in pairs], numbers)

    merged = merge([sketch_of(part) for part in parts])
    together = sketch_of([pair for part in parts for pair in part])
    np.testing.assert_array_equal(merged.table, together.table)
    np.testing.assert_array_equal(merged.keys, together.keys)
    assert merged.table.dtype == np.float32


def test_merging_leaves_the_parts_alone():
    parts = [filled(count_sketch(3, 8), [i], np.ones((1, 1))) for i in range(2)]
    before = [part.table.copy() for part in parts]
    merge(parts).table[:] = 9.0
    for part, table in zip(parts, before, strict=True):
        np.testing.assert_array_equal(part.table, table)


def test_sketches_with_different_seeds_are_not_merged():
    with pytest.raises(ValueError, match="seeds"):
        merge([count_sketch(3, 8, seed=0), count_sketch(3, 8, seed=1)])


@pytest.mark.parametrize("other", [(1, 8, 1), (3, 9, 1), (3, 8, 2)])
def test_sketches_of_different_shapes_are_not_merged(other):
    with pytest.raises(ValueError, match="shapes"):
        merge([count_sketch(3, 8, 1), count_sketch(*other)])


@pytest.mark.parametrize("rows", [-1, 0, 2, 8, 10, 11])
def test_rows_that_have_no_median_or_are_too_many_are_refused(rows):
    with pytest.raises(ValueError, match=f"rows should be odd .* got {rows}"):
        count_sketch(rows, 8)


@pytest.mark.parametrize("width", [-1, 0, 2**32])
def test_widths_that_32_bits_cannot_address_are_refused(width):
    with pytest.raises(ValueError, match=f"width should be .* got {width}"):
        count_sketch(3, width)


@pytest.mark.parametrize("wish", [(0, 0.1), (1, 0.1), (0.1, 0), (0.1, 1), (-0.1, 0.1)])
def test_errors_and_failures_outside_0_and_1_are_refused(wish):
    with pytest.raises(ValueError, match="between 0 and 1"):
        size_for_error(*wish)


@quick
@given(st.floats(1e-3, 0.9), st.floats(1e-9, 0.9))
def test_sizes_follow_from_chebyshev_and_a_median_of_rows(error, failure):
    rows, width = size_for_error(error, failure)
    assert rows in ALL_ROWS
    row_fails = min(1.0, 1 / (width * error**2))
    half = rows // 2
    assert binom.sf(half, rows, row_fails) <= failure * (1 + 1e-9)


@pytest.mark.parametrize(("error", "failure"), [(0.2, 0.3), (0.1, 0.05), (0.05, 0.01)])
def test_estimates_keep_the_promised_error_and_need_the_size_for_it(error, failure):
    rng = np.random.default_rng(0)
    n = 1000
    numbers = rng.standard_t(3, size=(n, 1))

    def misses(rows, width, seed):
        ids = rng.integers(0, 2**64, n, np.uint64)
        out, _ = estimates(
            filled(count_sketch(rows, width, seed=seed), ids, numbers), ids
        )
        return np.mean(np.abs(out - numbers) > error * np.linalg.norm(numbers))

    rows, width = size_for_error(error, failure)
    assert np.mean([misses(rows, width, seed) for seed in range(20)]) <= failure
    too_narrow = max(1, width // 50)
    assert np.mean([misses(rows, too_narrow, seed) for seed in range(20)]) > failure
