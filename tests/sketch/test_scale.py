"""Features in units of their own are found, and weighed in the units of the data."""

import numpy as np
import pytest
from scipy import sparse

from shortlist import Mission


def mixed_units(n=3000):
    """A number in the thousands, one about 1 and one in thousandths decide."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 40)) + 2.0
    X[:, 5:] *= rng.random((n, 35)) < 0.1
    X[:, 0] *= 3000.0
    X[:, 1] /= 1000.0
    z = (X[:, 0] / 3000 - 2) - 2 * (1000 * X[:, 1] - 2) + 1.5 * (X[:, 2] - 2)
    return X, z + rng.logistic(size=n) / 2 > 0


@pytest.mark.parametrize("recipe", ["refit", "newton"])
def test_features_in_different_units_are_found_and_weighed(recipe):
    X, y = mixed_units()
    plain = Mission(3, recipe=recipe, scale=None).fit(X[:2000], y[:2000])
    scaled = Mission(3, recipe=recipe).fit(X[:2000], y[:2000])
    assert set(scaled.get_feature_names_out()) == {"x0", "x1", "x2"}
    assert scaled.score(X[2000:], y[2000:]) > 0.8
    assert scaled.score(X[2000:], y[2000:]) > plain.score(X[2000:], y[2000:]) + 0.1
    assert scaled.shortlist_.params["scale"] == "max_abs"
    assert plain.shortlist_.params["scale"] is None


@pytest.mark.parametrize("recipe", ["refit", "newton"])
@pytest.mark.parametrize("budget", [4, 40])
def test_units_that_are_powers_of_two_change_no_bit_of_what_is_chosen(recipe, budget):
    rng = np.random.default_rng(3)
    X = sparse.csr_array(rng.random((600, 60)) < 0.1).astype(float)
    y = X @ np.r_[2.0, -2.0, 1.0, -1.0, np.zeros(56)] + rng.logistic(size=600) / 2 > 0
    units = 2.0 ** np.random.default_rng(0).integers(-8, 9, 60)
    settings = {"recipe": recipe, "scale": "max_abs", "memory": "64KB"}
    one = Mission(budget, **settings).fit(X, y).shortlist_
    other = Mission(budget, **settings).fit(X * units, y).shortlist_
    assert one.names == other.names
    np.testing.assert_array_equal(one.scores, other.scores)
    scales = units[one.ids.astype(int)]
    np.testing.assert_allclose(one.weights, other.weights * scales, rtol=1e-12)
    np.testing.assert_allclose(one.errors, other.errors * scales, rtol=1e-12)


def test_how_rows_come_to_partial_fit_does_not_decide_on_scales():
    X, y = mixed_units(200)
    once, often = Mission(3), Mission(3)
    once.partial_fit(X, y)
    for i in range(0, 200, 20):
        often.partial_fit(X[i : i + 20], y[i : i + 20], classes=[False, True])
    np.testing.assert_array_equal(once.coef_, often.coef_)
    assert once.shortlist_.params["scale"] is None
    scaled = Mission(3, scale="max_abs").partial_fit(X, y)
    assert scaled.shortlist_.params["scale"] == "max_abs"


@pytest.mark.parametrize("recipe", ["refit", "newton", "shards"])
@pytest.mark.parametrize("first", [1e-3, 1e-6, 1e-20])
def test_a_first_value_far_below_all_others_lifts_no_noise(recipe, first):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    X[0, 1] = first  # of the column that tells nothing
    y = X[:, 0] > 0
    found = Mission(1, recipe=recipe, scale="max_abs").fit(X, y)
    assert found.get_feature_names_out().tolist() == ["x0"]
    assert found.score(X, y) > 0.97


def test_one_pass_in_units_of_its_own_is_as_good_as_sums_that_know_no_units():
    lead = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1500, 30)) * 10.0 ** rng.integers(-2, 3, 30)
        margins = (X / X.std(axis=0)) @ rng.normal(size=30)
        y = margins + rng.normal(size=1500) > 0
        one, other = (
            Mission(10, recipe=recipe).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:])
            for recipe in ("newton", "shards")
        )
        lead.append(one - other)
    assert min(lead) > -0.05
