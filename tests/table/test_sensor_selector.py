"""Selecting sensors: what is found, what is predicted, and what is refused."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError

from shortlist import DataError, SensorSelector, Shortlist, ShortlistError
from shortlist.report import summary

ACTIVITIES = np.array(["cook", "out", "sleep"])
SENSORS = ["stove", "lamp", "door", "bed", "radio"]
N_DAYS, DAY = 8, 30


@pytest.fixture(scope="module")
def house():
    """Days of cooking, being out and sleeping; lamp and radio say nothing."""
    rng = np.random.default_rng(0)
    n = N_DAYS * DAY
    y = np.concatenate(
        [np.repeat(rng.choice(ACTIVITIES, 6), DAY // 6) for _ in range(N_DAYS)]
    )
    X = pd.DataFrame(rng.random((n, 5)) < 0.15, columns=SENSORS)
    for sensor, activity, often in (
        ("stove", "cook", 0.9),
        ("door", "out", 0.8),
        ("bed", "sleep", 0.3),
    ):
        X[sensor] |= (y == activity) & (rng.random(n) < often)
    return X, y, np.repeat(np.arange(N_DAYS), DAY)


@pytest.mark.parametrize("direction", ["forward", "both", "backward"])
def test_sensors_that_tell_activities_apart_are_found_by_name(house, direction):
    X, y, day = house
    selector = SensorSelector(2, direction=direction, cv=2).fit(X, y, sequence=day)
    assert selector.sensors_ == ("stove", "door")
    assert selector.get_feature_names_out().tolist() == ["stove", "door"]
    assert set(selector.shortlist_.names) == {"stove", "door"}
    assert selector.classes_.tolist() == ["cook", "out", "sleep"]
    point = selector.path_[2]
    assert point.n_features == 6
    assert point.held_out.plain < 0.15
    assert point.held_out.plain < selector.path_[0].held_out.plain - 0.2
    sizes = list(selector.path_)
    assert sizes == list(range(6 if direction == "backward" else 3))
    objectives = [selector.path_[size].objective for size in sizes]
    assert objectives == sorted(objectives, reverse=True)


def test_a_model_of_few_sensors_predicts_whole_sequences(house):
    X, y, day = house
    selector = SensorSelector(2).fit(X, y, sequence=day)
    predicted = selector.predict(X, sequence=day)
    sure = selector.predict_proba(X, lengths=[DAY] * N_DAYS)
    assert (predicted == y).mean() > 0.9
    assert selector.score(X, y, sequence=day) == pytest.approx((predicted == y).mean())
    np.testing.assert_allclose(sure.sum(axis=1), 1.0)
    assert (ACTIVITIES[sure.argmax(axis=1)] == predicted).mean() > 0.95
    # neighbours in time help: by itself a step is told less well
    alone = selector.predict(X, lengths=[1] * len(y))
    assert (alone == y).mean() < (predicted == y).mean()
    errors = selector.errors(X, y, sequence=day)
    shares = [(predicted != y)[y == activity].mean() for activity in ACTIVITIES]
    np.testing.assert_allclose(errors.by_label, shares)
    assert errors.macro == pytest.approx(np.mean(shares))


def test_single_weights_of_columns_for_activities_are_selected(house):
    X, y, day = house
    selector = SensorSelector(3, unit="feature").fit(X, y, sequence=day)
    assert len(selector.shortlist_) == selector.path_[3].n_features == 3
    assert np.count_nonzero(selector.coef_) == 3
    assert set(selector.sensors_) <= {"stove", "door", "bed"}
    assert [len(p.sensors) for p in selector.path_.values()][:2] == [0, 1]


def test_columns_of_one_sensor_come_and_go_together(house):
    X, y, day = house
    now_and_last = pd.concat(
        [X, X.shift(1, fill_value=False).add_suffix(" before")], axis=1
    )
    selector = SensorSelector(1, sensors=[*SENSORS, *SENSORS])
    selector.fit(now_and_last, y, sequence=day)
    (sensor,) = selector.sensors_
    assert set(selector.get_feature_names_out()) == {sensor, f"{sensor} before"}
    assert set(selector.sensor_names_) == set(SENSORS)


def test_arrays_sparse_and_dense_and_frames_are_one(house):
    X, y, day = house
    frame = SensorSelector(2).fit(X, y, sequence=day)
    for other in (X.to_numpy(), sparse.csr_array(X.to_numpy(float))):
        selector = SensorSelector(2).fit(other, y, lengths=[DAY] * N_DAYS)
        assert selector.sensors_ == ("x0", "x2")
        np.testing.assert_allclose(selector.coef_, frame.coef_, atol=1e-3)


def test_steps_without_labels_are_not_learned_from_but_predicted(house):
    X, y, day = house
    gaps = y.astype(object)
    gaps[5:9], gaps[40], gaps[41], gaps[100:110] = None, np.nan, "", "idle"
    selector = SensorSelector(2, unlabelled=["idle"]).fit(X, gaps, sequence=day)
    assert selector.classes_.tolist() == ["cook", "out", "sleep"]
    assert selector.shortlist_.n_examples == len(y) - 16
    assert len(selector.predict(X, sequence=day)) == len(y)
    labelled = [label in ACTIVITIES for label in gaps]
    wrong = (selector.predict(X, sequence=day) != gaps)[labelled]
    assert selector.errors(X, gaps, sequence=day).plain == pytest.approx(wrong.mean())


def test_an_activity_that_was_never_seen_is_always_missed(house):
    X, y, day = house
    selector = SensorSelector(2).fit(X, y, sequence=day)
    new = y.copy()
    new[:10] = "bath"
    errors = selector.errors(X, new, sequence=day)
    assert errors.by_label.shape == (4,)
    assert errors.by_label[-1] == 1.0


def test_empty_sequences_and_those_of_one_step_are_fine(house):
    X, y, _ = house
    lengths = [1, 0, 29, *[DAY] * 6, 0, DAY - 1, 1]
    selector = SensorSelector(2, cv=3).fit(X, y, lengths=lengths)
    assert selector.sensors_ == ("stove", "door")
    assert len(selector.predict(X, lengths=lengths)) == len(y)
    (only,) = selector.predict(X[:1], lengths=[0, 1, 0])
    assert only in ACTIVITIES


def test_an_activity_of_one_day_is_missed_when_that_day_is_held_out(house):
    X, y, day = house
    rare = np.where((day == 0) & (np.arange(len(y)) < 5), "bath", y)
    selector = SensorSelector(2, cv=N_DAYS).fit(X, rare, sequence=day)
    assert selector.classes_.tolist() == ["bath", "cook", "out", "sleep"]
    errors = selector.path_[2].held_out
    assert errors.by_label[0] == 1.0
    assert errors.macro == pytest.approx(errors.by_label.mean())


def test_the_path_is_a_frame_and_the_result_a_shortlist(house, tmp_path):
    X, y, day = house
    selector = SensorSelector(2, cv=2).fit(X, y, sequence=day)
    for backend in ("pandas", "polars"):
        frame = selector.path_frame(backend)
        assert list(frame["size"]) == [0, 1, 2]
        assert list(frame["name"])[-1] == "stove, door"
        assert frame["held_out_macro_error"][2] == selector.path_[2].held_out.macro
    selector.shortlist_.save(tmp_path / "a.shortlist")
    assert Shortlist.load(tmp_path / "a.shortlist") == selector.shortlist_
    np.testing.assert_array_equal(selector.transform(X), X[["stove", "door"]])


def test_nothing_is_selected_where_no_gradient_is_large_enough(house):
    X, y, day = house
    selector = SensorSelector(2, epsilon=1e9).fit(X, y, sequence=day)
    assert selector.sensors_ == ()
    assert len(selector.shortlist_) == 0
    assert len(set(selector.predict(X, sequence=day))) <= 3


def test_it_is_cloned_pickled_and_deterministic(house):
    X, y, day = house
    selector = SensorSelector(2, n_jobs=2).fit(X, y, sequence=day)
    again = clone(selector).fit(X, y, sequence=day)
    assert again.shortlist_ == selector.shortlist_
    copy = pickle.loads(pickle.dumps(selector))
    assert (copy.predict(X) == selector.predict(X)).all()
    assert is_classifier(selector)


def test_somebody_who_wants_to_hear_of_progress_does(house):
    X, y, day = house
    heard = []
    SensorSelector(2, report=heard.append).fit(X, y)
    assert [step.sensors for step in heard] == [0, 1, 2]
    assert all(a.objective > b.objective for a, b in itertools.pairwise(heard))
    heard.clear()
    selector = SensorSelector(3, unit="feature", cv=2, report=heard.append)
    selector.fit(X, y, sequence=day)
    assert [(step.fold, step.units) for step in heard] == [
        (fold, units) for fold in range(3) for units in range(4)
    ]
    heard.clear()
    SensorSelector(2, direction="backward", report=heard.append).fit(X, y)
    units = [step.units for step in heard]
    assert units == sorted(units, reverse=True)
    assert set(units) == set(range(6))


@pytest.mark.parametrize("missing", [pd.NA, pd.NaT, np.nan, None, ""])
def test_labels_are_missing_in_many_ways(house, missing):
    X, y, day = house
    gaps = pd.Series(y, dtype=object)
    gaps[3:7] = [missing] * 4
    selector = SensorSelector(2).fit(X, gaps, sequence=day)
    assert selector.classes_.tolist() == ["cook", "out", "sleep"]
    assert selector.shortlist_.n_examples == len(y) - 4


def test_a_text_that_means_nobody_knows_is_one_label(house):
    X, y, day = house
    selector = SensorSelector(2, unlabelled="cooking").fit(X, y, sequence=day)
    assert selector.classes_.tolist() == ["cook", "out", "sleep"]
    selector = SensorSelector(2, unlabelled="cook").fit(X, y, sequence=day)
    assert selector.classes_.tolist() == ["out", "sleep"]
    assert np.isfinite(selector.score(X, y, sequence=day))
    selector = SensorSelector(2, unlabelled=None).fit(X, y, sequence=day)
    assert len(selector.classes_) == 3


@pytest.mark.parametrize(
    ("settings", "stop", "sizes"),
    [
        ({}, (0, 2), [0, 1, 2]),
        ({"cv": 2}, (1, 1), [0, 1, 2, 3]),
        ({"direction": "backward"}, (0, 2), [2, 3, 4, 5]),
        ({"unit": "feature"}, (0, 1), [0, 1]),
    ],
)
def test_what_was_reached_before_an_interruption_is_kept(house, settings, stop, sizes):
    X, y, day = house

    def report(step):
        if (step.fold, step.units) == stop:
            raise KeyboardInterrupt

    selector = SensorSelector(3, report=report, **settings)
    with pytest.raises(KeyboardInterrupt) as caught:
        selector.fit(X, y, sequence=day)
    assert list(selector.path_) == sizes
    assert caught.value.result == selector.shortlist_
    assert "partial" in selector.shortlist_.notes[-1]
    assert all(point.held_out is None for point in selector.path_.values())
    assert len(selector.sensors_) <= 3
    assert len(selector.predict(X, sequence=day)) == len(y)


def test_an_interruption_before_there_are_few_enough_sensors_leaves_nothing(house):
    X, y, day = house

    def report(step):
        if step.units == 3:
            raise KeyboardInterrupt

    selector = SensorSelector(2, report=report, direction="backward")
    with pytest.raises(KeyboardInterrupt):
        selector.fit(X, y, sequence=day)
    assert not hasattr(selector, "path_")
    with pytest.raises(NotFittedError):
        selector.predict(X)


def test_a_report_has_the_path_and_a_call_that_makes_it_again(house):
    X, y, day = house
    both = pd.concat([X, X.shift(1, fill_value=False).add_suffix(" before")], axis=1)
    selector = SensorSelector(2, sensors=[*SENSORS, *SENSORS], direction="forward")
    selector.fit(both, y, sequence=day)
    told = summary(selector.shortlist_)
    assert "SensorSelector(k=2, direction='forward').fit(" in told["reproduce"]["call"]
    assert told["budget"]["kind"] == "path"
    assert told["budget"]["sizes"] == [1, 2]
    objectives = [selector.path_[size].objective for size in (1, 2)]
    assert told["budget"]["values"] == pytest.approx(objectives)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": ["a"] * 6}, "y: expected at least 2 labels, got only 'a'"),
        ({"y": [None] * 6}, "y: expected at least 2 labels, got no labelled row"),
        ({"y": [1, "a", 1, 1, "a", 1]}, "y: expected texts or numbers, got both"),
        ({"y": ["a", "b"]}, r"y should have one label for each of 6 rows, got \(2,\)"),
        (
            {"sequence": [1, 1, 2, 2, 1, 1]},
            "rows of 1 together, it comes back in row 4",
        ),
        (
            {"sequence": [1, 2]},
            "sequence should have a value for each of 6 rows, got 2",
        ),
        (
            {"sequence": ["a", "a", None, "b", "b", "b"]},
            "sequence: expected a value in row 2, got None",
        ),
        ({"sequence": [1.0] * 5 + [np.nan]}, "expected a value in row 5, got nan"),
        ({"sequence": [1] * 6, "lengths": [6]}, "give lengths or sequence, not both"),
        ({"lengths": [5]}, "lengths should add up to the 6 rows of X, got 5"),
        ({"unit": "room"}, "unit should be one of sensor, feature, got 'room'"),
        ({"direction": "up"}, "direction should be one of forward, both, backward"),
        ({"unit": "feature", "direction": "backward"}, "goes with unit='sensor'"),
        ({"epsilon": -1.0}, "epsilon should be at least 0, got -1.0"),
        ({"epsilon": "no"}, "epsilon should be at least 0, got 'no'"),
        ({"l2": "no"}, "l2 should be above 0 and finite, got 'no'"),
        ({"n_jobs": None}, "n_jobs should be at least 1, got None"),
        ({"cv": None}, r"number of sequences \(1\), got None"),
        ({"y": [0.5, 1.5] * 3}, "y: expected texts or whole numbers, got"),
        ({"y": [["a"], ["b", "c"], *"abab"]}, "y: expected a label in row 0, got"),
        ({"sequence": ["a"] * 5 + [""]}, "sequence: expected a value in row 5, got ''"),
        (
            {"y": ["", "", *"abab"], "lengths": [2, 4], "cv": 2},
            "y: expected labelled steps outside each of the 2 folds, got none outside "
            "fold 2",
        ),
        (
            {"cv": 3},
            r"cv should be 0 or from 2 to the number of sequences \(1\), got 3",
        ),
        ({"k": 0}, "k should be a whole number from 1, got 0"),
        ({"sensors": {"a": ["x7"]}}, "no feature is called 'x7'"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(change, message):
    data = {"X": np.eye(6)[:, :2], "y": ["a", "b"] * 3}
    fit = {
        name: change[name] for name in change if name in ("y", "lengths", "sequence")
    }
    settings = {name: change[name] for name in change if name not in fit}
    with pytest.raises(ShortlistError, match=message) as caught:
        SensorSelector(**settings).fit(**(data | fit))
    assert "\n" not in str(caught.value)
    expected = ("y:", "sequence:")
    assert isinstance(caught.value, DataError) == str(caught.value).startswith(expected)
    with pytest.raises(ValueError, match="NaN"):
        SensorSelector().fit(np.full((6, 2), np.nan), data["y"])
