"""What pairs gain and cost in a precision matrix; selection of pairs by FoBa."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from reference import log_det as reference
from reference.log_det import covariances, moved, pairs_of, planted, some_point
from shortlist._protocols import Fit
from shortlist.objectives import LogDetObjective
from shortlist.table import Settings, Units, foba

P = 7
N_PAIRS = P * (P - 1) // 2
NOTHING = np.empty(0, np.int64)
# The cycle 0-1-2-3, which has no closed form, and the single pair 4-5; 6 is alone.
CYCLE = np.array([0, 2, 6, 11, 18])


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), l2=st.sampled_from([0.0, 0.01, 3.0]))
def test_decreases_are_the_best_there_are_along_each_pair(seed, l2):
    S = covariances(seed)
    Q = LogDetObjective(S, l2=l2)
    i, j = np.triu_indices(P, 1)
    refitted = Q.refit(CYCLE)
    np.testing.assert_allclose(Q.decreases(refitted)[CYCLE], 0.0, atol=1e-12)
    for fit in (refitted, some_point(seed, CYCLE, S)):
        here, found, theta = Q.value(fit), Q.decreases(fit), Q.precision(fit)
        for a in range(N_PAIRS):
            # where both eigenvalues of theta + t E_ij stay positive
            W = np.linalg.inv(theta)
            root = np.sqrt(W[i[a], i[a]] * W[j[a], j[a]])
            bounds = (-1.0 / (root + W[i[a], j[a]]), 1.0 / (root - W[i[a], j[a]]))
            best = minimize_scalar(
                lambda t, a=a, fit=fit: min(Q.value(moved(fit, a, t)), 1e10),
                bounds=bounds,
                method="bounded",
                options={"xatol": 1e-7 * (bounds[1] - bounds[0])},
            ).fun
            np.testing.assert_allclose(found[a], here - best, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("r", [-0.999, -0.5, 0.0, 1e-9, 0.5, 0.999])
@pytest.mark.parametrize("l2", [0.0, 1e-3, 1e3])
def test_decreases_of_lonely_variables_follow_from_one_equation(r, l2):
    """With Theta = 1: r + t / (1 - t^2) + l2 t = 0, solved by bisection."""
    Q = LogDetObjective([[1.0, r], [r, 1.0]], l2=l2)
    low, high = -1.0, 1.0
    for _ in range(200):
        t = 0.5 * (low + high)
        low, high = (t, high) if r + t / (1 - t**2) + l2 * t < 0.0 else (low, t)
    fall = -t * r + 0.5 * np.log1p(-(t**2)) - 0.5 * l2 * t**2
    np.testing.assert_allclose(Q.decreases(Q.refit(NOTHING)), [fall], 1e-8, 1e-22)


@pytest.mark.parametrize("l2", [1e-3, 1.0, 1e3, 1e6])
def test_decreases_stop_where_a_penalty_would_leave_positive_definiteness(l2):
    L = np.array([[1.0, 3.0, 3.0], [0.0, 1.0, 3.0], [0.0, 0.0, 1.0]])
    theta = L.T @ L
    Q = LogDetObjective(np.diag([1.0, 0.1, 0.1]) + 0.05, l2=l2)
    fit = Fit(np.arange(3), theta[np.triu_indices(3, 1)], np.diag(theta), np.nan)
    assert np.isinf(Q.zeroing_costs(fit)).any()
    for a, fall in enumerate(Q.decreases(fit)):
        low, high = -20.0, 20.0  # Q rises to infinity at both ends of the domain
        for _ in range(200):
            thirds = low + (high - low) * np.array([1, 2]) / 3
            left, right = (Q.value(moved(fit, a, t)) for t in thirds)
            # a tie is one of infinities: the domain is on the side of 0
            lower = left < right or (left == right and thirds.sum() > 0.0)
            low, high = (low, thirds[1]) if lower else (thirds[0], high)
        best = Q.value(fit) - Q.value(moved(fit, a, 0.5 * (low + high)))
        np.testing.assert_allclose(fall, best, rtol=1e-7)


@pytest.mark.parametrize("l2", [0.0, 0.05])
def test_zeroing_costs_are_exact_for_pairs_and_for_sets(l2):
    S = covariances(n=400)
    Q = LogDetObjective(S, l2=l2)
    fit = Q.refit(CYCLE)
    alone = np.arange(len(CYCLE))
    for sets in (alone, np.array([0, 1, 0, 2, 1]), np.zeros(5, int)):
        costs = Q.zeroing_costs(fit, sets)
        assert len(costs) == sets.max() + 1
        for unit, cost in enumerate(costs):
            zeroed = fit._replace(weights=np.where(sets == unit, 0.0, fit.weights))
            rise = Q.value(zeroed) - fit.value
            assert np.isfinite(rise)
            np.testing.assert_allclose(cost, rise, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(Q.zeroing_costs(fit), Q.zeroing_costs(fit, alone))


def test_sets_whose_zeroing_leaves_positive_definiteness_cost_infinity():
    L = np.array([[1.0, 3.0, 3.0], [0.0, 1.0, 3.0], [0.0, 0.0, 1.0]])
    Q = LogDetObjective(np.linalg.inv(L.T @ L))
    fit = Q.refit(np.arange(3))
    alone = Q.zeroing_costs(fit, np.arange(3))
    np.testing.assert_array_equal(np.isinf(alone), np.isinf(Q.zeroing_costs(fit)))
    assert np.isinf(alone).any()
    assert np.isfinite(Q.zeroing_costs(fit, np.zeros(3, int))).all()  # all of them


@pytest.mark.parametrize("l2", [0.0, 0.05])
def test_removal_costs_of_weak_pairs_are_right_to_a_few_percent(l2):
    rng = np.random.default_rng(1)
    S = np.cov(rng.normal(size=(400, P)), rowvar=False)
    Q = LogDetObjective(S, l2=l2)
    support = np.arange(0, N_PAIRS, 2)
    fit = Q.refit(support)
    for sets in (np.arange(len(support)), np.arange(len(support)) // 2):
        costs = Q.removal_costs(fit, sets)
        for unit, cost in enumerate(costs):
            rise = Q.refit(support[sets != unit]).value - fit.value
            np.testing.assert_allclose(cost, rise, rtol=0.05, atol=1e-7)
    np.testing.assert_allclose(
        Q.removal_costs(fit), Q.removal_costs(fit, np.arange(len(support)))
    )


def test_removal_costs_are_those_of_the_quadratic_model_at_any_weights():
    """The Hessian by differences of the gradient, the diagonal eliminated with it."""
    S = covariances()
    Q, support = LogDetObjective(S), np.arange(N_PAIRS)
    fit = Q.refit(support)
    h, rows = 1e-6, []
    for a in range(N_PAIRS + P):
        ends = []
        for t in (-h, h):
            theta = np.concatenate([fit.weights, fit.nuisance])
            theta[a] += t * np.abs(theta).mean()
            at = reference.matrix(P, support, theta[:N_PAIRS], theta[N_PAIRS:])
            G = S - np.linalg.inv(at)
            ends.append(np.concatenate([G[np.triu_indices(P, 1)], 0.5 * np.diag(G)]))
        rows.append((ends[1] - ends[0]) / (2 * h * np.abs(theta).mean()))
    inverse = np.linalg.inv(np.array(rows))
    expected = fit.weights**2 / (2 * np.diag(inverse)[:N_PAIRS])
    np.testing.assert_allclose(Q.removal_costs(fit), expected, rtol=1e-3)


@pytest.mark.parametrize("scale", [1e-100, 1e-3, 1e100])
def test_units_of_variables_change_weights_and_nothing_else(scale):
    S = covariances()
    d = scale ** np.linspace(0.0, 1.0, P)
    plain, other = LogDetObjective(S), LogDetObjective(S * np.outer(d, d))
    fit, same = plain.refit(CYCLE), other.refit(CYCLE)
    i, j = np.triu_indices(P, 1)
    np.testing.assert_allclose(
        same.weights * (d[i] * d[j])[CYCLE], fit.weights, rtol=1e-8
    )
    np.testing.assert_allclose(same.value - np.log(d).sum(), fit.value, rtol=1e-9)
    for method in ("decreases", "zeroing_costs", "removal_costs"):
        ours, theirs = getattr(plain, method)(fit), getattr(other, method)(same)
        np.testing.assert_allclose(theirs, ours, rtol=1e-6, atol=1e-13)


@pytest.mark.parametrize("criterion", ["gradient", "objective"])
@pytest.mark.parametrize("l2", [0.0, 0.01])
def test_foba_finds_the_edges_of_a_chain(criterion, l2):
    edges = [(i, i + 1) for i in range(19)]
    Q = LogDetObjective.from_samples(planted(edges, 20, 800), l2=l2)
    path = foba(Q, Units(Q.n_coordinates), Settings(19, criterion=criterion))
    np.testing.assert_array_equal(path.best[19].units, pairs_of(20, edges))


def test_foba_finds_a_random_graph_with_far_more_pairs_than_samples():
    rng = np.random.default_rng(3)
    edges = {tuple(sorted(rng.choice(60, 2, replace=False))) for _ in range(25)}
    X = planted(edges, 60, 300, strength=0.4)
    Q = LogDetObjective.from_samples(X)
    assert Q.n_coordinates == 1770
    path = foba(Q, Units(Q.n_coordinates), Settings(len(edges)))
    np.testing.assert_array_equal(path.best[len(edges)].units, pairs_of(60, edges))


def test_foba_takes_blocks_of_the_matrix_as_units():
    """Variables come in fours; all pairs of two fours enter and leave together."""
    p = 12
    i, j = np.triu_indices(p, 1)
    unit_of = np.unique(j // 4 * 3 + i // 4, return_inverse=True)[1]
    edges = [(0, 5), (1, 6), (3, 4)]  # all of the first four with the second
    Q = LogDetObjective.from_samples(planted(edges, p, 400, strength=0.5))
    path = foba(Q, Units(Q.n_coordinates, unit_of), Settings(1))
    (unit,) = path.best[1].units
    assert set(pairs_of(p, edges)) <= set(np.flatnonzero(unit_of == unit))


class Plain:
    """The three methods that the protocol asks for, and no other."""

    def __init__(self, Q):
        self.n_coordinates = Q.n_coordinates
        self.value, self.gradient, self.refit = Q.value, Q.gradient, Q.refit


def test_short_cuts_lead_where_the_protocol_alone_does():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 8)) @ (np.eye(8) + 0.5 * rng.normal(size=(8, 8)))
    Q = LogDetObjective.from_samples(X)
    asked = Settings(6, overshoot=0.0)
    fast, slow = (foba(o, Units(Q.n_coordinates), asked) for o in (Q, Plain(Q)))
    assert fast.n_backward == slow.n_backward
    for size in range(7):
        assert fast.best[size].units == slow.best[size].units


def test_a_singular_covariance_is_fine_where_supports_are_small():
    X = planted([(0, 1), (1, 2), (3, 4)], 40, 15, strength=0.45)
    Q = LogDetObjective.from_samples(X)
    path = foba(Q, Units(Q.n_coordinates), Settings(10))
    theta = Q.precision(path.best[10].fit)
    assert np.linalg.eigvalsh(theta)[0] > 0.0
    S = np.corrcoef(X, rowvar=False)
    assert np.linalg.matrix_rank(S) < 40
    linked = theta != 0.0
    np.testing.assert_allclose(np.linalg.inv(theta)[linked], S[linked], atol=1e-8)


def test_the_example_finds_the_map(capsys):
    path = Path(__file__).parents[2] / "examples" / "covariance_selection.py"
    runpy.run_path(str(path))["main"]()
    printed = capsys.readouterr().out
    assert "red 3 -- red 4" in printed
    assert "found 27 of 27 tracks" in printed
