"""Refits that have no unique minimum, or none at all, still end in a sensible point."""

import numpy as np
import pytest
from scipy import sparse

from shortlist._protocols import Fit
from shortlist.losses import loss_class, loss_names
from shortlist.objectives import LinearObjective

SMOOTH = ["squared", "logistic", "squared_hinge", "huber", "poisson", "softmax"]


def target(loss, eta, rng):
    """Targets with some noise that fit the loss."""
    if loss == "squared_vector":
        return np.column_stack([eta, -eta]) + rng.normal(size=(len(eta), 2))
    noisy = eta + rng.normal(size=len(eta))
    return {
        "real": noisy,
        "sign": np.where(noisy > 0.0, 1.0, -1.0),
        "count": rng.poisson(np.exp(np.clip(eta, -3.0, 3.0))).astype(float),
        "class": np.digitize(noisy, [-1.0, 1.0]).astype(float),
    }[loss_class(loss).target]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def X(rng):
    return rng.normal(size=(80, 4))


def all_of(objective):
    return np.arange(objective.n_coordinates)


def all_finite(fit):
    return np.isfinite([*fit.weights, *fit.nuisance, fit.value]).all()


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("l2", [0.0, 1e-8])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dense_limit", [1500, 0])
def test_dependent_columns_change_nothing(loss, l2, kind, dense_limit, X, rng):
    y = target(loss, X[:, 0] - X[:, 1], rng)
    plain = LinearObjective(loss, X, y, l2=l2)
    extra = [X[:, :2], X[:, :1] + X[:, 2:3], np.full((80, 1), 0.1), np.zeros((80, 1))]
    crowded = LinearObjective(
        loss, kind(np.hstack([X, *extra])), y, l2=l2, dense_limit=dense_limit
    )
    fit = crowded.refit(all_of(crowded))
    expected = plain.refit(all_of(plain))
    assert fit.value <= expected.value + 1e-7 * l2 + 1e-12
    assert fit.value == pytest.approx(expected.value, rel=1e-6)
    assert np.abs(crowded.gradient(fit)).max() < 1e-10


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_least_squares_on_dependent_columns_has_least_norm(kind, fit_intercept, X, rng):
    A = np.hstack([X, X[:, :2], 10.0 * X[:, 2:3]])
    y = X[:, 0] + rng.normal(size=80) + 3.0
    Q = LinearObjective("squared", kind(A), y, fit_intercept=fit_intercept)
    fit = Q.refit(all_of(Q))
    centered = (A - A.mean(axis=0), y - y.mean()) if fit_intercept else (A, y)
    expected = np.linalg.pinv(centered[0]) @ centered[1]
    np.testing.assert_allclose(fit.weights, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_least_squares_on_nearly_dependent_columns_keeps_its_digits(kind, rng):
    base = rng.normal(size=200)
    A = np.column_stack([base, base + 1e-6 * rng.normal(size=200)])
    Q = LinearObjective("squared", kind(A), A @ [1.0, 2.0] + 5.0)
    fit = Q.refit(np.arange(2))
    np.testing.assert_allclose(fit.weights, [1.0, 2.0], rtol=1e-8)
    assert fit.nuisance[0] == pytest.approx(5.0, rel=1e-12)


@pytest.mark.parametrize("loss", loss_names())
def test_more_weights_than_examples(loss, rng):
    X = rng.normal(size=(12, 30))
    Q = LinearObjective(loss, X, target(loss, X[:, 0], rng), l2=0.01)
    fit = Q.refit(all_of(Q))
    assert all_finite(fit)
    empty = Q.refit(np.empty(0, dtype=np.int64))
    assert fit.value < empty.value


@pytest.mark.parametrize("loss", loss_names())
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_empty_supports_fit_the_intercepts_alone(loss, fit_intercept, X, rng):
    y = target(loss, X[:, 0], rng)
    Q = LinearObjective(loss, X, y, fit_intercept=fit_intercept)
    fit = Q.refit(np.empty(0, dtype=np.int64))
    assert fit.weights.shape == (0,)
    assert fit.nuisance.shape == (Q.n_outputs * fit_intercept,)
    for shift in (-1e-3, 1e-3) if fit_intercept else ():
        for c in range(Q.n_outputs):
            moved = fit.nuisance.copy()
            moved[c] += shift
            assert Q.value(fit._replace(nuisance=moved)) >= fit.value - 1e-15


def test_the_intercept_alone_is_the_mean_in_the_scale_of_the_loss(X, rng):
    y = rng.poisson(3.0, size=80).astype(float)
    empty = np.empty(0, dtype=np.int64)
    poisson = LinearObjective("poisson", X, y).refit(empty)
    assert poisson.nuisance[0] == pytest.approx(np.log(y.mean()), rel=1e-13)
    squared = LinearObjective("squared", X, y).refit(empty)
    assert squared.nuisance[0] == pytest.approx(y.mean(), rel=1e-14)
    classes = LinearObjective("softmax", X, y).refit(empty)
    shares = np.exp(classes.nuisance) / np.exp(classes.nuisance).sum()
    counts = np.bincount(y.astype(int))
    np.testing.assert_allclose(shares, counts / 80, atol=1e-10)


@pytest.mark.parametrize("loss", ["logistic", "softmax", "squared_hinge", "hinge"])
@pytest.mark.parametrize("dense_limit", [1500, 0])
def test_separable_classes_end_without_overflow(loss, dense_limit, X):
    y = np.sign(X[:, 0]) if loss != "softmax" else (X[:, 0] > 0).astype(float)
    Q = LinearObjective(loss, X, y, dense_limit=dense_limit)
    fit = Q.refit(all_of(Q))
    assert all_finite(fit)
    assert 0.0 <= fit.value < 1e-6
    limited = LinearObjective(loss, X, y, max_iter=3).refit(all_of(Q))
    assert all_finite(limited)


def test_counts_that_are_all_zero_or_huge_do_not_overflow(X):
    none = LinearObjective("poisson", X, np.zeros(80))
    assert 0.0 <= none.refit(np.arange(4)).value < 1e-10
    many = LinearObjective("poisson", 100.0 * X, np.round(np.exp(8.0 * X[:, 0])))
    for start in (None, Fit(np.arange(4), np.ones(4), np.ones(1), np.nan)):
        fit = many.refit(np.arange(4), start)
        assert all_finite(fit)
        np.testing.assert_allclose(fit.weights[0], 0.08, rtol=1e-3)


def test_a_class_that_never_occurs_costs_nothing(X, rng):
    y = rng.integers(0, 2, size=80).astype(float)
    three = LinearObjective("softmax", X, y, n_outputs=4)
    two = LinearObjective("softmax", X, y)
    fit = three.refit(all_of(three))
    assert all_finite(fit)
    assert fit.value == pytest.approx(two.refit(all_of(two)).value, abs=1e-10)


def test_softmax_weights_and_intercepts_are_centred_where_they_are_free(X, rng):
    y = target("softmax", X[:, 0], rng)
    Q = LinearObjective("softmax", X, y)
    start = Fit(np.arange(12), rng.normal(size=12), rng.normal(size=3) + 9.0, np.nan)
    cold, warm = Q.refit(np.arange(12)), Q.refit(np.arange(12), start)
    for fit in (cold, warm):
        assert fit.nuisance.sum() == pytest.approx(0.0, abs=1e-12)
        np.testing.assert_allclose(fit.weights.reshape(4, 3).sum(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(cold.weights, warm.weights, rtol=1e-9)
    # a feature that only some classes use has nothing free
    some = Q.refit(np.array([0, 1, 3, 7]))
    assert np.abs(Q.gradient(some)[some.support]).max() < 1e-14


@pytest.mark.parametrize("loss", loss_names())
def test_rows_of_weight_zero_do_not_matter(loss, X, rng):
    y = target(loss, X[:, 0], rng)
    weight = np.ones(80)
    weight[60:] = 0.0
    wild = X.copy()
    wild[60:] *= 1e200
    kept = LinearObjective(
        loss, X[:60], y[:60], l2=0.01, n_outputs=3 if loss == "softmax" else None
    )
    every = LinearObjective(loss, wild, y, l2=0.01, sample_weight=weight)
    a, b = kept.refit(all_of(kept)), every.refit(all_of(every))
    np.testing.assert_allclose(a.weights, b.weights, rtol=1e-8, atol=1e-10)
    assert every.value(b) == pytest.approx(a.value, rel=1e-12)
    np.testing.assert_allclose(every.information(b), kept.information(b), rtol=1e-12)


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson", "huber"])
def test_units_of_the_columns_do_not_matter(loss, X, rng):
    y = target(loss, X[:, 0], rng)
    units = np.array([1e-9, 1.0, 1e6, 1e12])
    a = LinearObjective(loss, X, y).refit(np.arange(4))
    b = LinearObjective(loss, X * units, y).refit(np.arange(4))
    np.testing.assert_allclose(b.weights * units, a.weights, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("l2", [0.0, 1e-9])
@pytest.mark.parametrize("delta", [1e-4, 1.0])
@pytest.mark.parametrize("dense_limit", [1500, 0])
def test_huber_finds_data_that_are_far_away(l2, delta, dense_limit, X, rng):
    # at the start every residual lies on a linear part: there is no curvature at all
    y = 1e4 * X[:, 0] + rng.normal(size=80)
    Q = LinearObjective(f"huber:{delta}", X, y, l2=l2, dense_limit=dense_limit)
    fit = Q.refit(np.arange(4))
    np.testing.assert_allclose(fit.weights, [1e4, 0.0, 0.0, 0.0], atol=1.0 + 2e9 * l2)
    assert np.abs(Q.gradient(fit)).max() < 1e-8 * delta


def test_a_constant_target_gives_zero_weights(X):
    for loss in ("squared", "huber", "epsilon_insensitive", "poisson"):
        fit = LinearObjective(loss, X, np.full(80, 7.0)).refit(np.arange(4))
        np.testing.assert_allclose(fit.weights, 0.0, atol=1e-10)


def test_a_single_example_is_enough():
    for loss in loss_names():
        y = np.ones((1, 2)) if loss == "squared_vector" else np.ones(1)
        Q = LinearObjective(loss, np.ones((1, 3)), y, l2=0.1)
        assert all_finite(Q.refit(all_of(Q)))


def test_many_nearly_equal_losses_do_not_stall_the_line_search():
    y = np.where(np.random.default_rng(2).random(20_000) < 0.506, 1.0, -1.0)
    fit = LinearObjective("logistic", np.zeros((20_000, 1)), y).refit(np.array([], int))
    odds = np.log((y > 0).mean() / (y < 0).mean())
    np.testing.assert_allclose(fit.nuisance, [odds], rtol=1e-11)
