"""Mean and spread of columns: right to the last digits, wherever their zero lies."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from shortlist import DataError
from shortlist.objectives import GramObjective, LinearObjective
from shortlist.objectives.checks import as_table
from shortlist.objectives.moments import centred_product, mean_and_spread

FORMS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "CSR": sparse.csr_array,
    "CSC": sparse.csc_array,
}


@given(
    seed=st.integers(0, 10**6),
    form=st.sampled_from(sorted(FORMS)),
    far=st.sampled_from([0.0, 1.0, 1e4, -1e8, 1e11]),
    gaps=st.booleans(),
    center=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_they_are_those_of_the_columns_shifted_first(seed, form, far, gaps, center):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 5))
    if gaps:
        X = np.where(rng.random(X.shape) < 0.4, 0.0, X)
    weight = rng.integers(0, 3, size=40).astype(float) + (np.arange(40) == 0)
    share = weight / weight.sum()
    near = np.round(X * 2.0**10) / 2.0**10  # so that adding far loses no digit of it
    X = np.where(near != 0.0, near + far, 0.0) if gaps else near + far
    mean, spread = mean_and_spread(FORMS[form](X), share, center=center)
    exact = X.astype(np.longdouble)
    expected = (share @ exact) * center
    variance = share @ (exact - expected) ** 2
    np.testing.assert_allclose(mean, expected.astype(float), rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(spread, np.sqrt(variance).astype(float), rtol=1e-6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", [0.1, -3.3e9, 1e-200, 0.0])
def test_constants_have_no_spread(form, value):
    X = np.full((3001, 2), value)
    X[:, 1] += np.linspace(0.0, 1e-6 * abs(value), 3001)
    share = np.full(3001, 1 / 3001)
    share[5], X[5] = 0.0, 1e10  # of weight 0, so it varies nobody
    _, spread = mean_and_spread(FORMS[form](X), share / share.sum(), center=True)
    assert spread[0] == 0.0
    assert (spread[1] > 0.0) == (value != 0.0 and value != 1e-200)


def test_numbers_too_large_to_be_squared_are_refused():
    X = np.array([[1.0, 1e200], [2.0, -1e200]])
    for form in FORMS.values():
        with pytest.raises(DataError, match="below 1e150, column 1"):
            mean_and_spread(form(X), np.array([0.5, 0.5]), center=True)


@pytest.mark.parametrize("form", FORMS)
def test_products_of_far_columns_keep_their_digits(form):
    rng = np.random.default_rng(0)
    near, V = rng.normal(size=(200, 3)).round(2), rng.normal(size=(200, 2))
    X, mean = near + 1e10, near.mean(axis=0) + 1e10
    found = centred_product(FORMS[form](X), np.array([0, 2]), mean, V)
    expected = ((X - mean).T @ V)[[0, 2]]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def in_parts(X, form):
    """X with every entry stored as two, so that columns lie in no order."""
    rows, columns = np.nonzero(X)
    data = X[rows, columns]
    coo = (
        np.concatenate([0.25 * data, 0.75 * data]),
        (np.tile(rows, 2), np.tile(columns, 2)),
    )
    whole = sparse.coo_array(coo, shape=X.shape)
    # converting would add them up
    order = np.argsort(whole.coords[0 if form == "csr" else 1], kind="stable")
    major, minor = (whole.coords if form == "csr" else whole.coords[::-1])[:2]
    indptr = np.searchsorted(major[order], np.arange(X.shape[form == "csc"] + 1))
    kind = sparse.csr_array if form == "csr" else sparse.csc_array
    return kind((whole.data[order], minor[order], indptr), shape=X.shape)


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_entries_in_parts_add_up_and_the_table_stays_as_it_was(form):
    rng = np.random.default_rng(1)
    X = np.where(rng.random((60, 8)) < 0.6, rng.normal(size=(60, 8)), 0.0)
    y = X[:, 1] - X[:, 4] + 0.1 * rng.normal(size=60)
    parts = in_parts(X, form)
    stored = parts.nnz
    assert stored == 2 * np.count_nonzero(X)
    whole, split = GramObjective(X, y), GramObjective(parts, y)
    np.testing.assert_allclose(split.scale, whole.scale, rtol=1e-12)
    support = np.array([1, 4, 6])
    for loss, t in (("squared", y), ("logistic", np.sign(y))):
        expected = LinearObjective(loss, X, t, l2=0.1).refit(support)
        found = LinearObjective(loss, parts, t, l2=0.1).refit(support)
        np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-9)
    assert parts.nnz == stored


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_a_table_without_repeats_is_kept_even_if_it_is_in_no_order(form):
    rng = np.random.default_rng(2)
    X = sparse.random_array((30, 20), density=0.3, rng=rng).asformat(form)
    assert as_table(X) is X
    for i in range(len(X.indptr) - 1):  # each row, or column, backwards
        part = slice(X.indptr[i], X.indptr[i + 1])
        X.indices[part] = X.indices[part][::-1].copy()
        X.data[part] = X.data[part][::-1].copy()
    X = type(X)((X.data, X.indices, X.indptr), shape=X.shape)
    assert not X.has_canonical_format
    assert as_table(X) is X
