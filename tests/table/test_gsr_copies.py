"""GSR and its family with columns that say the same: one of them is enough."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from shortlist import ERFS, GSR, MTFS, RFS, RK1U
from shortlist.objectives.moments import mean_and_spread
from shortlist.table._gsr_copies import copies

FAMILY = (GSR, MTFS, RFS, ERFS, RK1U)


def table(seed=0, density=1.0):
    """Columns 0 and 2 explain y; 1 and 5 are the first again, 6 is its negative."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 20)) * (rng.random((150, 20)) < density)
    X[:, [1, 5, 6]] = X[:, [0]] * [1.0, 1.0, -1.0]
    return X, 3 * X[:, 0] + X[:, 2] + 0.1 * rng.normal(size=150)


@pytest.mark.parametrize("estimator", FAMILY)
@pytest.mark.parametrize("form", ["C", "float32", "CSR"])
def test_copies_of_a_column_take_no_place(estimator, form):
    X, y = table(density=0.09 if form == "CSR" else 1.0)
    given = {"C": X, "float32": X.astype(np.float32), "CSR": sparse.csr_array(X)}[form]
    fitted = estimator(2).fit(given, y)
    assert fitted.get_support(indices=True).tolist() == [0, 2]
    rest = np.setdiff1d(np.arange(20), [1, 5, 6])
    alone = estimator(2).fit(given[:, rest], y)
    assert fitted.lam_ == pytest.approx(alone.lam_, rel=1e-6)


def test_units_and_zeros_of_copies_do_not_matter():
    X, y = table()
    X[:, 1], X[:, 5] = 32.0 - 1.8 * X[:, 0], 1e6 + 1e-3 * X[:, 0]
    assert GSR(2).fit(X, y).get_support(indices=True).tolist() == [0, 2]
    # as they are, they are penalised differently
    raw = GSR(2, standardize=False).fit(X, y).get_support(indices=True)
    assert 1 in raw


def test_of_two_indicators_of_one_thing_one_is_chosen():
    rng = np.random.default_rng(0)
    male = rng.random(200) < 0.37
    X = np.column_stack([male, ~male, rng.normal(size=(200, 6))]).astype(float)
    y = 2.0 * male + 0.5 * X[:, 4] + 0.1 * rng.normal(size=200)
    assert GSR(2).fit(X, y).get_support(indices=True).tolist() == [0, 4]
    # without an intercept they are two things
    both = GSR(2, fit_intercept=False).fit(X, 5.0 + y).get_support(indices=True)
    assert both.tolist() == [0, 1]


def test_copies_come_last_if_there_is_room_for_them():
    X, y = table()
    fitted = GSR(18, never=[3]).fit(X, y)
    assert not fitted.support_[[3, 6]].any()
    ranks = fitted.selection_path_.ranks[-1]
    assert ranks[[1, 5, 6, 3]].tolist() == [17, 18, 19, 20]
    assert set(np.argsort(ranks)[:18]) == set(fitted.get_support(indices=True))
    assert not fitted.selection_path_.weights[:, [1, 5, 6]].any()
    every = GSR(20).fit(X, y)
    assert every.support_.all()
    assert every.score(X, y) > 0.99


def test_what_is_always_in_stands_for_its_copies():
    X, y = table()
    assert GSR(2, always=[5]).fit(X, y).get_support(indices=True).tolist() == [2, 5]
    both = GSR(3, always=[1, 5]).fit(X, y).get_support(indices=True)
    assert both.tolist() == [1, 2, 5]


def test_groups_are_taken_as_they_are():
    X, y = table()
    groups = {"pair": [1, 2], "same": [0, 5]}
    fitted = GSR(2, feature_groups=groups, never=[6]).fit(X, y)
    assert fitted.get_support(indices=True).tolist() == [0, 1, 2, 5]


def test_rows_of_weight_zero_do_not_tell_columns_apart():
    X, y = table()
    X[:30, 1] = 7.0
    weight = (np.arange(150) >= 30) * 1.0
    fitted = GSR(2).fit(X, y, sample_weight=weight)
    assert fitted.get_support(indices=True).tolist() == [0, 2]


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    thin=st.booleans(),
    off=st.sampled_from([0.0, 1e3, 1e7]),
    centred=st.booleans(),
)
def test_copies_are_told_from_columns_that_are_nearly_the_same(
    seed, thin, off, centred
):
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, (50, 12)) * (rng.random((50, 12)) < 0.5) + 0.0
    X[0] = np.arange(1, 13)  # no two are the same
    X[:, 3] += off
    X[:, 7] = X[:, 3]
    X[:, 8] = -X[:, 2]
    X[:, 9] = X[:, 1]
    X[int(seed % 50), 9] += 1e-3
    share = np.full(50, 0.02)
    mean, spread = mean_and_spread(X, share, center=centred)
    found = copies(
        sparse.csr_array(X) if thin else X,
        np.arange(1, 12),
        np.arange(1, 12) == 8,
        np.ones(50, bool),
        (mean, spread, spread),
        centred=centred,
    )
    # the eighth is kept, and stands for the second
    assert np.flatnonzero(found).tolist() == [2 - 1, 7 - 1]
