"""A chosen column that is the target in other words is named, whatever form data have."""

import warnings

import numpy as np
import pandas as pd
import pytest

from shortlist import LeakWarning, select


@pytest.fixture
def columns():
    rng = np.random.default_rng(0)
    found = {f"c{j}": rng.normal(size=300) for j in range(30)}
    found["sales"] = rng.normal(size=300)
    return found | {"tax": 0.2 * found["sales"] + 3.0}


@pytest.mark.parametrize("method", ["online_substitution", "grafting"])
@pytest.mark.parametrize("once", [False, True])
def test_columns_that_come_once_are_judged_as_those_that_can_be_read_again(
    columns, once, method
):
    target = columns.pop("sales")
    pairs = list(columns.items())
    with pytest.warns(LeakWarning, match="'tax' alone") as caught:
        chosen = select(iter(pairs) if once else pairs, target, k=2, method=method)
    assert len(caught) == 1
    assert sum(note.startswith("leak? 'tax'") for note in chosen.notes) == 1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_of_columns_that_come_once_are_judged_too(columns, n_classes):
    cuts = np.quantile(columns["sales"], np.arange(1, n_classes) / n_classes)
    words = np.array(["few", "some", "many"])[np.searchsorted(cuts, columns["sales"])]
    columns["sales"] = np.searchsorted(cuts, columns["sales"]) + 0.0
    pairs = [(name, column) for name, column in columns.items() if name != "tax"]
    with pytest.warns(LeakWarning, match="'sales' alone"):
        select(iter(pairs), words, k=2)


def sensors(leaky):
    rng = np.random.default_rng(0)
    activity = rng.choice(["cook", "sleep", "out"], 30).repeat(10)
    frame = pd.DataFrame(rng.random((300, 6)) < 0.2, columns=list("abcdef"))
    frame["b"] |= activity == "cook"
    if leaky:
        frame["diary"] = pd.factorize(activity)[0]
    day = np.repeat(np.arange(10), 30)
    return frame, activity, day


@pytest.mark.parametrize("form", ["frame", "array"])
def test_a_sensor_that_tells_every_activity_is_named(form):
    frame, activity, day = sensors(leaky=True)
    labels = activity.astype(object)
    labels[7] = None
    data = frame if form == "frame" else frame.to_numpy(float)
    name = "diary" if form == "frame" else "x6"
    with pytest.warns(LeakWarning, match=f"'{name}' alone"):
        chosen = select(data, labels, k=2, sequence=day)
    assert any(note.startswith("leak?") for note in chosen.notes)


def test_honest_sensors_are_not_blamed():
    frame, activity, day = sensors(leaky=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error", LeakWarning)
        select(frame, activity, k=2, sequence=day)
