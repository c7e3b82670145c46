"""Tables on the command line: columns go in by name, and results come out so."""

import csv
import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest

from shortlist import Shortlist

CHOSEN = {"age", "city=Köln, D"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Fifteen hundred buyers of which an age and a city decide, in three formats."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    n = 1500
    age, noise = rng.normal(size=(2, n)).round(3)
    city = rng.choice(["Bonn", "Oslo", "Köln, D"], n)
    score = 3 * age + 4 * (city == "Köln, D") - 1.5
    frame = pd.DataFrame(
        {
            "id": np.arange(n),
            "age": age,
            "city": city,
            "note": rng.choice(["a", "b", None], n),
            "noise": noise,
            "copies": rng.integers(1, 3, n),
            "bought": np.where(score > 0, "yes", "no"),
        }
    )
    frame.to_csv(folder / "buyers.csv", index=False)
    frame.to_csv(folder / "buyers.tsv.gz", index=False, sep="\t")
    frame.to_parquet(folder / "buyers.parquet")
    frame.drop(columns=["bought", "copies", "noise"]).to_csv(
        folder / "new.csv", index=False, sep=";"
    )
    return folder


WORDS = ("-k", 2, "--target", "bought", "--weight", "copies", "--never", "id")


@pytest.fixture(scope="module")
def labels(folder):
    return pd.read_csv(folder / "buyers.csv")["bought"].tolist()


def test_select_finds_names_in_every_format(run, folder):
    results = [
        run("select", folder / name, *WORDS, "--format", "json")
        for name in ("buyers.csv", "buyers.tsv.gz", "buyers.parquet")
    ]
    assert [result.exit_code for result in results] == [0, 0, 0], results[0].stderr
    entries = [json.loads(result.stdout)["entries"] for result in results]
    assert {entry["name"] for entry in entries[0]} == CHOSEN
    assert entries[0] == entries[1] == entries[2]
    assert "held out: accuracy 0.9" in results[0].stderr


def test_a_pipe_is_read_as_well(run, folder):
    text = (folder / "buyers.csv").read_text()
    result = run(
        "select", "-", "--input-format", "csv", *WORDS, "--format", "csv", stdin=text
    )
    assert result.exit_code == 0, result.stderr
    names = {row["name"] for row in csv.DictReader(result.stdout.splitlines())}
    assert names == CHOSEN


def test_a_model_knows_its_target_and_scores_any_table(run, folder, labels, tmp_path):
    model = tmp_path / "m"
    assert run("select", folder / "buyers.csv", *WORDS, "-o", model).exit_code == 0
    assert Shortlist.load(model).params["table"] == {
        "target": "bought",
        "weight": "copies",
        "missing": "zero",
    }
    said = [
        run("predict", model, folder / name)
        for name in ("buyers.csv", "buyers.parquet", "buyers.tsv.gz", "new.csv")
    ]
    assert len({result.stdout for result in said}) == 1
    right = np.mean(
        [a == b for a, b in zip(said[0].stdout.split(), labels, strict=True)]
    )
    assert right > 0.95
    for result in said[:3]:
        assert re.search(r"scored: accuracy (0\.9|1\.)", result.stderr)
        assert "on 1,500 rows" in result.stderr
    assert "not scored: none of 1,500 rows" in said[3].stderr
    other = run("predict", model, folder / "buyers.csv", "--target", "note")
    assert "not scored" in other.stderr


def test_rows_of_a_pipe_are_predicted_from_its_header_on(run, folder, tmp_path):
    model = tmp_path / "m"
    run("select", folder / "buyers.csv", *WORDS, "-o", model)
    text = 'city,age,junk,bought\n"Köln, D",3,,yes\nOslo,-3,x,no\nOslo,,\n'
    words = ("predict", model, "-", "--input-format", "csv", "--on-error", "skip")
    result = run(*words, stdin=text)
    assert result.stdout.split() == ["yes", "no"]
    assert "1 bad line was left out" in result.stderr
    assert "accuracy 1.000 on 2 rows" in result.stderr


@pytest.mark.parametrize("ending", ["csv", "parquet", "svm"])
def test_transform_keeps_the_labels_and_the_chosen_columns(
    run, folder, labels, tmp_path, ending
):
    model, out = tmp_path / "m", tmp_path / f"small.{ending}"
    run("select", folder / "buyers.csv", *WORDS, "-o", model)
    result = run("transform", model, folder / "buyers.csv", "-o", out)
    assert result.exit_code == 0, result.stderr
    if ending == "svm":
        codes = [line.split()[0] for line in out.read_text().splitlines()]
        assert codes == [str(int(label == "yes")) for label in labels]
        return
    small = pd.read_csv(out) if ending == "csv" else pd.read_parquet(out)
    assert set(small.columns) == {"label", *CHOSEN}
    assert small["label"].tolist() == labels
    whole = pd.read_csv(folder / "buyers.csv")
    assert small["age"].tolist() == whole["age"].tolist()
    in_town = (whole["city"] == "Köln, D").tolist()
    assert (small["city=Köln, D"] == 1).tolist() == in_town


def test_a_target_is_asked_for_with_the_columns_there_are(run, folder):
    result = run("select", folder / "buyers.csv", "-k", 2)
    assert result.exit_code == 2
    assert "--target names their column, one of 'id', 'age'" in result.stderr
    wrong = run("select", folder / "buyers.csv", "-k", 2, "--target", "bough")
    assert wrong.exit_code == 1
    assert "nearest: 'bought'" in wrong.stderr


def test_options_of_tables_are_refused_for_other_files(run, data, model):
    for words in (
        ("select", data, "-k", 2, "--target", "y"),
        ("select", data, "-k", 2, "--missing", "zero"),
        ("predict", model, data, "--delimiter", ";"),
    ):
        result = run(*words)
        assert result.exit_code == 2
        assert "is no option of files in the format libsvm" in result.stderr
        assert f"error: {words[-2]} " in result.stderr


def test_text_delimiters_and_headers_can_be_said(run, tmp_path):
    rng = np.random.default_rng(0)
    codes = rng.choice(["01", "02", "03"], 400)
    lines = [
        f"{code}\t{x:.2f}\t{3 * (code == '02')}\n"
        for code, x in zip(codes, rng.random(400), strict=True)
    ]
    path = tmp_path / "codes.csv"
    path.write_text("".join(lines))
    words = ("--target", "x2", "--text", "x0", "--delimiter", "tab", "--no-header")
    result = run(
        "select", path, "-k", 1, *words, "--format", "csv", "--loss", "squared"
    )
    assert result.exit_code == 0, result.stderr
    assert [r["name"] for r in csv.DictReader(result.stdout.splitlines())] == ["x0=02"]
    model = tmp_path / "m"
    run("select", path, "-k", 1, *words, "--loss", "squared", "-o", model)
    assert Shortlist.load(model).params["table"]["text"] == ("x0",)
    said = run("predict", model, path, "--no-header", "--delimiter", "tab")
    assert "R2 1.000" in said.stderr


def test_classes_may_be_named_by_their_text(run, folder):
    result = run("select", folder / "buyers.csv", *WORDS, "--classes", "yes,no")
    assert result.exit_code == 0, result.stderr
    assert "classes: no (-), yes (+)" in result.stdout
    wrong = run("select", folder / "buyers.csv", *WORDS, "--classes", "yes,maybe")
    assert wrong.exit_code == 1
    assert "column 'bought': expected one of the labels" in wrong.stderr
    assert "--classes names others" in wrong.stderr


def test_bad_cells_end_the_run_or_are_left_out(run, folder, tmp_path, monkeypatch):
    # only the first rows decide that ages are numbers
    monkeypatch.setattr("shortlist.sources._csv_head._CELLS_LOOKED_AT", 0)
    path = tmp_path / "bad.csv"
    path.write_text((folder / "buyers.csv").read_text() + "1,old,Bonn,a,0.5,1,no\n")
    words = ("select", path, *WORDS, "--holdout", 0)
    bad = run(*words)
    assert bad.exit_code == 1
    assert f"{path}:1502: column 'age': expected a number" in bad.stderr
    assert "--text names columns" in bad.stderr
    assert "--on-error skip leaves such lines out" in bad.stderr
    skipped = run(*words, "--on-error", "skip", "--format", "json")
    assert skipped.exit_code == 0
    assert "1 bad line was left out" in skipped.stderr


@pytest.mark.parametrize("name", ["buyers.csv", "buyers.parquet"])
@pytest.mark.parametrize("method", ["mission", "foba"])
def test_every_room_and_a_dry_run_read_tables(run, folder, name, method):
    words = ("select", folder / name, *WORDS, "--method", method)
    dry = run(*words, "--dry-run")
    assert dry.exit_code == 0, dry.stderr
    assert "1,500 rows" in dry.stdout
    result = run(*words, "--format", "csv")
    assert result.exit_code == 0, result.stderr
    names = {row["name"] for row in csv.DictReader(result.stdout.splitlines())}
    assert names == CHOSEN


def test_the_command_of_a_model_gives_it_again(run, folder, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    run("select", folder / "buyers.csv", *WORDS, "-o", first)
    command = Shortlist.load(first).params["command"]
    assert "--target bought --weight copies" in command
    run(*shlex.split(command)[1:], "-o", second)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("method", ["auto", "mission"])
def test_rows_may_be_sorted_by_class(run, tmp_path, ending, method):
    rng = np.random.default_rng(0)
    kinds = np.repeat(["ape", "bee", "cat"], 1200)
    a = rng.normal(size=len(kinds)) + 3 * (kinds == "bee") + 6 * (kinds == "cat")
    frame = pd.DataFrame({"a": a.round(2), "b": rng.choice(["u", "v"], len(kinds))})
    frame["y"] = kinds
    path = tmp_path / f"sorted.{ending}"
    if ending == "csv":
        frame.to_csv(path, index=False)
    elif ending == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=True)
    words = ("--no-trial", "--target", "y", "--method", method, "--format", "json")
    result = run("select", path, "-k", 1, *words)
    assert result.exit_code == 0, result.stderr
    chosen = json.loads(result.stdout)
    assert chosen["classes"] == ["ape", "bee", "cat"]
    assert chosen["params"]["holdout"]["value"] > 0.75


def test_one_class_in_all_rows_is_no_target(run, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("a,y\n" + "1,ape\n2,ape\n" * 20)
    result = run("select", path, "-k", 1, "--target", "y")
    assert result.exit_code == 1
    assert "expected at least two classes, got 1 class (ape)" in result.stderr


def test_a_wrong_guess_about_the_header_names_the_option(run, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("1.5,u\n2.5,v\n" * 20)
    result = run("select", path, "-k", 1, "--target", "y")
    assert result.exit_code == 1
    assert "columns are 'x0', 'x1', cut at ','" in result.stderr
    assert "--header if the first row" in result.stderr
    found = run("select", path, "-k", 1, "--target", "x1", "--format", "json")
    assert json.loads(found.stdout)["entries"][0]["name"] == "x0"


def test_a_model_is_not_applied_to_a_table_that_lacks_its_columns(
    run, folder, tmp_path
):
    model = tmp_path / "m"
    made = run("select", folder / "buyers.csv", *WORDS, "--no-trial", "-o", model)
    assert made.exit_code == 0, made.stderr
    frame = pd.read_csv(folder / "buyers.csv")
    for lacking, name in (("age", "age"), ("city", "city=Köln, D")):
        frame.drop(columns=lacking).to_csv(tmp_path / "few.csv", index=False)
        frame.drop(columns=lacking).to_parquet(tmp_path / "few.parquet")
        for ending in ("csv", "parquet"):
            path = tmp_path / f"few.{ending}"
            for words in (("predict", model, path), ("transform", model, path)):
                out = tmp_path / "out.csv"
                result = run(*words, "-o", out)
                assert (result.exit_code, out.exists()) == (1, False)
                assert f"{path}: expected a column for {name!r}" in result.stderr
                assert "columns are 'id'," in result.stderr


def test_a_class_that_was_named_and_has_no_rows_ends_the_run(run, tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("a,y\n" + "1,ape\n2,bee\n" * 40)
    words = ("select", path, "-k", 1, "--target", "y", "--classes", "ape,bee,cat")
    for method in ("mission", "mrmr"):
        result = run(*words, "--method", method)
        assert (result.exit_code, result.stdout) == (1, "")
        assert "expected rows of class cat to learn from, got none" in result.stderr


def test_quotes_may_be_characters_like_any_other(run, tmp_path):
    path, model = tmp_path / "sizes.tsv", tmp_path / "m"
    sizes = ['"5', '"6', "7"]
    lines = [f"{sizes[i % 3]}\t{i % 4}\t{int(i % 3 == 0)}" for i in range(300)]
    path.write_text("\n".join(["size\tn\ty", *lines, '"8\t1\t0', ""]))
    words = ("select", path, "-k", 1, "--target", "y", "--method", "mission")
    open_quote = run(*words)
    assert open_quote.exit_code == 1
    assert "expected a closing quote" in open_quote.stderr
    assert "; --quote none reads quotes like any other character" in open_quote.stderr
    done = run(*words, "--quote", "none", "-o", model)
    assert done.exit_code == 0, done.stderr
    assert 'size="5' in done.stdout
    assert "--quote none" in Shortlist.load(model).params["command"]
    said = run("predict", model, path)  # read as the model's table was
    assert said.exit_code == 0, said.stderr
    assert said.stdout.split()[:3] == ["1", "0", "0"]
    wrong = run(*words, "--quote", "ab")
    assert wrong.exit_code == 2
    assert "quote: expected one character" in wrong.stderr
