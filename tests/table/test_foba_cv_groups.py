"""FoBaCV where rows come in groups: a fold has whole ones."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold

from shortlist import FoBaCV, ShortlistError
from shortlist.table import _foba_cv

PATIENTS = np.random.default_rng(1).permutation(120) // 10


@pytest.fixture
def leaky():
    """What a patient has is no feature's doing, but columns tell who is who."""
    rng = np.random.default_rng(0)
    y = 3 * rng.normal(size=12)[PATIENTS] + rng.normal(size=120)
    names = (PATIENTS[:, None] == np.arange(12)) + 0.0
    return np.hstack([names, rng.normal(size=(120, 6))]), y


@pytest.fixture
def tested(monkeypatch):
    """Rows that sizes were judged by, fold by fold."""
    seen, real = [], _foba_cv.held_out_losses
    monkeypatch.setattr(
        _foba_cv, "held_out_losses", lambda *w: seen.append(w[-1]) or real(*w)
    )
    return seen


@pytest.mark.parametrize(
    "cv", [4, GroupKFold(4), list(GroupKFold(4).split(PATIENTS, groups=PATIENTS))]
)
def test_a_column_that_tells_a_group_is_no_use_for_others(leaky, tested, cv):
    X, y = leaky
    torn = FoBaCV(12, cv=4).fit(X, y)
    assert torn.k_ > 5
    tested.clear()
    whole = FoBaCV(12, cv=cv).fit(X, y, groups=[f"p{i}" for i in PATIENTS])
    assert whole.k_ < torn.k_
    assert whole.cv_losses_.mean(axis=0)[-1] > 3 * torn.cv_losses_.mean(axis=0)[-1]
    held = [set(PATIENTS[rows]) for rows in tested]
    assert [len(rows) for rows in tested] == [30] * 4
    assert sum(map(len, held)) == len(set.union(*held)) == 12


def test_classes_are_alike_in_folds_of_groups(leaky, tested):
    X, _ = leaky
    y = np.where(PATIENTS % 2, "ill", "well")
    FoBaCV(3, cv=3).fit(X, y, groups=PATIENTS)
    assert [np.mean(y[rows] == "ill") for rows in tested] == [0.5] * 3


def test_folds_that_tear_groups_are_refused(leaky):
    X, y = leaky
    with pytest.raises(ShortlistError, match="rows of one group on both sides"):
        FoBaCV(3, cv=KFold(5, shuffle=True, random_state=0)).fit(X, y, groups=PATIENTS)
    with pytest.raises(ShortlistError, match=r"number of groups \(12\), got 13"):
        FoBaCV(3, cv=13).fit(X, y, groups=PATIENTS)


def test_nothing_said_about_folds_means_five(leaky, tested):
    X, y = leaky
    unsaid = FoBaCV(6, cv=None).fit(X, y, groups=PATIENTS)
    rows = [part.tolist() for part in tested]
    tested.clear()
    FoBaCV(6, cv=5).fit(X, y, groups=PATIENTS)
    assert rows == [part.tolist() for part in tested]
    assert len(unsaid.cv_losses_) == 5
