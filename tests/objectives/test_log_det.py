"""The log-det objective and its minima against slow references and known truths."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from reference import log_det as reference
from reference.log_det import covariances, some_point
from shortlist._protocols import Fit, ShortlistError
from shortlist.objectives import LogDetObjective

P = 7
N_PAIRS = P * (P - 1) // 2
NOTHING = np.empty(0, np.int64)
# The cycle 0-1-2-3, which has no closed form, and the single pair 4-5; 6 is alone.
CYCLE = np.array([0, 2, 6, 11, 18])


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(0, N_PAIRS),
    l2=st.sampled_from([0, 0.3]),
)
def test_value_and_gradient_are_those_of_the_formula(seed, size, l2):
    S = covariances(seed)
    support = np.sort(np.random.default_rng(seed).choice(N_PAIRS, size, replace=False))
    Q, fit = LogDetObjective(S, l2=l2), some_point(seed, support, S)
    theta = reference.matrix(P, support, fit.weights, fit.nuisance)
    np.testing.assert_array_equal(Q.precision(fit), theta)
    np.testing.assert_allclose(Q.value(fit), reference.value(S, theta, l2), rtol=1e-12)
    gradient = Q.gradient(fit)
    assert gradient.shape == (Q.n_coordinates,) == (N_PAIRS,)
    for a, (i, j) in enumerate(zip(*np.triu_indices(P, 1), strict=True)):
        h = 1e-5 * np.sqrt(theta[i, i] * theta[j, j])
        ends = []
        for t in (-h, h):
            other = theta.copy()
            other[i, j] = other[j, i] = theta[i, j] + t
            ends.append(reference.value(S, other, l2))
        slope = (ends[1] - ends[0]) / (2 * h)
        unit = np.sqrt(S[i, i] * S[j, j])
        np.testing.assert_allclose(gradient[a] / unit, slope / unit, atol=1e-7)


def test_outside_positive_definiteness_the_value_is_infinite_and_no_gradient():
    Q = LogDetObjective(np.eye(3))
    fit = Fit(np.array([0]), np.array([0.9]), np.ones(3), np.nan)
    assert np.isfinite(Q.value(fit))
    for outside in (
        fit._replace(weights=np.array([1.1])),
        fit._replace(weights=np.array([np.nan])),
        fit._replace(nuisance=np.array([-1.0, -1.0, 1.0])),
        fit._replace(nuisance=np.array([1.0, 1.0, -1.0])),  # the variable alone
    ):
        assert Q.value(outside) == np.inf
    with pytest.raises(ShortlistError, match="not for x0, x1; start from refit"):
        Q.gradient(fit._replace(weights=np.array([1.1])))
    with pytest.raises(ShortlistError, match="not for x2; start from refit"):
        Q.gradient(fit._replace(nuisance=np.array([1.0, 1.0, -1.0])))


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), size=st.integers(0, N_PAIRS))
def test_refit_is_that_of_cyclic_regressions(seed, size):
    S = covariances(seed)
    support = np.sort(np.random.default_rng(seed).choice(N_PAIRS, size, replace=False))
    Q = LogDetObjective(S)
    fit = Q.refit(support)
    d = np.sqrt(np.diag(S))
    ours, theirs = Q.precision(fit), reference.by_regressions(S, support)
    unit = np.outer(d, d)
    np.testing.assert_allclose(ours * unit, theirs * unit, rtol=1e-6, atol=1e-8)
    assert fit.value == Q.value(fit)
    assert fit.value <= reference.value(S, theirs) + 1e-12


@pytest.mark.parametrize("l2", [0.0, 0.01, 1.0, 100.0])
def test_refit_is_that_of_a_general_method(l2):
    S = covariances()
    S /= np.sqrt(np.outer(np.diag(S), np.diag(S)))
    fit = (Q := LogDetObjective(S, l2=l2)).refit(CYCLE)
    theirs = reference.by_descent(S, CYCLE, l2)
    np.testing.assert_allclose(Q.precision(fit), theirs, atol=1e-7)
    np.testing.assert_allclose(fit.value, reference.value(S, theirs, l2), rtol=1e-12)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(0, N_PAIRS),
    l2=st.sampled_from([0.0, 0.02]),
)
def test_at_the_minimum_covariances_are_matched_and_the_rest_is_zero(seed, size, l2):
    S = covariances(seed)
    support = np.sort(np.random.default_rng(seed).choice(N_PAIRS, size, replace=False))
    Q = LogDetObjective(S, l2=l2)
    theta = Q.precision(Q.refit(support))
    W, unit = np.linalg.inv(theta), np.sqrt(np.outer(np.diag(S), np.diag(S)))
    miss = (S + l2 * (theta - np.diag(np.diag(theta))) - W) / unit
    inside = reference.matrix(P, support, 1.0, np.ones(P)) > 0.0
    np.testing.assert_allclose(miss[inside], 0.0, atol=1e-9)
    assert not theta[~inside].any()


def test_with_all_pairs_the_precision_is_the_inverse():
    S = covariances()
    Q = LogDetObjective(S)
    theta = Q.precision(Q.refit(np.arange(N_PAIRS)))
    np.testing.assert_allclose(theta @ S, np.eye(P), atol=1e-9)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), l2=st.sampled_from([0.0, 0.1]))
def test_a_warm_start_ends_where_a_cold_one_does(seed, l2):
    rng = np.random.default_rng(seed)
    Q = LogDetObjective(covariances(seed), l2=l2)
    here, there = (
        np.sort(rng.choice(N_PAIRS, size, replace=False))
        for size in rng.integers(1, 15, 2)
    )
    cold, warm = Q.refit(here), Q.refit(here, Q.refit(there))
    np.testing.assert_allclose(warm.weights, cold.weights, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(warm.nuisance, cold.nuisance, rtol=1e-9)
    np.testing.assert_allclose(warm.value, cold.value, rtol=1e-13)


def test_a_start_that_is_not_positive_definite_any_more_does_no_harm():
    """Theta = L'L with large entries: zeroing one of them breaks it."""
    L = np.array([[1.0, 3.0, 3.0], [0.0, 1.0, 3.0], [0.0, 0.0, 1.0]])
    Q = LogDetObjective(np.linalg.inv(L.T @ L))
    full = Q.refit(np.arange(3))
    np.testing.assert_allclose(Q.precision(full), L.T @ L, rtol=1e-8)
    assert np.isinf(Q.zeroing_costs(full)).any()
    for gone in range(3):
        rest = np.delete(np.arange(3), gone)
        zeroed = Fit(rest, full.weights[rest], full.nuisance, np.nan)
        assert np.isinf(Q.value(zeroed)) == np.isinf(Q.zeroing_costs(full)[gone])
        np.testing.assert_allclose(
            Q.refit(rest, full).weights, Q.refit(rest).weights, rtol=1e-8
        )
    far = Fit(np.arange(3), np.zeros(3), np.full(3, 1e12), np.nan)
    np.testing.assert_allclose(Q.refit(rest, far).weights, Q.refit(rest).weights)


