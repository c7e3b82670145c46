"""The k-th largest is what sorting says it is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.kernels.topk import kth_largest

quick = settings(max_examples=200, deadline=None)
floats = st.floats(allow_nan=False)
few = st.sampled_from([-1.0, 0.0, 0.5, 2.0])  # many ties


@quick
@given(st.lists(floats, min_size=1) | st.lists(few, min_size=1), st.data())
def test_equals_sorting(values, data):
    k = data.draw(st.integers(1, len(values)))
    values = np.array(values)
    assert kth_largest(values.copy(), k) == np.sort(values)[-k]


@quick
@given(st.lists(floats, min_size=1), st.data())
def test_only_reorders(values, data):
    values = np.array(values)
    reordered = values.copy()
    kth_largest(reordered, data.draw(st.integers(1, len(values))))
    np.testing.assert_array_equal(np.sort(reordered), np.sort(values))


@pytest.mark.parametrize(
    "values",
    [
        np.arange(1000.0),
        np.arange(1000.0)[::-1].copy(),
        np.full(1000, 3.0),
        np.concatenate([np.arange(500.0), np.arange(500.0)[::-1]]),
        np.arange(1000.0) % 7,
    ],
    ids=["sorted", "reversed", "equal", "organ pipe", "sawtooth"],
)
def test_orders_that_trouble_quickselect(values):
    descending = np.sort(values)[::-1]
    for k in (1, 2, 499, 500, 501, 999, 1000):
        assert kth_largest(values.copy(), k) == descending[k - 1]
