"""What select decides by itself: method, budget, rows to hold out; and what it warns of."""

import json

import numpy as np
import pandas as pd
import pytest

from shortlist import Shortlist


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Visits of forty users, whose age and weight decide what they buy."""
    folder = tmp_path_factory.mktemp("front")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 8)).round(3), columns=list("abcdefgh"))
    noise = 0.3 * rng.normal(size=400)
    frame["y"] = np.where(2 * frame["c"] - frame["f"] + noise > 0, "yes", "no")
    frame["user"] = np.repeat([f"u{i}" for i in range(40)], 10)
    frame.to_csv(folder / "visits.csv", index=False)
    frame.drop(columns="user").to_parquet(folder / "visits.parquet")
    leaking = frame.assign(paid=(frame["y"] == "yes") * 9.5)
    leaking.drop(columns="user").to_csv(folder / "leaking.csv", index=False)
    return folder


def select(run, path, *words):
    done = run("select", path, "--target", "y", *words)
    assert done.exit_code == 0, done.stderr
    return done


def test_a_table_that_fits_goes_to_a_method_for_tables(run, folder):
    done = select(run, folder / "visits.csv", "-k", 2)
    assert "2 features chosen by foba" in done.stdout
    assert "400 rows" in done.stderr.splitlines()[0]
    assert "in a trial with" in done.stderr.splitlines()[0]
    ruled = select(run, folder / "visits.csv", "-k", 2, "--no-trial")
    assert "trial" not in ruled.stderr.splitlines()[0]
    named = select(run, folder / "visits.csv", "-k", 2, "--method", "foba")
    assert named.stdout == select(run, folder / "visits.csv", "-k", 2).stdout
    assert "asks for another" not in named.stderr


@pytest.mark.parametrize(
    ("words", "method"),
    [
        (["--memory", "1MB"], "mission"),
        (["--passes", "2"], "mission"),
        (["--checkpoint", "check"], "mission"),
        (["--normalize", "l2"], "mission"),
        (["--bins", "4"], "mrmr"),
        (["--method", "auto"], "foba"),
    ],
)
def test_options_say_which_method_is_meant(
    run, folder, words, method, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    done = select(run, folder / "visits.csv", "-k", 2, *words)
    assert f"chosen by {method}" in done.stdout
    assert done.stderr.startswith(f"{method} (room ")


def test_the_smallest_budget_that_is_enough(run, folder, tmp_path):
    out = tmp_path / "model"
    words = ["-k", "auto", "--method", "mrmr", "--sample-groups", "user", "-o", out]
    done = select(run, folder / "visits.csv", *words)
    saved = Shortlist.load(out)
    assert saved.k == 2
    assert set(saved.names) == {"c", "f"}
    assert saved.trace["budget_k"].tolist() == [1, 2, 3, 5, 7]
    assert "-k 2" in saved.params["command"]
    assert done.stderr.startswith("k = 2 of 1, 2, 3, 5, 7: accuracy")
    assert saved.params["holdout"]["n_rows"] % 10 == 0  # whole users


def test_the_smallest_budget_of_a_stream_and_of_columns(run, folder):
    words = ["-k", "auto", "--method", "mission", "--format", "json"]
    told = json.loads(select(run, folder / "visits.parquet", *words).stdout)
    assert told["k"] == 2
    words = ["-k", "auto", "--columns", "--format", "json", "--classes", "no,yes"]
    told = json.loads(select(run, folder / "visits.parquet", *words).stdout)
    assert told["k"] in (2, 3)
    assert {"c", "f"} <= {entry["name"] for entry in told["entries"]}


def test_a_leak_is_named_on_standard_error(run, folder):
    done = select(run, folder / "leaking.csv", "-k", 2)
    assert "leak? 'paid' alone predicts nearly perfectly (AUC 1.000)" in done.stderr
    assert "leak? 'paid'" in done.stdout
    clean = select(run, folder / "visits.csv", "-k", 2)
    assert "leak" not in clean.stderr + clean.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-k", "none"], "'none' is not a valid integer"),
        (["-k", "0"], "0 is not in the range"),
        (["-k", "2", "--sample-groups", "nobody"], "no column is called 'nobody'"),
        (["-k", "2", "--bins", "4", "--eta", "1"], "(bins, eta)"),
        (["-k", "2", "--cv", "1"], "1 is not in the range"),
        (["-k", "2", "--cv", "3", "--method", "foba"], "nothing is split, as -k is"),
        (["-k", "2", "--cv", "3", "--no-trial"], "nothing is split, as -k is"),
    ],
)
def test_what_makes_no_sense_is_refused(run, folder, words, message):
    done = run("select", folder / "visits.csv", "--target", "y", *words)
    assert done.exit_code != 0
    assert message in " ".join(done.stderr.split())


def test_a_pipe_has_no_budget_to_find(run, folder):
    text = (folder / "visits.csv").read_bytes()
    words = ["--input-format", "csv", "--target", "y", "-k"]
    done = run("select", "-", *words, "auto", stdin=text)
    assert done.exit_code == 2
    assert "passes by once" in done.stderr
    done = run("select", "-", *words, "2", stdin=text)
    assert done.stderr.startswith("mission (room sketch): rows that pass by once")


def test_a_trial_has_no_rows_that_are_held_out(run, folder, monkeypatch):
    from shortlist.front import _trial

    seen, real = [], _trial.try_methods

    def spying(contestants, examples, ks, **options):
        seen.append(examples.X.shape[0])
        return real(contestants, examples, ks, **options)

    monkeypatch.setattr(_trial, "try_methods", spying)
    done = select(run, folder / "visits.parquet", "-k", 2, "--format", "json")
    held_out = json.loads(done.stdout)["params"]["holdout"]["n_rows"]
    assert seen == [400 - held_out]


def test_columns_are_gone_through_whatever_form_rows_have(run, folder):
    words = ["-k", 2, "--method", "online_substitution"]
    for name in ("visits.csv", "visits.parquet"):
        done = select(run, folder / name, *words)
        assert "features chosen by online_substitution" in done.stdout
    done = run(
        "select",
        folder / "visits.csv",
        "--target",
        "y",
        "-k",
        2,
        "--method",
        "grafting",
    )
    assert done.exit_code == 2
    assert "grafting goes with --columns" in done.stderr


def test_sparse_rows_of_several_classes_have_a_trial(run, tmp_path):
    rng = np.random.default_rng(0)
    lines = []
    for i in range(240):
        label = i % 3
        others = sorted(rng.choice(np.arange(10, 400), 8, replace=False).tolist())
        cells = [f"{label + 1}:1", *(f"{j}:1" for j in others)]
        lines.append(f"{label} {' '.join(cells)}")
    path = tmp_path / "three.svm"
    path.write_text("\n".join(lines))
    done = run("select", path, "-k", 3)
    assert done.exit_code == 0, done.stderr
    assert "in a trial with" in done.stderr
    assert all(f" {name} " in done.stdout for name in ("1", "2", "3"))


def test_what_goes_through_columns_is_resampled_and_planned(run, folder):
    words = ["-k", 2, "--method", "online_substitution"]
    done = select(run, folder / "visits.parquet", *words, "--stability", 2)
    assert "stab" in done.stdout
    done = select(run, folder / "visits.parquet", *words, "--substitutes", 1)
    assert "chosen by online_substitution" in done.stdout
    done = select(run, folder / "visits.parquet", *words, "--dry-run")
    assert "column by column" in done.stdout


def test_ctrl_c_in_a_trial_is_said(run, folder, monkeypatch):
    from shortlist.front import _trial

    def interrupted(*words, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(_trial, "try_methods", interrupted)
    done = run("select", folder / "visits.parquet", "--target", "y", "-k", 2)
    assert done.exit_code == 130
    assert "interrupted before anything was learned" in done.stderr


def test_folds_are_those_asked_for_and_the_command_has_none(
    run, folder, tmp_path, monkeypatch
):
    from shortlist.evaluate import _choose_k
    from shortlist.front import _trial

    seen = []
    for module in (_trial, _choose_k):

        def spying(*words, _real=module.folds, **options):
            seen.append(words[1])
            return _real(*words, **options)

        monkeypatch.setattr(module, "folds", spying)
    out = tmp_path / "model"
    select(run, folder / "visits.parquet", "-k", "auto", "--cv", 4, "-o", out)
    assert seen == [4, 4]
    command = Shortlist.load(out).params["command"]
    assert "--cv" not in command
    again = run(*command.split()[1:], "-o", tmp_path / "again")
    assert again.exit_code == 0, again.stderr
    assert Shortlist.load(tmp_path / "again").names == Shortlist.load(out).names
    assert seen == [4, 4]


def test_columns_can_name_their_groups_and_folds(run, folder, tmp_path):
    frame = pd.read_csv(folder / "visits.csv")
    frame.to_parquet(tmp_path / "users.parquet")
    words = ["--columns", "-k", "auto", "--format", "json", "--classes", "no,yes"]
    users = ["--sample-groups", "user"]
    done = select(run, tmp_path / "users.parquet", *words, *users, "--cv", 3)
    told = json.loads(done.stdout)
    assert {"c", "f"} <= {entry["name"] for entry in told["entries"]}
    assert "--cv" not in told["params"]["command"]
    frame.loc[7, "user"] = None
    frame.to_parquet(tmp_path / "gap.parquet")
    asked = ("select", tmp_path / "gap.parquet", "--target", "y", *words, *users)
    done = run(*asked)
    assert done.exit_code != 0
    assert "expected one for every row, got none: row 7" in done.stderr
    fixed = ["--columns", "-k", 2, "--cv", 3]
    done = run("select", folder / "visits.parquet", "--target", "y", *fixed)
    assert "nothing is split" in " ".join(done.stderr.split())


@pytest.mark.parametrize("command", ["select", "compare"])
def test_users_are_numbers_from_0_and_a_row_without_one_is_named(
    run, folder, tmp_path, command
):
    frame = pd.read_csv(folder / "visits.csv")
    frame["user"] = np.repeat(np.arange(40), 10)
    frame.to_csv(tmp_path / "numbers.csv", index=False)
    frame["user"] = frame["user"].where(np.arange(400) != 5)
    frame.to_csv(tmp_path / "gap.csv", index=False)
    method = ["--method" if command == "select" else "--methods", "mrmr"]
    words = ["--target", "y", "-k", 2, "--sample-groups", "user", *method]
    assert run(command, tmp_path / "numbers.csv", *words).exit_code == 0
    done = run(command, tmp_path / "gap.csv", *words)
    assert done.exit_code != 0
    assert "gap.csv:7, column 'user'" in done.stderr
