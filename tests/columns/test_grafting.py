"""Grafting solves the l1-penalised problem, whatever order features come in."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso

from reference import grafting as slow
from shortlist import ShortlistError
from shortlist.columns import Grafting
from shortlist.losses import Huber, Logistic, SquaredHinge


def draw(n=120, p=60, s=4, seed=0, rho=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    for j in range(1, p if rho else 0):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    X = (X - X.mean(0)) / X.std(0)
    w = np.zeros(p)
    w[rng.choice(p, s, replace=False)] = rng.choice([-1.0, 1.0], s)
    return X, X @ w + 0.5 * rng.normal(size=n) + 3.0


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.5), st.sampled_from([0.0, 0.8]))
def test_repeated_passes_end_at_the_lasso(seed, lam, rho):
    X, y = draw(seed=seed, rho=rho)
    found = Grafting(60, lam=lam, passes=50, refit=False, tol=0).fit(X, y)
    lasso = Lasso(alpha=lam, tol=1e-12, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(found.coef_, lasso.coef_, atol=1e-5)
    assert found.intercept_ == pytest.approx(lasso.intercept_, abs=1e-5)


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge(), Huber(0.7)])
def test_other_losses_end_where_nothing_can_be_gained(loss):
    X, z = draw(seed=3)
    y = np.sign(z - 3.0) if loss.target == "sign" else z
    found = Grafting(60, loss=loss, lam=0.06, passes=50, refit=False, tol=0).fit(X, y)
    coef, bias = found.coef_.ravel(), float(np.ravel(found.intercept_)[0])
    assert 2 < np.count_nonzero(coef) < 60
    assert slow.violation(loss, X, y, coef, bias, 0.06) < 1e-5
    expected = slow.lasso(loss, X, y, 0.06, steps=3000)
    best = slow.penalised(loss, X, y, *expected, 0.06)
    assert slow.penalised(loss, X, y, coef, bias, 0.06) <= best + 1e-8


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_one_pass_is_optimal_on_the_features_that_are_in(loss):
    X, z = draw(seed=5, rho=0.8)
    y = z if loss == "squared" else np.where(z > 3.0, 1, -1)
    found = Grafting(60, loss=loss, lam=0.05, passes=1, refit=False).fit(X, y)
    coef, bias = found.coef_.ravel(), float(np.ravel(found.intercept_)[0])
    inside = coef != 0
    kind = found.shortlist_.loss
    from shortlist.losses import get_loss

    worst = slow.violation(
        get_loss(kind), X[:, inside], y.astype(float), coef[inside], bias, 0.05
    )
    assert worst < 1e-6


@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax", "poisson"])
def test_the_penalty_rises_until_the_budget_is_met(loss):
    X, z = draw(seed=1, s=5)
    y = {
        "squared": z,
        "logistic": np.where(z > 3.0, 1, 0),
        "softmax": np.digitize(z, [2.0, 4.0]),
        "poisson": np.random.default_rng(0).poisson(np.exp(z / 4)),
    }[loss]
    found = Grafting(5, loss=loss).fit(X, y)
    assert found.shortlist_.n_selected == 5
    assert found.shortlist_.params["penalty"] > found.shortlist_.params["lam"] == 0.0


def test_the_trace_tells_who_came_and_who_left():
    X, y = draw(p=200, rho=0.8)
    found = Grafting(6, passes=3).fit(X, y)
    trace, inside = found.shortlist_.trace, set()
    for entered, left in zip(trace["entered"], trace["left"], strict=True):
        if entered:
            assert entered not in inside
            inside.add(entered)
        if left:
            inside.remove(left)
        assert len(inside) <= 7  # for a moment, until all have left that do
    assert inside == set(found.shortlist_.names)


def test_features_always_in_are_not_penalised():
    X, y = draw()
    found = Grafting(60, lam=100.0, always=[7], refit=False).fit(X, y)
    assert found.get_support(indices=True).tolist() == [7]
    slope = np.cov(X[:, 7], y, bias=True)[0, 1]
    assert found.coef_[7] == pytest.approx(slope, rel=1e-9)


def test_columns_of_later_days_compete_with_those_that_are_in():
    X, y = draw(p=100, s=6)
    both = Grafting(100, lam=0.2, refit=False, passes=20, tol=0).fit(X, y)
    later = Grafting(100, lam=0.2, refit=False, passes=20, tol=0).fit(X[:, :50], y)
    later.add_columns(X[:, 50:])
    assert later.n_features_in_ == 100
    inside = np.flatnonzero(later.coef_)
    assert set(inside) >= set(np.flatnonzero(np.abs(both.coef_) > 0.1))


@pytest.mark.parametrize("lam", [-1, np.inf, "auto", None])
def test_a_penalty_that_is_none_is_refused(lam):
    X, y = draw(n=20, p=5)
    with pytest.raises(ShortlistError, match="lam should be a number from 0"):
        Grafting(lam=lam).fit(X, y)