def test_nothing_selected_costs_nothing_and_is_the_diagonal():
    S = covariances()
    Q = LogDetObjective(S)
    fit = Q.refit(NOTHING)
    np.testing.assert_allclose(Q.precision(fit), np.diag(1.0 / np.diag(S)))
    assert Q.zeroing_costs(fit).shape == Q.removal_costs(fit).shape == (0,)
    assert (
        Q.zeroing_costs(fit, NOTHING).shape
        == Q.removal_costs(fit, NOTHING).shape
        == (0,)
    )


def test_where_there_is_no_minimum_refit_says_so_and_l2_helps():
    X = np.random.default_rng(0).normal(size=(5, 12))  # 12 variables, of rank 4
    every = np.arange(66)
    with pytest.raises(ShortlistError, match=r"x4 and 7 more: .* set l2 above 0 or"):
        LogDetObjective.from_samples(X).refit(every)
    fit = (Q := LogDetObjective.from_samples(X, l2=0.01)).refit(every)
    np.testing.assert_allclose(Q.gradient(fit), 0.0, atol=1e-9)

    twins = np.array([[1.0, 1.0, 0.2], [1.0, 1.0, 0.2], [0.2, 0.2, 1.0]])
    Q = LogDetObjective(twins, names=["this", "that", "other"])
    with pytest.raises(ShortlistError, match="best for this, that: the covariances"):
        Q.refit(np.array([0]))
    assert np.isfinite(Q.refit(np.array([1])).value)  # this -- other is no trouble
    fit = (Q := LogDetObjective(twins, l2=1e-6)).refit(np.array([0]))
    # far out theta_ij = -(2 l2)^(-1/2), but for lower orders
    np.testing.assert_allclose(fit.weights, -np.sqrt(0.5e6), rtol=0.01)


