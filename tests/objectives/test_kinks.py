"""Losses with kinks: their envelopes, and the minimum of the losses themselves."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize_scalar

from reference import objective as reference
from shortlist.losses import (
    EpsilonInsensitive,
    Hinge,
    Squared,
    curvature,
    get_loss,
    slope,
    value,
)
from shortlist.objectives import LinearObjective
from shortlist.objectives.envelope import Envelope

KINKED = ["hinge", "epsilon_insensitive:0.5"]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def table(loss, rng, n=120, p=4):
    X = rng.normal(size=(n, p)) + 0.5
    eta = X[:, 0] - X[:, 1] + rng.normal(size=n)
    return X, np.where(eta > 0.0, 1.0, -1.0) if loss == "hinge" else eta


@pytest.mark.parametrize(
    ("inner", "y"), [(Hinge(), -1.0), (EpsilonInsensitive(0.3), 0.4), (Squared(), 2.0)]
)
def test_the_envelope_is_the_smallest_loss_plus_squared_distance(inner, y, rng):
    loss = Envelope(inner, 0.7)
    for v in rng.normal(scale=2.0, size=15):
        slow = minimize_scalar(
            lambda z, v=v: value(inner, y, z) + (z - v) ** 2 / 1.4,
            bounds=(v - 5.0, v + 5.0),
            method="bounded",
            options={"xatol": 1e-10},
        )
        assert value(loss, y, v) == pytest.approx(slow.fun, abs=1e-8)
        rise = (value(loss, y, v + 1e-6) - value(loss, y, v - 1e-6)) / 2e-6
        assert slope(loss, y, v) == pytest.approx(rise, abs=1e-5)
        bend = (slope(loss, y, v + 1e-6) - slope(loss, y, v - 1e-6)) / 2e-6
        assert curvature(loss, y, v) == pytest.approx(bend, abs=1e-5)


@pytest.mark.parametrize("loss", KINKED)
@pytest.mark.parametrize("dense_limit", [1500, 0])
def test_without_penalty_the_minimum_is_that_of_a_linear_program(
    loss, dense_limit, rng
):
    X, y = table(loss, rng)
    weight = rng.random(len(X))
    Q = LinearObjective(loss, X, y, sample_weight=weight, dense_limit=dense_limit)
    fit = Q.refit(np.arange(4))
    if loss == "hinge":
        best = reference.hinge_by_linear_programming(X, y, weight)
    else:
        best = reference.insensitive_by_linear_programming(X, y, weight, 0.5)
    assert fit.value == pytest.approx(best, rel=1e-9)
    assert fit.value == pytest.approx(Q.value(fit), rel=1e-13)


@pytest.mark.parametrize("loss", KINKED)
@pytest.mark.parametrize("l2", [1e-3, 0.1])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_with_penalty_some_subgradient_is_zero(loss, l2, fit_intercept, rng):
    X, y = table(loss, rng)
    Q = LinearObjective(loss, X, y, l2=l2, fit_intercept=fit_intercept)
    fit = Q.refit(np.arange(4))
    Z = Q.margins(fit)[:, 0]
    # slopes on either side of the margin: they differ where an example sits on a kink
    inner = get_loss(loss)
    low = np.array([slope(inner, t, z - 1e-7) for t, z in zip(y, Z, strict=True)])
    high = np.array([slope(inner, t, z + 1e-7) for t, z in zip(y, Z, strict=True)])
    A = np.hstack([X, np.ones((len(X), 1))]) if fit_intercept else X
    penalty = l2 * np.append(fit.weights, [0.0] * fit_intercept)
    kink = high > low
    rest = A[~kink].T @ low[~kink] / len(X) + penalty
    found = lsq_linear(A[kink].T / len(X), -rest, (low[kink], high[kink]), tol=1e-14)
    assert np.sqrt(2.0 * found.cost) < 1e-9


@pytest.mark.parametrize("loss", KINKED)
def test_row_order_and_split_weights_do_not_matter(loss, rng):
    X, y = table(loss, rng)
    weight = rng.random(len(X))
    Q = LinearObjective(loss, X, y, l2=0.01, sample_weight=weight)
    expected = Q.refit(np.arange(4))
    order = rng.permutation(2 * len(X))
    both = np.concatenate([0.3 * weight, 0.7 * weight])
    split = LinearObjective(
        loss,
        np.vstack([X, X])[order],
        np.concatenate([y, y])[order],
        l2=0.01,
        sample_weight=both[order],
    )
    fit = split.refit(np.arange(4))
    np.testing.assert_allclose(fit.weights, expected.weights, rtol=1e-8)
    np.testing.assert_allclose(fit.nuisance, expected.nuisance, rtol=1e-8)


def test_a_start_at_the_minimum_stays_there(rng):
    X, y = table("hinge", rng)
    Q = LinearObjective("hinge", X, y, l2=0.01)
    fit = Q.refit(np.arange(4))
    again = Q.refit(np.arange(4), start=fit)
    np.testing.assert_allclose(again.weights, fit.weights, rtol=1e-8)
    assert again.value <= fit.value * (1.0 + 1e-13)
