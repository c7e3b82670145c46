"""Several classes by a loss for two: as many problems as classes, in one pass."""

import numpy as np
import pytest

from shortlist import (
    BAMD,
    BARDA,
    L1ARDA,
    MTFS,
    OFS,
    SOFS,
    AdaFobos,
    FoBa,
    Mission,
    OnlineSubstitution,
    ProjectedGradient,
    Shortlist,
)

ALL = [BARDA, BAMD, OFS, SOFS, L1ARDA, AdaFobos]
LOSSES = ["squared_hinge", "hinge"]


def three_classes(n=400, p=40, seed=0):
    """Sparse rows in which every class has two features that speak for it."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.3)
    for c in range(3):
        own = np.flatnonzero(y == c)
        X[np.ix_(own, [2 * c, 2 * c + 1])] += rng.random((len(own), 2)) + 0.5
    return X, y


def online(fitted, margin):
    """Ids, weights and bias of a margin, as the stream left them."""
    trace = fitted.shortlist_.trace
    here = trace["online_margin"] == margin
    weights = trace["online_weights"][here].tolist()
    return trace["online_ids"][here].tolist(), weights, trace["online_bias"][margin]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("estimator", ALL, ids=lambda e: e.__name__)
def test_every_class_learns_what_it_would_learn_alone_to_the_last_bit(estimator, loss):
    X, y = three_classes()
    weight = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], len(y))
    asked = {"k": 4, "refit": False}
    together = estimator(loss=f"{loss}_ovr", **asked).fit(X, y, sample_weight=weight)
    for c in range(3):
        alone = estimator(loss=loss, **asked).fit(X, y == c, sample_weight=weight)
        assert online(together, c) == online(alone, 0)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_a_loss_for_two_classes_serves_more_of_them(loss, tmp_path):
    X, y = three_classes()
    fitted = BARDA(2, loss=loss).fit(X, np.array(["ant", "bee", "cat"])[y])
    assert fitted.shortlist_.loss == f"{loss}_ovr"
    chosen = fitted.shortlist_
    assert np.bincount(chosen.margin).tolist() == [2, 2, 2]
    assert set(chosen.ids) <= set(range(6))
    assert fitted.score(X, np.array(["ant", "bee", "cat"])[y]) > 0.8
    chosen.save(tmp_path / "found.json")
    assert Shortlist.load(tmp_path / "found.json") == chosen
    assert not hasattr(fitted, "predict_proba")


def test_one_class_against_the_rest_is_what_auto_means_for_many():
    X, y = three_classes(100)
    assert BARDA(2).fit(X, y).shortlist_.loss == "squared_hinge_ovr"
    assert OFS(2).fit(X, y).shortlist_.loss == "hinge_ovr"
    assert BARDA(2, loss="softmax").fit(X, y).shortlist_.loss == "softmax"
    assert BARDA(2, loss="logistic").fit(X, y).shortlist_.loss == "softmax"
    one_by_one = BARDA(2)
    for row, label in zip(X, y.tolist(), strict=True):
        one_by_one.learn_one(dict(enumerate(row)), label, classes=[0, 1, 2])
    assert one_by_one.shortlist_.loss == "squared_hinge_ovr"


@pytest.mark.parametrize(
    "selector",
    [
        Mission(6, loss="hinge"),
        FoBa(6, loss="squared_hinge"),
        ProjectedGradient(6, loss="squared_hinge"),
        MTFS(6, loss="squared_hinge"),
        OnlineSubstitution(6, loss="squared_hinge"),
    ],
    ids=lambda s: type(s).__name__,
)
def test_other_rooms_take_it_as_well(selector):
    X, y = three_classes()
    assert selector.fit(X, y).shortlist_.loss == f"{selector.loss}_ovr"
    assert set(selector.shortlist_.ids) <= set(range(6))
    assert selector.score(X, y) > 0.8
