"""Cells that are given out exactly, against a dictionary."""

from collections import defaultdict

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.kernels.count_sketch import add_located
from shortlist.kernels.exact_store import (
    clear,
    exact_array,
    exact_table,
    id_at,
    read_exactly,
    settle_in,
)

ids = st.one_of(st.integers(0, 9), st.integers(2**64 - 4, 2**64 - 1))
rows = st.lists(st.lists(ids, min_size=1, max_size=6), max_size=12)


def add_ones(cells_of, addresses, row):
    """Add 1 to each id of a row; return whether there was room."""
    row = np.array(row, np.uint64)
    places = np.empty((len(row), 1), np.uint32)
    if not settle_in(cells_of, addresses, row, places):
        return False
    flat = cells_of.table.reshape(-1)
    add_located(flat, places, 1, np.ones(len(row)))
    return True


@settings(max_examples=60, deadline=None)
@given(rows, st.sampled_from([4, 8, 32]), st.integers(0, 12))
def test_a_table_holds_what_a_dictionary_holds(rows, room, cleared_at):
    store, slow = exact_table(room, 2), defaultdict(float)
    for at, row in enumerate(rows):
        if at == cleared_at:
            clear(*store)
            slow.clear()
        has_room = len(slow.keys() | set(row)) <= room
        assert add_ones(*store, row) == has_room
        if not has_room:
            return
        for number in row:
            slow[number] += 1.0
    everyone = np.array([*range(10), *range(2**64 - 4, 2**64)], np.uint64)
    out = np.empty((len(everyone), 2))
    read_exactly(*store, everyone, out)
    np.testing.assert_array_equal(out[:, 0], 0.0)
    assert out[:, 1].tolist() == [slow.get(int(number), 0.0) for number in everyone]
    _, addresses = store
    came = [int(id_at(addresses, slot)) for slot in addresses.order[: len(slow)]]
    assert came == list(slow)


def test_an_array_gives_each_id_its_own_cell():
    store = exact_array(5, 2)
    assert add_ones(*store, [0, 4, 4])
    assert store[0].table[0, :, 1].tolist() == [1.0, 0.0, 0.0, 0.0, 2.0]
