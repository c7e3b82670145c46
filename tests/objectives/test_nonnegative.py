"""Weights that may not be negative: against scipy, and what that means for costs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, nnls

from shortlist.objectives import GramObjective, LinearObjective, NonNegative

quick = settings(max_examples=40, deadline=None)
seeds = st.integers(0, 2**32)


def table(seed, n=40, p=8):
    """Correlated columns and a target that pulls about half of the weights below 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.5 * rng.normal(size=(p, p)))
    return X, X @ rng.normal(size=p) + rng.normal(size=n)


@quick
@given(seeds)
def test_least_squares_equals_nnls(seed):
    X, y = table(seed)
    objective = GramObjective(X, y, fit_intercept=False, standardize=False)
    fit = NonNegative(objective).refit(np.arange(X.shape[1]))
    np.testing.assert_allclose(fit.weights, nnls(X, y)[0], atol=1e-7)


@quick
@given(seeds, st.sampled_from(["logistic", "squared_hinge", "huber"]))
def test_other_losses_reach_the_minimum_of_a_bounded_optimiser(seed, loss):
    X, y = table(seed)
    y = y if loss == "huber" else np.sign(y)
    plain = LinearObjective(loss, X, y, l2=0.01)
    fit = NonNegative(plain).refit(np.arange(X.shape[1]))
    assert (fit.weights >= 0.0).all()

    def value(theta):
        return plain.value(fit._replace(weights=theta[:-1], nuisance=theta[-1:]))

    p = X.shape[1]
    bounds = [(0, None)] * p + [(None, None)]
    options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 3000, "maxfun": 10**6}
    peer = minimize(value, np.zeros(p + 1), bounds=bounds, options=options)
    assert fit.value == pytest.approx(plain.value(fit), rel=1e-10)
    assert fit.value <= peer.fun + 1e-8


@quick
@given(seeds)
def test_the_start_does_not_change_the_minimum(seed):
    X, y = table(seed)
    objective = NonNegative(GramObjective(X, y))
    far = objective.refit(np.arange(2, 6))
    cold, warm = objective.refit(np.arange(8)), objective.refit(np.arange(8), far)
    np.testing.assert_allclose(cold.weights, warm.weights, atol=1e-8)


def test_slopes_towards_negative_weights_promise_nothing():
    X, y = table(3)
    plain = GramObjective(X, y)
    objective = NonNegative(plain)
    fit = objective.refit(np.array([0, 1]))
    ours, theirs = objective.gradient(fit), plain.gradient(fit)
    outside = np.arange(2, 8)
    assert (theirs[outside] > 0.1).any()
    np.testing.assert_array_equal(ours[outside], np.minimum(theirs[outside], 0.0))
    np.testing.assert_array_equal(
        objective.decreases(fit)[outside] > 0.0, theirs[outside] < 0.0
    )


def test_weights_at_zero_cost_nothing_and_others_what_they_cost():
    X, y = table(5)
    plain = GramObjective(X, y, fit_intercept=False)
    objective = NonNegative(plain)
    fit = objective.refit(np.arange(8))
    at_zero = fit.weights == 0.0
    assert 0 < at_zero.sum() < 8
    zeroing = objective.zeroing_costs(fit)
    assert not zeroing[at_zero].any()
    for j in np.flatnonzero(~at_zero):
        without = fit._replace(weights=np.where(np.arange(8) == j, 0.0, fit.weights))
        assert zeroing[j] == pytest.approx(plain.value(without) - fit.value)
    pairs = objective.zeroing_costs(fit, np.arange(8) // 2)
    assert len(pairs) == 4
    assert pairs.sum() > 0.0
    free = np.flatnonzero(~at_zero)
    expected = plain.removal_costs(
        fit._replace(support=free, weights=fit.weights[free])
    )
    np.testing.assert_allclose(objective.removal_costs(fit)[free], expected)
