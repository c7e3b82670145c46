"""JSON lines on the command line: a model remembers where labels are."""

import csv
import json
import shlex

import numpy as np
import pandas as pd
import pytest

from shortlist import Shortlist
from shortlist.sources import JsonlSource

CHOSEN = {"user.age", "tags=sale"}
WORDS = ("-k", 2, "--target", "label", "--weight", "copies")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Twelve hundred visits of which an age and a tag decide."""
    folder = tmp_path_factory.mktemp("jsonl")
    rng = np.random.default_rng(0)
    visits = []
    for age, sale, noise in zip(
        rng.normal(size=1200).round(3).tolist(),
        (rng.random(1200) < 0.5).tolist(),
        rng.integers(0, 500, 1200).tolist(),
        strict=True,
    ):
        score = 3 * age + 4 * sale - 2
        visits.append(
            {
                "user": {"age": age},
                "tags": ["sale"] * sale + [f"t{noise}"],
                "copies": 1 + noise % 2,
                "label": "buy" if score > 0 else "leave",
            }
        )
    write(folder / "visits.jsonl", visits)
    bare = [{"user": visit["user"], "tags": visit["tags"]} for visit in visits]
    write(folder / "bare.jsonl", bare)
    strange = [
        {**b, "label": "maybe" if i % 2 else v["label"]}
        for i, (b, v) in enumerate(zip(bare, visits, strict=True))
    ]
    write(folder / "strange.jsonl", strange)
    return folder


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(scope="module")
def model(folder):
    """Model of the visits, made once."""
    from click.testing import CliRunner

    from shortlist.cli import cli

    path = folder / "m.shortlist"
    words = ["select", folder / "visits.jsonl", *WORDS, "-o", path]
    result = CliRunner().invoke(cli, list(map(str, words)))
    assert result.exit_code == 0, result.output
    return path


def test_the_label_key_is_no_feature_and_the_model_remembers_it(folder, model):
    shortlist = Shortlist.load(model)
    assert set(shortlist.names) == CHOSEN
    assert shortlist.classes == ("buy", "leave")
    assert shortlist.params["table"] == {
        "target": "label",
        "weight": "copies",
        "missing": "zero",
    }
    assert shortlist.params["holdout"]["value"] > 0.9


def test_predict_scores_what_has_labels_and_reads_what_has_none(run, folder, model):
    said = {
        name: run("predict", model, folder / f"{name}.jsonl")
        for name in ("visits", "bare", "strange")
    }
    assert len({result.stdout for result in said.values()}) == 1
    assert "accuracy 0.9" in said["visits"].stderr
    assert "on 1,200 rows" in said["visits"].stderr
    assert "not scored: none of 1,200 rows" in said["bare"].stderr
    assert "on 600 rows" in said["strange"].stderr
    assert "600 rows with other labels not scored" in said["strange"].stderr


def test_a_pipe_is_predicted_without_waiting_for_its_labels(run, folder, model):
    text = (folder / "visits.jsonl").read_text()
    result = run("predict", model, "-", "--input-format", "jsonl", stdin=text)
    assert result.stdout == run("predict", model, folder / "visits.jsonl").stdout
    assert "on 1,200 rows" in result.stderr


def test_select_reads_a_pipe_and_classes_can_be_said(run, folder):
    text = (folder / "visits.jsonl").read_text()
    words = ("select", "-", "--input-format", "jsonl", *WORDS, "--format", "csv")
    result = run(*words, "--classes", "leave,buy", stdin=text)
    assert result.exit_code == 0, result.stderr
    assert {r["name"] for r in csv.DictReader(result.stdout.splitlines())} == CHOSEN
    wrong = run(*words, "--classes", "leave,maybe", stdin=text)
    assert wrong.exit_code == 1
    assert "stdin:" in wrong.stderr
    assert "expected a label known from the start ('leave', 'maybe')" in wrong.stderr


def test_transform_keeps_labels(run, folder, model, tmp_path):
    out = tmp_path / "small.csv"
    assert run("transform", model, folder / "strange.jsonl", "-o", out).exit_code == 0
    small = pd.read_csv(out)
    assert set(small.columns) == {"label", *CHOSEN}
    assert (small["label"] == "maybe").sum() == 600
    run("transform", model, folder / "bare.jsonl", "-o", out)
    assert pd.read_csv(out)["label"].isna().all()


def test_a_target_is_asked_for(run, folder):
    result = run("select", folder / "visits.jsonl", "-k", 2)
    assert result.exit_code == 2
    assert "--target names their key" in result.stderr


def test_the_command_of_a_model_gives_it_again(run, folder, model, tmp_path):
    command = shlex.split(Shortlist.load(model).params["command"])
    again = tmp_path / "again"
    assert run(*command[1:], "-o", again).exit_code == 0
    assert again.read_bytes() == model.read_bytes()


@pytest.mark.parametrize("block_bytes", [40, 1 << 20])
def test_scoring_takes_labels_and_weights_as_far_as_they_are_known(
    tmp_path, block_bytes
):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"y":"b","w":2}\n{"y":"c"}\n{"y":3,"x":1}\n{"x":1}\n{"y":null}\n')
    options = {"weight": "w", "block_bytes": block_bytes}

    def rows(**more):
        source = JsonlSource(path, "y", **options, **more)
        blocks = list(source.blocks())
        y = np.concatenate([block.y for block in blocks])
        weight = np.concatenate([block.weight for block in blocks])
        return source.label_names, y.tolist(), weight.tolist()

    nan = pytest.approx(np.nan, nan_ok=True)
    names, y, weight = rows(labels=["a", "b"], scoring=True)
    assert (names, y, weight) == (["a", "b"], [1, nan, nan, nan, nan], [2, 1, 1, 1, 1])
    names, y, _ = rows(labels=[], scoring=True)
    assert (names, y) == (None, [nan, nan, 3, nan, nan])


def test_inspect_says_how_likely_it_is_that_names_share_an_id(run, model):
    chance = Shortlist.load(model).params["name_collision_probability"]
    # about 500 tags, a sale and an age
    assert 0.8 * 502**2 / 2**65 < chance < 1.2 * 502**2 / 2**65
    lines = run("inspect", model).stdout.splitlines()
    (line,) = [line for line in lines if line.startswith("names")]
    assert line.endswith(f"hashed; two share an id with probability {chance:.1g}")
    assert not any("name_collision" in line for line in lines)


def test_a_target_that_no_row_has_is_said_to_be_the_trouble(run, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1, "b": 2}\n{"a": 2, "b": 1}\n' * 20)
    for method in ("auto", "mission"):
        result = run("select", path, "-k", 1, "--target", "y", "--method", method)
        assert result.exit_code == 1
        assert "expected labels in 'y', got none in" in result.stderr
        assert "--target names another" in result.stderr


def test_a_huge_value_is_refused_in_one_line(run, tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = '{"a": 1, "y": "u"}\n{"a": 2.5, "y": "v"}\n' * 30
    path.write_text(rows + '{"a": 1.2e29, "y": "u"}\n')
    words = ("--target", "y", "--method", "mission", "--holdout", 0)
    result = run("select", path, "-k", 1, *words)
    assert result.exit_code == 1
    assert "too large, too small or too unequal" in result.stderr
