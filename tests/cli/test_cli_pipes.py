"""Pipes, odd models and odd requests: what a line on standard error should say."""

import ast
import gzip
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

import shortlist
from shortlist import Mission, Shortlist
from shortlist._registry import selectors
from shortlist.sources import open_source

OF_ROWS = sorted(name for name, its in selectors().items() if its.room != "columns")


@pytest.fixture(scope="module")
def few_rows(tmp_path_factory, write_rows):
    """Some of these methods take their time with more."""
    return write_rows(tmp_path_factory.mktemp("few") / "rows.svm", 100)


@pytest.mark.parametrize("method", OF_ROWS)
def test_every_method_of_rows_can_be_rehearsed(run, few_rows, method):
    result = run("select", few_rows, "-k", 4, "--method", method, "--dry-run")
    assert result.exit_code == 0, result.stderr
    assert f"{method}:" in result.stdout


def test_a_bad_label_of_a_pipe_has_its_line(run, data):
    text = "# remark\n\n" + data.read_text()
    line = len(text.splitlines()) + 1
    result = run("select", "-", "-k", 4, "--holdout", 0, stdin=text + "7 17:1\n")
    assert result.exit_code == 1
    assert f"stdin:{line}: expected one of the labels -1, 1" in result.stderr


def test_a_pipe_is_not_read_twice(run, data):
    result = run("select", "-", "-k", 4, "--passes", 2, stdin=data.read_text())
    assert result.exit_code == 2
    assert "can be read only once, and passes=2 reads it again" in result.stderr


def test_rows_of_a_pipe_are_answered_as_they_come(spawn, model, data):
    first, second = data.read_text().splitlines()[:2]
    process = spawn("predict", model, "-", "-q", stdin=subprocess.PIPE)
    process.stdin.write(f"{first}\n")
    process.stdin.flush()
    begun = time.monotonic()
    answer = process.stdout.readline()  # would wait for more text, and for ever
    process.stdin.write(f"{second}\n")
    rest, _ = process.communicate(timeout=60)
    assert answer.strip() in ("-1", "1")
    assert len(rest.splitlines()) == 1
    assert time.monotonic() - begun < 60


@pytest.mark.parametrize("words", [(), ("cache",)])
def test_no_words_show_the_help(run, words):
    result = run(*words)
    assert result.exit_code == 2
    assert "\nUsage: " in f"\n{result.stderr}"
    assert "shortlist: error" not in result.stderr
    assert len(result.stderr.splitlines()) > 5


def test_classes_that_text_cannot_have_are_predicted_all_the_same(run, data, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 20))
    words = Mission(k=2).fit(X, np.where(X[:, 3] > 0, "yes", "no"))
    words.shortlist_.save(tmp_path / "words")
    result = run("predict", tmp_path / "words", data)
    assert result.exit_code == 0
    assert set(result.stdout.split()) <= {"yes", "no"}
    assert "not scored: none of" in result.stderr


def test_a_model_that_meets_none_of_its_features_says_so(run, data, tmp_path):
    X = np.random.default_rng(0).normal(size=(200, 5))
    X = np.pad(X, ((0, 0), (3000, 0)))
    Mission(k=2).fit(X, X[:, 3001] > 0).shortlist_.save(tmp_path / "m")
    for command in (("predict",), ("transform", "-o", tmp_path / "out.csv")):
        result = run(command[0], tmp_path / "m", data, *command[1:])
        assert result.exit_code == 0
        assert "none of the features of the model occurs" in result.stderr


def test_the_recorded_command_keeps_zeros(run, data, tmp_path):
    run("select", data, "-k", 4, "--holdout", 0, "-o", tmp_path / "m")
    saved = Shortlist.load(tmp_path / "m")
    assert "--holdout 0" in saved.params["command"]


def test_compressed_output_is_refused_whatever_the_format(run, model, data, tmp_path):
    for form in ([], ["--format", "svm"]):
        out = tmp_path / "small.svm.gz"
        result = run("transform", model, data, "-o", out, *form)
        assert (result.exit_code, out.exists()) == (2, False)
        assert "not compressed" in result.stderr


@pytest.mark.parametrize(
    ("first", "what"),
    [
        (b"\x1f\x8b\x08", "gzip"),
        (b"BZh9", "bzip2"),
        (b"\xff\xfe1", "UTF-16; save it as UTF-8"),
    ],
)
def test_what_is_no_text_is_called_by_its_name(run, tmp_path, first, what):
    path = tmp_path / "rows.svm"
    path.write_bytes(first + b" 1:1\n")
    result = run("select", path, "-k", 1)
    assert result.exit_code == 1
    assert f"expected plain text, got {what}" in result.stderr
    assert "--on-error" not in result.stderr


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("rows.svm", "1 1:1\n-1 2:1\n"),
        ("rows.vw", "1 | a\n-1 | b\n"),
        ("rows.jsonl", '{"a": 1, "y": 1}\n{"b": 1, "y": -1}\n'),
        ("rows.fa", ">r\nACGTACGTACGT\n"),
        ("rows.fastq.gz", "@r\nACGTACGTACGT\n+\nIIIIIIIIIIII\n"),
    ],
)
def test_a_byte_order_mark_before_text_is_passed_over(tmp_path, name, rows):
    target = {"target": "y"} if name.endswith("jsonl") else {}
    found = []
    for mark in (b"", b"\xef\xbb\xbf"):
        path = tmp_path / name
        text = mark + rows.encode()
        path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
        blocks = list(open_source(path, **target).blocks())
        found.append([(b.ids.tolist(), b.y.tolist()) for b in blocks])
    assert found[0] == found[1] != []


@pytest.mark.parametrize("factor", ["1e25", "1e200", "1e-40"])
def test_values_out_of_range_are_refused_with_advice(run, tmp_path, factor):
    rng = np.random.default_rng(0)
    path = tmp_path / "rows.svm"
    path.write_text(
        "".join(
            f"{rng.choice([-1, 1])} {rng.integers(50)}:{float(factor) * rng.normal()}\n"
            for _ in range(300)
        )
    )
    for stdin in (None, path.read_text()):
        words = [path if stdin is None else "-", "-k", 2, "--method", "mission"]
        result = run("select", *words, stdin=stdin)
        assert result.exit_code == 1
        assert "scale them" in result.stderr


def test_no_kernel_returns_a_named_tuple():
    """It would be made by Python code, where Ctrl-C crashes the interpreter."""
    package = Path(shortlist.__file__).parent
    trees = [ast.parse(path.read_text()) for path in package.rglob("*.py")]
    tuples = {
        node.name
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and any(getattr(base, "id", "") == "NamedTuple" for base in node.bases)
    }
    assert {"Parsed", "RowBlock"} <= tuples
    found = 0
    for tree in trees:
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef) or not any(
                "kernel" in ast.unparse(mark) for mark in node.decorator_list
            ):
                continue
            found += 1
            for part in ast.walk(node):
                if isinstance(part, ast.Return) and isinstance(part.value, ast.Call):
                    assert getattr(part.value.func, "id", "") not in tuples, node.name
    assert found > 20
