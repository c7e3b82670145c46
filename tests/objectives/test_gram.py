"""Least squares through Gram columns against the general objective."""

import numpy as np
import pytest
from scipy import sparse

from shortlist.objectives import GramObjective, LinearObjective

SUPPORT = np.array([1, 4, 9])


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((50, 12)) < 0.6, rng.normal(1.0, 2.0, (50, 12)), 0.0)
    return X, X[:, 1] - X[:, 9] + rng.normal(size=50), rng.uniform(0, 2, 50)


def on_disk(X, folder):
    path = folder / "X.npy"
    np.save(path, X)
    return np.load(path, mmap_mode="r")


FORMS = {
    "C": lambda X, _: np.ascontiguousarray(X),
    "Fortran": lambda X, _: np.asfortranarray(X),
    "float32": lambda X, _: X.astype(np.float32),
    "CSR": lambda X, _: sparse.csr_array(X),
    "CSC": lambda X, _: sparse.csc_array(X),
    "memory map": on_disk,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
def test_it_equals_the_general_objective(
    data, tmp_path, form, fit_intercept, standardize
):
    X, y, weight = data
    X = X.astype(np.float32).astype(float) if form == "float32" else X
    ours = GramObjective(
        FORMS[form](X, tmp_path),
        y,
        l2=0.1,
        sample_weight=weight,
        fit_intercept=fit_intercept,
        standardize=standardize,
    )
    peer = LinearObjective(
        "squared",
        X,
        y,
        l2=0.1 * ours.scale**2,
        sample_weight=weight,
        fit_intercept=fit_intercept,
    )
    fit, expected = ours.refit(SUPPORT), peer.refit(SUPPORT)
    raw = fit.weights / ours.scale[SUPPORT]
    np.testing.assert_allclose(raw, expected.weights, rtol=1e-9)
    if fit_intercept:
        np.testing.assert_allclose(fit.nuisance, expected.nuisance, rtol=1e-8)
    np.testing.assert_allclose(fit.value, expected.value, rtol=1e-10)
    np.testing.assert_allclose(ours.value(fit), expected.value, rtol=1e-10)
    gradient = peer.gradient(expected) / ours.scale
    np.testing.assert_allclose(ours.gradient(fit), gradient, atol=1e-10)


@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_costs_are_what_removal_and_zeroing_really_cost(data, l2):
    X, y, weight = data
    ours = GramObjective(X, y, l2=l2, sample_weight=weight)
    fit = ours.refit(SUPPORT)
    removal, zeroing = ours.removal_costs(fit), ours.zeroing_costs(fit)
    for i, j in enumerate(SUPPORT):
        refitted = GramObjective(X, y, l2=l2, sample_weight=weight).refit(
            SUPPORT[j != SUPPORT]
        )
        np.testing.assert_allclose(removal[i], refitted.value - fit.value)
        weights = np.where(j == SUPPORT, 0.0, fit.weights)
        moved = fit.nuisance + fit.weights[i] * ours.mean[j] / ours.scale[j]
        zeroed = fit._replace(weights=weights, nuisance=moved)
        np.testing.assert_allclose(zeroing[i], ours.value(zeroed) - fit.value)
