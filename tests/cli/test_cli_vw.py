"""Vowpal Wabbit text on the command line: names go in and come out."""

import csv
import gzip
import json
import shlex

import numpy as np
import pytest

from shortlist import LibsvmSource, Shortlist

PLANTED = {"user^age": 2.0, "user^city=Köln": -3.0, "bias": 2.5}


@pytest.fixture(scope="module")
def clicks(tmp_path_factory):
    """Fifteen hundred rows of which three features, two in a namespace, decide."""
    path = tmp_path_factory.mktemp("vw") / "clicks.vw"
    rng = np.random.default_rng(0)
    lines = []
    for values in rng.normal(size=(1500, 3)).round(3).tolist():
        score = sum(w * x for w, x in zip(PLANTED.values(), values, strict=True))
        age, city, bias = values
        noise = " ".join(f"w{i}" for i in rng.integers(0, 10**6, 10))
        lines.append(
            f"{1 if score > 0 else -1} 1.0 '{len(lines)} |user:0.5 age:{2 * age} "
            f"city=Köln:{2 * city} |text {noise} | bias:{bias}\n"
        )
    path.write_text("".join(lines))
    return path


@pytest.fixture(scope="module")
def labels(clicks):
    return [line.split()[0] for line in clicks.read_text().splitlines()]


def test_select_prints_names_and_needs_only_k(run, clicks):
    result = run("select", clicks, "-k", 3)
    assert result.exit_code == 0, result.stderr
    rows = [line.split() for line in result.stdout.splitlines()[3:6]]
    assert {row[1] for row in rows} == set(PLANTED)
    assert "accuracy 0.99" in result.stderr


def test_select_reads_packed_files_and_pipes(run, clicks, tmp_path):
    packed = tmp_path / "clicks.vw.gz"
    packed.write_bytes(gzip.compress(clicks.read_bytes()))
    plain = run("select", clicks, "-k", 3, "--format", "csv")
    assert run("select", packed, "-k", 3, "--format", "csv").stdout == plain.stdout
    words = ("select", "-", "-k", 3, "--input-format", "vw", "--format", "json")
    piped = run(*words, stdin=clicks.read_text())
    assert piped.exit_code == 0, piped.stderr
    names = {entry["name"] for entry in json.loads(piped.stdout)["entries"]}
    assert names == set(PLANTED)


def test_any_file_is_what_the_option_says(run, clicks, tmp_path):
    other = tmp_path / "clicks.txt"
    other.write_bytes(clicks.read_bytes())
    wrong = run("select", other, "-k", 3)
    assert wrong.exit_code == 1
    assert f"{other}:1: expected id:value" in wrong.stderr
    out = tmp_path / "m"
    right = run("select", other, "-k", 3, "--input-format", "vw", "-o", out)
    assert right.exit_code == 0
    saved = Shortlist.load(out)
    assert "--input-format vw" in saved.params["command"]
    assert set(saved.names) == set(PLANTED)


def test_features_are_wanted_and_barred_by_name(run, clicks):
    words = ("--always", "text^w7", "--never", "bias", "--format", "csv")
    table = run("select", clicks, "-k", 3, *words)
    assert "note: no row has 'text^w7', so it was not chosen" in table.stderr
    result = run("select", clicks, "-k", 3, *words, "--method", "mission")
    assert result.exit_code == 0, result.stderr
    assert {"text^w7", "user^age", "user^city=Köln"} == {
        row["name"] for row in csv.DictReader(result.stdout.splitlines())
    }
    bad = run("select", clicks, "-k", 3, "--never", "user|age")
    assert bad.exit_code == 2
    assert "expected a name without blanks" in bad.stderr


def test_predictions_and_tables_have_the_rows_and_names(run, clicks, labels, tmp_path):
    model = tmp_path / "m"
    run("select", clicks, "-k", 3, "-o", model)
    said = run("predict", model, clicks)
    right = np.mean([a == b for a, b in zip(said.stdout.split(), labels, strict=True)])
    assert right > 0.9
    out = tmp_path / "small.csv"
    assert run("transform", model, clicks, "-o", out).exit_code == 0
    rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    assert set(rows[0]) == {"label", *PLANTED}
    assert [row["label"] for row in rows] == labels
    cells = clicks.read_text().splitlines()[0].split()
    assert float(rows[0]["bias"]) == float(cells[-1].partition(":")[2])
    assert float(rows[0]["user^age"]) == float(cells[4].partition(":")[2]) / 2


def test_libsvm_text_made_of_it_gives_the_same_predictions(run, clicks, tmp_path):
    model, small = tmp_path / "m", tmp_path / "small.svm"
    run("select", clicks, "-k", 3, "-o", model)
    assert run("transform", model, clicks, "-o", small).exit_code == 0
    assert run("predict", model, small).stdout == run("predict", model, clicks).stdout
    (block,) = LibsvmSource(small).blocks()
    assert set(block.ids.tolist()) == set(Shortlist.load(model).ids.tolist())


def test_rows_without_labels_are_predicted_but_not_written_as_libsvm(
    run, clicks, tmp_path
):
    model, new = tmp_path / "m", tmp_path / "new.vw"
    run("select", clicks, "-k", 3, "-o", model)
    new.write_text("|user age:9\n|user city=Köln:9\n")
    assert run("predict", model, new).stdout.split() == ["1", "-1"]
    table = tmp_path / "small.csv"
    assert run("transform", model, new, "-o", table).exit_code == 0
    assert table.read_text().splitlines()[1].startswith("nan,")
    refused = run("transform", model, new, "-o", tmp_path / "small.svm")
    assert refused.exit_code == 1
    assert "write CSV or Parquet" in refused.stderr
    assert not (tmp_path / "small.svm").exists()


