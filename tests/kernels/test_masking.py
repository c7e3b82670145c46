"""Restricting and dropping split a block's nonzeros; joining puts rows together."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.sketch import make_block, random_block, rows_of, split
from shortlist.kernels.masking import drop, join, mask_of, restrict

quick = settings(max_examples=50, deadline=None)
seeds = st.integers(0, 2**32)


def pairs(ids, values):
    return [(int(i), float(v)) for i, v in zip(ids, values, strict=True)]


def assert_same(one, other):
    for left, right in zip(one, other, strict=True):
        np.testing.assert_array_equal(left, right)
        assert left.dtype == right.dtype


@quick
@given(seeds, st.floats(0, 1))
def test_restrict_and_drop_split_the_nonzeros_in_order(seed, share):
    block = random_block(seed)
    known = np.unique(block.ids)
    chosen = known[np.random.default_rng(seed).random(len(known)) < share]
    mask, wanted = mask_of(chosen), set(chosen.tolist())
    inside, outside = restrict(mask, block), drop(mask, block)
    for i, (ids, values, _, _) in enumerate(rows_of(block)):
        at = slice(inside.indptr[i], inside.indptr[i + 1])
        all_pairs = pairs(ids, values)
        assert pairs(chosen[inside.columns[at]], inside.values[at]) == [
            pair for pair in all_pairs if pair[0] in wanted
        ]
        at = slice(outside.indptr[i], outside.indptr[i + 1])
        assert pairs(outside.ids[at], outside.values[at]) == [
            pair for pair in all_pairs if pair[0] not in wanted
        ]
    assert len(inside.values) == inside.indptr[-1]
    assert len(outside.values) == outside.indptr[-1]
    for part in (inside, outside):
        np.testing.assert_array_equal(part.y, block.y)
        np.testing.assert_array_equal(part.weight, block.weight)
    assert (outside.first_row, outside.position) == (block.first_row, block.position)


@quick
@given(seeds, st.lists(st.integers(1, 40)))
def test_joining_the_parts_of_a_block_gives_the_whole(seed, cuts):
    block = random_block(seed)
    mask = mask_of(np.unique(block.ids)[::2].copy())
    parts = [restrict(mask, part) for part in split(block, cuts)]
    assert_same(join(parts), restrict(mask, block))


def test_a_block_without_rows_or_ids_is_masked_too():
    mask = mask_of(np.array([5], np.uint64))
    for block in (make_block([]), make_block([[], []])):
        assert len(restrict(mask, block).values) == 0
        assert len(drop(mask, block).ids) == 0
    assert join([restrict(mask, make_block([]))] * 2).indptr.tolist() == [0]
