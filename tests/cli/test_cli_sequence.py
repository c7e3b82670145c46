"""shortlist select --sequence: sensors for the activities of sequences."""

import csv
import io
import json
import shlex

import numpy as np
import pandas as pd
import pytest

from shortlist import Shortlist
from shortlist import select as api_select

ASKED = ("--target", "activity", "--sequence", "day")


@pytest.fixture(scope="module")
def frame():
    """Ten days; the stove tells cooking, the door being out, lamp and radio nothing."""
    rng = np.random.default_rng(0)
    activity = np.repeat(rng.choice(["cook", "out", "sleep"], 40), 10)
    fires = rng.random((400, 3)) < 0.05
    fires[:, 1] |= activity == "cook"
    fires[:, 0] |= activity == "out"
    house = pd.DataFrame(fires.astype(int), columns=["door", "stove", "radio"])
    known = activity.astype(object)
    known[5::97] = ""
    return house.assign(
        activity=known,
        day=np.repeat([f"d{i}" for i in range(10)], 40),
        time=np.arange(400) % 40,
        lamp=rng.choice(["on", "off"], 400),
    )


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    folder = tmp_path_factory.mktemp("house")
    frame.to_csv(folder / "house.csv", index=False)
    frame.to_parquet(folder / "house.parquet")
    frame.to_json(folder / "house.jsonl", orient="records", lines=True)
    plain = frame.drop(columns=["lamp", "time"])
    plain.to_csv(folder / "plain.csv", index=False)
    return folder


def select(run, path, *words):
    done = run("select", path, *ASKED, *words)
    assert done.exit_code == 0, done.stderr
    return done


def test_it_chooses_what_the_library_does_and_says_why(run, frame, folder, tmp_path):
    out = tmp_path / "model"
    done = select(run, folder / "plain.csv", "-k", 2, "-o", out)
    table = frame.drop(columns=["lamp", "time"])
    ours = api_select(table, "activity", 2, sequence="day")
    saved = Shortlist.load(out)
    assert saved.names == ours.names
    np.testing.assert_array_equal(saved.ids, ours.ids)
    np.testing.assert_allclose(saved.weights, ours.weights, rtol=1e-5)
    assert saved.params["chosen_sensors"] == ours.params["chosen_sensors"]
    assert saved.params["picked"] == ours.params["picked"]
    assert done.stderr.splitlines() == [
        "sensors (room table): labels of rows that follow each other in time; leaving out "
        "--sequence asks for another",
        f"model saved to {out}",
    ]
    assert [n.replace("--seq", "seq") for n in saved.notes] == [
        note.replace("sequence=", "sequence") for note in ours.notes
    ]
    assert "2 of 3 features chosen by sensors" in done.stdout
    assert "leaving out" not in done.stdout
    quiet = select(run, folder / "plain.csv", "-k", 2, "-q")
    assert quiet.stderr == ""
    assert "note: picked sensors (room table)" in quiet.stdout
    named = select(run, folder / "plain.csv", "-k", 2, "--method", "sensors")
    assert named.stdout == done.stdout
    assert named.stderr == ""


@pytest.mark.parametrize("name", ["house.csv", "house.parquet", "house.jsonl"])
def test_texts_of_a_column_are_one_sensor_in_every_format(run, folder, name):
    done = select(run, folder / name, "-k", 4, "--never", "time", "--format", "json")
    told = json.loads(done.stdout)
    chosen = told["params"]["chosen_sensors"]
    assert sorted(chosen) == ["door", "lamp", "stove"]
    names = {entry["name"] for entry in told["entries"]}
    assert names == {"door", "stove", "lamp=on", "lamp=off"}


def test_a_pipe_gives_what_the_file_does(run, folder):
    text = (folder / "house.csv").read_bytes()
    words = ("-k", 2, "--never", "time", "--format", "csv", "-q")
    piped = run("select", "-", "--input-format", "csv", *ASKED, *words, stdin=text)
    assert piped.exit_code == 0, piped.stderr
    assert piped.stdout == select(run, folder / "house.csv", *words).stdout
    rows = list(csv.DictReader(io.StringIO(piped.stdout)))
    assert {row["name"] for row in rows} == {"door", "stove"}


