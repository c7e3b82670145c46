"""ReliefF against its transcription, and what it promises."""

import inspect
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from reference.relieff import relieff, rrelieff
from shortlist import ReliefF, ShortlistError
from shortlist._protocols import DataError
from shortlist._targets import choose_target
from shortlist.table._gather import Table
from shortlist.table._relieff import ReliefSettings, relieff_filter


def table(seed, n=40, p=6, ties=False):
    """With ties, differences are multiples of 1/8, so that equals are equal bit for bit."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, (n, p)).astype(float) if ties else rng.normal(size=(n, p))
    if ties:
        X[0], X[1] = 0.0, 8.0
    y = np.digitize(
        X[:, 0] + X[:, 1] + rng.normal(size=n), [0.0, 1.0] if not ties else [7, 10]
    )
    return np.where(rng.random((n, p)) < 0.3, 0.0, X) if not ties else X, y


@pytest.mark.parametrize("form", ["dense", "sparse"])
@given(
    seed=st.integers(0, 2**32),
    neighbors=st.integers(1, 30),
    categories=st.sets(st.integers(0, 5)),
    ties=st.booleans(),
)
@settings(max_examples=15)
def test_it_is_what_the_paper_says(form, seed, neighbors, categories, ties):
    X, y = table(seed, ties=ties)
    asked = {
        "n_neighbors": neighbors,
        "categorical_features": sorted(categories),
        "refit": False,
    }
    given_X = sparse.csr_array(X) if form == "sparse" else X
    classes = ReliefF(3, loss="softmax", **asked).fit(given_X, y)
    expected = relieff(X, y, neighbors, categories=categories)
    np.testing.assert_allclose(classes.scores_, expected, atol=1e-12)
    z = y + np.random.default_rng(seed).random(len(y))
    numbers = ReliefF(3, loss="squared", **asked).fit(given_X, z)
    expected = rrelieff(X, z, neighbors, categories=categories)
    np.testing.assert_allclose(numbers.scores_, expected, atol=1e-12)
    best = np.argsort(-numbers.scores_, kind="stable")[:3]
    assert set(numbers.get_support(indices=True)) == set(best)


def test_blocks_of_rows_do_not_matter(monkeypatch):
    X, y = table(1, n=150)
    whole = ReliefF(2).fit(X, y).scores_
    monkeypatch.setattr("shortlist.table._relieff._BLOCK_CELLS", 1)
    np.testing.assert_allclose(ReliefF(2).fit(X, y).scores_, whole, rtol=1e-12)


def test_a_draw_of_rows_is_compared_with_all():
    X, y = table(2, n=60)
    fitted = ReliefF(2, n_neighbors=3, n_samples=20, seed=5).fit(X, y)
    probes = np.random.default_rng(5).choice(60, 20, replace=False)
    expected = relieff(X, y, 3, probes=sorted(probes))
    np.testing.assert_allclose(fitted.scores_, expected, atol=1e-12)
    other = ReliefF(2, n_neighbors=3, n_samples=20, seed=6).fit(X, y)
    assert np.abs(other.scores_ - fitted.scores_).max() > 1e-6
    every = ReliefF(2, n_neighbors=3, n_samples=60).fit(X, y)
    np.testing.assert_array_equal(
        every.scores_, ReliefF(2, n_neighbors=3).fit(X, y).scores_
    )


def test_features_that_tell_only_together_are_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    y = np.where(X[:, 2] * X[:, 9] > 0, "same", "not")
    assert set(ReliefF(2).fit(X, y).get_support(indices=True)) == {2, 9}
    z = np.sign(X[:, 2] * X[:, 9]) + 0.1 * rng.normal(size=400)
    assert set(ReliefF(2).fit(X, z).get_support(indices=True)) == {2, 9}


def test_neither_units_nor_zeros_of_columns_matter():
    X, y = table(3)
    unit = 2.0 ** np.random.default_rng(0).integers(-9, 9, X.shape[1])
    plain = ReliefF(2).fit(X, y)
    moved = ReliefF(2).fit(X * unit - 3 * unit, y)
    np.testing.assert_allclose(moved.scores_, plain.scores_, rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_of_rows_that_are_as_near_the_first_count_in_whatever_form_they_come(
    seed, loss
):
    """Answers from 1 to 7 differ by sixths, whose sums depend on their order."""
    rng = np.random.default_rng(seed)
    X = rng.integers(1, 8, (70, 12)).astype(float)
    X[0], X[1] = 1.0, 7.0
    y = (X[:, 0] + X[:, 1] + rng.normal(size=70) > 8).astype(float)
    order = rng.permutation(12)
    asked = {"loss": loss, "refit": False}
    scores = ReliefF(5, **asked).fit(X, y).scores_
    other = ReliefF(5, **asked).fit(X[:, order], y).scores_
    np.testing.assert_allclose(other, scores[order], atol=1e-12)
    thin = ReliefF(5, **asked).fit(sparse.csr_array(X), y).scores_
    np.testing.assert_allclose(thin, scores, atol=1e-12)
    exact = np.vectorize(Fraction, otypes=[object])(X.astype(int))
    expected = (relieff if loss == "logistic" else rrelieff)(exact, y, 10)
    np.testing.assert_allclose(scores, expected, atol=1e-12)


def test_a_class_of_one_has_misses_and_no_hits():
    X, _ = table(4, n=12)
    y = np.array([0] * 6 + [1] * 5 + [2])
    fitted = ReliefF(2, n_neighbors=3, loss="softmax").fit(X, y)
    np.testing.assert_allclose(fitted.scores_, relieff(X, y, 3), atol=1e-12)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_what_cannot_tell_scores_zero_and_is_not_chosen(make):
    X, y = table(5)
    X[:, 2] = 0.0
    fitted = ReliefF(100).fit(make(X), y)
    assert fitted.scores_[2] == 0.0
    assert fitted.get_support(indices=True).tolist() == [0, 1, 3, 4, 5]
    flat = ReliefF(3, loss="squared", n_neighbors=2).fit(make(X), np.full(len(X), 7.0))
    assert flat.shortlist_.n_selected == 3
    np.testing.assert_allclose(flat.predict(make(X)), 7.0)


def test_memory_does_not_grow_with_pairs_of_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 3)), rng.integers(0, 2, 3000)
    ReliefF(2, n_samples=10).fit(X[:100], y[:100])
    tracemalloc.start()
    ReliefF(2, n_samples=300, refit=False).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300 * 3000 * 8 / 2


def test_weights_are_refused_where_they_come():
    assert "sample_weight" not in inspect.signature(ReliefF.fit).parameters
    X, y = table(0)
    ids, target = (
        np.arange(6, dtype=np.uint64),
        choose_target("softmax", y.astype(float)),
    )
    run = relieff_filter(ReliefSettings(2)).run
    masks = {"candidates": np.ones(6, bool), "categorical": np.zeros(6, bool)}
    even = Table(X, y.astype(float), np.full(len(y), 2.0), ids, 6)
    scores = run(even, target, 2, always=(), **masks).every
    np.testing.assert_array_equal(scores, ReliefF(2, loss="softmax").fit(X, y).scores_)
    uneven = even._replace(weight=np.arange(len(y), dtype=float))
    with pytest.raises(ShortlistError, match="relieff: expected rows of equal weight"):
        run(uneven, target, 2, always=(), **masks)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_categories_of_frames_differ_wholly_or_not_at_all(library):
    frames = pytest.importorskip(library)
    rng = np.random.default_rng(0)
    columns = {
        "size": rng.normal(size=80),
        "colour": rng.choice(["red", "green", "blue"], 80),
        "shape": rng.choice(["round", "square"], 80),
    }
    y = np.where(columns["colour"] == "green", "yes", "no")
    frame = frames.DataFrame(columns)
    asked = {"categorical_features": ["colour", "shape"]}
    fitted = ReliefF(1, **asked).fit(frame, y)
    codes = np.column_stack(
        [
            columns["size"],
            np.unique(columns["colour"], return_inverse=True)[1],
            np.unique(columns["shape"], return_inverse=True)[1],
        ]
    )
    expected = relieff(codes, y, 10, categories={1, 2})
    np.testing.assert_allclose(fitted.scores_, expected, atol=1e-12)
    assert fitted.shortlist_.names == ("colour",)
    with pytest.raises(ShortlistError, match="relieff has no weights to predict with"):
        fitted.predict(frame)
    holes = frames.DataFrame({**columns, "colour": [None, *columns["colour"][1:]]})
    with pytest.raises(DataError, match="column 'colour' has none in row 0"):
        ReliefF(1, **asked).fit(holes, y)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors should be a whole number from 1, got 0"),
        ({"n_neighbors": None}, "n_neighbors should be a whole number"),
        ({"n_samples": 2.5}, "n_samples should be a whole number"),
        ({"l2": -1.0}, "l2 should be a number from 0"),
    ],
)
def test_bad_settings_are_refused_in_one_line(asked, message):
    X, y = table(0)
    with pytest.raises(ShortlistError, match=message):
        ReliefF(2, **asked).fit(X, y)
