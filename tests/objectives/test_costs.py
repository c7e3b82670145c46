"""What coming and leaving costs, against brute force; penalties by feature."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize_scalar

from shortlist._protocols import Fit, ShortlistError
from shortlist.objectives import GramObjective, LinearObjective

LOSSES = ("squared", "logistic", "poisson", "squared_hinge", "softmax")
SUPPORT = np.array([1, 4, 6, 9])
UNITS = np.array([0, 1, 0, 2])  # of SUPPORT: 1 and 6 go together


def labelled(loss, seed=0, n=60, p=12):
    """Columns with a mean, in units of their own; labels that the loss takes."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, p)) < 0.6, rng.normal(0.5, 1.0, (n, p)), 0.0)
    eta = X[:, 1] - X[:, 9] + 0.5 * X[:, 6] + rng.normal(size=n)
    y = {
        "squared": eta,
        "huber": 3 * eta,
        "logistic": np.sign(eta),
        "squared_hinge": np.sign(eta),
        "poisson": np.round(np.exp(0.5 * eta)),
        "softmax": np.digitize(eta, [-0.5, 0.5]),
    }[loss]
    return X * 10.0 ** rng.integers(-2, 3, p), y, rng.uniform(0.0, 2.0, n)


def made(loss, *, l2=0.05, form=np.asarray, fit_intercept=True):
    """An objective whose penalty is that of standardised columns, and a support."""
    X, y, weight = labelled(loss)
    Q = LinearObjective(
        loss,
        form(X),
        y,
        l2=l2 * X.var(axis=0),
        sample_weight=weight,
        fit_intercept=fit_intercept,
    )
    C = Q.n_outputs
    support = (SUPPORT[:, None] * C + np.arange(C)).ravel()
    return Q, X, weight / weight.sum(), support, np.repeat(UNITS, C)


def shifted(Q, X, share, fit, weights):
    """The point with other weights, and the intercepts that centred columns keep."""
    lost = np.zeros((X.shape[1], Q.n_outputs))
    lost.flat[fit.support] = fit.weights - weights
    moved = fit.nuisance + share @ X @ lost if Q.fit_intercept else fit.nuisance
    return fit._replace(weights=weights, nuisance=moved)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_zeroing_costs_are_exact_for_weights_and_for_sets(loss, fit_intercept, form):
    Q, X, share, support, units = made(loss, form=form, fit_intercept=fit_intercept)
    fit = Q.refit(support)
    for sets in (np.arange(len(support)), units):
        zeroing = Q.zeroing_costs(fit, sets)
        for u in range(sets.max() + 1):
            without = np.where(sets == u, 0.0, fit.weights)
            rise = Q.value(shifted(Q, X, share, fit, without)) - fit.value
            np.testing.assert_allclose(zeroing[u], rise, rtol=1e-8, atol=1e-14)
    np.testing.assert_array_equal(
        Q.zeroing_costs(fit), Q.zeroing_costs(fit, np.arange(len(support)))
    )


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_removal_costs_are_exact_for_squares_and_close_for_others(loss, fit_intercept):
    Q, _, _, support, units = made(loss, fit_intercept=fit_intercept)
    fit = Q.refit(support)
    close = 1e-8 if loss == "squared" else 0.5
    for sets in (np.arange(len(support)), units):
        removal = Q.removal_costs(fit, sets)
        for u in range(sets.max() + 1):
            rise = Q.refit(support[sets != u]).value - fit.value
            np.testing.assert_allclose(removal[u], rise, rtol=close, atol=1e-4)


