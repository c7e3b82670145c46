"""Runs that end early, in whatever way, go on to the same bits."""

import os
import signal
import subprocess
import time

import pytest

LIMIT = 120.0  # seconds that any wait may last


@pytest.fixture(scope="module")
def long_rows(tmp_path_factory):
    """About 20 MB of text: a run with a checkpoint a block takes a while."""
    rows = []
    for i in range(3000):
        cells = " ".join(f"{(i * 31 + j * j) % 5000}:{j % 3 + 1}" for j in range(40))
        rows.append(f"{1 if (i * 7) % 11 < 5 else -1} {cells}\n")
    path = tmp_path_factory.mktemp("long") / "rows.svm"
    path.write_text("".join(rows) * 20)
    return path


def settings(path, *more):
    words = ("select", path, "-k", 20, "--passes", 2, "--format", "csv", "--quiet")
    sketch = () if "--method" in more else ("--memory", "300KB")
    return (*words, *sketch, *more)


def wait_for(path, process):
    begin = time.monotonic()
    while not path.exists() and process.poll() is None:
        assert time.monotonic() - begin < LIMIT
        time.sleep(0.01)


@pytest.mark.parametrize(
    "more",
    [
        ("--recipe", "refit"),
        ("--recipe", "paper"),
        ("--method", "barda", "--forget", 0.9999),
    ],
)
def test_a_killed_run_goes_on_to_the_same_bits(run, spawn, long_rows, tmp_path, more):
    kept = tmp_path / "run.checkpoint"
    whole = run(*settings(long_rows, *more))
    assert whole.exit_code == 0
    kills, resume = 0, ("--checkpoint", kept)
    for pause in (0.0, 0.11, 0.37):
        process = spawn(*settings(long_rows, *more, *resume, "--every", "0s"))
        wait_for(kept, process)
        time.sleep(pause)
        process.kill()
        kills += process.wait(LIMIT) == -signal.SIGKILL
        process.communicate()
        if not kept.exists():  # it was faster than that
            break
        resume = ("--resume", kept)
    assert kills >= 1
    again = run(*settings(long_rows, *more, *resume))
    assert again.exit_code == 0, again.stderr
    assert again.stdout == whole.stdout
    assert not kept.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_writes_a_checkpoint_and_says_how_to_go_on(
    run, spawn, long_rows, tmp_path, number
):
    kept, model = tmp_path / "run.checkpoint", tmp_path / "model"
    words = [w for w in settings(long_rows) if w != "--quiet"]
    process = spawn(*words, "--checkpoint", kept, "--every", "0s", "-o", model)
    wait_for(kept, process)
    process.send_signal(number)
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 128 + number, err
    assert "the result is partial" in err
    command = next(line for line in err.splitlines() if "to go on from here" in line)
    assert command.endswith(f"--resume {kept}")
    assert out.startswith("rank,")
    model.unlink()
    words = command.partition("shortlist ")[2].split()
    again = run(*words)  # also where the result goes, and in which form
    assert again.exit_code == 0, again.stderr
    assert model.exists()
    assert again.stdout == run(*settings(long_rows)).stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_a_pipe_is_waited_for_ends_in_good_order(spawn, number):
    process = spawn("select", "-", "-k", 3, "--format", "csv", stdin=subprocess.PIPE)
    lines = (
        f"{1 if i % 3 else -1} {i % 50}:1 {100 + i % 7}:1\n" for i in range(200_000)
    )
    process.stdin.write("".join(lines))  # more than a pipe holds: somebody reads it
    process.stdin.flush()
    time.sleep(1.0)
    process.send_signal(number)
    process.wait(LIMIT)
    out, err = process.stdout.read(), process.stderr.read()
    assert process.returncode == 128 + number, err
    assert out.startswith("rank,")
    assert "the result is partial" in err


def test_other_settings_are_refused(run, data, tmp_path, spawn, long_rows):
    kept = tmp_path / "run.checkpoint"
    process = spawn(*settings(long_rows, "--checkpoint", kept, "--every", "0s"))
    wait_for(kept, process)
    process.kill()
    process.wait(LIMIT)
    other = run(*settings(long_rows, "--seed", 3, "--resume", kept))
    assert other.exit_code == 2
    assert "the run had seed = 0, got 3" in other.stderr
    there = run(*settings(long_rows, "--checkpoint", kept))
    assert there.exit_code == 2
    assert "--resume" in there.stderr
    file = run(*settings(data, "--resume", kept))
    assert file.exit_code == 2
    assert "the run had files" in file.stderr


