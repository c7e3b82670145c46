"""Weights that rows set apart find doubtful are made smaller, and no others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shortlist import _calibrating, _refit
from shortlist._calibrating import apart, trusted
from shortlist._scoring import evaluate
from shortlist.engines import run
from shortlist.kernels.masking import MaskedRows, some_rows
from shortlist.sketch._mission import mission
from shortlist.sources import ArraySource


@pytest.fixture
def early(monkeypatch):
    """Let refits stream, and set rows apart, from the first hundred rows on."""
    for module, name in ((_calibrating, "FIRST"), (_refit, "EXACT_ROWS")):
        monkeypatch.setattr(module, name, 100)


def sparse_noise(seed, n=20_000, p=1000, n_true=10, nnz=8):
    """Rows of a few features each, most of which mean nothing."""
    rng = np.random.default_rng(seed)
    columns = np.argsort(rng.random((n, 40)), axis=1)[:, :nnz] * (p // 40)
    columns += rng.integers(p // 40, size=columns.shape)
    weights = np.zeros(p)
    weights[np.random.default_rng(7).choice(p, n_true, replace=False)] = 2.0
    margin = weights[columns].sum(axis=1) - 0.2
    y = rng.random(n) < 1 / (1 + np.exp(-4 * margin))
    X = csr_array(
        (np.ones(n * nnz), columns.ravel(), np.arange(0, n * nnz + 1, nnz)), (n, p)
    )
    return ArraySource(X, y)


def copies_of_one_signal(seed, n=4000, p=300):
    """Rows of which every feature tells the same, and little."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.5
    X = 0.08 * np.where(y, 1.0, -1.0)[:, np.newaxis] + rng.normal(size=(n, p))
    return ArraySource(X, y)


def chosen(source, k):
    return run(mission(k, memory="1MB", recipe="refit", log1p=False), source)


def test_noise_is_doubted_and_predictions_get_better(early, monkeypatch):
    train, test = sparse_noise(0), sparse_noise(1)
    doubting = chosen(train, 600)
    monkeypatch.setattr(_calibrating, "_DOUBTS", ())
    plain = chosen(train, 600)
    assert doubting.params["doubt"] >= 3.0
    assert "doubt" not in plain.params
    assert set(doubting.names) == set(plain.names)
    ours, theirs = evaluate(doubting, test), evaluate(plain, test)
    assert ours.loss < theirs.loss - 0.01
    # of what is beyond doubt nothing is taken
    sure = doubting.scores > doubting.params["doubt"]
    assert sure.any()
    np.testing.assert_array_equal(doubting.weights[sure], plain.weights[sure])
    shrunk = np.abs(doubting.weights[~sure]) < np.abs(plain.weights[~sure])
    assert shrunk.all()


def test_features_that_go_together_are_believed_though_each_is_uncertain(early):
    result = chosen(copies_of_one_signal(0), 250)
    assert np.median(np.abs(result.weights) / result.errors) < 4.0
    assert "doubt" not in result.params


def test_rows_that_an_exact_refit_can_hold_are_all_learned_from(monkeypatch):
    source = sparse_noise(1, n=3000)
    some = chosen(source, 300)
    monkeypatch.setattr(_calibrating, "_MOST_APART", 0)
    np.testing.assert_array_equal(some.weights, chosen(source, 300).weights)


@given(st.integers(0, 400_000), st.lists(st.integers(0, 5000), max_size=8))
def test_rows_are_set_apart_by_their_numbers_alone(first, sizes):
    whole = _dense(apart(first, sum(sizes)), sum(sizes))
    begins = np.cumsum([first, *sizes])[:-1]
    parts = [
        _dense(apart(int(begin), n), n) for begin, n in zip(begins, sizes, strict=True)
    ]
    np.testing.assert_array_equal(np.concatenate([[], *parts]), whole)


def _dense(which, n_rows):
    return np.zeros(n_rows, bool) if which is None else which


def test_one_row_in_sixteen_is_set_apart_and_never_too_many():
    assert apart(0, _refit.EXACT_ROWS) is None
    which = apart(0, 2_000_000)
    where = np.flatnonzero(which)
    assert where.min() >= _refit.EXACT_ROWS
    assert abs(len(where) - (1 << 14)) < 40
    for period in (2, 3, 7, 16, 100):  # whatever comes in turns is drawn alike
        counts = np.bincount(where % period, minlength=period)
        assert counts.max() - counts.min() < 0.2 * counts.mean() + 4


@given(st.floats(0.5, 10.0), st.floats(0.0, 20.0), st.floats(0.0, 20.0))
def test_trust_rises_with_the_score_up_to_one(doubt, a, b):
    low, high = sorted([a, b])
    trust = trusted(np.array([low, high, doubt / 2, doubt]), doubt)
    assert 0.0 <= trust[0] <= trust[1] <= 1.0
    np.testing.assert_allclose(trust[2:], [0.5, 1.0])
    assert (trusted(np.array([low, high]), 0.0) == 1.0).all()


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=12))
def test_some_rows_are_those_rows(shape):
    lengths = np.array([n for n, _ in shape], np.int64)
    which = np.array([w for _, w in shape], bool)
    n = int(lengths.sum())
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    row = np.arange(len(shape), dtype=float)
    rows = MaskedRows(indptr, np.arange(n, dtype=np.int32), np.arange(n) / 2, row, -row)
    some = some_rows(rows, which)
    assert some.y.tolist() == row[which].tolist()
    assert some.weight.tolist() == (-row[which]).tolist()
    for place, i in enumerate(np.flatnonzero(which)):
        here = slice(some.indptr[place], some.indptr[place + 1])
        there = slice(indptr[i], indptr[i + 1])
        assert some.columns[here].tolist() == rows.columns[there].tolist()
        assert some.values[here].tolist() == rows.values[there].tolist()