@pytest.mark.parametrize("gap", [1e-3, 1e-5, 1e-6])
def test_near_twins_are_solved_to_many_digits(gap):
    r = 1.0 - gap
    fit = LogDetObjective([[1.0, r], [r, 1.0]]).refit(np.array([0]))
    np.testing.assert_allclose(fit.weights, -r / ((1.0 - r) * (1.0 + r)), rtol=1e-6)
    exact = 1.0 + 0.5 * np.log((1.0 - r) * (1.0 + r))
    np.testing.assert_allclose(fit.value, exact, rtol=1e-8)


@pytest.mark.parametrize("gap", [2e-8, 1e-9, 1e-12, 1e-16, 0.0])
def test_nearer_twins_are_refused_before_digits_are_gone(gap):
    r = 1.0 - gap
    with pytest.raises(ShortlistError, match="too close to singular"):
        LogDetObjective([[1.0, r], [r, 1.0]]).refit(np.array([0]))


@pytest.mark.parametrize(
    ("S", "message"),
    [
        (np.ones((2, 3)), r"S should be a square matrix, got shape \(2, 3\)"),
        (np.ones(3), r"S should be a square matrix, got shape \(3,\)"),
        (np.ones((0, 0)), "S should be a square matrix"),
        ([["a"]], "S should hold numbers"),
        ([[1.0, np.nan], [np.nan, 1.0]], "S should be finite"),
        ([[1.0, 0.5], [0.4, 1.0]], r"symmetric, S\[0, 1\] is 0.5 and S\[1, 0\] is 0.4"),
        ([[1.0, 0.0], [0.0, 0.0]], r"above 0, S\[1, 1\] is 0; drop constant"),
        ([[-1.0, 0.0], [0.0, 1.0]], r"above 0, S\[0, 0\] is -1"),
    ],
)
def test_what_is_no_covariance_is_refused(S, message):
    with pytest.raises(ShortlistError, match=message) as caught:
        LogDetObjective(S)
    assert "\n" not in str(caught.value)


def test_other_nonsense_is_refused():
    with pytest.raises(ShortlistError, match="l2 should be at least 0"):
        LogDetObjective(np.eye(2), l2=-1.0)
    with pytest.raises(ShortlistError, match="one for each of 2 variables, got 3"):
        LogDetObjective(np.eye(2), names="abc")
    X = np.random.default_rng(0).normal(size=(9, 3))
    X[:, 1] = 0.1
    with pytest.raises(ShortlistError, match="constant: column 1 is"):
        LogDetObjective.from_samples(X)
    X[0, 1] = np.inf
    with pytest.raises(ShortlistError, match="X should be finite"):
        LogDetObjective.from_samples(X)


def test_rounding_is_no_asymmetry_and_single_variables_have_no_pairs():
    S = covariances().astype(np.float32)
    S[0, 1] = np.nextafter(S[0, 1], np.float32(9))
    assert LogDetObjective(S).n_coordinates == N_PAIRS
    Q = LogDetObjective([[4.0]])
    np.testing.assert_allclose(Q.precision(Q.refit(NOTHING)), [[0.25]])
    assert Q.names == []


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_samples_become_correlations_or_covariances(form):
    X = np.random.default_rng(0).normal(3.0, 2.0, size=(30, 4)) * [1, 10, 0.1, 1]
    every = np.arange(6)
    for standardize, S in (
        (True, np.corrcoef(X, rowvar=False)),
        (False, np.cov(X, rowvar=False, bias=True)),
    ):
        Q = LogDetObjective.from_samples(form(X), standardize=standardize)
        theta = Q.precision(Q.refit(every))
        np.testing.assert_allclose(theta @ S, np.eye(4), atol=1e-8)


def test_pairs_are_named_after_their_variables():
    assert LogDetObjective(np.eye(3)).names == ["x0 -- x1", "x0 -- x2", "x1 -- x2"]
    assert LogDetObjective(np.eye(2), names=["a", "b"]).names == ["a -- b"]
    X = np.random.default_rng(0).normal(size=(9, 2))
    frame = pd.DataFrame(X, columns=["rain", "mud"])
    assert LogDetObjective.from_samples(frame).names == ["rain -- mud"]
    assert LogDetObjective.from_samples(frame, names="uv").names == ["u -- v"]