def test_what_cannot_be_resumed_is_refused(run, data, tmp_path):
    kept = tmp_path / "run.checkpoint"
    pipe = run(*settings("-", "--checkpoint", kept), stdin="1 1:1\n-1 2:1\n")
    assert pipe.exit_code == 2
    assert "cannot be resumed" in pipe.stderr
    table = run("select", data, "-k", 2, "--method", "foba", "--checkpoint", kept)
    assert table.exit_code == 2
    assert "no checkpoints" in table.stderr
    kept.write_text("something else")
    model = run("select", data, "-k", 2, "--resume", kept)
    assert model.exit_code == 1
    assert "not a file written by" in model.stderr
    when = run("select", data, "-k", 2, "--checkpoint", kept, "--every", "often")
    assert when.exit_code == 2


@pytest.mark.parametrize("option", ["--checkpoint", "--resume"])
def test_a_checkpoint_that_cannot_be_is_called_by_its_option(run, data, option):
    for place in (data, "/no/such/folder/state"):
        result = run("select", data, "-k", 4, "--method", "mission", option, place)
        assert result.exit_code == 2
        assert f"{option}: " in result.stderr
        assert " -o" not in result.stderr


def test_a_run_that_is_stopped_while_it_scores_can_be_scored_later(
    run, data, tmp_path, monkeypatch
):
    kept = tmp_path / "state"
    words = ("select", data, "-k", 4, "--method", "mission")
    whole = run(*words)
    with monkeypatch.context() as patch:

        def interrupt(*_):
            raise KeyboardInterrupt

        patch.setattr("shortlist._scoring.evaluate", interrupt)
        stopped = run(*words, "--checkpoint", kept)
    assert stopped.exit_code == 130
    assert "partial" not in stopped.stdout + stopped.stderr
    assert "interrupted before the held-out rows were scored" in stopped.stderr
    assert f"to go on from here: shortlist {words[0]}" in stopped.stderr
    resumed = run(*words, "--resume", kept)
    assert (resumed.exit_code, resumed.stdout) == (0, whole.stdout)
    assert resumed.stderr == whole.stderr
    assert not kept.exists()


@pytest.fixture
def stopped(run, data, tmp_path, monkeypatch):
    """A copy of the data, the words of a run on it, and its checkpoint."""
    copy, kept = tmp_path / "copy.svm", tmp_path / "state"
    copy.write_bytes(data.read_bytes())
    words = ("select", copy, "-k", 4, "--method", "mission")
    with monkeypatch.context() as patch:

        def interrupt(*_):
            raise KeyboardInterrupt

        patch.setattr("shortlist._scoring.evaluate", interrupt)
        assert run(*words, "--checkpoint", kept).exit_code == 130
    return copy, words, kept


def change_a_label(path):
    """Change one label in the middle; the size stays."""
    lines = path.read_bytes().splitlines(keepends=True)
    place = next(i for i in range(len(lines) // 2, len(lines)) if lines[i][0] == 45)
    lines[place] = b"+" + lines[place][1:]
    path.write_bytes(b"".join(lines))


def test_a_file_of_the_same_size_that_has_changed_is_refused(run, stopped):
    copy, words, kept = stopped
    change_a_label(copy)
    resumed = run(*words, "--resume", kept)
    assert (resumed.exit_code, resumed.stdout) == (2, "")
    (line,) = resumed.stderr.strip().splitlines()
    assert f"{copy} has changed since the run began" in line


def test_a_copy_and_a_touched_file_are_the_same(run, stopped, data):
    copy, words, kept = stopped
    copy.unlink()
    copy.write_bytes(data.read_bytes())
    os.utime(copy, (1, 1))
    resumed = run(*words, "--resume", kept)
    assert resumed.exit_code == 0, resumed.stderr
    assert "written to" not in resumed.stderr


@pytest.mark.parametrize("place", ["end", "elsewhere"])
def test_large_files_are_compared_in_pieces_and_times(
    run, data, tmp_path, monkeypatch, place, request
):
    for name, size in (("WHOLE_BYTES", 0), ("_END_BYTES", 9), ("_PIECE_BYTES", 9)):
        monkeypatch.setattr(f"shortlist.cli._same_files.{name}", size)
    copy, words, kept = request.getfixturevalue("stopped")
    if place == "end":
        copy.write_bytes(copy.read_bytes()[:-2] + b"7\n")
    else:
        change_a_label(copy)
    resumed = run(*words, "--resume", kept)
    if place == "end":
        assert resumed.exit_code == 2
        assert "has changed" in resumed.stderr
    else:
        assert resumed.exit_code == 0
        assert f"note: {copy} was written to since the run began" in resumed.stderr
