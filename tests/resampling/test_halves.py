"""Halves have no row in common and all together, with all classes and whole groups."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import ShortlistError
from shortlist.resampling._halves import complementary_halves


@given(
    st.lists(st.integers(0, 3), min_size=4, max_size=40),
    st.integers(0, 2**32),
    st.data(),
)
def test_halves_are_disjoint_cover_and_have_their_shares(labels, seed, data):
    labels = [*labels, *set(labels)]  # two of each at least
    n = len(labels)
    codes = np.array(labels)
    classes = data.draw(st.sampled_from([None, codes]))
    for one, other in complementary_halves(n, 3, classes=classes, seed=seed):
        assert sorted([*one, *other]) == list(range(n))
        assert abs(len(one) - len(other)) <= 1
        if classes is not None:
            for code in set(labels):
                difference = (codes[one] == code).sum() - (codes[other] == code).sum()
                assert abs(difference) <= 1
                assert code in codes[one]
                assert code in codes[other]


@given(st.integers(0, 2**32))
def test_groups_never_straddle(seed):
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(12), rng.integers(1, 5, 12)))
    classes = groups % 3
    n = len(groups)
    halves = complementary_halves(n, 3, classes=classes, groups=groups, seed=seed)
    for one, other in halves:
        assert not set(groups[one]) & set(groups[other])
        assert len(set(groups[one])) == len(set(groups[other])) == 6
        assert sorted([*one, *other]) == list(range(n))
        assert set(classes[one]) == set(classes[other]) == {0, 1, 2}


def test_pairs_depend_on_their_number_and_the_seed_only():
    few = list(complementary_halves(20, 2, seed=3))
    many = list(complementary_halves(20, 5, seed=3))
    for pair, same in zip(few, many, strict=False):
        np.testing.assert_array_equal(pair[0], same[0])
    assert len({tuple(one) for one, _ in many}) == 5


def test_what_cannot_be_cut_is_refused():
    cases = [
        ((1, None, None), "need 2 rows at least, got 1"),
        ((4, None, ["a"] * 4), "need 2 groups at least, got 1"),
        ((3, ["a", "a", "b"], None), "only one row has 'b'"),
        ((4, list("aabb"), [1, 1, 2, 2]), "only one group has 'a'"),
        ((4, list("aa"), None), r"one entry a row \(4\), got \(2,\)"),
    ]
    for (n, classes, groups), said in cases:
        with pytest.raises(ShortlistError, match=said):
            list(complementary_halves(n, 1, classes=classes, groups=groups))
    # every class is in two groups, but no cut has all four on both sides
    classes, groups = list("abbccdda"), [0, 0, 1, 1, 2, 2, 3, 3]
    found = list(complementary_halves(8, 4, classes=classes, groups=groups))
    assert all(set(one) in ({0, 1, 4, 5}, {2, 3, 6, 7}) for one, _ in found)
    classes, groups = list("abbcca"), [0, 0, 1, 1, 2, 2]
    with pytest.raises(ShortlistError, match="groups are too few for the classes"):
        list(complementary_halves(6, 1, classes=classes, groups=groups))
