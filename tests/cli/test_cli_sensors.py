"""shortlist sensors."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

from shortlist import SensorSelector
from shortlist.front._from_sequence import progress_of
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
    selector.sensor_names_ = ("door", "stove", "radio")  # as fit says at its beginning
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
        (
            ("--label", "activity", "--sequence", "activity"),
            "--label and --sequence should be two columns, got 'activity' for both",
        ),
        (
            (
                *("--label", "activity"),
                *(w for s in ("time", "day", *SENSORS) for w in ("--never", s)),
            ),
            "expected columns of sensors with values other than 0, got none",
        ),
        (
            ("--label", "activity", "--plot", "no/c.png"),
            "for --plot: there is no folder",
        ),
    ],
)
def test_what_cannot_be_is_said_in_one_line(run, house, words, complaint):
    result = run("sensors", house, *words)
    assert result.exit_code in (1, 2)
    (line,) = result.stderr.splitlines()
    assert complaint in line


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("mon,a,1\n,b,0", "gap.csv: row 1: expected a value in column 'day', got none"),
        ("mon,a,1\nmon,a,0", "column 'what': expected at least 2 labels, got only 'a'"),
        ("mon,,1\nmon,,0", "expected at least 2 labels, got no labelled row"),
        ("mon,a,0\nmon,b,0", "columns of sensors with values other than 0, got none"),
        (
            "m,a,1\nt,b,0\nm,b,0",
            "column 'day': expected rows of 'm' together, it comes",
        ),
        ("mon,a,1\nmon,b,inf", "gap.csv:3: column 'door': expected a finite number"),
        (
            "mon,.5,1\nmon,.7,0",
            "column 'what': expected texts or whole numbers, got 0.",
        ),
    ],
)
def test_rows_that_cannot_be_are_told_with_file_and_column(
    run, tmp_path, text, complaint
):
    path = tmp_path / "gap.csv"
    path.write_text(f"day,what,door\n{text}\n")
    result = run("sensors", path, "--label", "what", "--sequence", "day")
    assert result.exit_code == 1
    (line,) = result.stderr.splitlines()
    assert complaint in line
    assert "gap.csv" in line
    assert "--on-error" not in line  # there is no such option here


def test_what_is_probably_not_meant_is_said(run, house, tmp_path):
    path = tmp_path / "times.csv"
    head, *rows = house.read_text().splitlines()
    path.write_text("\n".join([head, *(f"at {row}" for row in rows)]))
    words = ("--label", "activity", "--sequence", "day", "-k", 1, "--cv", 0)
    result = run("sensors", path, *words, "--unlabelled", "idle")
    assert result.stderr.splitlines() == [
        "time has 400 different texts in 400 rows; --never time leaves it out",
        "no row has the label idle, which --unlabelled names",
    ]
    assert "1 of 4 sensors" in result.stdout
    assert not run("sensors", path, *words, "--never", "time").stderr


def test_a_sensor_that_never_fires_can_be_left_out(run, tmp_path):
    path = tmp_path / "quiet.csv"
    path.write_text("what,door,lamp\na,1,0\nb,0,0\n")
    result = run("sensors", path, "--label", "what", "--never", "lamp")
    assert "1 of 1 sensors" in result.stdout


@pytest.mark.parametrize("form", ["table", "csv"])
def test_an_interrupted_search_shows_what_it_has(
    run, house, tmp_path, monkeypatch, form
):
    def interrupt(step, selector):
        if step.fold == 1:
            raise KeyboardInterrupt
        return progress_of(step, selector)

    monkeypatch.setattr("shortlist.front._from_sequence.progress_of", interrupt)
    words = ("--label", "activity", "--sequence", "day", "--never", "time", "-k", 2)
    picture = tmp_path / "curve.png"
    result = run("sensors", house, *words, "--format", form, "--plot", picture)
    assert result.exit_code == 130
    assert result.stderr == "interrupted: the result is partial\n"
    assert "stove" in result.stdout
    assert "held-out error" not in result.stdout
    assert picture.exists()


def test_a_search_that_is_interrupted_at_once_says_so(run, house, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("shortlist.objectives.ChainCRF.refit", interrupt)
    result = run("sensors", house, "--label", "activity", "--never", "time")
    assert result.exit_code == 130
    assert result.stderr == "interrupted before anything was learned\n"
