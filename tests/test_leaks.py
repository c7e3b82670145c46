"""Suspects are named, chance is not blamed."""

import numpy as np
import pytest

from shortlist import select
from shortlist._leaks import leaks
from shortlist._protocols import RowBlock
from shortlist._suspects import about_distinct


def named(A, y, n_features=1000, **kind):
    columns = [f"c{j}" for j in range(A.shape[1])]
    return [line.split("'")[1] for line in leaks(A, y, columns, n_features, **kind)]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_a_copy_of_two_classes_is_named_whatever_its_sign_and_scale(rng):
    y = rng.integers(0, 2, 200).astype(float)
    good = y + rng.normal(size=200)  # AUC about 0.76
    nearly = np.where(rng.random(200) < 0.002, 1 - y, y)
    A = np.column_stack([good, -1e6 * y, nearly, np.exp(9 * y)])
    assert named(A, y, n_classes=2) == ["c1", "c2", "c3"]


def test_numbers_in_another_unit_are_named(rng):
    y = rng.normal(size=300)
    A = np.column_stack([32 + 1.8 * y, np.exp(y), y + rng.normal(size=300), y**2])
    assert named(A, y, n_classes=0) == ["c0", "c1"]


def test_a_code_of_many_classes_is_named(rng):
    y = rng.integers(0, 5, 400).astype(float)
    shuffled = np.array([3.0, 1.0, 4.0, 0.0, 2.0])[y.astype(int)]
    A = np.column_stack([shuffled, y + rng.normal(size=400), rng.normal(size=400)])
    assert named(A, y, n_classes=5) == ["c0"]
    many = np.column_stack([shuffled + 0.01 * rng.random(400)])
    assert named(many, y, n_classes=5) == ["c0"]


def test_the_best_of_many_noisy_columns_is_not_blamed_where_rows_are_few(rng):
    """Of 4,000 columns some separate ten rows perfectly."""
    y = np.arange(10.0) % 2
    A = rng.normal(size=(10, 4000))
    order = np.argsort(A, axis=0)
    best = A[:, y[order][:5].sum(axis=0) % 5 == 0]
    assert best.shape[1] > 5
    assert named(best, y, 4000, n_classes=2) == []
    numbers = rng.normal(size=10)
    B = np.column_stack([numbers, numbers**3])
    assert named(B, numbers, 4000, n_classes=0) == []


def test_constant_columns_and_single_classes_are_no_suspects():
    A = np.zeros((50, 1))
    assert named(A, np.zeros(50), n_classes=2) == []
    assert named(A, np.arange(50.0), n_classes=0) == []
    assert named(A, np.arange(50.0) % 3, n_classes=3) == []


def test_of_many_chosen_features_the_strongest_are_suspects(rng):
    y = rng.integers(0, 2, 300).astype(float)
    X = rng.normal(size=(300, 200))
    X[:, 150] = y
    chosen = select(X, y, 120, "mrmr")
    [note] = [note for note in chosen.notes if note.startswith("leak?")]
    assert "'x150'" in note


@pytest.mark.parametrize(("n", "ids"), [(3, 10), (5000, 700), (200_000, 2**63)])
def test_features_of_a_stream_are_counted_about(rng, n, ids):
    parts = rng.integers(0, ids, (2, n)).astype(np.uint64)
    blocks = [block_of(part) for part in parts]
    exact = len(np.unique(parts))
    assert about_distinct(blocks) == pytest.approx(exact, rel=0.02)


def block_of(ids):
    n = len(ids)
    return RowBlock(np.array([0, n]), ids, np.ones(n), np.ones(1), np.ones(1), 0, 1)
