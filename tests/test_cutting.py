"""Candidates are cut in halves, with a refit after each, as long as rows are kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.cutting import cut_in_halves
from reference.sketch import make_block
from shortlist import Mission
from shortlist._cutting import cut_in_stages, cut_to_keep
from shortlist._refit import Refit, coordinates
from shortlist._targets import choose_target
from shortlist.losses import Softmax, Squared

SHARE = 0.2


def table(seed, n=40, p=21):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=p)
    return X, X[:, :3].sum(axis=1) + rng.normal(size=n)


def refit_of(loss, X, y, n_margins=1):
    ids = np.tile(np.arange(X.shape[1], dtype=np.uint64), n_margins)
    margin = np.repeat(np.arange(n_margins), X.shape[1])
    chosen = coordinates(ids, margin, np.zeros(len(ids)), np.zeros(n_margins))
    labels = y if loss.target == "real" else np.unique(y)
    refit = Refit(choose_target(loss, labels), chosen, SHARE, 0.0)
    rows = [list(enumerate(row)) for row in X]
    refit.step(refit.restricted(make_block(rows, y, np.ones(len(y)))))
    refit.finish()
    return refit


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    k=st.integers(1, 25),
    always=st.sets(st.integers(0, 20), max_size=2),
)
def test_what_stays_and_its_weights_equal_the_reference(seed, k, always):
    X, y = table(seed)
    k = max(k, len(always), 1)
    forced = np.array(sorted(always), np.uint64)
    cut = cut_in_stages(refit_of(Squared(), X, y), k, "shared", forced)
    columns, weight = cut_in_halves(X, y, min(k, X.shape[1]), SHARE, list(always))
    assert cut.chosen.ids.tolist() == columns.tolist()
    np.testing.assert_allclose(cut.chosen.weight, weight, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("budget", ["per_class", "shared"])
def test_budgets_of_classes_hold_after_all_stages(budget):
    X, _ = table(0, n=90)
    refit = refit_of(Softmax(), X, np.arange(90.0) % 3, 3)
    cut = cut_in_stages(refit, 4, budget, np.array([20], np.uint64))
    if budget == "shared":
        assert len(cut.chosen.ids) == 4
        assert np.bincount(cut.chosen.margin).tolist() == [4, 4, 4]
    else:
        assert np.bincount(cut.chosen.margin).tolist() == [4, 4, 4]
        assert np.count_nonzero(cut.chosen.id_of() == 20) == 3
    assert 20 in cut.chosen.ids


@pytest.mark.parametrize(("n", "k", "tables"), [(200, 15, 8), (600, 50, 3)])
def test_many_planted_columns_are_found_that_one_cut_would_lose(n, k, tables):
    """The rows of a large table are kept for some of the candidates only."""
    found = 0
    for seed in range(tables):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, 1000)) / np.sqrt(n)
        planted = np.sort(rng.choice(1000, k, replace=False))
        chosen = Mission(k, scale=None).fit(X, X[:, planted].sum(axis=1))
        found += chosen.get_support(indices=True).tolist() == planted.tolist()
    assert found >= 0.75 * tables


@pytest.mark.parametrize("most", [0, 40, 100, 250, 500, 840])
def test_as_many_stay_as_rows_can_be_kept_for(most):
    X, y = table(1)
    refit = refit_of(Squared(), X, y)
    refit.exact_nnz = most
    none = np.empty(0, np.uint64)
    few, more = cut_to_keep(refit, 2, "shared", none)
    sizes = [size for size in (11, 6, 3) if size * len(y) <= most]
    assert len(few.ids) == (sizes or [2])[0]
    assert more == bool(sizes)
