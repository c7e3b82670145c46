"""Tables of ids behave like Python's sets and dictionaries."""

from itertools import count, islice

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shortlist.kernels.id_table import (
    EMPTY,
    index_ids,
    members,
    n_slots,
    place_of,
    put,
    slot_of,
)

quick = settings(max_examples=100, deadline=None)
LAST = 2**64 - 1
numbers = st.integers(0, LAST) | st.sampled_from([0, 1, LAST - 1, LAST])


def empty(n_ids):
    return np.full(n_slots(n_ids), EMPTY)


def listed(keys):
    out = np.empty(len(keys), np.uint64)
    return out[: members(keys, out)].tolist()


def colliding(n_ids, slot):
    """Ids that all want the same slot of a table made for as many."""
    keys = empty(n_ids)
    found = (i for i in count() if slot_of(keys, np.uint64(i)) == slot)
    return list(islice(found, n_ids))


@quick
@given(st.lists(numbers))
@example([LAST])
@example([LAST, 0, LAST, 0])
def test_put_and_members_behave_like_a_set(ids):
    keys, known = empty(len(ids)), set()
    for number in ids:
        assert put(keys, np.uint64(number)) == (number not in known)
        known.add(number)
    out = listed(keys)
    assert len(out) == len(known)
    assert set(out) == known


@quick
@given(st.lists(numbers, unique=True), st.lists(numbers))
@example([], [0, LAST])
@example([0], [LAST])
@example([LAST], [0])
def test_place_of_is_the_position_or_minus_one(ids, others):
    index = index_ids(np.array(ids, np.uint64))
    position = {number: i for i, number in enumerate(ids)}
    for number in ids + others:
        assert place_of(index, np.uint64(number)) == position.get(number, -1)


@pytest.mark.parametrize("slot", [0, 63], ids=["first slot", "last slot"])
def test_ids_that_all_want_one_slot_are_told_apart(slot):
    *ids, absent, _ = colliding(32, slot)
    ids.append(LAST)
    keys = empty(32)
    assert sum(put(keys, np.uint64(number)) for number in ids * 2) == 31
    assert set(listed(keys)) == set(ids)
    index = index_ids(np.array(ids, np.uint64))
    places = [place_of(index, np.uint64(number)) for number in ids]
    assert places == list(range(31))
    assert place_of(index, np.uint64(absent)) == -1


@pytest.mark.parametrize("n_ids", [0, 1, 2, 3, 4, 5, 1023, 1024, 1025])
def test_slots_are_a_power_of_two_at_most_half_full_and_one_more(n_ids):
    slots = n_slots(n_ids) - 1
    assert slots & (slots - 1) == 0
    assert slots >= max(1, 2 * n_ids)


def test_a_table_filled_to_half_finds_all_and_only_its_ids():
    rng = np.random.default_rng(0)
    ids = rng.permutation(np.arange(2048, dtype=np.uint64) * np.uint64(2**53))
    inside, outside = ids[:1024], ids[1024:]
    index = index_ids(inside)
    assert [place_of(index, number) for number in inside] == list(range(1024))
    assert {place_of(index, number) for number in outside} == {-1}
