"""Runs with recipe="shards" add up: what parts of the data taught is what all would."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from shortlist import Mission
from shortlist._protocols import DataError, ShortlistError
from shortlist._steps import NORM, NORM_ROWS
from shortlist._targets import choose_target
from shortlist.engines import run
from shortlist.sketch._merging import Alike, check_settings, merged
from shortlist.sketch._mission import mission
from shortlist.sketch._shard_files import Saving, Shard, load_shard, merge_shards
from shortlist.sources import ArraySource


def clicks(n_rows, seed=0, n_features=5_000, n_classes=2):
    """Rows of ten ones among thousands of features, of which the first 40 matter."""
    rng = np.random.default_rng(seed)
    X = np.zeros((n_rows, n_features))
    ids = (n_features * rng.random((n_rows, 10)) ** 3).astype(int)
    X[np.arange(n_rows)[:, None], ids] = 1.0
    truth = np.zeros((n_features, n_classes))
    truth[:40] = 2 * np.random.default_rng(1).normal(size=(40, n_classes))
    y = np.argmax(X @ truth + rng.gumbel(size=(n_rows, n_classes)), axis=1)
    return X, y


def trained(X, y, n_shards, **settings):
    """Estimators that learned from a part of the rows each, alike."""
    settings = {"recipe": "shards", "k": 30, **settings}
    parts = np.array_split(np.arange(len(y)), n_shards)
    first = Mission(**settings).partial_fit(X[parts[0]], y[parts[0]])
    rest = [first.branch().partial_fit(X[part], y[part]) for part in parts[1:]]
    return first, rest


@pytest.mark.parametrize("settings", [{}, {"loss": "squared"}, {"scale": "max_abs"}])
def test_without_collisions_steps_are_those_of_newton(settings):
    X, y = clicks(1_500, n_features=300)
    X[:, :100] *= 4.0 if settings.get("scale") else 1.0
    one = Mission(20, recipe="newton", **settings).partial_fit(X, y)
    other = Mission(20, recipe="shards", **settings)
    # The ridge should not change meanwhile: sums would go by an older one.
    other._first = one._state
    one = clone(one)
    one._first = other._first
    for estimator in (one, other):
        estimator.partial_fit(X, y)
    assert other.shortlist_.names == one.shortlist_.names
    np.testing.assert_allclose(
        other.shortlist_.weights, one.shortlist_.weights, rtol=2e-3, atol=1e-4
    )
    np.testing.assert_allclose(other.intercept_, one.intercept_, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("n_shards", [2, 8])
def test_merged_shards_are_as_good_as_one_run(n_shards, n_classes):
    X, y = clicks(16_000, n_classes=n_classes)
    test_X, test_y = clicks(4_000, seed=9, n_classes=n_classes)
    settings = {"memory": "2MB", "k": 60}
    (whole, _), (first, rest) = (trained(X, y, n, **settings) for n in (1, n_shards))
    alone = first.score(test_X, test_y)
    together = first.merge(*rest).score(test_X, test_y)
    assert together > whole.score(test_X, test_y) - 0.01
    assert together > alone + (0.01 if n_shards == 8 else -0.005)
    assert first.shortlist_.n_examples == len(y)


def test_sums_add_and_scales_are_the_largest():
    X, y = clicks(3_000, n_features=400)
    X[1_500:] *= 3.0
    first, (second,) = trained(X, y, 2, scale="max_abs")
    ours, theirs = (e._state.model.sketch.cells.copy() for e in (first, second))
    n_sums = 2 * 3 * 4  # sums and information of three rows of four cells
    state = merged(first._learner(one_pass=True), [first._state, second._state])
    blocks = [
        c.reshape(-1, n_sums + 4) for c in (ours, theirs, state.model.sketch.cells)
    ]
    np.testing.assert_allclose(
        blocks[2][:, :n_sums], (blocks[0] + blocks[1])[:, :n_sums]
    )
    largest = np.maximum(blocks[0], blocks[1])[:, n_sums:]
    np.testing.assert_array_equal(blocks[2][:, n_sums:], largest)
    assert largest.max() == 3.0
    np.testing.assert_array_equal(first._state.model.sketch.cells, ours)


def test_the_order_of_shards_does_not_matter_and_neither_does_the_order_of_merging():
    X, y = clicks(6_000)
    first, (second, third) = trained(X, y, 3)
    learner = first._learner(one_pass=True)
    states = [e._state for e in (first, second, third)]
    one = merged(learner, states)
    for other in (
        merged(learner, states[::-1]),
        merged(learner, [merged(learner, states[:2]), states[2]]),
    ):
        np.testing.assert_allclose(
            other.model.sketch.cells, one.model.sketch.cells, rtol=1e-4, atol=1e-4
        )
        np.testing.assert_allclose(other.model.bias, one.model.bias)
        assert other.n_examples == one.n_examples == len(y)
        assert other.trace.rows == one.trace.rows == len(y)


def test_the_trace_goes_on_from_shard_to_shard():
    X, y = clicks(5_200)
    first, rest = trained(X, y, 2)
    lengths = [e._state.trace.rows for e in (first, *rest)]
    losses = [e._state.model.totals for e in (first, *rest)]
    trace = first.merge(*rest).shortlist_.trace
    assert trace["rows"][-1] == sum(lengths)
    assert (np.diff(trace["rows"]) > 0).all()
    mean = sum(totals[2] for totals in losses) / len(y)
    windows = np.diff([0, *trace["rows"]])
    assert windows @ trace["loss"] / len(y) == pytest.approx(mean)


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"seed": 1}, "got seed = 0 and 1"),
        ({"memory": "1MB"}, "got memory = '16MB' and '1MB'"),
        ({"rows": 5}, "got rows = 3 and 5"),
        ({"k": 31}, "k = 30 and 31"),
        ({"scale": "max_abs"}, "got scale = 'auto' and 'max_abs'"),
        ({"log1p": True}, "got log1p = False and True"),
    ],
)
def test_shards_learned_otherwise_are_refused(settings, what):
    X, y = clicks(1_200)
    first, _ = trained(X, y, 1)
    other, _ = trained(X, y, 1, **settings)
    with pytest.raises(ShortlistError, match=what):
        first.merge(other)


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"seed": 1}, "seed = 0 and 1"),
        ({"memory": "1MB"}, "memory = '16MB' and '1MB'"),
        ({"rows": 5}, "rows = 3 and 5"),
        ({"normalize": "l2"}, "normalize = None and 'l2'"),
        ({"never": ("a",)}, r"never = \(\) and \('a',\)"),
    ],
)
def test_settings_of_files_are_told_one_by_one(settings, what):
    first = mission(30, recipe="shards")
    with pytest.raises(ShortlistError, match=rf"learned alike, got {what}\Z"):
        check_settings(first, mission(30, recipe="shards", **settings))
    check_settings(first, mission(30, recipe="shards", scale="max_abs"))


def test_states_that_are_about_other_things_are_told_in_words():
    X, y = clicks(300, n_features=200)
    learner = mission(30, recipe="shards")
    target = choose_target("auto", y.astype(float))
    plain, scaled = (
        replace(learner, rule=replace(learner.rule, scaled=scaled)).begin(
            ArraySource(X, y), target, ()
        )
        for scaled in (False, True)
    )
    with pytest.raises(ShortlistError, match=r"share scales .* got none and max_abs;"):
        merged(learner, [plain, scaled])
    other = replace(plain, target=choose_target("squared", y.astype(float)))
    with pytest.raises(
        ShortlistError, match=r"share the loss .* logistic and squared;"
    ):
        merged(learner, [plain, other])


def test_shards_that_started_otherwise_are_refused():
    X, y = clicks(1_200)
    first, _ = trained(X, y, 1)
    other = Mission(30, recipe="shards").partial_fit(2 * X, y)
    with pytest.raises(ShortlistError, match="mean squared norm"):
        first.merge(other)
    other = Mission(30, recipe="shards", loss="squared").partial_fit(X, y)
    with pytest.raises(ShortlistError, match="loss = 'auto' and 'squared'"):
        first.merge(other)
    other = Mission(30, recipe="shards").partial_fit(X[:, :4_000], y)
    with pytest.raises(ShortlistError, match="5000 and 4000 columns"):
        first.merge(other)
    with pytest.raises(ShortlistError, match="expected estimators"):
        first.merge("other")
    with pytest.raises(ShortlistError, match="recipe='shards'"):
        Mission(30).partial_fit(X, y).branch()
    with pytest.raises(NotFittedError, match="partial_fit"):
        Mission(30, recipe="shards").branch()


def test_a_branch_knows_the_classes_and_the_ridge_of_the_first():
    X, y = clicks(2_000, n_classes=3)
    first = Mission(30, recipe="shards").partial_fit(X, y)
    some = y != 2
    branch = first.branch().partial_fit(X[some], y[some])
    assert branch.classes_.tolist() == [0, 1, 2]
    norms = branch._state.model.totals[[NORM_ROWS, NORM]]
    np.testing.assert_array_equal(norms, first._state.model.totals[[NORM_ROWS, NORM]])
    few = Mission(30, recipe="shards").partial_fit(X[:50], y[:50])
    frozen = few.branch().partial_fit(X[some], y[some])._state.model.totals
    assert frozen[NORM] == few._state.model.totals[NORM]


def test_a_file_holds_all_that_was_learned(tmp_path):
    X, y = clicks(3_000)
    learner = mission(30, recipe="shards", always=["x3"])
    source, other = ArraySource(X[:2_000], y[:2_000]), ArraySource(X[2_000:], y[2_000:])
    shortlist = run(Saving(learner, tmp_path / "a.shard"), source)
    first = load_shard(tmp_path / "a.shard")
    assert first.shortlist() == shortlist
    run(Saving(Alike(learner, first.state), tmp_path / "b.shard"), other)
    both = merge_shards([first, load_shard(tmp_path / "b.shard")])
    both.save(tmp_path / "c.shard")
    assert load_shard(tmp_path / "c.shard").shortlist() == both.shortlist()
    assert both.shortlist().n_examples == 3_000
    assert both.shortlist().params["shards"] == 2
    assert "x3" in both.shortlist().names
    assert isinstance(both, Shard)


def test_a_file_that_is_no_shard_is_refused(tmp_path):
    X, y = clicks(200)
    Mission(3).fit(X, y).shortlist_.save(tmp_path / "model")
    with pytest.raises(DataError, match="shard"):
        load_shard(tmp_path / "model")


def test_a_feature_is_met_if_any_shard_has_it():
    X, y = clicks(1_200)
    X[:, 7] = X[:, 8] = 0.0
    X[-1, 8] = 1.0
    first, rest = trained(X, y, 2, always=["x7", "x8"])
    assert len(first.shortlist_.notes) == 2
    (note,) = first.merge(*rest).shortlist_.notes
    assert "no row has 'x7', which is always in" in note