def test_removal_costs_of_small_logistic_weights_are_right_to_a_percent():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 4))
    z = X @ [0.1, 1.0, -1.0, 0.5]
    y = np.where(rng.random(1000) < 1 / (1 + np.exp(-z)), 1.0, -1.0)
    Q = LinearObjective("logistic", X, y)
    fit = Q.refit(np.arange(4))
    rise = Q.refit(np.array([1, 2, 3])).value - fit.value
    np.testing.assert_allclose(Q.removal_costs(fit)[0], rise, rtol=0.01)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_removal_costs_do_not_depend_on_units(loss):
    X, y, _ = labelled(loss)
    plain = LinearObjective(loss, X / X.std(axis=0), y)
    unit = 10.0 ** np.linspace(-6, 6, X.shape[1])
    other = LinearObjective(loss, X / X.std(axis=0) * unit, y)
    np.testing.assert_allclose(
        other.removal_costs(other.refit(SUPPORT)),
        plain.removal_costs(plain.refit(SUPPORT)),
        rtol=1e-6,
    )


@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax"])
def test_one_of_two_equal_columns_costs_nothing(loss):
    X, y, _ = labelled(loss)
    X[:, 4] = X[:, 1]
    Q = LinearObjective(loss, X, y, n_outputs=3 if loss == "softmax" else None)
    C = Q.n_outputs
    support = (SUPPORT[:, None] * C + np.arange(C)).ravel()
    fit = Q.refit(support)
    costs = Q.removal_costs(fit, np.repeat(np.arange(4), C))
    np.testing.assert_allclose(costs[:2], 0.0, atol=1e-9)
    assert costs[2:].min() > 1e-5


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    l2=st.sampled_from([0.0, 0.3]),
    fit_intercept=st.booleans(),
    standardize=st.booleans(),
)
def test_gram_costs_are_what_leaving_really_costs(seed, l2, fit_intercept, standardize):
    X, y, weight = labelled("squared", seed)
    rng = np.random.default_rng(seed)
    support = np.sort(rng.choice(12, 6, replace=False))
    Q = GramObjective(
        X,
        y,
        l2=l2,
        sample_weight=weight,
        fit_intercept=fit_intercept,
        standardize=standardize,
    )
    fit = Q.refit(support)
    for sets in (np.arange(6), np.array([0, 1, 0, 2, 2, 1])):
        removal, zeroing = Q.removal_costs(fit, sets), Q.zeroing_costs(fit, sets)
        for u in range(sets.max() + 1):
            rise = Q.refit(support[sets != u]).value - fit.value
            np.testing.assert_allclose(removal[u], rise, rtol=1e-6, atol=1e-13)
            without = np.where(sets == u, 0.0, fit.weights)
            lost = (fit.weights - without) @ (Q.mean / Q.scale)[support]
            zeroed = fit._replace(weights=without, nuisance=fit.nuisance + lost)
            rise = Q.value(zeroed) - fit.value
            np.testing.assert_allclose(zeroing[u], rise, rtol=1e-6, atol=1e-13)
            assert zeroing[u] >= removal[u] * (1 - 1e-6)
    np.testing.assert_allclose(Q.removal_costs(fit), Q.removal_costs(fit, np.arange(6)))


