"""The likelihood of chains against a slow reference, and its minima against slopes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import approx_fprime

from reference import chain_crf as reference
from shortlist import DataError, ShortlistError
from shortlist.objectives import ChainCRF, Fit, Objective
from shortlist.table import Settings, Units, foba

F, L = 5, 3


def sequences(seed, binary=True, lengths=(20, 1, 0, 25, 14)):
    rng = np.random.default_rng(seed)
    n = sum(lengths)
    y = np.cumsum(rng.random(n) < 0.2) % L
    X = np.column_stack([y == 0, y == 1, rng.random((n, 3)) < 0.3]).astype(float)
    flips = rng.random(X.shape) < 0.15
    X = np.where(flips, 1.0 - X, X)
    if not binary:
        X += 0.3 * rng.normal(size=X.shape)
    return X, y, np.array(lengths)


def some_point(seed, support):
    rng = np.random.default_rng(seed)
    weights, nuisance = rng.normal(size=len(support)), rng.normal(size=3 * L + L * L)
    return Fit(np.asarray(support), weights, nuisance, np.nan)


def matrix(fit):
    W = np.zeros(F * L)
    W[fit.support] = fit.weights
    return W.reshape(F, L)


@settings(max_examples=6)
@given(
    seed=st.integers(0, 10**6),
    support=st.sets(st.integers(0, F * L - 1)).map(sorted),
    binary=st.booleans(),
)
def test_value_and_gradient_are_those_of_the_formula(seed, support, binary):
    X, y, lengths = sequences(seed, binary)
    fit = some_point(seed, np.array(support, np.int64))
    objective = ChainCRF(X, y, lengths, l2=0.01)
    occupied = lengths[lengths > 0]

    def formula(flat):
        W = flat.reshape(F, L)
        return reference.objective(X, y, occupied, W, fit.nuisance, 0.01)

    W = matrix(fit).ravel()
    np.testing.assert_allclose(objective.value(fit), formula(W), rtol=1e-11)
    slopes = approx_fprime(W, formula, 1e-7)
    np.testing.assert_allclose(objective.gradient(fit), slopes, atol=1e-5)


def test_at_the_minimum_nothing_slopes_neither_weights_nor_what_is_always_in():
    X, y, lengths = sequences(3)
    objective = ChainCRF(X, y, lengths, l2=0.01, tol=1e-8)
    fit = objective.refit(np.array([0, 4, 7]))
    assert np.abs(objective.gradient(fit)[fit.support]).max() < 1e-7
    occupied = lengths[lengths > 0]

    def formula(nuisance):
        return reference.objective(X, y, occupied, matrix(fit), nuisance, 0.01)

    slopes = approx_fprime(fit.nuisance, formula, 1e-6)
    assert np.abs(slopes).max() < 1e-5
    np.testing.assert_allclose(fit.value, formula(fit.nuisance), rtol=1e-12)
    again = objective.refit(fit.support, fit._replace(nuisance=fit.nuisance + 0.1))
    np.testing.assert_allclose(again.value, fit.value, rtol=1e-10)


@pytest.mark.parametrize("form", ["csr_array", "csc_matrix"])
@pytest.mark.parametrize("binary", [True, False])
def test_sparse_and_dense_observations_are_one(form, binary):
    X, y, lengths = sequences(5, binary)
    fit = some_point(5, np.arange(2, 11))
    dense = ChainCRF(X, y, lengths)
    thin = ChainCRF(getattr(sparse, form)(X), y, lengths)
    np.testing.assert_allclose(thin.value(fit), dense.value(fit), rtol=1e-12)
    np.testing.assert_allclose(thin.gradient(fit), dense.gradient(fit), atol=1e-12)
    np.testing.assert_allclose(
        thin.refit(fit.support).value, dense.refit(fit.support).value, rtol=1e-8
    )


def test_threads_change_nothing():
    X, y, _ = sequences(7)
    lengths = np.full(12, 5)
    fit = some_point(7, np.arange(F * L))
    one, many = ChainCRF(X, y, lengths), ChainCRF(X, y, lengths, n_jobs=3)
    np.testing.assert_allclose(many.value(fit), one.value(fit), rtol=1e-12)
    np.testing.assert_allclose(many.gradient(fit), one.gradient(fit), atol=1e-13)


def test_steps_without_a_label_cut_a_sequence():
    X, y, _ = sequences(9, lengths=(20,))
    gaps = y.copy()
    gaps[[0, 7, 8, 19]] = -1
    known = gaps >= 0
    fit = some_point(9, np.arange(F * L))
    cut, apart = ChainCRF(X, gaps), ChainCRF(X[known], y[known], [6, 10])
    assert cut.n_samples == 16
    np.testing.assert_allclose(cut.value(fit), apart.value(fit), rtol=1e-12)
    np.testing.assert_allclose(cut.gradient(fit), apart.gradient(fit), atol=1e-13)


def test_costs_are_those_of_setting_to_zero_and_of_refits():
    X, y, lengths = sequences(11)
    objective = ChainCRF(X, y, lengths, l2=0.01, tol=1e-8)
    fit = objective.refit(np.arange(F * L))
    unit_of = np.arange(F * L) // L
    zeroing, removal = (
        getattr(objective, which)(fit, unit_of)
        for which in ("zeroing_costs", "removal_costs")
    )
    assert zeroing.shape == removal.shape == (F,)
    for unit in range(F):
        zeroed = fit._replace(weights=np.where(unit_of == unit, 0.0, fit.weights))
        np.testing.assert_allclose(zeroing[unit], objective.value(zeroed) - fit.value)
        without = objective.refit(fit.support[unit_of != unit])
        if unit != np.argmax(zeroing):  # of the dearest the bound is good enough
            np.testing.assert_allclose(
                removal[unit], without.value - fit.value, rtol=1e-4
            )
    assert (removal <= zeroing + 1e-12).all()


def test_foba_finds_the_features_that_tell_labels_apart():
    X, y, lengths = sequences(13, lengths=(100, 60, 90))
    objective = ChainCRF(X, y, lengths)
    assert isinstance(objective, Objective)
    path = foba(objective, Units(F * L), Settings(2, overshoot=0.0))
    assert {unit // L for unit in path.best[2].units} == {0, 1}
    by_feature = Units(F * L, np.arange(F * L) // L)
    path = foba(objective, by_feature, Settings(2))
    assert path.best[2].units == (0, 1)


def test_a_label_that_never_comes_is_never_expected():
    X, y, lengths = sequences(15)
    objective = ChainCRF(X, y, lengths, n_labels=L + 1)
    model = objective.model(objective.refit(np.arange(F * (L + 1))))
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    assert model.decode(X, bounds).max() < L
    assert model.marginals(X, bounds)[:, L].max() < 0.05


def test_one_label_is_certain():
    objective = ChainCRF(np.ones((4, 1)), np.zeros(4, int))
    assert objective.refit(np.array([0])).value == pytest.approx(0.0, abs=1e-9)


def test_names_are_of_features_and_labels():
    X, y, lengths = sequences(17)
    assert ChainCRF(X, y, lengths).names[4] == "x1 -> 1"
    named = ChainCRF(X, y, lengths, features="abcde", labels=["up", "down", "off"])
    assert named.names[-1] == "e -> off"
    with pytest.raises(ShortlistError, match="features should be 5 names, got 2"):
        ChainCRF(X, y, lengths, features="ab")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.array([[1.0], [np.nan]])}, "X: expected finite numbers, got a NaN"),
        ({"y": [-1, -1]}, "y: expected labelled steps, got none"),
        ({"y": [0.0, 1.0]}, "y should be codes of labels from 0, got float64"),
        ({"y": [0, 1, 0]}, r"y should have one label for each of 2 rows, got \(3,\)"),
        ({"lengths": [1]}, "lengths should add up to the 2 rows of X, got 1"),
        ({"lengths": [3, -1]}, "lengths should be whole numbers from 0"),
        ({"l2": 0.0}, "l2 should be above 0 and finite, got 0.0"),
        ({"n_labels": 1}, "n_labels should be at least 2, got 1"),
        ({"n_jobs": 0}, "n_jobs should be at least 1, got 0"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(change, message):
    settings = {"X": np.ones((2, 1)), "y": [0, 1]} | change
    with pytest.raises(ShortlistError, match=message) as caught:
        ChainCRF(**settings)
    assert "\n" not in str(caught.value)
    data = str(caught.value).startswith(("X:", "y:"))
    assert isinstance(caught.value, DataError) == data
