"""shortlist sensors."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

from shortlist import SensorSelector
from shortlist.cli.sensors import progress_of
from shortlist.table._sensor_search import SensorStep

SENSORS = ("stove", "door", "radio")


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """Ten days; the stove tells cooking, the door tells being out, the radio nothing."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("house") / "house.csv"
    with path.open("w", newline="") as out:
        lines = csv.writer(out)
        lines.writerow(["time", "day", "activity", *SENSORS])
        for minute in range(400):
            if minute % 10 == 0:
                activity = rng.choice(["cook", "out", "sleep"])
            fires = rng.random(3) < 0.05
            fires |= [activity == "cook", activity == "out", False]
            label = "" if minute % 97 == 5 else activity
            lines.writerow([minute, f"d{minute // 40}", label, *fires.astype(int)])
    return path


def test_sensors_are_ranked_and_the_curve_is_drawn_as_text(run, house):
    words = ("--label", "activity", "--sequence", "day", "--never", "time", "-k", 2)
    result = run("sensors", house, *words)
    assert result.exit_code == 0, result.output
    assert "2 of 3 sensors for 3 activities: 395 labelled rows, 10 seq" in result.stdout
    ranked = result.stdout.partition("rank  sensor\n")[2].splitlines()[:2]
    assert {line.split()[1] for line in ranked} == {"stove", "door"}
    curve, by_activity = result.stdout.strip().split("\n\n")[-2:]
    head, *lines = curve.splitlines()
    assert head.split() == ["sensors", "error", "macro", "held-out", "error", "macro"]
    errors = np.array([line.split()[:5] for line in lines], float)
    assert errors[:, 0].tolist() == [0, 1, 2]
    assert errors[2, 4] < 0.1 < errors[0, 4]
    assert lines[0].count("#") > 10
    head, *lines = by_activity.splitlines()
    assert head.split() == ["activity", "rows", "error", "held-out", "error"]
    assert [line.split()[0] for line in lines] == ["cook", "out", "sleep"]
    assert sum(int(line.split()[1]) for line in lines) == 395


def test_rows_without_an_activity_cut_sequences(run, house, tmp_path):
    words = ("--label", "activity", "--never", "time", "-k", 2, "--format", "csv")
    gaps = run("sensors", house, *words, "--sequence", "day", "--cv", 0)
    head, *rows = house.read_text().splitlines()
    cut, part = [head], 0
    for row in rows:
        time, day, activity, *fires = row.split(",")
        if activity:
            cut.append(",".join([time, f"{day} {part}", activity, *fires]))
        else:
            part += 1
    apart = tmp_path / "apart.csv"
    apart.write_text("\n".join(cut) + "\n")
    same = run("sensors", apart, *words, "--sequence", "day", "--cv", 0)
    both = [list(csv.DictReader(io.StringIO(x.stdout))) for x in (gaps, same)]
    for one, other in zip(*both, strict=True):
        assert one["names"] == other["names"]
        objectives = float(one["objective"]), float(other["objective"])
        assert objectives[0] == pytest.approx(objectives[1], rel=1e-6)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_activities_may_be_numbers_and_one_of_them_mean_none(
    run, house, tmp_path, form
):
    frame = pd.read_csv(house, keep_default_na=False)
    numbers = {"": 0, "cook": 1, "out": 2, "sleep": 3}
    frame["activity"] = frame["activity"].map(numbers)
    path = tmp_path / f"house.{form}"
    getattr(frame, f"to_{form}")(path, index=False)
    words = ("--label", "activity", "--sequence", "day", "--never", "time", "-k", 2)
    result = run("sensors", path, *words, "--unlabelled", 0, "--cv", 2)
    assert "2 of 3 sensors for 3 activities: 395 labelled rows" in result.stdout
    lines = result.stdout.strip().splitlines()[-3:]
    assert [line.split()[0] for line in lines] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("settings", "step", "place"),
    [
        ({}, (0, 1, 1), ("sensors", 1, 2)),
        ({"cv": 5}, (2, 1, 1), ("fold 2 of 5", 1, 2)),
        ({"direction": "backward"}, (0, 2, 2), ("sensors", 1, 3)),
        ({"unit": "feature", "k": 9}, (0, 4, 2), ("sensors", 4, 9)),
        ({"k": 9}, (0, 3, 3), ("sensors", 3, 3)),
    ],
)
def test_the_bar_shows_how_far_a_search_has_come(settings, step, place):
    selector = SensorSelector(**{"k": 2, "sensors": SENSORS} | settings)
    progress = progress_of(SensorStep(*step, 0.5), selector)
    assert (progress.stage, progress.position, progress.size) == place


def test_the_curve_is_csv_and_a_picture_too(run, house, tmp_path):
    picture = tmp_path / "curve.png"
    words = ("--label", "activity", "--never", "time", "--never", "day", "-k", 3)
    result = run(
        *("sensors", house, *words, "--unit", "feature", "--format", "csv"),
        *("--plot", picture),
    )
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["features"] for row in rows] == ["0", "1", "2", "3"]
    assert rows[-1]["held_out_error"] == ""  # one sequence only
    assert float(rows[-1]["error"]) < float(rows[0]["error"])
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_columns_of_a_sensor_are_found_by_their_names(run, tmp_path):
    path = tmp_path / "lamps.csv"
    rows = ["x,lamp,door:now,door:last"]
    rows += [
        f"{'ab'[i // 5 % 2]},{('on', 'off')[i // 5 % 2]},{i % 2},1" for i in range(60)
    ]
    path.write_text("\n".join(rows))
    words = ("--label", "x", "--separator", ":", "-k", 1, "--direction", "backward")
    result = run("sensors", path, *words)
    assert "1 of 2 sensors for 2 activities" in result.stdout
    assert "   1  lamp\n" in result.stdout


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--label", "what"), "expected the name of a column, got 'what'"),
        (("--label", "activity", "--sequence", "dai"), "got 'dai'; nearest: 'day'"),
        (("--label", "activity", "--never", "x"), "expected a column 'x' to leave out"),
        (("--label", "activity", "--sequence", "radio"), "it comes back in row"),
        (("--label", "activity", "--cv", "4"), "number of sequences (1), got 4"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(run, house, words, complaint):
    result = run("sensors", house, *words)
    assert result.exit_code in (1, 2)
    (line,) = result.stderr.splitlines()
    assert complaint in line


def test_a_row_without_a_sequence_is_named(run, tmp_path):
    path = tmp_path / "gap.csv"
    path.write_text("day,what,door\nmon,a,1\n,b,0\n")
    result = run("sensors", path, "--label", "what", "--sequence", "day")
    assert "row 1: expected a value in column 'day', got none" in result.stderr
