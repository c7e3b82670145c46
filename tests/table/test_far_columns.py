"""Columns far from zero for their spread, as times in seconds are, count like any other."""

import numpy as np
import pytest
from scipy import sparse

from shortlist import FoBa, FoBaCV
from shortlist.table import (
    ERFS,
    GSR,
    ITI,
    MRMR,
    MTFS,
    PHT,
    RFS,
    RK1U,
    ProjectedGradient,
)

FORMS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "CSR": sparse.csr_array,
    "CSC": sparse.csc_array,
}


def tables(loss, ratio, seed=0):
    """A table with a column that far away, the same table with it shifted, and y."""
    rng = np.random.default_rng(seed)
    near = rng.normal(size=(300, 20))
    # whole numbers: shifting them loses nothing
    near[:, 4] = np.round(2**12 * near[:, 4])
    far = near.copy()
    far[:, 4] += np.round(2**12 * ratio)
    eta = (
        near[:, 4] / 2**12 + near[:, 1] - 0.7 * near[:, 2] + 0.5 * rng.normal(size=300)
    )
    y = {
        "logistic": np.sign(eta),
        "squared_hinge": np.sign(eta),
        "poisson": rng.poisson(np.exp(0.4 * eta)).astype(float),
        "softmax": np.digitize(eta, [-0.7, 0.7]),
    }.get(loss, eta)
    return far, near, y


@pytest.mark.parametrize("ratio", [1e6, 1e8])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "loss", ["squared", "logistic", "huber", "squared_hinge", "poisson", "softmax"]
)
def test_weights_are_those_of_the_shifted_table(loss, form, ratio):
    far, near, y = tables(loss, ratio)
    fitted = FoBa(3, loss=loss).fit(FORMS[form](far), y)
    expected = FoBa(3, loss=loss).fit(near, y)
    assert fitted.get_support(indices=True).tolist() == [1, 2, 4]
    np.testing.assert_allclose(fitted.coef_, expected.coef_, rtol=1e-8)
    assert fitted.shortlist_.params["objective"] == pytest.approx(
        expected.shortlist_.params["objective"], rel=1e-9
    )
    np.testing.assert_allclose(fitted.score(far, y), expected.score(near, y), rtol=1e-5)


@pytest.mark.parametrize("estimator", [ITI, PHT, ProjectedGradient, FoBaCV])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("form", ["C", "CSR"])
def test_other_methods_find_them_too(estimator, loss, form):
    far, near, y = tables(loss, 3e7)
    fitted = estimator(3, loss=loss).fit(FORMS[form](far), y)
    expected = estimator(3, loss=loss).fit(near, y)
    assert 4 in fitted.get_support(indices=True)
    np.testing.assert_array_equal(fitted.support_, expected.support_)
    np.testing.assert_allclose(fitted.coef_, expected.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("estimator", [GSR, MTFS, RFS, ERFS, RK1U])
@pytest.mark.parametrize(("kind", "ratio"), [("float32", 1e3), ("float64", 1e8)])
@pytest.mark.parametrize("form", ["C", "CSR", "CSC"])
@pytest.mark.parametrize("shape", [(300, 60), (60, 300)])
def test_gsr_finds_one_among_columns_of_zeros(estimator, kind, ratio, form, shape):
    rng = np.random.default_rng(0)
    near = rng.normal(size=shape) * (rng.random(shape) < 0.05)
    near[:, 7] = np.round(2**6 * rng.normal(size=shape[0])) / 2**6
    near[:20, [0, 20]] = rng.normal(size=(20, 2))
    near = near.astype(np.float32).astype(float)
    far = near.copy()
    far[:, 7] += ratio
    y = near[:, [0, 7, 20]].sum(axis=1) + 0.05 * rng.normal(size=len(near))
    fitted = estimator(3).fit(FORMS[form](far.astype(kind)), y)
    assert fitted.get_support(indices=True).tolist() == [0, 7, 20]
    expected = estimator(3).fit(near.astype(kind), y)
    np.testing.assert_allclose(fitted.coef_, expected.coef_, rtol=1e-6, atol=1e-9)


def test_a_filter_sees_how_they_correlate():
    far, near, y = tables("squared", 3e7)
    far[:, 7] = far[:, 4]  # a copy, which a filter should not want as well
    near[:, 7] = near[:, 4]
    asked = {"relevance": "f", "redundancy": "correlation"}
    fitted, expected = (MRMR(4, **asked).fit(X, y) for X in (far, near))
    np.testing.assert_array_equal(fitted.support_, expected.support_)


def test_copies_of_them_are_known_to_depend_on_each_other():
    far, _, y = tables("squared", 1e8)
    far[:, 7] = far[:, 4]
    fitted = FoBa(20, loss="squared").fit(far, y)
    assert np.abs(fitted.coef_[[4, 7]]).max() * 2**12 < 2.0
    assert not fitted.support_[[4, 7]].all()