def test_both_commands_of_a_model_give_it_again(run, folder, tmp_path):
    first = tmp_path / "a"
    words = ("-k", 2, "--never", "time", "--l2", "0.001", "-o", first)
    select(run, folder / "house.csv", *words)
    saved = Shortlist.load(first)
    assert saved.params["l2"] == 0.001
    for key in ("command", "direct_command"):
        program, *command = shlex.split(saved.params[key])
        assert program == "shortlist"
        assert run(*command, "-o", tmp_path / key).exit_code == 0
        again = Shortlist.load(tmp_path / key)
        assert again.names == saved.names
        np.testing.assert_array_equal(again.weights, saved.weights)
    assert (tmp_path / "command").read_bytes() == first.read_bytes()
    assert "--method sensors" in saved.params["direct_command"]


def test_other_commands_take_its_models(run, folder, tmp_path):
    model, out = tmp_path / "model", tmp_path / "small.csv"
    select(run, folder / "house.csv", "-k", 3, "--never", "time", "-o", model)
    told = json.loads(run("report", model, "--json").stdout)
    assert told["reproduce"]["command"].startswith("shortlist select")
    assert "--sequence day" in told["reproduce"]["command"]
    assert {"door", "stove"} <= set(told["budget"]["names"])
    assert not any(name.isdigit() for name in told["budget"]["names"])
    inspected = run("inspect", model).stdout
    assert "k = 3 sensors with 4 columns\n" in inspected
    asked = told["asked"]
    assert (asked["k"], asked["k_counts"], asked["k_asked"]) == (3, "sensor", 3)
    assert "sequence = day" in inspected
    done = run("transform", model, folder / "house.parquet", "-o", out)
    assert done.exit_code == 0, done.stderr
    small, house = pd.read_csv(out), pd.read_csv(folder / "house.csv")
    pd.testing.assert_series_equal(small["stove"], house["stove"])
    assert small["label"].fillna("").tolist() == house["activity"].fillna("").tolist()
    done = run("predict", model, folder / "house.csv", "-o", tmp_path / "labels")
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert "predicted by what follows what" in line
    assert not (tmp_path / "labels").exists()


def test_a_label_map_says_what_activities_are(run, folder, tmp_path):
    labels = tmp_path / "map.tsv"
    labels.write_text("cook\tin\nsleep\tin\nout\tout\n")
    words = ("-k", 1, "--never", "time", "--label-map", labels, "--format", "json")
    told = json.loads(select(run, folder / "house.csv", *words).stdout)
    assert told["classes"] == ["in", "out"]
    assert told["params"]["chosen_sensors"] == ["door"]


def test_a_value_of_a_column_can_be_left_out(run, folder):
    words = ("-k", 5, "--never", "time", "--never", "lamp=on", "--format", "json")
    told = json.loads(select(run, folder / "house.csv", *words).stdout)
    names = {entry["name"] for entry in told["entries"]}
    assert "lamp=off" in names
    assert "lamp=on" not in names


def test_missing_cells_count_as_zero_or_as_asked(run, frame, tmp_path):
    gaps = frame.drop(columns="time").astype({"lamp": object})
    gaps.loc[::3, "lamp"] = None
    gaps.loc[7, "door"] = None
    gaps.to_csv(tmp_path / "gaps.csv", index=False)
    words = ("-k", 4, "--format", "json")
    told = json.loads(select(run, tmp_path / "gaps.csv", *words).stdout)
    assert "lamp=missing" not in {entry["name"] for entry in told["entries"]}
    words = (*words, "--missing", "category")
    told = json.loads(select(run, tmp_path / "gaps.csv", *words).stdout)
    assert "lamp=missing" in {entry["name"] for entry in told["entries"]}
    asked = ("select", tmp_path / "gaps.csv", *ASKED, "-k", 4, "--missing", "error")
    done = run(*asked)
    assert done.exit_code == 1
    assert "gaps.csv:2" in done.stderr


