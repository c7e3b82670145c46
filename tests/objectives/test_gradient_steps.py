"""What gradient steps ask of an objective: settled intercepts, Hessian products."""

import numpy as np
import pytest
from scipy import sparse

from shortlist._protocols import Fit
from shortlist.objectives import LinearObjective

LOSSES = ("squared", "logistic", "softmax", "squared_hinge", "huber", "poisson")
SUPPORTS = {"some": 3, "all": 6}


def objective_of(loss, form=np.asarray, fit_intercept=True):
    """An objective on six columns far from zero, and a point with weights on all."""
    rng = np.random.default_rng(0)
    X = rng.normal(5.0, 1.0, (80, 6)).astype(np.float32).astype(float)
    eta = X[:, 0] - X[:, 3] + rng.normal(size=80)
    y = {
        "logistic": np.sign(eta),
        "squared_hinge": np.sign(eta),
        "poisson": np.round(np.exp(np.clip(eta, -2, 2))),
        "softmax": np.digitize(eta, [-0.5, 0.5]).astype(float),
    }.get(loss, eta)
    objective = LinearObjective(
        loss,
        form(X),
        y,
        l2=0.01,
        sample_weight=rng.uniform(0, 2, 80),
        fit_intercept=fit_intercept,
    )
    m = objective.n_coordinates
    w = 0.1 * rng.normal(size=m)
    return objective, Fit(np.arange(m), w, np.zeros(objective.n_outputs), np.nan)


@pytest.mark.parametrize("loss", LOSSES)
def test_settled_intercepts_are_the_best(loss):
    objective, fit = objective_of(loss)
    settled = objective.settle(fit)
    np.testing.assert_array_equal(settled.weights, fit.weights)
    np.testing.assert_allclose(settled.value, objective.value(settled), rtol=1e-12)
    assert settled.value < objective.value(fit) - 1e-4
    for c in range(objective.n_outputs):
        for h in (-1e-3, 1e-3):
            nuisance = settled.nuisance + h * (np.arange(objective.n_outputs) == c)
            moved = settled._replace(nuisance=nuisance)
            assert objective.value(moved) > settled.value


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("size", SUPPORTS.values(), ids=SUPPORTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_products_are_differences_of_settled_gradients(loss, size, fit_intercept):
    objective, fit = objective_of(loss, fit_intercept=fit_intercept)
    if not fit_intercept:
        fit = fit._replace(nuisance=np.empty(0))
    C = objective.n_outputs
    support = np.arange(size * C)
    d = np.random.default_rng(1).normal(size=len(support))

    def gradient(t):
        w = fit.weights.copy()
        w[support] += t * d
        return objective.gradient(objective.settle(fit._replace(weights=w)))[support]

    h = 1e-6  # so short that no example passes a kink of the second derivative
    expected = (gradient(h) - gradient(-h)) / (2 * h)
    found = objective.hessian_times(objective.settle(fit), support, d)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert np.abs(found).max() > 0.01


@pytest.mark.parametrize("loss", ["squared", "softmax"])
@pytest.mark.parametrize("size", SUPPORTS.values(), ids=SUPPORTS)
@pytest.mark.parametrize(
    "form",
    [
        np.asfortranarray,
        lambda X: X.astype(np.float32),
        sparse.csr_array,
        sparse.csc_array,
    ],
    ids=["Fortran", "float32", "CSR", "CSC"],
)
def test_products_do_not_depend_on_how_the_table_is_held(loss, size, form):
    objective, fit = objective_of(loss)
    other, _ = objective_of(loss, form)
    support = np.arange(size * objective.n_outputs)
    d = np.random.default_rng(1).normal(size=len(support))
    np.testing.assert_allclose(
        other.hessian_times(fit, support, d),
        objective.hessian_times(fit, support, d),
        rtol=1e-9,
        atol=1e-12,
    )
