"""Slots: any ids become 0, 1, 2, ... in the order in which they came."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.sketch import make_block
from shortlist.kernels.slots import (
    MOST_DIRECT,
    are_increasing,
    found,
    is_direct,
    no_slots,
    settle,
    with_room,
)

small, huge = st.integers(0, 3000), st.integers(0, 2**64 - 1)
numbers = st.one_of(small, huge, st.sampled_from([0, 2**64 - 1, MOST_DIRECT - 1]))


def settled(slots, rows):
    block = make_block(rows)
    slots = with_room(slots, block.ids)
    where = np.empty(len(block.ids), np.int32)
    if are_increasing(block.indptr, block.ids):
        indptr, values = block.indptr, block.values
        settle(slots, block, indptr, where, np.empty(0))
    else:
        indptr, values = np.zeros(len(rows) + 1, np.int64), np.empty(len(block.ids))
        settle(slots, block, indptr, where, values)
    parts = [slice(a, b) for a, b in pairwise(indptr)]
    return slots, [list(zip(where[p], values[p], strict=True)) for p in parts]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.lists(st.lists(st.tuples(numbers, st.integers(1, 9)), max_size=6)),
        max_size=5,
    ),
    st.sampled_from([None, 2**64]),
)
def test_ids_are_numbered_as_they_come_and_repeats_add_up(blocks, n_ids):
    slots, known = no_slots(n_ids), {}
    for rows in blocks:
        expected = []
        for row in rows:
            sums = {}
            for number, value in row:
                slot = known.setdefault(number, len(known))
                sums[slot] = sums.get(slot, 0) + value
            expected.append(list(sums.items()))
        slots, got = settled(slots, rows)
        assert got == expected
    assert slots.ids[: slots.count[0]].tolist() == list(known)
    ids = np.array([*known, 12345678901], np.uint64)
    looked_up = [known.get(int(number), -1) for number in ids]
    assert found(slots, ids).tolist() == looked_up


def test_an_array_gives_way_to_a_table_when_an_id_is_large():
    slots, _ = settled(no_slots(), [[(5, 1.0), (7, 1.0)]])
    assert is_direct(slots)
    slots, rows = settled(slots, [[(MOST_DIRECT, 1.0), (7, 1.0)]])
    assert not is_direct(slots)
    assert rows == [[(2, 1.0), (1, 1.0)]]
    assert len(slots.direct) == 0


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(huge, max_size=5), max_size=4))
def test_rows_that_increase_repeat_nothing(rows):
    block = make_block([[(number, 1.0) for number in row] for row in rows])
    increasing = all(a < b for row in rows for a, b in pairwise(row))
    assert are_increasing(block.indptr, block.ids) == increasing


def test_a_known_number_of_ids_decides():
    assert is_direct(no_slots(1000))
    assert len(no_slots(1000).direct) == 1000
    assert not is_direct(no_slots(2**40))
