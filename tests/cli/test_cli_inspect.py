"""shortlist inspect."""

import csv
import io
import json
import shlex

import numpy as np
import pandas as pd
import pytest

from shortlist import Shortlist
from shortlist.cli import _reproduce


def test_table_says_what_was_asked_chosen_and_how(run, data, model):
    result = run("inspect", model)
    assert (result.exit_code, result.stderr) == (0, "")
    facts = dict(
        line.split("  ", 1) for line in result.stdout.split("\n\n")[0].splitlines()
    )
    facts = {term: text.strip() for term, text in facts.items()}
    assert facts["asked"] == "k = 4"
    assert facts["loss"] == "logistic"
    assert facts["classes"] == "-1, 1"
    assert "recipe = refit" in facts["settings"]
    assert "on the first 1,000 examples" in facts["progressive loss"]
    assert facts["held out"].startswith("accuracy 0.")
    assert facts["command"] == f"shortlist select {data} -k 4 --method mission"
    assert result.stdout.rstrip().endswith(str(Shortlist.load(model)))


def test_the_command_it_shows_gives_the_same_model_again(run, data, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    words = ["select", data, "-k", 3, "--never", "17", "--never", "40", "--seed", 5]
    words += ["--holdout", 0.3, "--passes", 2, "--classes=-1,1", "--recipe", "newton"]
    assert run(*words, "-o", first, "--quiet", "--format", "csv").exit_code == 0
    told = json.loads(run("inspect", first, "--format", "json").stdout)
    program, *again = shlex.split(told["params"]["command"])
    assert program == "shortlist"
    assert not {"-o", "--quiet", "--format"} & set(again)
    assert run(*again, "-o", second).exit_code == 0
    assert first.read_bytes() == second.read_bytes()


def facts_of(text):
    lines = text.split("\n\n")[0].splitlines()
    return {
        term: told.strip() for term, told in (line.split("  ", 1) for line in lines)
    }


def test_findings_and_tables_are_told_in_words(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 6)).round(3), columns=list("abcdef"))
    frame["y"] = np.where(frame["c"] + 0.3 * rng.normal(size=200) > 0, "yes", "no")
    frame = frame.assign(patient=[f"p{i}" for i in range(200)], day="Monday")
    frame.to_csv(tmp_path / "a.csv", index=False)
    words = ["select", tmp_path / "a.csv", "-k", "auto", "--target", "y"]
    words += ["--never", "patient", "--never", "day", "--stability", 3, "--no-trial"]
    done = run(*words, "-o", tmp_path / "model")
    assert done.exit_code == 0, done.stderr
    shown = run("inspect", tmp_path / "model").stdout
    facts = facts_of(shown)
    assert facts["asked"] == (
        "k = auto, by accuracy on rows held out: 1; stability of 3 pairs of halves"
    )
    assert facts["chosen"] == "1 of 6 features by foba"
    assert facts["table"] == "leave out patient, day; missing zero; target y"
    assert "note: picked foba (room table): more rows than features (200 rows" in shown
    assert facts["command"].startswith("shortlist select")
    assert "-k auto" in facts["command"]
    assert "-k 1 --method foba" in facts["or straight"]
    assert not set('{}[]"') & set("".join(facts.values()))
    assert "stability: 1 feature in 75% of 6 halves or more" in shown


def test_one_of_a_thing_is_not_several(run, tmp_path):
    Shortlist(
        method="mrmr",
        room="table",
        loss="squared",
        k=1,
        ids=np.array([3]),
        names=("a",),
        margin=np.array([0]),
        scores=np.array([1.0]),
        intercept=np.zeros(1),
        n_examples=1,
        n_features=1,
    ).save(tmp_path / "one")
    shown = run("inspect", tmp_path / "one").stdout
    facts = facts_of(shown)
    assert (facts["chosen"], facts["learned from"]) == (
        "1 of 1 feature by mrmr",
        "1 example",
    )
    page = run("report", tmp_path / "one").stdout
    assert "1 of 1 feature, chosen to predict a number; learned from 1 example." in page
    told = repr(Shortlist.load(tmp_path / "one").report())
    assert told == "<report on 1 feature chosen by mrmr>"


def test_json_and_csv_hold_the_entries(run, model):
    chosen = Shortlist.load(model)
    told = json.loads(run("inspect", model, "--format", "json").stdout)
    assert told == json.loads(json.dumps(chosen.to_dict()))
    rows = list(
        csv.DictReader(io.StringIO(run("inspect", model, "--format", "csv").stdout))
    )
    assert [row["name"] for row in rows] == list(chosen.names)
    assert [float(row["weight"]) for row in rows] == chosen.weights.tolist()


def test_top_keeps_the_best(run, model):
    result = run("inspect", model, "--top", 2, "--format", "csv")
    names = [row["name"] for row in csv.DictReader(io.StringIO(result.stdout))]
    assert names == list(Shortlist.load(model).names[:2])
    assert "k = 4" in run("inspect", model, "--top", 2).stdout


def test_a_model_of_the_library_has_no_command_and_no_score(run, tmp_path):
    path = tmp_path / "made.shortlist"
    Shortlist(
        method="mrmr",
        room="table",
        loss="squared",
        k=1,
        ids=np.array([3]),
        names=("tab\there",),
        margin=np.array([0]),
        scores=np.array([1.0]),
        intercept=np.zeros(1),
        n_examples=10,
    ).save(path)
    shown = run("inspect", path).stdout
    assert "made by the library" in shown
    assert "not scored" in shown
    assert "\t" not in shown


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and then nothing", b"1 3:4\n"])
def test_what_is_no_model_is_bad_data(run, tmp_path, content):
    path = tmp_path / "broken"
    path.write_bytes(content)
    result = run("inspect", path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"shortlist: error: {path}: ")
    assert result.stderr.count("\n") == 1


def test_options_that_only_show_are_not_part_of_a_command():
    from shortlist.cli.select import select

    names = {param.name for param in select.params}
    assert names >= _reproduce._WITHOUT_EFFECT


def test_a_name_that_looks_like_a_colour_is_kept_in_csv(run, tmp_path):
    path = tmp_path / "rows.csv"
    rows = "".join(
        f"{'yn'[i % 2]},{['blue', chr(27) + '[31mred'][i % 2]}\n" for i in range(40)
    )
    path.write_text("y,a\n" + rows)
    model = tmp_path / "model"
    words = ["select", path, "--target", "y", "-k", 2, "--method", "mission"]
    chosen = run(*words, "--format", "csv", "-o", model).stdout
    for text in (chosen, run("inspect", model, "--format", "csv").stdout):
        assert "a=\x1b[31mred" in text
