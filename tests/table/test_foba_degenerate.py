"""Odd tables: a clear error or a documented result, never a LinAlgError or a warning."""

import numpy as np
import pytest

from reference.foba import correlated
from shortlist import DataError, FoBa, ShortlistError

LOSSES = ("squared", "logistic", "squared_hinge", "huber", "poisson", "softmax")


def labels(loss, eta):
    """What the loss takes, out of real numbers."""
    return {
        "logistic": eta > 0,
        "squared_hinge": eta > 0,
        "poisson": np.round(np.exp(np.clip(eta, -2, 2))),
        "softmax": np.digitize(eta, [-0.5, 0.5]),
    }.get(loss, eta)


@pytest.mark.parametrize(
    ("l2", "criterion"), [(0.0, "gradient"), ("auto", "objective")]
)
@pytest.mark.parametrize("loss", LOSSES)
def test_columns_that_add_nothing_are_left_out_without_fuss(loss, l2, criterion):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 4))
    X = np.column_stack(
        [X, X[:, 0], X[:, 0] + X[:, 1], np.ones(80), np.zeros(80), np.full(80, 1e6)]
    )
    y = labels(loss, X[:, 0] - X[:, 1] + 0.7 * rng.normal(size=80))
    fitted = FoBa(9, loss=loss, l2=l2, criterion=criterion).fit(X, y)
    most = 6 if loss == "softmax" else 4  # which span them all; classes may differ
    assert 2 <= fitted.shortlist_.n_selected <= most
    assert not {6, 7, 8} & set(fitted.get_support(indices=True))
    assert np.isfinite(fitted.coef_).all()
    if l2 == 0.0 and loss == "squared":
        assert fitted.shortlist_.n_selected == 4


@pytest.mark.parametrize("loss", LOSSES)
def test_columns_to_keep_may_be_constant_or_equal(loss):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(80, 5))
    X[:, 1], X[:, 2] = X[:, 0], 7.0
    y = labels(loss, X[:, 0] - X[:, 4] + 0.5 * rng.normal(size=80))
    fitted = FoBa(4, loss=loss, always=[0, 1, 2]).fit(X, y)
    assert fitted.get_support(indices=True).tolist() == [0, 1, 2, 4]
    assert np.isfinite(fitted.coef_).all()


def test_nearly_equal_columns_do_not_upset_the_factor():
    rng = np.random.default_rng(8)
    X = np.repeat(rng.normal(size=(60, 4)), 5, axis=1)
    y = X @ rng.normal(size=20) + rng.normal(size=60)
    for noise in (1e-4, 1e-6, 1e-8, 1e-12):
        fitted = FoBa(10).fit(X + noise * rng.normal(size=X.shape), y)
        values = [fitted.at(k).params["objective"] for k in range(1, 5)]
        assert values == sorted(values, reverse=True)
        assert np.isfinite(fitted.coef_).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_budgets_beyond_rows_and_columns_are_answered(loss):
    rng = np.random.default_rng(6)
    X, eta = rng.normal(size=(12, 30)), rng.normal(size=12)
    wide = FoBa(25, loss=loss).fit(X, labels(loss, eta))
    assert 1 <= wide.shortlist_.n_selected <= 25
    narrow = FoBa(100, loss=loss).fit(X[:, :3], labels(loss, eta))
    assert 1 <= narrow.shortlist_.n_selected <= 3
    assert narrow.at(50).support.tolist() == narrow.shortlist_.support.tolist()


def test_least_squares_stops_where_nothing_is_left_to_explain():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(12, 30))
    full = FoBa(25).fit(X, rng.normal(size=12))
    assert full.shortlist_.n_selected == 11  # and an intercept: as many as rows
    exact = FoBa(8).fit(X, 3.0 * X[:, 4] - X[:, 9] + 2.0)
    assert exact.get_support(indices=True).tolist() == [4, 9]
    np.testing.assert_allclose(exact.coef_[[4, 9]], [3.0, -1.0])


@pytest.mark.parametrize("loss", ["squared", "huber", "poisson"])
@pytest.mark.parametrize("level", [0.0, 1e3 / 3.0])
def test_a_constant_y_needs_no_features(loss, level):
    X, _, _ = correlated(0)
    fitted = FoBa(3, loss=loss).fit(X, np.full(len(X), level))
    assert fitted.shortlist_.n_selected == 0
    np.testing.assert_allclose(fitted.predict(X), level, atol=1e-6)


@pytest.mark.parametrize("l2", [0.0, "auto"])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "softmax"])
def test_separable_classes_end_in_finite_weights(loss, l2):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(50, 20))
    y = np.digitize(X[:, 2], [-0.5, 0.5] if loss == "softmax" else [0.0])
    fitted = FoBa(3, loss=loss, l2=l2).fit(X, y)
    assert np.isfinite(fitted.coef_).all()
    assert 2 in fitted.get_support(indices=True)
    commonest = np.bincount(y).max() / len(y)
    assert fitted.score(X, y) > 1.5 * commonest


@pytest.mark.parametrize("criterion", ["gradient", "objective"])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_counts_find_their_feature_whatever_its_unit(size, criterion):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(100, 20))
    y = rng.poisson(np.exp(1.5 * X[:, 4]))
    fitted = FoBa(1, loss="poisson", criterion=criterion).fit(size * X, y)
    assert fitted.get_support(indices=True).tolist() == [4]
    np.testing.assert_allclose(fitted.coef_[4] * size, 1.5, rtol=0.1)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_a_number_is_refused(bad, loss):
    X, y, _ = correlated(0)
    y = labels(loss, y)
    X[3, 4] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        FoBa(2, loss=loss).fit(X, y)
    if loss in ("squared", "huber", "poisson"):
        X, _, _ = correlated(0)
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            FoBa(2, loss=loss).fit(X, np.where(np.arange(len(y)) == 3, bad, y))


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_numbers_whose_squares_overflow_are_refused(loss):
    X, y, _ = correlated(0)
    X[5, 7] = 1e200
    with pytest.raises(DataError, match="column 7"):
        FoBa(2, loss=loss).fit(X, labels(loss, y))


@pytest.mark.parametrize("loss", ["auto", "logistic", "squared_hinge", "softmax"])
def test_one_class_is_refused(loss):
    X, _, _ = correlated(0)
    with pytest.raises(DataError, match=r"at least two classes, got 1 class \(1"):
        FoBa(2, loss=loss).fit(X, np.ones(len(X)))


def test_negative_counts_are_refused():
    X, y, _ = correlated(0)
    with pytest.raises(ShortlistError, match="a number >= 0 as label"):
        FoBa(2, loss="poisson").fit(X, y)


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_one_row_has_nothing_to_say(loss):
    fitted = FoBa(2, loss=loss).fit(np.array([[1.0, 2.0, 3.0]]), [4.0])
    assert fitted.shortlist_.n_selected == 0
    assert fitted.predict([[0.0, 0.0, 0.0]]) == 4.0


def test_large_means_cost_no_digits():
    X, y, _ = correlated(3)
    plain = FoBa(6).fit(X, y)
    moved = FoBa(6).fit(X + 1e5 * X.std(axis=0), y + 1e5)
    assert plain.shortlist_.names == moved.shortlist_.names
    np.testing.assert_allclose(moved.coef_, plain.coef_, rtol=1e-6)
    np.testing.assert_allclose(
        moved.shortlist_.params["objective"], plain.shortlist_.params["objective"], 1e-6
    )
