"""Checkpoints after any block lead to the result of a run that nobody stopped."""

from typing import NamedTuple

import numpy as np
import pytest

from shortlist import _refit, storage
from shortlist._protocols import DataError, ShortlistError
from shortlist.engines import Interrupted, Keeper, load_snapshot, run
from shortlist.engines.states import flatten, unflatten
from shortlist.losses import Logistic
from shortlist.sketch._iht import batch_iht
from shortlist.sketch._mission import mission
from shortlist.sources import ArraySource


def rows(n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 30)) * (rng.random((120, 30)) < 0.4)
    z = X[:, :3] @ [1.0, -1.0, 2.0] + 0.1 * rng.normal(size=120)
    y = np.digitize(z, np.quantile(z, np.arange(1, n_classes) / n_classes))
    return ArraySource(X, z if n_classes == 1 else y, block_rows=25)


def stop_after(n_blocks):
    left = iter(range(n_blocks))
    return lambda: next(left, None) is None


@pytest.mark.parametrize("n_classes", [1, 2, 3])
@pytest.mark.parametrize("recipe", ["refit", "again", "newton", "paper"])
def test_any_block_is_a_good_place_to_stop(tmp_path, recipe, n_classes, monkeypatch):
    if recipe == "again":  # rows are kept for half of the candidates, or for fewer
        recipe = "refit"
        monkeypatch.setattr(_refit, "EXACT_NNZ", 500)
    learner = mission(4, recipe=recipe, memory=3000, passes=2)
    source, path = rows(n_classes), tmp_path / "checkpoint"
    whole = run(learner, source)
    stops = 0
    for n_blocks in range(18):
        keeper = Keeper(path, {"k": 4}, wants_stop=stop_after(n_blocks))
        try:
            run(learner, source, keeper=keeper)
        except Interrupted:
            stops += 1
            snapshot = load_snapshot(path, {"k": 4})
            assert run(learner, source, resume=snapshot) == whole
    assert stops >= 10


@pytest.mark.parametrize(
    "learner",
    [
        batch_iht(4, batch=40, recipe="paper", passes=2),
        mission(4, recipe="paper", sketch="identity", memory="1KB", gamma=0.9),
    ],
    ids=["batch_iht", "fading"],
)
def test_half_a_batch_and_fading_weights_go_on_as_they_were(tmp_path, learner):
    source, path = rows(2), tmp_path / "checkpoint"
    with pytest.raises(Interrupted):
        run(learner, source, keeper=Keeper(path, {}, wants_stop=stop_after(2)))
    resumed = run(learner, source, resume=load_snapshot(path, {}))
    assert resumed == run(learner, source)


def test_a_stop_may_come_again_and_again(tmp_path):
    learner, source = mission(4, recipe="refit", memory=3000), rows(2)
    path, snapshot, stops = tmp_path / "checkpoint", None, 0
    while True:
        keeper = Keeper(path, {}, wants_stop=stop_after(1))
        try:
            result = run(learner, source, keeper=keeper, resume=snapshot)
            break
        except Interrupted:
            stops += 1
            snapshot = load_snapshot(path, {})
        assert stops < 50
    assert stops >= 4
    assert result == run(learner, source)


def test_checkpoints_are_written_when_they_are_due_and_after_each_pass(
    tmp_path, monkeypatch
):
    learner, source, path = mission(2, memory=3000), rows(2), tmp_path / "checkpoint"
    places, save = [], Keeper.save

    def noting(self, snapshot):
        places.append(snapshot.place.rows)
        save(self, snapshot)

    monkeypatch.setattr(Keeper, "save", noting)
    whole = run(learner, source, keeper=Keeper(path, {}, every=3600.0))
    n_rows = sum(block.n_rows for block in source.blocks())
    assert places == [n_rows] * 2  # explored, and refitted
    assert run(learner, source, resume=load_snapshot(path, {})) == whole
    places.clear()
    run(learner, source, keeper=Keeper(path, {}, every=0.0))
    assert len(places) > 2


class OwnLoss(NamedTuple):
    """A record of somebody else's."""

    scale: float = 1.0


def test_states_come_back_as_they_were():
    state = {
        "record": Logistic(),
        "parts": [None, True, 1, 0.5, "a", (1, 2)],
        "number": np.float32(0.1),
        "array": np.arange(6, dtype=np.uint64).reshape(2, 3),
    }
    tree, arrays = flatten(state)
    back = unflatten(storage.from_json(storage.to_json(tree)), arrays)
    assert back["record"] == state["record"]
    assert type(back["record"]) is Logistic
    assert back["parts"] == state["parts"]
    assert back["number"].dtype == np.float32
    assert (back["array"] == state["array"]).all()


@pytest.mark.parametrize("value", [OwnLoss(), object(), {1, 2}])
def test_what_cannot_be_found_again_is_refused(value):
    with pytest.raises(ShortlistError, match="checkpoints hold"):
        flatten({"loss": value})


@pytest.mark.parametrize(
    "name",
    ["os:system", "shortlist.storage:save", "shortlist.nothing:Here", "shortlist"],
)
def test_files_name_only_records_of_this_package(name):
    with pytest.raises(DataError, match="class of this version"):
        unflatten({"class": name, "fields": {}}, {})


def test_settings_must_agree(tmp_path):
    path = tmp_path / "checkpoint"
    learner, source = mission(2, memory=3000), rows(2)
    run(learner, source, keeper=Keeper(path, {"k": 2, "never": ("a",)}, every=0.0))
    assert load_snapshot(path, {"k": 2, "never": ("a",)}).place.rows > 0
    with pytest.raises(ShortlistError, match="the run had k = 2, got 3"):
        load_snapshot(path, {"k": 3, "never": ("a",)})
