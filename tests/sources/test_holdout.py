import copy
import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist._protocols import DataError, RowSource, ShortlistError
from shortlist.sources import ArraySource, LibsvmSource, split_holdout

N = 500


def array_source(block_rows=64):
    X = np.arange(1.0, N + 1)[:, None] * [1, 0, 2]
    return ArraySource(
        X, np.arange(N), sample_weight=np.arange(N) / 4, block_rows=block_rows
    )


def labels(view):
    """Labels of all rows, which are the numbers of the rows of the base."""
    found = []
    for block in view.blocks():
        assert block.n_rows > 0
        assert block.first_row == len(found)
        np.testing.assert_array_equal(block.weight, block.y / 4)
        np.testing.assert_array_equal(block.values[::2], block.y + 1)
        found.extend(block.y.astype(int).tolist())
    return found


@given(st.integers(1, 100), st.integers(), st.floats(0.01, 0.99))
@settings(deadline=None, max_examples=30)
def test_every_row_is_in_one_part_whatever_the_blocks(block_rows, seed, fraction):
    train, test = split_holdout(array_source(block_rows), fraction, seed)
    assert sorted(labels(train) + labels(test)) == list(range(N))
    other_train, other_test = split_holdout(array_source(7), fraction, seed)
    assert labels(other_test) == labels(test)
    assert labels(other_train) == labels(train)


def test_the_share_held_out_is_about_the_fraction():
    held_out = [
        len(labels(split_holdout(array_source(), 0.2, seed)[1])) for seed in range(20)
    ]
    assert abs(np.mean(held_out) - 0.2 * N) < 8  # two standard deviations: 4
    assert len(set(held_out)) > 1


def test_parts_speak_for_their_base():
    base = array_source()
    for view in split_holdout(base, 0.5, 0):
        assert isinstance(view, RowSource)
        assert (view.name, view.unit, view.size) == ("array", "rows", N)
        assert (view.n_features, view.label_names, view.reiterable) == (3, None, True)
        assert view.names(np.array([2], np.uint64)) == ["x2"]
        assert view.ids(["x1"]).tolist() == [1]
        assert labels(copy.deepcopy(view)) == labels(view)
        positions = [block.position for block in view.blocks()]
        assert set(positions) <= {block.position for block in base.blocks()}


def test_blocks_without_rows_are_passed_over():
    train, test = split_holdout(array_source(block_rows=1), 0.1, 0)
    assert len(list(train.blocks())) + len(list(test.blocks())) == N


@pytest.fixture
def pipe(monkeypatch):
    text = "".join(f"{i} 0:{i + 1} 2:{2 * i + 2}\n" for i in range(N)).encode()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))
    return LibsvmSource("-", block_bytes=300)


def numbers(view):
    return [int(y) for block in view.blocks() for y in block.y]


def test_rows_held_out_of_a_pipe_are_kept_while_it_is_read(pipe):
    train, test = split_holdout(pipe, 0.3, 5)
    assert isinstance(train, RowSource)
    assert isinstance(test, RowSource)
    assert (train.reiterable, test.reiterable) == (False, True)
    with pytest.raises(DataError, match="known only after the rows to learn from"):
        test.blocks()
    expected_train, expected_test = split_holdout(array_source(), 0.3, 5)
    assert numbers(train) == labels(expected_train)
    for _ in range(2):
        assert numbers(test) == labels(expected_test)
    first_rows = [block.first_row for block in test.blocks()]
    assert (
        first_rows == np.cumsum([0, *(b.n_rows for b in test.blocks())])[:-1].tolist()
    )
    with pytest.raises(DataError, match="only once"):
        train.blocks()
    assert numbers(test) == labels(expected_test)


def test_no_more_rows_of_a_pipe_are_kept_than_allowed(pipe):
    train, test = split_holdout(pipe, 0.3, 5, max_rows=10)
    expected_train, expected_test = split_holdout(array_source(), 0.3, 5)
    assert numbers(train) == labels(expected_train)
    assert numbers(test) == labels(expected_test)[:10]


@pytest.mark.parametrize(
    "options", [{"fraction": 0}, {"fraction": 1}, {"fraction": 0.5, "max_rows": -1}]
)
def test_options_are_checked(options):
    with pytest.raises(ShortlistError, match=r"expected .* got"):
        split_holdout(array_source(), seed=0, **options)


@pytest.mark.parametrize("reiterable", [True, False])
def test_rows_of_views_are_located_in_their_source(reiterable):
    source = ArraySource(np.ones((9000, 1)), np.arange(9000.0))
    source.reiterable = reiterable
    views = split_holdout(source, 0.3, seed=4)
    for view in views:
        labels = np.concatenate([block.y for block in view.blocks()])
        for row in (0, 1, 1700, len(labels) - 1):
            assert view.locate(row) == f"array: row {labels[row]:.0f}"
