"""The estimate of how many different ids there were."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.kernels.distinct import PLACE_BITS, n_distinct, note_ids, registers
from shortlist.kernels.hashing import mix


def slow_registers(ids):
    """Same registers, bit by bit."""
    seen = registers()
    for number in ids:
        bits = f"{int(mix(np.uint64(number))):064b}"
        place, rest = int(bits[:PLACE_BITS], 2), bits[PLACE_BITS:]
        seen[place] = max(seen[place], (rest + "1").index("1") + 1)
    return seen


@given(st.lists(st.integers(0, 2**64 - 1), max_size=50), st.integers(0, 50))
def test_registers_are_those_of_the_definition(ids, cut):
    array = np.array(ids, np.uint64)
    seen = registers()
    note_ids(seen, array[:cut])
    note_ids(seen, array)  # some for the second time
    np.testing.assert_array_equal(seen, slow_registers(ids))


@pytest.mark.parametrize("n", [0, 1, 100, 5000, 10_000, 20_000, 1_000_000])
def test_the_estimate_is_within_a_few_percent(n):
    seen = registers()
    note_ids(seen, np.arange(n, dtype=np.uint64) * np.uint64(12345))
    assert n_distinct(seen) == pytest.approx(n, rel=0.06)
