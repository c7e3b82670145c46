"""A result keeps the lists of all smaller budgets, in arrays that stay small."""

import numpy as np
import pytest

from shortlist import FoBa, FoBaCV, Shortlist
from shortlist.table._path_trace import MOST_ENTRIES, path_trace
from shortlist.table._selected import PathStep


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 12))
    X[:, 1] += X[:, 0]
    return X, X[:, :4] @ [1.0, -2.0, 1.5, 0.5] + 0.3 * rng.normal(size=120)


def test_the_list_of_each_size_is_that_of_the_selector(data, tmp_path):
    selector = FoBa(k=5).fit(*data)
    selector.shortlist_.save(tmp_path / "model")
    made = Shortlist.load(tmp_path / "model")
    trace = made.trace
    assert trace["path_sizes"].tolist() == [1, 2, 3, 4, 5]
    names = dict(
        zip(trace.get("left_ids", ()), trace.get("left_names", ()), strict=True)
    )
    names |= made.names_by_id()
    begin = 0
    for i, size in enumerate(trace["path_sizes"].tolist()):
        end = trace["path_ends"][i]
        at = selector.at(size)
        assert (
            tuple(names[f] for f in trace["path_ids"][begin:end].tolist()) == at.names
        )
        np.testing.assert_allclose(
            trace["path_weights"][begin:end], at.weights, rtol=1e-6
        )
        assert trace["path_objective"][i] == selector.path_[size].best.objective
        begin = end
    assert end == len(trace["path_ids"]) == len(trace["path_margin"])


def test_sizes_beyond_the_budget_are_not_kept(data):
    selector = FoBa(k=5).fit(*data)
    assert selector.at(3).trace["path_sizes"].tolist() == [1, 2, 3]
    assert "path_sizes" not in selector.at(1).trace


def test_the_budget_chosen_by_cross_validation_keeps_its_curve(data):
    selector = FoBaCV(k=6, cv=3).fit(*data)
    trace = selector.shortlist_.trace
    assert trace["cv_sizes"].tolist() == selector.cv_sizes_.tolist()
    np.testing.assert_array_equal(trace["cv_loss"], selector.cv_losses_.mean(axis=0))
    held_out = selector.shortlist_.report().summary["budget"]["held_out"]
    assert held_out["sizes"] == selector.cv_sizes_.tolist()


def step(size):
    ids = np.arange(size, dtype=np.uint64)
    return PathStep(
        ids, ids.astype(np.int64) * 0, ids + 1.0, ids + 1.0, np.zeros(1), 0.0
    )


@pytest.mark.parametrize("k", [2, 190, 200, 1000, 9000])
def test_of_long_paths_the_largest_size_and_most_small_ones_are_kept(k):
    sizes = range(1, k + 1) if k < 1000 else range(1, k + 1, 3)
    steps = {size: step(size) for size in sizes}
    trace = path_trace(steps, k)
    kept = trace["path_sizes"].tolist()
    assert kept == sorted(set(kept))
    assert kept[-1] == max(sizes)
    assert len(trace["path_ids"]) <= MOST_ENTRIES
    assert kept[:30] == list(sizes)[:30]
    assert len(kept) >= min(len(sizes), 40)
    if sum(sizes) <= MOST_ENTRIES:
        assert kept == list(sizes)
