"""shortlist select as a process: signals, terminals, memory."""

import os
import pty
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shortlist import Shortlist
from shortlist.engines import Interrupted


def test_ctrl_c_keeps_what_was_learned(spawn, write_rows, tmp_path):
    """A writer that stalls in the fifth block: the run waits in the middle of a pass."""
    rows = write_rows(tmp_path / "rows.svm", 4000).read_bytes() * 6
    assert len(rows) > (4 << 20) + (1 << 16)  # four blocks and what a pipe holds
    fifo, out = tmp_path / "fifo", tmp_path / "partial.shortlist"
    os.mkfifo(fifo)
    process = spawn("select", fifo, "-k", 4, "-o", out)
    with fifo.open("wb") as pipe:
        pipe.write(rows)
        pipe.flush()  # the fifth block is being read, so four have been learned from
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr
    assert "interrupted: the result is partial" in stderr
    saved = Shortlist.load(out)
    *notes, picked = saved.notes
    assert picked.startswith("picked mission")
    assert stdout == f"{replace(saved, notes=tuple(notes))}\n"
    assert saved.n_examples > 1000
    assert saved.notes[0].startswith("partial: interrupted in pass 1 (explore) after")
    assert "holdout" not in saved.params


def test_ctrl_c_before_anything_was_learned_leaves_nothing(
    run, data, tmp_path, monkeypatch
):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("shortlist.engines.run", interrupt)
    words = ["--method", "mission", "-o", tmp_path / "m"]
    result = run("select", data, "-k", 4, *words)
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr == "interrupted before anything was learned\n"
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_while_scoring_keeps_the_result(run, data, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("shortlist._scoring.evaluate", interrupt)
    result = run("select", data, "-k", 4, "-o", tmp_path / "m")
    assert result.exit_code == 130
    assert "4 of 25,819 features chosen" in result.stdout
    assert "interrupted before the held-out rows were scored" in result.stdout
    assert len(Shortlist.load(tmp_path / "m").names) == 4


def test_ctrl_c_while_leaks_are_looked_for_keeps_the_result(
    run, data, tmp_path, monkeypatch
):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("shortlist._suspects.leak_notes", interrupt)
    result = run("select", data, "-k", 4, "--method", "mission", "-o", tmp_path / "m")
    assert result.exit_code == 130
    last = "interrupted before leaks were looked for"
    assert result.stderr.splitlines()[-1] == last
    saved = Shortlist.load(tmp_path / "m")
    assert (len(saved.names), saved.notes[-1]) == (4, last)
    assert "holdout" in saved.params


def test_ctrl_c_before_a_feature_was_chosen_leaves_out_alone(
    run, data, tmp_path, monkeypatch
):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("shortlist._online.OnlineLearner.step", interrupt)
    kept = tmp_path / "m"
    kept.write_bytes(b"what a good run has left")
    result = run("select", data, "-k", 4, "--method", "mission", "-o", kept)
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr == "interrupted before anything was learned\n"
    assert kept.read_bytes() == b"what a good run has left"


def test_quiet_does_not_hide_that_a_result_is_partial(run, data, model, monkeypatch):
    def interrupt(*_, **__):
        raise Interrupted(Shortlist.load(model))

    monkeypatch.setattr("shortlist.engines.run", interrupt)
    result = run("select", data, "-k", 4, "-q")
    assert result.exit_code == 130
    assert result.stderr == "interrupted: the result is partial\n"


def test_a_terminal_gets_a_bar_and_keeps_results_apart(spawn, data):
    ours, theirs = pty.openpty()
    words = ["select", data, "-k", 4, "--method", "mission"]
    process = spawn(*words, stderr=theirs, env=os.environ | {"TERM": "xterm"})
    os.close(theirs)
    seen = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux's way of saying that the other end is closed
            break
        if not piece:
            break
        seen += piece
    os.close(ours)
    stdout = process.stdout.read()
    assert process.wait(30) == 0
    assert stdout.startswith("4 features chosen")
    assert "\x1b" not in stdout
    for word in (b"explore, pass 1", b"refit, pass 2", b"score", b"%", b"loss"):
        assert word in seen
    assert b"held out: accuracy" in seen


def test_without_a_terminal_there_is_no_bar(spawn, data):
    stdout, stderr = spawn("select", data, "-k", 4).communicate(timeout=60)
    assert [line.split(":")[0] for line in stderr.splitlines()] == [
        "foba (room table)",
        "held out",
    ]
    assert stdout.startswith("4 of 25,819 features chosen")


def write_rows(path, n_rows, ids_per_row, megabytes):
    """Rows with ids anywhere below 2^63, repeated, which is faster than new ones."""
    rng = np.random.default_rng(0)
    ids = rng.integers(10**18, 2**63, size=(n_rows, ids_per_row)).tolist()
    labels = rng.choice([-1, 1], size=n_rows).tolist()
    text = "".join(
        f"{label} {' '.join(f'{i}:0.5' for i in row)}\n"
        for label, row in zip(labels, ids, strict=True)
    )
    path.write_text(text * round(megabytes * 1_000_000 / len(text)))


def most_memory(process):
    """Largest amount of anonymous memory seen while a process runs."""
    most = 0
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status").read_text()
        anonymous = [line for line in status.splitlines() if "RssAnon" in line]
        most = max([most, *(int(line.split()[1]) * 1024 for line in anonymous)])
        time.sleep(0.01)
    assert process.returncode == 0, process.stderr.read()
    return most


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="needs Linux's /proc"
)
@pytest.mark.parametrize("ids_per_row", [0, 20_000])
def test_memory_does_not_grow_with_the_data(spawn, tmp_path, ids_per_row):
    path, most = tmp_path / "rows.svm", []
    for megabytes in (6, 6, 24):  # first once for kernels, whose compiling takes more
        # All are more than one block, so that short rows fill theirs in each.
        write_rows(path, 80_000 // (1 + ids_per_row), ids_per_row, megabytes)
        process = spawn("select", path, "-k", 100, "--memory", "16MB")
        most.append(most_memory(process))
    assert 0 < max(most[1:]) < 250_000_000
    assert most[2] < most[1] + 20_000_000


def test_a_reader_who_leaves_does_not_cost_the_model(spawn, data, tmp_path):
    out = tmp_path / "m"
    reading, writing = os.pipe()
    os.close(reading)
    process = spawn("select", data, "-k", 4, "-o", out, stdout=writing)
    os.close(writing)
    stderr = process.communicate(timeout=60)[1]
    assert process.returncode == 141
    assert "Traceback" not in stderr
    assert "BrokenPipe" not in stderr
    assert len(Shortlist.load(out).names) == 4


def test_ctrl_c_before_the_first_row_is_said(run, data, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("shortlist.front._facts.facts_of_rows", interrupt)
    result = run("select", data, "-k", 4)
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr == "interrupted before anything was learned\n"


def test_a_warning_is_shown_once_to_who_sees_the_table(monkeypatch):
    from shortlist.cli._presenting import notes_for_stderr

    notes = ["leak? 'a'", "other"]
    assert notes_for_stderr(notes, shown=False) == notes
    assert notes_for_stderr(notes, shown=True) == notes[:1]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert notes_for_stderr(notes, shown=True) == []
    assert notes_for_stderr(notes, shown=False) == notes


def test_a_table_without_rows_is_said_to_be_empty(run, tmp_path):
    path = tmp_path / "none.parquet"
    pd.DataFrame({"a": [1.0], "y": [1]})[:0].to_parquet(path)
    result = run("select", path, "-k", 1, "--target", "y")
    assert result.exit_code == 1
    said = f"shortlist: error: {path}: expected rows to learn from, got none\n"
    assert result.stderr == said
