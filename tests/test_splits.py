"""How rows are split: what says so is checked, and groups are whole and complete."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, TimeSeriesSplit

from shortlist import ShortlistError, compare
from shortlist._splits import check_cv, cv_among, folds, group_numbers
from shortlist.evaluate._choose_k import choose_k
from shortlist.resampling._halves import complementary_halves

y = np.arange(12) % 2


def test_pairs_that_come_once_can_be_asked_again():
    pairs = check_cv((train, test) for train, test in KFold(3).split(y))
    assert len(pairs) == len(list(pairs)) == 3
    assert len(folds(y, pairs, classes=True)) == len(folds(y, pairs, classes=True))
    masks = [(np.arange(12) < 6, np.arange(12) >= 6)]
    ((train, test),) = folds(y, masks, classes=True)
    assert (train.tolist(), test.tolist()) == ([*range(6)], [*range(6, 12)])


@pytest.mark.parametrize(
    "cv",
    ["nonsense", 1, 0, -3, True, 2.5, KFold, {"a": 1}, [1, 2], [(1, 2, 3)], object()],
)
def test_what_says_nothing_about_splits_is_refused(cv):
    with pytest.raises(ShortlistError, match="cv should be") as caught:
        check_cv(cv)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("cv", "groups", "message"),
    [
        ([([0, 1], [12])], None, "numbers of rows from 0 to 11, got 1 pairs"),
        ([([0.5], [1.5])], None, "numbers of rows from 0 to 11"),
        ([([0, 1, 2], [2, 3])], None, "has rows on both sides of a split"),
        (KFold(3), np.arange(12) // 5, "rows of one group on both sides"),
        (TimeSeriesSplit(20), None, r"TimeSeriesSplit.*cannot split these rows"),
        (GroupKFold(3), None, "cannot split these rows"),
        (None, None, "got None"),
    ],
)
def test_splits_that_cannot_be_or_would_tell_too_much_are_refused(cv, groups, message):
    with pytest.raises(ShortlistError, match=message) as caught:
        folds(y, cv, groups, classes=True)
    assert "\n" not in str(caught.value)


def test_pairs_of_rows_mean_these_rows_when_others_are_gone():
    kept = np.array([True, False, True, True, False, True])
    pairs = [([0, 1, 2], [3, 4, 5]), ([0, 2], [1, 4])]
    ((train, test),) = cv_among(
        pairs, kept
    )  # of the second nothing is left to judge by
    assert (train.tolist(), test.tolist()) == ([0, 1], [2, 3])
    assert cv_among(5, kept) == 5


@pytest.mark.parametrize(
    ("groups", "numbers"),
    [
        (["b", "a", "b"], [1, 0, 1]),
        (pd.Series(["b", "a", "b"], index=[7, 8, 9]), [1, 0, 1]),
        (np.array([3.0, -1.0, 3.0]), [1, 0, 1]),
        (np.array([3, "a", 3], object), [0, 1, 0]),
    ],
)
def test_groups_are_numbered_whatever_they_are(groups, numbers):
    assert group_numbers(groups, 3).tolist() == numbers


@pytest.mark.parametrize(
    "groups",
    [
        ["a", None, "b"],
        np.array([1.0, np.nan, 2.0]),
        np.array(["a", np.nan, "b"], object),
        pd.Series([1, None, 3], dtype="Int64"),
        pd.Series(pd.to_datetime(["2020-01-01", None, "2020-01-03"])),
    ],
)
def test_a_row_without_a_group_is_named(groups):
    with pytest.raises(
        ShortlistError, match="expected one for every row, got none: row 1"
    ):
        group_numbers(groups, 3)
    with pytest.raises(ShortlistError, match="row 1"):
        next(complementary_halves(3, 1, groups=groups))


@pytest.mark.parametrize("groups", [[1, 2], np.ones((3, 1)), 5])
def test_groups_have_an_entry_a_row(groups):
    with pytest.raises(ShortlistError, match="groups should have one entry a row"):
        group_numbers(groups, 3)


def test_a_class_that_is_one_group_cannot_be_on_both_sides():
    X = np.random.default_rng(0).normal(size=(12, 3))
    asked = {"groups": np.arange(12) // 6, "classes": True, "budgets": [1]}
    with pytest.raises(
        ShortlistError, match=r"leaves rows of one class to learn from, [ab];"
    ):
        choose_k(None, X, np.repeat(["b", "a"], 6), **asked)
    with pytest.raises(ShortlistError, match="leaves rows of one class to learn from"):
        compare(X, np.repeat(["b", "a"], 6), ks=[1], cv=2, groups=asked["groups"])


def test_leaving_one_out_is_a_splitter_like_others():
    assert len(folds(y, LeaveOneOut(), classes=True)) == 12