@pytest.mark.parametrize("form", [np.asarray, sparse.csc_array], ids=["dense", "CSC"])
@pytest.mark.parametrize("l2", [0.0, 0.01])
@pytest.mark.parametrize("loss", [*LOSSES[:-1], "huber"])
def test_decreases_along_one_column_are_the_best_there_are(loss, l2, form):
    Q, X, share, support, _ = made(loss, l2=l2, form=form)
    fit = Q.refit(support)
    found = Q.decreases(fit)
    for j in sorted({*range(12)} - {*support}):
        place = np.searchsorted(support, j)
        wider = np.insert(support, place, j)
        deviation = X[:, j].std()

        def value(t, j=j, place=place, wider=wider, deviation=deviation):
            weights = np.insert(fit.weights, place, t / deviation)
            b = fit.nuisance - t / deviation * (
                share @ X[:, j]
            )  # of the centred column
            return Q.value(Fit(wider, weights, b, np.nan))

        best = fit.value - minimize_scalar(value, tol=1e-10).fun
        np.testing.assert_allclose(found[j], best, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(found[support], 0.0, atol=1e-12)


@pytest.mark.parametrize("size", [1.0, 1e3])
def test_decreases_are_found_where_a_loss_is_flat_or_explodes(size):
    """Huber without curvature at the start, Poisson whose rates overflow on the way."""
    rng = np.random.default_rng(0)
    X = size * rng.normal(size=(60, 3))
    for loss, y in (
        ("huber", 100.0 * X[:, 1]),
        ("poisson", np.round(np.exp(X[:, 1] / size))),
    ):
        Q = LinearObjective(loss, X, y, fit_intercept=False)
        fit = Q.refit(np.empty(0, int))
        best = [fit.value - Q.refit(np.array([j])).value for j in range(3)]
        np.testing.assert_allclose(Q.decreases(fit), best, rtol=1e-6, atol=1e-9)


def test_gram_decreases_equal_those_of_the_general_objective():
    X, y, weight = labelled("squared")
    for fit_intercept in (True, False):
        options = {"sample_weight": weight, "fit_intercept": fit_intercept}
        ours = GramObjective(X, y, l2=0.2, **options)
        peer = LinearObjective("squared", X, y, l2=0.2 * ours.scale**2, **options)
        np.testing.assert_allclose(
            ours.decreases(ours.refit(SUPPORT)),
            peer.decreases(peer.refit(SUPPORT)),
            rtol=1e-8,
            atol=1e-14,
        )


def test_constant_columns_promise_nothing():
    X, y, _ = labelled("squared")
    X[:, [0, 5]] = 3.0, 0.0
    for Q in (GramObjective(X, y), LinearObjective("squared", X, y)):
        np.testing.assert_allclose(
            Q.decreases(Q.refit(SUPPORT))[[0, 5]], 0.0, atol=1e-14
        )


@pytest.mark.parametrize("loss", LOSSES)
def test_penalties_by_feature_are_penalties_of_scaled_columns(loss):
    X, y, weight = labelled(loss)
    X /= X.std(axis=0)
    scale = np.linspace(0.5, 2.0, X.shape[1])
    options = {"sample_weight": weight}
    scaled = LinearObjective(loss, X / scale, y, l2=0.2, **options)
    direct = LinearObjective(loss, X, y, l2=0.2 * scale**2, **options)
    C = scaled.n_outputs
    support = (SUPPORT[:, None] * C + np.arange(C)).ravel()
    theirs, ours = scaled.refit(support), direct.refit(support)
    np.testing.assert_allclose(
        ours.weights * np.repeat(scale[SUPPORT], C), theirs.weights, rtol=1e-6
    )
    np.testing.assert_allclose(ours.nuisance, theirs.nuisance, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ours.value, theirs.value, rtol=1e-10)
    np.testing.assert_allclose(
        direct.gradient(ours) * np.repeat(scale, C) ** -1,
        scaled.gradient(theirs),
        atol=1e-7,
    )


def test_features_without_penalty_are_not_shrunk():
    X, y, _ = labelled("squared")
    X /= X.std(axis=0)
    heavy = np.where(np.arange(12) == 4, 0.0, 1e9)
    fit = LinearObjective("squared", X, y, l2=heavy).refit(SUPPORT)
    alone = LinearObjective("squared", X, y).refit(np.array([4]))
    np.testing.assert_allclose(fit.weights[1], alone.weights[0], rtol=1e-6)
    np.testing.assert_allclose(fit.weights[[0, 2, 3]], 0.0, atol=1e-8)


@pytest.mark.parametrize(
    ("l2", "message"),
    [
        (np.ones(3), r"l2 should be a number or have shape \(12,\), got \(3,\)"),
        (-1.0, "l2 should be at least 0 and finite"),
        (np.nan, "l2 should be at least 0 and finite"),
    ],
)
def test_penalties_that_are_none_are_refused(l2, message):
    X, y, _ = labelled("squared")
    with pytest.raises(ShortlistError, match=message):
        LinearObjective("squared", X, y, l2=l2)
    if np.ndim(l2) == 0:
        with pytest.raises(ShortlistError, match=message):
            GramObjective(X, y, l2=l2)
