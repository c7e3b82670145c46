"""Partial sorting by score and id; stays that are kept when there is no room for all."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.kernels.ranking import bring_best
from shortlist.kernels.stays import LEFT, MARGIN, end_stay, no_stays


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2**64 - 1)), max_size=60),
    st.integers(0, 70),
)
def test_the_best_come_first_whatever_the_ties(pairs, keep):
    pairs = list({number: (score, number) for score, number in pairs}.values())
    scores = np.array([score for score, _ in pairs], float)
    ids = np.array([number for _, number in pairs], np.uint64)
    order = np.arange(len(pairs))
    bring_best(order, keep, scores, ids)
    assert sorted(order) == list(range(len(pairs)))
    best = sorted(range(len(pairs)), key=lambda i: (-scores[i], int(ids[i])))
    assert set(order[:keep]) == set(best[:keep])


def test_long_stays_outlast_short_ones():
    stays = no_stays(room=8)
    for i in range(8):
        end_stay(stays, np.uint64(i), 0, 0, 1 + i % 4)
    end_stay(stays, np.uint64(99), 1, 5, 6)
    n = stays.count[0]
    assert stays.ids[:n].tolist() == [2, 3, 6, 7, 99]
    assert stays.spans[:n, LEFT].tolist() == [3, 4, 3, 4, 6]
    assert stays.spans[:n, MARGIN].tolist() == [0, 0, 0, 0, 1]
    assert stays.count[1] == 4