@pytest.mark.parametrize("method", ["mission", "foba"])
def test_rows_without_a_label_are_left_out_and_counted(run, clicks, tmp_path, method):
    path = tmp_path / "some.vw"
    lines = clicks.read_text().splitlines(keepends=True)
    lines[7:7] = ["1|a\n", "| b c\n"]
    path.write_text("".join(lines))
    chosen = []
    for file in (path, clicks):
        words = ("--method", method, "--holdout", 0, "--format", "json")
        result = run("select", file, "-k", 3, *words)
        assert result.exit_code == 0, result.stderr
        chosen.append(json.loads(result.stdout))
    assert chosen[0]["entries"] == chosen[1]["entries"]
    assert chosen[0]["n_examples"] == 1500
    assert "2 rows with no label were left out" in chosen[0]["notes"]
    scored = run("select", path, "-k", 3, "--method", method)
    assert "held out: accuracy" in scored.stderr


def test_a_label_that_is_no_class_still_ends_the_run_at_its_line(run, clicks, tmp_path):
    path = tmp_path / "some.vw"
    path.write_text("| a\n" + clicks.read_text() + "| a\n7 | a\n")
    result = run("select", path, "-k", 3, "--holdout", 0, "--method", "mission")
    assert result.exit_code == 1
    assert f"{path}:1503: expected one of the labels -1, 1" in result.stderr
    assert "got 7" in result.stderr


@pytest.mark.parametrize("method", ["mission", "foba", "sgd_iht"])
def test_rows_that_all_have_no_importance_teach_nothing(run, tmp_path, method):
    path = tmp_path / "none.vw"
    path.write_text("1 0 | a\n-1 0 | b\n" * 30)
    result = run("select", path, "-k", 1, "--method", method)
    assert result.exit_code == 1
    assert "expected rows with an importance above 0, got none" in result.stderr


@pytest.mark.parametrize("method", ["mission", "foba"])
def test_a_dry_run_reads_it_as_well(run, clicks, method):
    result = run("select", clicks, "-k", 3, "--method", method, "--dry-run")
    assert result.exit_code == 0, result.stderr
    assert "1,500 rows" in result.stdout


def test_tables_are_made_of_it_too(run, tmp_path):
    path = tmp_path / "few.vw"
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 6)).round(2).tolist()
    path.write_text(
        "".join(
            f"{3 * row[2] - row[4]} |s "
            + " ".join(f"f{i}:{x}" for i, x in enumerate(row))
            + "\n"
            for row in rows
        )
    )
    result = run("select", path, "-k", 2, "--method", "foba", "--format", "csv")
    assert result.exit_code == 0, result.stderr
    names = {row["name"] for row in csv.DictReader(result.stdout.splitlines())}
    assert names == {"s^f2", "s^f4"}


def test_predicting_a_pipe_holds_no_names_that_nobody_asks_for(
    run, tmp_path, monkeypatch
):
    from shortlist.sources import _name_stores

    rows = [f"{(-1) ** i} | {'ab'[i % 2]} n{i}\n" for i in range(2000)]
    (tmp_path / "rows.vw").write_text("".join(rows))
    model = tmp_path / "m"
    assert run("select", tmp_path / "rows.vw", "-k", 2, "-o", model).exit_code == 0
    monkeypatch.setattr(_name_stores, "MANY_NAMES", 100)
    held = []
    retain = _name_stores.MetNames.retain

    def watched(self, ids, learned):
        retain(self, ids, learned)
        held.append((len(ids), int(self.store.counts[0])))

    monkeypatch.setattr(_name_stores.MetNames, "retain", watched)
    text = "".join(f"| {'x' * 90}{i}\n" for i in range(50_000))  # five blocks
    said = run("predict", model, "-", "--input-format", "vw", stdin=text)
    assert said.stdout.count("\n") == 50_000
    assert {n_needed for n_needed, _ in held} == {0}
    assert max(n_names for _, n_names in held) < 30_000
    assert len(held) > 1


@pytest.mark.parametrize("pairs", ["user*text", "user*text,user*user", "2"])
def test_the_command_that_a_model_keeps_makes_the_same_pairs(
    run, clicks, tmp_path, pairs
):
    one, other = tmp_path / "one", tmp_path / "other"
    words = ("--interactions", pairs, "--method", "mission", "-o")
    done = run("select", clicks, "-k", 3, *words, one)
    assert done.exit_code == 0, done.stderr
    command = Shortlist.load(one).params["command"]
    assert f"--interactions {shlex.quote(pairs)}" in command
    again = run(*shlex.split(command)[1:], "-o", other)
    assert again.exit_code == 0, again.stderr
    assert other.read_bytes() == one.read_bytes()


@pytest.mark.parametrize("pairs", ["['user*text']", '"user*text"', "user*text,'a*b'"])
def test_pairs_with_brackets_or_quotes_are_refused(run, clicks, pairs):
    done = run("select", clicks, "-k", 3, "--interactions", pairs)
    assert done.exit_code == 2
    assert "without brackets or quotes" in done.stderr


@pytest.mark.parametrize("more", [(), ("--recipe", "shards"), ("--method", "barda")])
def test_a_feature_that_is_always_in_and_in_no_row_is_noted(run, clicks, more):
    method = () if "--method" in more else ("--method", "mission")
    words = ("--always", "user^nothere", "--always", "user^age")
    done = run("select", clicks, "-k", 3, *method, *more, *words)
    assert done.exit_code == 0, done.stderr
    notes = [line for line in done.stdout.splitlines() if "no row has" in line]
    said = "no row has 'user^nothere', which is always in and so takes up a place of k"
    assert len(notes) == 1
    assert said in notes[0]
