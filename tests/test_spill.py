"""Rows kept in a file of their own are those that the data would give again."""

import errno
import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.sketch import random_block
from shortlist import _calibrating, _refit, _spill
from shortlist._online import OnlineLearner
from shortlist._spill import KeptRows, RowSpill
from shortlist.engines import run
from shortlist.kernels.masking import mask_of, restrict
from shortlist.sketch._mission import mission
from shortlist.sources import LibsvmSource


def masked(seed):
    block = random_block(seed)
    return restrict(mask_of(np.unique(block.ids)[::2].copy()), block)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 2**32), max_size=5))
def test_rows_come_back_as_they_went_in_more_than_once(seeds):
    spill = RowSpill(np.empty(0, np.uint64))
    kept = [KeptRows(masked(seed), n, 7 * n) for n, seed in enumerate(seeds)]
    for rows in kept:
        spill.add(rows)
    assert spill.complete
    for _ in range(2):
        for came, went in zip(spill, kept, strict=True):
            assert came[1:] == went[1:]
            for one, other in zip(came.rows, went.rows, strict=True):
                np.testing.assert_array_equal(one, other)
                assert (one.dtype, one.flags.writeable) == (other.dtype, True)
    spill.close()
    assert not spill.complete
    assert list(spill) == []


class CountedSource(LibsvmSource):
    """Counts how often it is read."""

    times_read = 0

    def blocks(self):
        self.times_read += 1
        return super().blocks()


@pytest.fixture
def source(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "many.svm"
    with path.open("w") as file:
        for _ in range(3_000):
            ids = rng.choice(500, 8, replace=False)
            label = 1 if (ids < 30).sum() > (ids > 450).sum() else -1
            file.write(f"{label} " + " ".join(f"{i}:{1 + i % 3}" for i in ids) + "\n")
    return CountedSource(path, block_bytes=20_000)


@pytest.fixture(autouse=True, params=["nonzeros", "rows"])
def little_is_exact(request, monkeypatch):
    """Rows can be kept for some of the candidates, or are too many to be kept at all."""
    monkeypatch.setattr(_refit, "EXACT_NNZ", 1_000)
    if request.param == "rows":
        monkeypatch.setattr(_calibrating, "FIRST", 500)
        monkeypatch.setattr(_refit, "EXACT_ROWS", 500)


def chosen(source, **settings):
    return run(mission(10, memory="1MB", **settings), source)


@pytest.mark.parametrize("settings", [{}, {"class_weight": "balanced"}])
def test_what_is_settled_from_kept_rows_is_what_reading_again_settles(
    source, settings, monkeypatch
):
    kept = chosen(source, **settings)
    times_kept = source.times_read
    monkeypatch.setattr(OnlineLearner, "replay", lambda self, state: None)
    assert chosen(source, **settings) == kept
    assert source.times_read - times_kept == times_kept + 1


def test_a_full_disk_only_means_to_read_again(source, monkeypatch):
    kept, times_kept = chosen(source), source.times_read
    usage = type("Usage", (), {"free": 0})
    monkeypatch.setattr(_spill.shutil, "disk_usage", lambda path: usage)
    assert chosen(source) == kept
    assert source.times_read - times_kept == times_kept + 1


def test_a_disk_that_fills_up_meanwhile_only_means_to_read_again(source, monkeypatch):
    kept, times_kept = chosen(source), source.times_read
    looks = []

    def no_room(self, size):
        looks.append(size)
        if len(looks) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_spill, "_LOOK_EVERY", 1)
    monkeypatch.setattr(RowSpill, "_check_free", no_room)
    assert chosen(source) == kept
    assert len(looks) == 3
    assert source.times_read - times_kept == times_kept + 1


def test_the_file_is_closed_with_whoever_forgets_it():
    spill = RowSpill(np.empty(0, np.uint64))
    spill.add(KeptRows(masked(0), 0, 0))
    file = spill._file
    del spill
    gc.collect()
    assert file.closed
