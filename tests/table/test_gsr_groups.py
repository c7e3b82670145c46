"""GSR where rows come in groups: what it holds out are whole groups."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsr_samples import numbers
from shortlist import GSR, ShortlistError
from shortlist.table import _gsr_exponent
from shortlist.table._gsr_hold_out import classes_of, hold_out_rows
from shortlist.table._gsr_problem import GsrProblem
from shortlist.table._gsr_table import scaled_table


def problem_of(X, Y, groups=None):
    n, p = X.shape
    table = scaled_table(X, np.arange(p), np.arange(n), np.zeros(p), np.ones(p))
    kept = np.zeros(p, bool)
    return GsrProblem(table, Y, np.ones(n), np.arange(p), kept, groups=groups)


def sample(seed, n, n_groups, n_classes=3):
    """Rows with classes, and groups of any size, which go by their classes in part."""
    rng = np.random.default_rng(seed)
    X, code = rng.normal(size=(n, 5)), rng.integers(0, n_classes, n)
    groups = rng.integers(0, n_groups, n)
    groups = np.where(
        rng.random(n) < 0.5, groups // n_classes * n_classes + code, groups
    )
    Y = np.where(code[:, None] == np.arange(n_classes), 1.0, -1.0)
    return X, Y, groups


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(12, 80), n_groups=st.integers(1, 40))
def test_no_group_and_no_whole_class_is_torn_or_lost(seed, n, n_groups):
    X, Y, groups = sample(seed, n, n_groups)
    train, test, n_distinct = hold_out_rows(problem_of(X, Y, groups), np.zeros(3))
    assert sorted([*train, *test]) == list(range(n))
    assert not set(groups[train]) & set(groups[test])
    kinds = classes_of(Y)
    assert set(kinds[train]) == set(kinds)
    assert n_distinct == len(np.unique(groups[test]))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(12, 80), n_groups=st.integers(4, 40))
def test_neither_order_nor_copies_nor_names_of_groups_matter(seed, n, n_groups):
    X, Y, groups = sample(seed, n, n_groups)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(np.concatenate([np.arange(n), rng.integers(0, n, n // 2)]))
    names = rng.permutation(200)[groups]
    level = np.zeros(3)
    _, test, n_distinct = hold_out_rows(problem_of(X, Y, groups), level)
    _, again, as_many = hold_out_rows(problem_of(X[rows], Y[rows], names[rows]), level)
    assert set(rows[again]) == set(test)
    assert n_distinct == as_many


def test_a_third_of_every_class_is_held_out_as_well_as_groups_allow():
    rng = np.random.default_rng(0)
    sizes = rng.integers(3, 12, 120)
    groups = np.repeat(np.arange(120), sizes)
    often = rng.integers(0, 3, 120)[groups]  # a patient mostly has the same label
    code = np.where(
        rng.random(len(groups)) < 0.8, often, rng.integers(0, 3, len(often))
    )
    Y = np.where(code[:, None] == np.arange(3), 1.0, -1.0)
    X = rng.normal(size=(len(groups), 5))
    _, test, n_distinct = hold_out_rows(problem_of(X, Y, groups), np.zeros(3))
    shares = np.bincount(code[test], minlength=3) / np.bincount(code)
    assert np.abs(shares - 1 / 3).max() < 0.03
    assert n_distinct == len(np.unique(groups[test])) < 60  # rows of one say the same


@pytest.mark.parametrize("n", [12, 41, 90])
def test_groups_of_one_row_each_are_as_good_as_none(n):
    X, Y, _ = numbers(0, n, 6, 2, outputs=1)
    groups = np.random.default_rng(1).permutation(n)
    for one, other in zip(
        hold_out_rows(problem_of(X, Y), None),
        hold_out_rows(problem_of(X, Y, groups), None),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def test_what_a_group_gives_away_does_not_choose_the_exponent(monkeypatch):
    """Columns that name a patient predict his other rows: a leak within groups."""
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(30), 8)
    y = rng.normal(size=30)[patient] + 0.1 * rng.normal(size=240)
    X = np.hstack([patient[:, None] == np.arange(30), rng.normal(size=(240, 10))]) * 1.0
    means, sides = {}, {}
    real = _gsr_exponent.hold_out_rows

    def noted(problem, level):
        found = real(problem, level)
        sides[problem.groups is not None] = found
        return found

    monkeypatch.setattr(_gsr_exponent, "hold_out_rows", noted)
    for groups in (None, patient):
        fitted = GSR(30).fit(X, y, groups=groups)
        (note,) = (n for n in fitted.shortlist_.notes if "held-out" in n)
        means[groups is not None] = float(note.split(": ")[1].split()[0])
    assert set(patient[sides[False].train]) & set(patient[sides[False].test])
    assert not set(patient[sides[True].train]) & set(patient[sides[True].test])
    assert means[True] > 3 * means[False]  # an honest error, not that of a leak


def test_groups_too_few_to_hold_one_out_leave_the_first_exponent():
    X, y, _ = numbers(0, n=60, p=6, s=2)
    one = GSR(2).fit(X, y, groups=np.zeros(60))
    labels = np.where(y > 0, "a", "b")
    two = GSR(2).fit(X, labels, groups=labels)  # a group is all that a class has
    for fitted in (one, two):
        assert fitted.r_ == 2.0
        assert not any("held-out" in note for note in fitted.shortlist_.notes)
    fixed = GSR(2, r=1.0).fit(X, y)
    told = GSR(2, r=1.0).fit(X, y, groups=np.zeros(60))  # nothing is held out at all
    assert told.shortlist_ == fixed.shortlist_


def test_rows_of_weight_0_take_their_groups_with_them():
    X, y, _ = numbers(3, n=90, p=12, s=3, noise=2.0)
    groups = np.arange(90) // 5
    counts = np.arange(90) % 4 > 0
    weighed = GSR(3).fit(X, y, sample_weight=counts * 1.0, groups=groups)
    alone = GSR(3).fit(X[counts], y[counts], groups=groups[counts])
    assert weighed.shortlist_.names == alone.shortlist_.names
    said = [
        [note for note in fitted.shortlist_.notes if "held-out" in note]
        for fitted in (weighed, alone)
    ]
    assert said[0] == said[1] != []


def test_groups_are_one_a_row():
    X, y, _ = numbers(0, n=60, p=6, s=2)
    with pytest.raises(ShortlistError, match=r"one entry a row \(60\), got 59"):
        GSR(2).fit(X, y, groups=np.zeros(59))
    with pytest.raises(ShortlistError, match="got none: row 7"):
        GSR(2).fit(X, y, groups=np.where(np.arange(60) == 7, np.nan, 1.0))
