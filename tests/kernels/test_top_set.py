"""The exact top k, against a dictionary that is sorted at every step."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.kernels.top_set import offer, top_set, weight_of

ids = st.one_of(st.integers(0, 12), st.integers(2**64 - 4, 2**64 - 1))
weights = st.sampled_from([-3.0, -1.0, 0.0, 0.5, 1.0, 2.0, 7.0])
offers = st.lists(st.tuples(st.integers(0, 1), ids, weights), max_size=120)


def offer_slowly(members, k, number, weight):
    """Change a member, let one in, or let it take the place of the weakest."""
    if number in members:
        members[number] = weight
    elif weight != 0.0:
        members[number] = weight
        if len(members) > k:
            del members[min(members, key=lambda i: (abs(members[i]), -i))]


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 6), offers)
def test_members_and_weights_equal_those_of_a_sorted_dictionary(k, offers):
    top, slow = top_set(k, 2), [{}, {}]
    for c, number, weight in offers:
        offer(top, c, np.uint64(number), weight)
        offer_slowly(slow[c], k, number, weight)
        for margin in range(2):
            n = top.count[margin]
            found = zip(
                top.ids[margin, :n].tolist(),
                top.weights[margin, :n].tolist(),
                strict=True,
            )
            assert dict(found) == slow[margin]
    for c in range(2):
        for number in [*range(13), *range(2**64 - 4, 2**64)]:
            assert weight_of(top, c, np.uint64(number)) == slow[c].get(number, 0.0)


def test_many_comings_and_goings_leave_no_holes():
    rng = np.random.default_rng(0)
    top, slow = top_set(50), {}
    for number, weight in zip(
        rng.integers(0, 400, 20_000), rng.normal(size=20_000), strict=True
    ):
        offer(top, 0, np.uint64(number), weight)
        offer_slowly(slow, 50, int(number), weight)
    assert dict(zip(top.ids[0].tolist(), top.weights[0].tolist(), strict=True)) == slow
    assert (top.index >= 0).sum() == 50
