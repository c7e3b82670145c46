"""Suspects are named, chance is not blamed."""

import numpy as np
import pytest

from shortlist import LeakWarning, select
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
    with pytest.warns(LeakWarning, match="'x150'"):
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


def levels(codes, n):
    """A feature for each value of a column of text."""
    return (codes[:, None] == np.arange(n)).astype(float)


@pytest.mark.parametrize(
    ("y_of", "n_classes"),
    [([0, 1, 1, 0], 2), ([0, 1, 2, 2], 3), ([3.5, -1.0, 70.0, 2.0], 0)],
)
def test_values_of_a_column_are_judged_together(rng, y_of, n_classes):
    codes = rng.integers(0, 4, 300)
    y = np.array(y_of, float)[codes]
    if n_classes == 0:
        y += 0.01 * rng.normal(size=300)
    A = np.column_stack([levels(codes, 4), levels(rng.integers(0, 4, 300), 4)])
    columns = {"status": [0, 1, 2, 3], "town": [4, 5, 6, 7]}
    found = leaks(
        A, y, [f"c{j}" for j in range(8)], 17, n_classes=n_classes, columns=columns
    )
    assert len(found) == 1
    assert found[0].startswith("leak? column 'status' alone predicts nearly perfectly")


def test_a_value_that_is_enough_by_itself_is_named_and_not_its_column(rng):
    codes = rng.integers(0, 3, 200)
    y = (codes == 1).astype(float)
    A = levels(codes, 3)
    names = ["s=a", "s=b", "s=c"]
    [line] = leaks(A, y, names, 3, n_classes=2, columns={"s": [0, 1, 2]})
    assert "'s=b' alone" in line


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_ids_and_columns_of_very_many_values_are_no_leaks(rng, n_classes):
    """Chosen by looking at the same rows, values of few rows seem to know everything."""
    y = rng.integers(0, n_classes, 400).astype(float) if n_classes else rng.random(400)
    for n_rows_each in (1, 2, 4):
        n = 400 // n_rows_each
        A = levels(rng.permutation(np.repeat(np.arange(n), n_rows_each)), n)
        names = [f"id={j}" for j in range(n)]
        columns = {"id": list(range(n))}
        assert leaks(A, y, names, n, n_classes=n_classes, columns=columns) == []


def test_of_few_rows_no_column_of_text_is_blamed(rng):
    codes = np.arange(24) % 4
    y = np.array([0.0, 1.0, 1.0, 0.0])[codes]
    columns = {"s": [0, 1, 2, 3]}
    many = {"n_features": 100_000, "n_classes": 2, "columns": columns}
    assert leaks(levels(codes, 4), y, list("abcd"), **many) == []
    few = {"n_features": 4, "n_classes": 2, "columns": columns}
    assert (
        len(
            leaks(
                levels(codes, 4)[np.arange(96) % 24], np.tile(y, 4), list("abcd"), **few
            )
        )
        == 1
    )


def test_a_column_of_text_that_finds_half_of_a_rare_class_is_no_leak(rng):
    """Always saying the commonest would be right in 99 of 100 rows, too."""
    y = (rng.random(5000) < 0.01).astype(float)
    codes = np.where((y == 1) & (rng.random(5000) < 0.5), 0, rng.integers(1, 4, 5000))
    kind = {"n_classes": 2, "columns": {"s": [0, 1, 2, 3]}}
    assert leaks(levels(codes, 4), y, list("abcd"), 4, **kind) == []
    caught = np.where(y == 1, rng.integers(0, 2, 5000), rng.integers(2, 4, 5000))
    assert len(leaks(levels(caught, 4), y, list("abcd"), 4, **kind)) == 1
