"""shortlist select --dry-run."""

import csv
import io
import json
import os

import numpy as np
import pytest

from shortlist._protocols import Standing
from shortlist.cli import _dry_run


def test_says_what_would_be_done_and_does_nothing(run, data, tmp_path):
    out = tmp_path / "model"
    words = ["--method", "mission", "--dry-run", "-o", out]
    result = run("select", data, "-k", 4, *words)
    assert (result.exit_code, result.stderr) == (0, "")
    facts = dict(line.split("  ", 1) for line in result.stdout.splitlines()[:-1])
    facts = {term: text.strip() for term, text in facts.items()}
    assert facts["room"].startswith("sketch: ")
    assert facts["method"].startswith("mission: weights in a Count-Sketch")
    assert facts["recipe"].startswith("refit: 2 passes (explore, refit); files can be")
    assert facts["loss"] == "logistic, classes -1, 1 (from 1,000 rows)"
    assert "2,000 rows, 40,000 nonzeros" in facts["data"]
    assert "about 400 rows" in facts["holdout"]
    assert facts["memory"].startswith("16.0 MB: a sketch of 3 x ")
    assert " s, going by the first 0." in facts["time"]
    assert result.stdout.splitlines()[-1].startswith("nothing was written")
    assert not out.exists()


def test_what_is_picked_for_a_table_shows(run, data):
    for k in (4, "auto"):
        result = run("select", data, "-k", k, "--dry-run")
        assert (result.exit_code, result.stderr) == (0, "")
        lines = [line.split() for line in result.stdout.splitlines()]
        assert ["room", "table:", "all", "rows", "are"] in [
            words[:5] for words in lines
        ]
        assert ["passes", "1", "pass", "(gather)"] in lines


def test_a_trial_holds_the_table_with_the_names_that_it_has(run, tmp_path):
    """Words that hardly repeat take many times their text."""
    path, rng = tmp_path / "names.vw", np.random.default_rng(0)
    words = rng.integers(2**40, size=(3000, 20)).tolist()
    lines = (f"{1 + row[0] % 3} | {' '.join(map(hex, row))}\n" for row in words)
    path.write_text("".join(lines))
    asked = ("select", path, "-k", 4, "--dry-run")
    told = json.loads(run(*asked, "--format", "json").stdout)
    assert told["trial_bytes"] > 60_000 * 500
    memory = next(
        line for line in run(*asked).stdout.splitlines() if line.startswith("memory")
    )
    assert f"about {told['trial_bytes'] / 1e6:.1f} MB, to hold all rows" in memory
    assert "--no-trial: 16.0 MB" in memory
    plain = json.loads(run(*asked, "--no-trial", "--format", "json").stdout)
    assert plain["trial_bytes"] is None
    gathered = run(*asked, "--method", "mrmr", "--format", "json").stdout
    assert json.loads(gathered)["memory_bytes"] > 40_000 * 500  # a fifth is held out


def test_options_show(run, data):
    words = [
        "--recipe",
        "newton",
        "--loss",
        "logistic",
        "--holdout",
        0,
        "--memory",
        "2MB",
    ]
    text = run("select", data, "-k", 4, "--dry-run", "--passes", 2, *words).stdout
    assert "newton: 2 passes (explore, explore); as asked" in text
    assert "logistic, classes -1, 1 (as asked)" in text
    assert "all rows are learned from" in text
    assert "within --memory 2MB" in text


def test_only_the_beginning_is_read_and_the_rest_estimated(run, data, tmp_path):
    line = data.read_bytes().splitlines(keepends=True)[0]
    long = tmp_path / "long.svm"
    n = 6_000_000 // len(line)
    long.write_bytes(data.read_bytes() + line * n + b"and here it is broken\n")
    told = json.loads(
        run("select", long, "-k", 4, "--dry-run", "--format", "json").stdout
    )
    assert told["bytes"] == long.stat().st_size
    assert 1.9e6 < told["bytes_read"] <= 2e6
    assert told["rows"] == pytest.approx(n + 2000, rel=0.02)
    assert told["nonzeros"] == pytest.approx(20 * (n + 2000), rel=0.02)
    assert told["seconds"] > 0


def test_csv(run, data):
    text = run("select", data, "-k", 4, "--dry-run", "--format", "csv").stdout
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == ["what", "answer"]
    assert [row[0] for row in rows[1:3]] == ["room", "method"]


def test_what_cannot_be_read_again_is_refused_and_left_alone(run, data, tmp_path):
    result = run("select", "-", "-k", 4, "--dry-run", stdin=data.read_bytes())
    assert (result.exit_code, result.stdout) == (2, "")
    assert "stdin could not give it back" in result.stderr
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    assert run("select", fifo, "-k", 4, "--dry-run").exit_code == 2


def test_bad_data_show_before_the_run(run, tmp_path):
    bad = tmp_path / "bad.svm"
    bad.write_text("1 2:3\n1 4:5\n")
    result = run("select", bad, "-k", 4, "--dry-run")
    assert result.exit_code == 1
    assert "give --classes or --loss" in result.stderr
    bad.write_text("")
    assert run("select", bad, "-k", 4, "--dry-run").exit_code != 0


def test_time_that_grows_is_told_from_time_that_does_not(data):
    """Closing a pass must not be multiplied by the size of the data."""
    from shortlist.sources import LibsvmSource

    class Slow:
        def start(self, source, head):
            return None

        def result(self, state, source):
            clock[0] += 10.0

        def standing(self, state):
            return Standing("explore", 0.0)

        def step(self, state, block):
            clock[0] += 1.0

        def next_pass(self, state):
            clock[0] += 100.0
            return False

    clock = [0.0]
    original, _dry_run.time.perf_counter = _dry_run.time.perf_counter, lambda: clock[0]
    try:
        rehearsal = _dry_run.rehearse(Slow(), LibsvmSource(data, block_bytes=100_000))
    finally:
        _dry_run.time.perf_counter = original
    n_blocks = len(list(LibsvmSource(data, block_bytes=100_000).blocks()))
    assert (rehearsal.growing, rehearsal.fixed) == (n_blocks, 110.0)
