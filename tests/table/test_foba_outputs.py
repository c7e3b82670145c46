"""Several outputs that share their features, and weights of one sign."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import DataConversionWarning

from shortlist import FoBa, FoBaCV, ShortlistError
from shortlist.losses import SquaredVector
from shortlist.objectives import GramObjective, LinearObjective
from shortlist.table import ITI, PHT, ProjectedGradient


@pytest.fixture(scope="module")
def outputs():
    """Six features, of sixty, that four outputs depend on."""
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(120, 60)), np.zeros((60, 4))
    planted = np.sort(rng.choice(60, 6, replace=False))
    W[planted] = rng.normal(size=(6, 4))
    Y = X @ W + 0.3 * rng.normal(size=(120, 4)) + [0.0, 5.0, -3.0, 1e4]
    return X, Y, planted


def rows_of(features, n_outputs):
    return np.add.outer(np.asarray(features) * n_outputs, np.arange(n_outputs)).ravel()


def test_outputs_choose_together_and_are_fitted_by_least_squares(outputs):
    X, Y, planted = outputs
    model = FoBa(k=6).fit(X, Y)
    np.testing.assert_array_equal(model.get_support(indices=True), planted)
    with_ones = np.column_stack([X[:, planted], np.ones(len(X))])
    expected = np.linalg.lstsq(with_ones, Y, rcond=None)[0]
    np.testing.assert_allclose(model.coef_[:, planted], expected[:-1].T, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, expected[-1], rtol=1e-9)
    np.testing.assert_allclose(model.predict(X), with_ones @ expected, rtol=1e-9)
    assert model.score(X, Y) > 0.9


def test_several_outputs_find_what_one_alone_misses():
    rng = np.random.default_rng(1)
    X, W = rng.normal(size=(60, 200)), np.zeros((200, 30))
    W[:5] = 0.4 * rng.choice([-1.0, 1.0], (5, 30))
    Y = X @ W + rng.normal(size=(60, 30))
    together = FoBa(k=5).fit(X, Y).get_support(indices=True)
    alone = FoBa(k=5).fit(X, Y[:, 0]).get_support(indices=True)
    assert set(together) == set(range(5)) != set(alone)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_gram_objective_equals_the_plain_one(outputs, fit_intercept, weighted):
    X, Y, _ = outputs
    weight = np.random.default_rng(2).random(len(X)) if weighted else None
    options = {"sample_weight": weight, "fit_intercept": fit_intercept}
    ours = GramObjective(X, Y, l2=0.2, standardize=False, **options)
    peer = LinearObjective(SquaredVector(), X, Y, l2=0.2, **options)
    support = rows_of([3, 10, 41], 4)
    fit, expected = ours.refit(support), peer.refit(support)
    np.testing.assert_allclose(fit.weights, expected.weights, rtol=1e-7)
    assert fit.value == pytest.approx(expected.value)
    assert ours.value(fit) == pytest.approx(expected.value)
    np.testing.assert_allclose(ours.gradient(fit), peer.gradient(expected), atol=1e-8)
    if fit_intercept:
        moved = fit._replace(nuisance=fit.nuisance + np.array([0.5, 0, 1, -2]))
        assert ours.value(moved) == pytest.approx(peer.value(moved))
        np.testing.assert_allclose(
            ours.gradient(moved), peer.gradient(moved), atol=1e-8
        )


@pytest.mark.parametrize("grouped", [False, True])
def test_costs_are_what_leaving_really_costs(outputs, grouped):
    X, Y, planted = outputs
    ours = GramObjective(X, Y - Y.mean(axis=0), l2=0.1, fit_intercept=False)
    fit = ours.refit(rows_of(planted, 4))
    unit = np.arange(6) // 2 if grouped else np.arange(6)
    unit_of = np.repeat(unit, 4)
    removal, zeroing = (
        ours.removal_costs(fit, unit_of),
        ours.zeroing_costs(fit, unit_of),
    )
    for u in np.unique(unit):
        without = ours.refit(rows_of(planted[unit != u], 4))
        assert removal[u] == pytest.approx(without.value - fit.value)
        zeroed = fit._replace(weights=np.where(unit_of == u, 0.0, fit.weights))
        assert zeroing[u] == pytest.approx(ours.value(zeroed) - fit.value)


def test_half_of_a_feature_is_refused(outputs):
    X, Y, _ = outputs
    with pytest.raises(ShortlistError, match="all outputs"):
        GramObjective(X, Y).refit(np.array([0, 1, 2, 3, 4]))


def test_sparse_tables_groups_and_cross_validation_take_outputs(outputs):
    X, Y, planted = outputs
    sparse = FoBa(k=6).fit(csr_array(X), Y)
    np.testing.assert_array_equal(sparse.get_support(indices=True), planted)
    groups = FoBa(k=2, feature_groups=np.arange(60) // 3).fit(X, Y)
    assert groups.shortlist_.n_selected == 6
    chosen = FoBaCV(k=10).fit(X, Y)
    assert chosen.k_ == 6
    np.testing.assert_array_equal(chosen.get_support(indices=True), planted)


@pytest.mark.parametrize("estimator", [ProjectedGradient, ITI, PHT])
def test_projected_methods_take_outputs(outputs, estimator):
    X, Y, planted = outputs
    fitted = estimator(k=6).fit(X, Y)
    np.testing.assert_array_equal(fitted.get_support(indices=True), planted)
    expected = FoBa(k=6).fit(X, Y)
    np.testing.assert_allclose(fitted.coef_, expected.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(fitted.predict(X), expected.predict(X), rtol=1e-6)
    grouped = estimator(k=2, feature_groups=np.arange(60) // 3).fit(csr_array(X), Y)
    assert grouped.shortlist_.n_selected == 6


def test_one_column_is_one_output(outputs):
    X, Y, _ = outputs
    with pytest.warns(DataConversionWarning):
        column = FoBa(k=3).fit(X, Y[:, :1])
    assert column.shortlist_ == FoBa(k=3).fit(X, Y[:, 0]).shortlist_


def test_classes_come_one_column_at_a_time(outputs):
    X, Y, _ = outputs
    with pytest.raises(ShortlistError, match="one column for loss='logistic', got 4"):
        FoBa(k=3, loss="logistic").fit(X, np.sign(Y))


@pytest.mark.parametrize("loss", ["squared", "logistic", "huber"])
def test_positive_weights_are_positive_and_no_other_feature_helps(outputs, loss):
    X, Y, _ = outputs
    y = Y[:, 0] if loss != "logistic" else Y[:, 0] > 0
    free = FoBa(k=6, loss=loss).fit(X, y)
    positive = FoBa(k=6, loss=loss, positive=True).fit(X, y)
    assert (free.shortlist_.weights < 0.0).any()
    assert (positive.shortlist_.weights > 0.0).all()
    assert positive.shortlist_.n_selected == 6
    flipped = FoBa(k=6, loss=loss, positive=True).fit(-X, y)
    assert not set(flipped.get_support(indices=True)) & set(
        positive.get_support(indices=True)
    )


def test_positive_goes_with_one_margin(outputs):
    X, Y, _ = outputs
    with pytest.raises(ShortlistError, match="got 4 outputs"):
        FoBa(k=2, positive=True).fit(X, Y)
    with pytest.raises(ShortlistError, match="got 3 classes"):
        FoBa(k=2, positive=True).fit(X, np.arange(120) % 3)
