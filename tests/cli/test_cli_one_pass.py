"""shortlist select - -k auto: k is found while rows pass by."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

from shortlist import Shortlist
from shortlist import select as api_select

N_ROWS = 900


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        rng.normal(size=(N_ROWS, 8)).round(3), columns=list("abcdefgh")
    )
    frame["town"] = rng.choice(["Bonn", "Oslo"], N_ROWS)
    score = 2 * frame["c"] - frame["f"] + 0.3 * rng.normal(size=N_ROWS)
    return frame.assign(y=np.where(score > 0, "yes", "no"))


@pytest.fixture(scope="module")
def texts(frame):
    """The same rows in all formats that a pipe may have."""
    vw, svm = [], []
    for row in frame.to_dict("records"):
        label = 1 if row["y"] == "yes" else -1
        cells = [(name, row[name]) for name in "abcdefgh"]
        numbers = " ".join(f"{name}:{value}" for name, value in cells)
        vw.append(f"{label} | {numbers} town={row['town']}\n")
        ids = " ".join(f"{ord(name)}:{value}" for name, value in cells)
        svm.append(f"{label} {ids}\n")
    return {
        "csv": frame.to_csv(index=False),
        "tsv": frame.to_csv(index=False, sep="\t"),
        "jsonl": frame.to_json(orient="records", lines=True),
        "vw": "".join(vw),
        "libsvm": "".join(svm),
    }


@pytest.fixture
def piped(run, texts):
    """Select from a pipe of one format."""

    def piped(form, *words, k="auto", text=None):
        target = [] if form in ("vw", "libsvm") else ["--target", "y"]
        asked = ("select", "-", "--input-format", form, *target, "-k", k, *words)
        return run(*asked, stdin=texts[form] if text is None else text)

    return piped


@pytest.mark.parametrize("method", ["auto", "barda", "foba"])
def test_a_pipe_finds_the_k_that_the_library_finds(piped, frame, tmp_path, method):
    out = tmp_path / "model"
    words = ("--method", method, "--holdout", 0, "-o", out)
    done = piped("jsonl", *words)
    assert done.exit_code == 0, done.stderr
    saved = Shortlist.load(out)
    rows = frame.to_dict("records")
    ours = api_select(iter(rows), "y", "auto", method)
    assert (saved.k, saved.names) == (ours.k, ours.names)
    assert {"c", "f"} <= set(saved.names)
    np.testing.assert_allclose(saved.weights, ours.weights, rtol=1e-9)
    for part in ("budget_k", "budget_score", "budget_error"):
        np.testing.assert_allclose(saved.trace[part], ours.trace[part], rtol=1e-9)
    assert saved.params["k_auto"] == ours.params["k_auto"]
    said = [note.replace("--method", "method=") for note in saved.notes]
    assert [note for note in said if not note.startswith("leak?")] == [
        note for note in ours.notes if not note.startswith("leak?")
    ]
    found = f"k = {ours.k} of 1, 2, 3, 5, 7, 10: accuracy"
    assert sum(line.startswith(found) for line in done.stderr.splitlines()) == 1
    if method != "foba":
        note = "weights are those of a fit of 10 features, of which the best stay"
        assert f"note: {note}" in done.stdout


@pytest.mark.parametrize(
    ("form", "names"),
    [
        ("csv", {"c", "f"}),
        ("tsv", {"c", "f"}),
        ("vw", {"c", "f"}),
        ("libsvm", {str(ord("c")), str(ord("f"))}),
    ],
)
def test_every_format_names_what_is_chosen(piped, form, names):
    done = piped(form, "--format", "json")
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["k"] == 2
    assert {entry["name"] for entry in told["entries"]} == names
    assert 150 < told["params"]["holdout"]["n_rows"] < 210
    assert told["params"]["holdout"]["value"] > 0.9
    # neither what is scored at the end nor what k is found by is learned from
    assert 500 < told["n_examples"] < 650


def test_reads_of_a_pipe_have_a_k_as_well(run, tmp_path):
    rng = np.random.default_rng(0)
    labels, reads = [], []
    for i in range(400):
        letters = "".join(rng.choice(list("ACGT"), 60))
        if i % 2:
            letters = letters[:20] + "GATTACA" + letters[27:]
        reads.append(f"@r{i}\n{letters}\n+\n{'I' * 60}\n")
        labels.append(f"r{i}\t{'ab'[i % 2]}\n")
    (tmp_path / "labels.tsv").write_text("".join(labels))
    words = ("--kmer", 7, "--label", tmp_path / "labels.tsv", "--format", "json")
    asked = ("select", "-", "--input-format", "fasta", "-k", "auto", *words)
    done = run(*asked, stdin="".join(reads))
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert "GATTACA" in {entry["name"] for entry in told["entries"]}
    assert told["params"]["k_auto"]["metric"] == "accuracy"


def test_both_commands_of_a_model_from_a_pipe_give_it_again(run, texts, tmp_path):
    first = tmp_path / "first"
    asked = ("select", "-", "--input-format", "csv", "--target", "y", "-k", "auto")
    done = run(*asked, "--cv", 4, "-o", first, stdin=texts["csv"])
    assert done.exit_code == 0, done.stderr
    saved = Shortlist.load(first)
    assert "-k auto" in saved.params["direct_command"]
    for key in ("command", "direct_command"):
        program, *command = shlex.split(saved.params[key])
        assert program == "shortlist"
        assert "--cv 4" in saved.params[key]
        again = tmp_path / key
        assert run(*command, "-o", again, stdin=texts["csv"]).exit_code == 0
        other = Shortlist.load(again)
        assert other.names == saved.names
        np.testing.assert_array_equal(other.weights, saved.weights)
        np.testing.assert_array_equal(
            other.trace["budget_score"], saved.trace["budget_score"]
        )
    told = json.loads(run("report", first, "--json").stdout)
    assert (told["asked"]["k"], told["asked"]["k_asked"]) == (saved.k, "auto")
    assert "k = auto, by accuracy on rows held out: 2" in run("inspect", first).stdout


def test_bad_data_in_mid_pipe_leave_what_was_found_in_a_model(piped, texts, tmp_path):
    out = tmp_path / "model"
    text = texts["libsvm"] * 3 + "1 bad\n"
    done = piped("libsvm", "-o", out, text=text)
    assert done.exit_code == 1
    assert f"stdin:{3 * N_ROWS + 1}: expected" in done.stderr
    assert done.stdout == ""
    saved = Shortlist.load(out)
    assert saved.k == 2
    assert any(note.startswith("partial: bad data after") for note in saved.notes)
    assert "budget_k" in saved.trace


@pytest.fixture
def interrupted(monkeypatch):
    """Ctrl-C as soon as all rows have been learned from."""
    from shortlist.engines import Interrupted, serial

    def run(algorithm, source, *words, **options):
        raise Interrupted(serial.run(algorithm, source))

    monkeypatch.setattr("shortlist.engines.run", run)


def test_ctrl_c_keeps_as_many_as_are_enough_so_far(piped, tmp_path, interrupted):
    done = piped("libsvm", "-o", tmp_path / "model")
    assert done.exit_code == 130
    saved = Shortlist.load(tmp_path / "model")
    assert saved.k == 2
    assert any(note.startswith("partial: interrupted") for note in saved.notes)


def test_ctrl_c_among_too_few_rows_keeps_the_largest_budget(
    piped, texts, tmp_path, interrupted
):
    few = "".join(texts["libsvm"].splitlines(keepends=True)[:20])
    done = piped("libsvm", "-o", tmp_path / "model", text=few)
    assert done.exit_code == 130
    assert done.stderr.splitlines()[-1] == "interrupted: the result is partial"
    saved = Shortlist.load(tmp_path / "model")
    assert (saved.k, len(saved.names)) == (100, 8)
    why = "k is the largest that was to be tried, 100: stdin: -k auto judges by a fifth"
    assert any(note.startswith(why) for note in saved.notes)
    assert "budget_k" not in saved.trace


def test_a_bad_line_is_told_where_no_k_can_be_found(piped, frame, tmp_path):
    """Sorted by label, the rows before the bad line leave folds without a class."""
    lines = pd.concat([frame] * 4).sort_values("y", kind="stable").to_csv(index=False)
    no = lines.splitlines(keepends=True)[: 1 + 4 * int((frame["y"] == "no").sum())]
    text = "".join([*no, no[1].replace("no", "yes"), "1,2\n"])
    out = tmp_path / "model"
    words = ("--method", "mission", "--classes", "no,yes", "-o", out)
    done = piped("csv", *words, text=text)
    assert (done.exit_code, done.stdout) == (1, "")
    assert f"stdin:{len(no) + 2}: expected" in done.stderr.splitlines()[-1]
    saved = Shortlist.load(out)
    assert saved.k == 100
    why = (
        "k is the largest that was to be tried, 100: -k auto needs more than one row of"
    )
    assert any(note.startswith(why) for note in saved.notes)
    assert any(note.startswith("partial: bad data after") for note in saved.notes)


def test_ctrl_c_while_budgets_are_judged_keeps_the_largest(
    piped, tmp_path, monkeypatch
):
    from shortlist.front import _budgets

    def at_once(*words, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(_budgets, "judge_chosen", at_once)
    done = piped("libsvm", "-o", tmp_path / "model")
    assert done.exit_code == 130
    assert done.stderr.splitlines()[-1] == "interrupted: the result is partial"
    saved = Shortlist.load(tmp_path / "model")
    assert (saved.k, len(saved.names)) == (100, 8)
    assert "k is the largest that was to be tried, 100: interrupted" in done.stdout
    assert "-k auto" in saved.params["direct_command"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--stability", "2"], "--stability needs a number for -k where rows pass by"),
        (["--shard", "s"], "--shard needs a number for -k where rows pass by once"),
        (["--checkpoint", "c"], "cannot be read again, so a run on it cannot be"),
        (["--dry-run"], "save it to a file first"),
        (["--substitutes", "2", "--method", "mission"], "needs all rows in memory"),
    ],
)
def test_what_needs_the_rows_again_is_refused(piped, words, complaint, tmp_path):
    words = [str(tmp_path / word) if word in "sc" else word for word in words]
    done = piped("csv", *words)
    assert done.exit_code == 2
    assert complaint in done.stderr.splitlines()[-1]
    assert done.stdout == ""


def test_too_few_rows_of_a_pipe_are_said(piped, texts):
    few = "".join(texts["libsvm"].splitlines(keepends=True)[:20])
    done = piped("libsvm", text=few)
    assert done.exit_code == 2
    complaint = done.stderr.splitlines()[-1]
    assert "stdin: -k auto judges by a fifth of the rows, got" in complaint


def test_methods_that_hold_all_rows_look_for_k_in_all_of_them(
    run, piped, frame, tmp_path
):
    frame.to_csv(tmp_path / "rows.csv", index=False)
    words = ("--method", "foba", "--format", "csv")
    from_pipe = piped("csv", *words)
    asked = ("select", tmp_path / "rows.csv", "--target", "y", "-k", "auto", *words)
    from_file = run(*asked)
    assert from_pipe.exit_code == 0, from_pipe.stderr
    assert from_pipe.stdout == from_file.stdout
    assert from_pipe.stderr.splitlines()[0] == from_file.stderr.splitlines()[0]


def test_a_number_for_k_is_as_it_was(piped):
    done = piped("csv", k=2)
    assert done.stderr.startswith("mission (room sketch): rows that pass by once")
    assert "k = " not in done.stderr
