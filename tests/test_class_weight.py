"""Importance by class: as if somebody had given each example its weight."""

import numpy as np
import pytest
from sklearn.base import clone

from shortlist._protocols import ShortlistError
from shortlist.sketch import SGDIHT, BatchIHT, Mission


def skewed(n=600, share=0.05, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 40))
    z = X[:, 3] - X[:, 11]
    y = np.where(z + 0.5 * rng.normal(size=n) > np.quantile(z, 1 - share), "rare", "no")
    return X, y


@pytest.mark.parametrize("recipe", ["refit", "newton", "paper"])
def test_given_weights_are_sample_weights(recipe):
    X, y = skewed()
    by_class = Mission(4, recipe=recipe, class_weight={"rare": 7.0}).fit(X, y)
    weights = np.where(y == "rare", 7.0, 1.0)
    by_row = Mission(4, recipe=recipe).fit(X, y, weights)
    assert (by_class.coef_ == by_row.coef_).all()
    assert (by_class.intercept_ == by_row.intercept_).all()


@pytest.mark.parametrize("peer", [SGDIHT(4), BatchIHT(4, batch=50)])
def test_peers_of_mission_take_them_too(peer):
    X, y = skewed()
    weights = np.where(y == "rare", 7.0, 1.0)
    by_class = clone(peer).set_params(class_weight={"rare": 7.0}).fit(X, y)
    by_row = clone(peer).fit(X, y, weights)
    assert (by_class.decision_function(X) == by_row.decision_function(X)).all()


def test_balanced_weighs_as_the_counts_say():
    X, y = skewed(n=3000)
    n_rare = np.mean(y == "rare")
    share = np.where(y == "rare", 0.5 / n_rare, 0.5 / (1 - n_rare))
    balanced = Mission(3, class_weight="balanced").fit(X, y)
    by_row = Mission(3).fit(X, y, share)
    np.testing.assert_allclose(balanced.coef_, by_row.coef_, rtol=0.02)
    assert (balanced.predict(X) == "rare").mean() > 2 * n_rare
    assert set(balanced.get_feature_names_out()) >= {"x3", "x11"}


def test_balanced_classes_of_a_softmax():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 20))
    y = np.digitize(X[:, 5] + 0.1 * rng.normal(size=2000), [1.0, 2.0])
    plain, balanced = (
        Mission(2, class_weight=weight).fit(X, y) for weight in (None, "balanced")
    )
    recalls = [np.mean(m.predict(X)[y == 2] == 2) for m in (plain, balanced)]
    assert recalls[1] > recalls[0]


def test_counts_do_not_depend_on_how_rows_come():
    X, y = skewed()
    whole, parts = (Mission(4, class_weight="balanced") for _ in range(2))
    whole.partial_fit(X, y, classes=["no", "rare"])
    for start in range(0, len(X), 37):
        part = slice(start, start + 37)
        parts.partial_fit(X[part], y[part], classes=["no", "rare"])
    assert (whole.coef_ == parts.coef_).all()


@pytest.mark.parametrize(
    ("class_weight", "complaint"),
    [
        ("even", "should be None, 'balanced'"),
        ({"rare": -1.0}, "a number from 0"),
        ({"common": 1.0}, "one of the classes no, rare"),
    ],
)
def test_bad_weights_are_refused(class_weight, complaint):
    X, y = skewed()
    with pytest.raises(ShortlistError, match=complaint):
        Mission(2, class_weight=class_weight).fit(X, y)


def test_numbers_have_no_classes():
    X, _ = skewed()
    with pytest.raises(ShortlistError, match="goes with classes"):
        Mission(2, class_weight="balanced").fit(X, X[:, 0])
