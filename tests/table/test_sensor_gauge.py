"""Numbers beside yes and no: units do not decide which sensors are chosen."""

import numpy as np
import pytest
from scipy import sparse

from shortlist import SensorSelector
from shortlist.table._sensor_gauge import gauge_of, no_gauge

N_DAYS, DAY = 10, 40


@pytest.fixture(scope="module")
def house():
    """A door and a power tell; pressure and light are noise in large units."""
    rng = np.random.default_rng(0)
    y = np.repeat(rng.choice(["cook", "out", "sleep"], N_DAYS * DAY // 8), 8)
    n = len(y)
    power = np.where((y == "cook") & (rng.random(n) < 0.7), rng.normal(1500, 50, n), 0)
    X = np.column_stack(
        [
            rng.normal(101_325, 300, n),
            (y == "out") & (rng.random(n) < 0.6),
            power,
            np.where(rng.random(n) < 0.2, rng.exponential(5000, n), 0),
        ]
    )
    return X, y, [DAY] * N_DAYS


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_noise_in_large_units_does_not_come_before_what_tells(house, form):
    X, y, lengths = house
    selector = SensorSelector(2, cv=2).fit(form(X), y, lengths=lengths)
    assert selector.sensors_ == ("x1", "x2")
    as_they_are = SensorSelector(2, standardize=False).fit(form(X), y, lengths=lengths)
    assert as_they_are.sensors_ != ("x1", "x2")
    held_out = [selector.path_[size].held_out.macro for size in (0, 2)]
    assert held_out[1] < held_out[0] - 0.3


def test_other_units_and_zeros_elsewhere_change_nothing_but_weights(house):
    X, y, lengths = house
    kelvin = X * [0.01, 1.0, 0.001, 1.0] + [273.15, 0.0, 0.0, 0.0]
    one = SensorSelector(3).fit(X, y, lengths=lengths)
    other = SensorSelector(3).fit(kelvin, y, lengths=lengths)
    assert one.sensors_ == other.sensors_
    np.testing.assert_allclose(
        one.predict_proba(X, lengths=lengths),
        other.predict_proba(kelvin, lengths=lengths),
        atol=1e-6,
    )
    np.testing.assert_allclose(one.coef_[:, 2], 0.001 * other.coef_[:, 2], rtol=1e-3)
    np.testing.assert_allclose(
        np.sort(one.shortlist_.scores), np.sort(other.shortlist_.scores), rtol=1e-3
    )


def test_the_model_is_one_of_the_columns_as_they_come(house):
    X, y, lengths = house
    selector = SensorSelector(4).fit(X, y, lengths=lengths)
    gauge = gauge_of(X)
    scores = selector.model_.scores(X)
    measured = gauge.measure(X) @ (selector.model_.weights * gauge.unit[:, np.newaxis])
    level = gauge.origin @ selector.model_.weights + selector.model_.bias
    np.testing.assert_allclose(scores, measured + level, atol=1e-8)


def test_columns_of_yes_and_no_stay_as_they_are():
    rng = np.random.default_rng(1)
    X = (rng.random((30, 4)) < 0.3).astype(float)
    assert gauge_of(X).measure(X) is X
    thin = sparse.csr_array(X)
    assert gauge_of(thin).measure(thin) is thin


def test_sparse_and_dense_tables_have_the_same_gauge():
    rng = np.random.default_rng(2)
    X = np.column_stack(
        [
            rng.normal(20.0, 2.0, 200),
            rng.random(200) < 0.5,
            rng.normal(5.0, 1.0, 200) * (rng.random(200) < 0.2),
            np.full(200, 7.1),
            rng.normal(1e200, 1e199, 200),
            np.zeros(200),
        ]
    )
    dense, thin = gauge_of(X), gauge_of(sparse.csr_array(X))
    np.testing.assert_allclose(dense, thin)
    measured = dense.measure(X)
    np.testing.assert_allclose(thin.measure(sparse.csr_array(X)).toarray(), measured)
    np.testing.assert_allclose(measured[:, [0, 2, 4]].std(axis=0), 0.5)
    np.testing.assert_allclose(measured[:, [0, 4]].mean(axis=0), 0.0, atol=1e-10)
    assert (
        measured[0, 2] == 0.0 or X[0, 2] != 0.0
    )  # where there is nothing, nothing comes
    assert not measured[:, 3].any()  # a column that never changes says nothing
    assert no_gauge(6).measure(X) is X
