"""Ids are scattered evenly, with fair signs, the same way everywhere."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reference import sketch as reference
from shortlist.kernels.hashing import cell_of, hash_keys, mix, sign_bit

quick = settings(max_examples=100, deadline=None)
numbers = st.integers(0, 2**64 - 1)
KEYS = hash_keys(7, 3)


def cells_and_signs(ids, key, width):
    hashed = np.array([mix(np.uint64(number)) for number in ids], np.uint64) * key
    cells = np.array([cell_of(h, np.uint64(width)) for h in hashed], np.int64)
    return cells, np.array([1.0 - 2.0 * sign_bit(h) for h in hashed])


@quick
@given(numbers)
@example(0)
@example(1)
@example(2**63)
@example(2**64 - 1)
def test_mix_is_the_murmur_finaliser_bit_for_bit(number):
    assert int(mix(np.uint64(number))) == reference.mix(number)


@quick
@given(st.sets(numbers, min_size=2))
def test_different_ids_stay_different_when_mixed(ids):
    assert len({int(mix(np.uint64(number))) for number in ids}) == len(ids)


@quick
@given(numbers, st.integers(0, 2), st.integers(1, 2**32 - 1))
@example(2**64 - 1, 0, 2**32 - 1)
@example(0, 0, 1)
def test_cell_and_sign_equal_the_reference_and_fit_the_width(number, row, width):
    (cell,), (sign,) = cells_and_signs([number], KEYS[row], width)
    assert (cell, sign) == reference.place(number, KEYS[row], width)
    assert 0 <= cell < width


@pytest.mark.parametrize(
    "first", [0, 2**63, 2**64 - 20_000], ids=["low", "mid", "high"]
)
@pytest.mark.parametrize("stride", [1, 1024])
def test_consecutive_ids_fill_cells_evenly_and_signs_are_fair_in_each(first, stride):
    width, n = 50, 20_000
    ids = [(first + stride * i) % 2**64 for i in range(n)]
    cells, signs = cells_and_signs(ids, KEYS[0], width)
    expected = n / width
    counts = np.bincount(cells, minlength=width)
    sums = np.bincount(cells, weights=signs, minlength=width)
    # Chi-square with 49 and 50 degrees of freedom: beyond 120 once in ten million.
    assert ((counts - expected) ** 2 / expected).sum() < 120
    assert (sums**2 / expected).sum() < 120


def test_rows_place_an_id_independently_of_each_other():
    n, width = 20_000, 8
    (cells, signs), (others, other_signs) = (
        cells_and_signs(range(n), key, width) for key in KEYS[:2]
    )
    pairs = np.bincount(cells * width + others, minlength=width * width)
    expected = n / width**2
    assert ((pairs - expected) ** 2 / expected).sum() < 140
    assert abs(signs @ other_signs) < 5 * np.sqrt(n)


@pytest.mark.parametrize("seed", [0, 1, -1, -(2**70), 2**64, 2**64 + 1, 2**200])
def test_any_integer_is_a_seed_and_gives_odd_keys(seed):
    keys = hash_keys(seed, 9)
    assert keys.dtype == np.uint64
    assert (keys % 2 == 1).all()
    assert len(set(keys.tolist())) == 9
    np.testing.assert_array_equal(keys, hash_keys(seed, 9))


def test_nearby_seeds_give_different_keys():
    seeds = range(-500, 500)
    drawn = {key for seed in seeds for key in hash_keys(seed, 9).tolist()}
    assert len(drawn) == 9 * len(seeds)


def test_more_keys_begin_with_the_same_ones():
    np.testing.assert_array_equal(hash_keys(3, 9)[:3], hash_keys(3, 3))