def test_a_sensor_that_tells_every_activity_is_named(run, frame, tmp_path):
    diary = frame["activity"].map({"cook": 1, "out": 2, "sleep": 3, "": 0})
    frame.assign(diary=diary).drop(columns="time").to_csv(tmp_path / "d.csv")
    done = select(run, tmp_path / "d.csv", "-k", 2)
    assert "leak? 'diary' alone predicts nearly perfectly" in done.stderr


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["-k", "auto"], "-k auto does not go with --sequence; shortlist sensors has"),
        (["--stability", "2"], "--stability does not go with --sequence"),
        (["--substitutes", "2"], "--substitutes does not go with --sequence"),
        (["--sample-groups", "time"], "--sample-groups does not go with --sequence"),
        (["--columns"], "--sequence does not go with --columns"),
        (["--checkpoint", "c"], "--checkpoint does not go with --sequence"),
        (["--resume", "c"], "--resume does not go with --sequence"),
        (["--shard", "c"], "--shard does not go with --sequence"),
        (["--on-error", "skip"], "--on-error does not go with --sequence"),
        (["--loss", "logistic"], "--loss does not go with --sequence"),
        (["--bins", "4"], "--bins does not go with --sequence"),
        (["--workers", "2"], "--workers does not go with --sequence"),
        (["--holdout", "0.1"], "no rows are held out; shortlist sensors has"),
        (["--cv", "3"], "shortlist sensors --cv has held-out errors"),
        (["--weight", "time"], "rows of a sequence all weigh the same"),
        (["--always", "door"], "no sensor can be chosen beforehand"),
        (["--l2", "auto"], "--l2 auto does not go with --sequence"),
        (["--missing", "mean"], "--missing mean does not go with --sequence"),
        (["--method", "foba"], "foba does not look at the order of rows; sensors does"),
        (["--method", "fobar"], "got 'fobar'"),
        (["--never", "tim"], "expected a column 'tim' to leave out"),
        (
            ["--sequence", "dai"],
            "--sequence: expected the name of a column, got 'dai'; ",
        ),
        (["--sequence", "dai"], "nearest: 'day'"),
        (["--no-trial"], "--no-trial does not go with --sequence"),
        (["--trial"], "--trial does not go with --sequence"),
        (["--sequence", "activity"], "--target and --sequence should be two columns"),
        (["--target", "lampe"], "got 'lampe'; nearest: 'lamp'"),
        (["--input-format", "libsvm"], "--sequence goes with tables (csv, tsv,"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(run, folder, words, complaint):
    words = words if "-k" in words else ["-k", 2, *words]
    done = run("select", folder / "house.csv", *ASKED, *words)
    assert done.exit_code in (1, 2)
    (line,) = done.stderr.splitlines()
    assert complaint in line
    assert done.stdout == ""


def test_rows_of_a_sequence_that_stand_apart_are_named(run, folder):
    asked = ("--target", "activity", "--sequence", "lamp", "-k", 2)
    done = run("select", folder / "house.csv", *asked)
    assert done.exit_code == 1
    complaint = done.stderr.splitlines()[-1]
    assert "house.csv: column 'lamp': expected rows of" in complaint


def test_no_target_and_no_sequence_are_asked_for(run, folder):
    done = run("select", folder / "house.csv", "-k", 2, "--sequence", "day")
    assert done.exit_code == 2
    assert "expected labels; --target names their column" in done.stderr
    named = ("select", folder / "house.csv", "-k", 2, "--method", "sensors")
    done = run(*named, "--target", "activity")
    assert done.exit_code == 2
    assert "--method sensors wants --sequence" in done.stderr


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_sequences_may_be_numbers(run, frame, folder, tmp_path, ending):
    numbered = frame.assign(day=frame["day"].str[1:].astype(int))
    path = tmp_path / f"n.{ending}"
    if ending == "csv":
        numbered.to_csv(path, index=False)
    elif ending == "parquet":
        numbered.to_parquet(path)
    else:
        numbered.to_json(path, orient="records", lines=True)
    words = ("-k", 2, "--never", "time", "--format", "csv")
    assert (
        select(run, path, *words).stdout
        == select(run, folder / "house.csv", *words).stdout
    )
    asked = ("--label", "activity", "--sequence", "day", "--never", "time", "-k", 2)
    errors = [
        run("sensors", each, *asked, "--format", "csv").stdout
        for each in (path, folder / "house.csv")
    ]
    assert errors[0] == errors[1] != ""


def test_json_lines_of_one_sequence_and_of_a_map_of_labels(run, frame, tmp_path):
    path, labels = tmp_path / "z.jsonl", tmp_path / "map.tsv"
    known = frame[frame["activity"] != ""].assign(day=0)
    known.to_json(path, orient="records", lines=True)
    labels.write_text("cook\tin\nsleep\tin\nout\tout\n")
    words = ("-k", 1, "--never", "time", "--label-map", labels, "--format", "json")
    told = json.loads(select(run, path, *words).stdout)
    assert told["classes"] == ["in", "out"]


def test_numbers_of_a_pipe_of_json_lines_are_refused_with_the_way_out(run, frame):
    numbered = frame.assign(day=frame["day"].str[1:].astype(int))
    text = numbered.to_json(orient="records", lines=True).encode()
    done = run("select", "-", "--input-format", "jsonl", *ASKED, "-k", 2, stdin=text)
    assert done.exit_code == 1
    assert "save it to a file first" in done.stderr


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_row_without_a_sequence_is_named_without_an_option_that_is_refused(
    run, frame, tmp_path, ending
):
    gap, path = frame.astype({"day": object}), tmp_path / f"gap.{ending}"
    gap.loc[11, "day"] = None
    if ending == "csv":
        gap.to_csv(path, index=False)
    else:
        gap.to_json(path, orient="records", lines=True)
    done = run("select", path, *ASKED, "-k", 2)
    assert done.exit_code == 1
    assert "row 11: expected a value in column 'day', got none" in done.stderr
    assert "--on-error" not in done.stderr


def test_an_interrupted_search_keeps_what_it_has(run, folder, tmp_path, monkeypatch):
    from shortlist.front import _from_sequence

    real = _from_sequence.progress_of

    def interrupt(step, selector):
        if step.units == 2:
            raise KeyboardInterrupt
        return real(step, selector)

    monkeypatch.setattr(_from_sequence, "progress_of", interrupt)
    words = ("select", folder / "house.csv", *ASKED, "-k", 3, "--never", "time")
    done = run(*words, "-o", tmp_path / "model")
    assert done.exit_code == 130
    assert "interrupted: the result is partial" in done.stderr
    saved = Shortlist.load(tmp_path / "model")
    assert any(note.startswith("partial: interrupted") for note in saved.notes)
    assert set(saved.names) < {"door", "stove", "radio", "lamp=on", "lamp=off"}


def interrupt_at_once(*_):
    raise KeyboardInterrupt


def test_a_search_without_a_sensor_leaves_out_alone(run, folder, tmp_path, monkeypatch):
    kept = tmp_path / "model"
    kept.write_bytes(b"what a good run has left")
    words = ("select", folder / "plain.csv", *ASKED, "-k", 2, "-o", kept)
    for stopped in (
        "shortlist.objectives.ChainCRF.refit",
        "shortlist.front._from_sequence.progress_of",
    ):
        with monkeypatch.context() as patch:
            patch.setattr(stopped, interrupt_at_once)
            done = run(*words)
        assert (done.exit_code, done.stdout) == (130, "")
        said = done.stderr.splitlines()[1:]
        assert said == ["interrupted before anything was learned"]
        assert kept.read_bytes() == b"what a good run has left"


def test_ctrl_c_while_leaks_are_looked_for_keeps_the_sensors(
    run, folder, tmp_path, monkeypatch
):
    words = ("select", folder / "plain.csv", *ASKED, "-k", 2, "--format", "csv")
    whole = run(*words).stdout
    monkeypatch.setattr(
        "shortlist.front._from_sequence.sequence_leak_notes", interrupt_at_once
    )
    done = run(*words, "-o", tmp_path / "model")
    assert (done.exit_code, done.stdout) == (130, whole)
    assert done.stderr.splitlines()[-1] == "interrupted before leaks were looked for"
    saved = Shortlist.load(tmp_path / "model")
    assert "interrupted before leaks were looked for" in saved.notes
