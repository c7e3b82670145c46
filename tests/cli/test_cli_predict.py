"""shortlist predict."""

import csv
import io
import json
import subprocess
import sys

import numpy as np
import pytest

from shortlist import LibsvmSource, Shortlist
from shortlist._scoring import Predictor


@pytest.fixture
def expected(model, data):
    """Margins by the library, and the labels they point at."""
    predictor = Predictor(Shortlist.load(model))
    margins = np.concatenate(
        [predictor.margins(b) for b in LibsvmSource(data).blocks()]
    )
    return margins[:, 0], np.where(margins[:, 0] > 0, 1, -1)


def test_one_label_a_line_and_a_score(run, model, data, expected):
    result = run("predict", model, data)
    assert result.exit_code == 0
    assert list(map(int, result.stdout.split())) == expected[1].tolist()
    truth = [int(line.split()[0]) for line in data.read_text().splitlines()]
    accuracy = np.mean(np.array(truth) == expected[1])
    assert result.stderr.startswith(f"scored: accuracy {accuracy:.3f} on 2,000 rows (")
    assert run("predict", model, data, "-q").stderr == ""


@pytest.mark.parametrize(("form", "delimiter"), [("text", "\t"), ("csv", ",")])
def test_probabilities_have_a_header(run, model, data, expected, form, delimiter):
    text = run("predict", model, data, "--proba", "--format", form).stdout
    rows = list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
    assert list(rows[0]) == ["prediction", "p(-1)", "p(1)"]
    chances = np.array([float(row["p(1)"]) for row in rows])
    np.testing.assert_allclose(chances, 1 / (1 + np.exp(-expected[0])), rtol=1e-12)
    assert [int(row["prediction"]) for row in rows] == expected[1].tolist()
    assert all(
        abs(float(row["p(1)"]) + float(row["p(-1)"]) - 1) < 1e-12 for row in rows
    )


def test_json_is_an_object_a_line(run, model, data, expected):
    lines = run("predict", model, data, "--format", "json").stdout.splitlines()
    assert [json.loads(line) for line in lines] == [
        {"prediction": label} for label in expected[1].tolist()
    ]


def test_a_file_is_written_whole_or_not_at_all(run, model, data, tmp_path):
    out = tmp_path / "labels.txt"
    assert run("predict", model, data, "-o", out).stdout == ""
    assert out.read_text() == run("predict", model, data).stdout
    bad = tmp_path / "bad.svm"
    bad.write_text(data.read_text() + "1 nonsense\n")
    result = run("predict", model, bad, "-o", out)
    assert result.exit_code == 1
    assert f"{bad}:2001: expected id:value" in result.stderr
    assert "--on-error skip" in result.stderr
    assert out.read_text() == run("predict", model, data).stdout
    assert sorted(tmp_path.iterdir()) == [bad, out]
    skipping = run("predict", model, bad, "-o", out, "--on-error", "skip")
    assert skipping.exit_code == 0
    assert skipping.stderr.startswith("1 bad line was left out\n")


def test_output_may_not_be_an_input(run, model, data):
    before = model.read_bytes(), data.read_bytes()
    for target in (model, data):
        result = run("predict", model, data, "-o", target)
        assert result.exit_code == 2
        assert "read by this command" in result.stderr
    assert before == (model.read_bytes(), data.read_bytes())


def test_labels_that_the_model_does_not_know_are_predicted_but_not_scored(
    run, model, tmp_path
):
    new = tmp_path / "new.svm"
    new.write_text("0 17:3\n0 40:2\n")
    result = run("predict", model, new)
    assert len(result.stdout.split()) == 2
    assert result.stderr == (
        "not scored: none of 2 rows has a label that the model knows\n"
    )
    new.write_text("0 17:3\n1 40:2\n1 40:2\n")
    assert "on 2 rows" in (stderr := run("predict", model, new).stderr)
    assert stderr.endswith("; 1 row with another label not scored\n")


def test_no_rows_no_lines(run, model, tmp_path):
    (tmp_path / "empty.svm").write_text("")
    result = run("predict", model, tmp_path / "empty.svm")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "no rows, so nothing was predicted\n"


def test_standard_input(spawn, model, data, expected):
    with data.open() as rows:
        process = spawn("predict", model, "-", stdin=rows)
        stdout, stderr = process.communicate(timeout=30)
    assert list(map(int, stdout.split())) == expected[1].tolist()
    assert "scored: accuracy" in stderr


def test_numbers_and_many_classes(run, write_rows, tmp_path):
    numbers = write_rows(tmp_path / "numbers.svm", 600, n_classes=0)
    saved = tmp_path / "m"
    assert run("select", numbers, "-k", 4, "-o", saved).exit_code == 0
    result = run("predict", saved, numbers)
    assert "scored: R2 0.9" in result.stderr
    assert len(list(map(float, result.stdout.split()))) == 600
    refused = run("predict", saved, numbers, "--proba")
    assert refused.exit_code == 2
    assert "gives no probabilities" in refused.stderr
    classes = write_rows(tmp_path / "classes.svm", 600, n_classes=3)
    assert run("select", classes, "-k", 4, "-o", saved).exit_code == 0
    text = run("predict", saved, classes, "--proba", "--format", "csv").stdout
    rows = [list(map(float, row)) for row in list(csv.reader(io.StringIO(text)))[1:]]
    shares = np.array(rows)[:, 1:]
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (np.array(rows)[:, 0] == shares.argmax(axis=1) + 1).all()


def test_a_reader_who_leaves_ends_it_quietly(model, data, tmp_path):
    long = tmp_path / "long.svm"
    long.write_text(data.read_text() * 20)
    command = [sys.executable, "-m", "shortlist.cli", "predict", str(model), str(long)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe) as process:
        assert process.stdout.readline() in (b"1\n", b"-1\n")
        process.stdout.close()
        assert process.wait(30) == 141
        assert process.stderr.read() == b""
