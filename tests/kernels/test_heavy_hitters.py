"""A cut keeps the best, and exactly as many as there is room for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.kernels.heavy_hitters import candidates, cut, listed
from shortlist.kernels.id_table import put

quick = settings(max_examples=100, deadline=None)
LAST = 2**64 - 1
tied_scores = st.sampled_from([0.5, 1.0, 2.0])


def full(room, ids, n_margins=1, c=0):
    found = candidates(room, n_margins)
    for number in ids:
        found.count[c] += put(found.keys[c], np.uint64(number))
    return found


def full_sets(scores):
    """Twice as many (id, score) pairs as there is room for."""
    pairs = st.dictionaries(
        st.integers(0, LAST) | st.just(LAST), scores, min_size=2, max_size=40
    )
    return pairs.map(lambda d: dict(list(d.items())[: len(d) // 2 * 2]))


def cut_by(found, c, score_of):
    ids = listed(found, c)
    cut(found, c, ids, np.array([score_of[int(number)] for number in ids]))
    return [int(number) for number in ids]


def test_new_sets_are_empty_and_open_to_any_score():
    found = candidates(5, 3)
    assert found.room == 5
    assert [len(listed(found, c)) for c in range(3)] == [0, 0, 0]
    np.testing.assert_array_equal(found.tau, np.zeros(3))


@quick
@given(full_sets(st.floats(1e-6, 1e6)) | full_sets(tied_scores))
def test_a_cut_keeps_the_best_and_the_first_listed_of_equals(score_of):
    room = len(score_of) // 2
    found = full(room, score_of)
    before = cut_by(found, 0, score_of)
    ranked = sorted(before, key=lambda number: -score_of[number])  # stable
    stayed = listed(found, 0).tolist()
    assert len(stayed) == found.count[0] == room
    assert set(stayed) == set(ranked[:room])
    assert found.tau[0] == score_of[ranked[room - 1]]


def test_a_set_of_equals_shrinks_too():
    found = full(8, range(16))
    cut_by(found, 0, dict.fromkeys(range(16), 1.0))
    assert len(listed(found, 0)) == found.count[0] == 8
    assert found.tau[0] == 1.0


@pytest.mark.parametrize(("score", "stays"), [(9.0, True), (0.0, False)])
def test_the_largest_id_is_one_like_any_other(score, stays):
    ids = [*range(1, 8), LAST]
    found = full(4, ids)
    assert LAST in listed(found, 0).tolist()
    cut_by(found, 0, {number: float(number) for number in range(8)} | {LAST: score})
    assert (LAST in listed(found, 0).tolist()) == stays


def test_a_cut_set_takes_new_ids_and_can_be_cut_again():
    found = full(4, range(8))
    score_of = {number: 1.0 + number for number in range(16)}
    for first in (8, 12):
        cut_by(found, 0, score_of)
        for number in range(first, first + 4):
            found.count[0] += put(found.keys[0], np.uint64(number))
    assert set(listed(found, 0).tolist()) == set(range(8, 16))
    assert found.count[0] == 8


def test_margins_are_cut_apart():
    found = full(2, range(4), n_margins=2, c=1)
    found.count[0] += put(found.keys[0], np.uint64(9))
    cut_by(found, 1, {number: 1.0 + number for number in range(4)})
    assert listed(found, 0).tolist() == [9]
    assert set(listed(found, 1).tolist()) == {2, 3}
    np.testing.assert_array_equal(found.tau, [0.0, 3.0])
