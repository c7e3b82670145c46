"""What select decides by itself: method, budget, rows to hold out; and what it warns of."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

from shortlist import Shortlist
from shortlist import select as api_select
from shortlist.evaluate import compare as api_compare


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
    assert "2 of 48 features chosen by foba" in done.stdout  # eight, and forty users
    assert "400 rows" in done.stderr.splitlines()[0]
    assert "in a trial with" in done.stderr.splitlines()[0]
    ruled = select(run, folder / "visits.csv", "-k", 2, "--no-trial")
    assert "trial" not in ruled.stderr.splitlines()[0]
    named = select(run, folder / "visits.csv", "-k", 2, "--method", "foba")
    assert named.stdout == done.stdout  # what standard error says is not said twice
    assert "asks for another" not in named.stderr
    quiet = select(run, folder / "visits.csv", "-k", 2, "-q")
    assert quiet.stdout.startswith(done.stdout)
    assert "note: picked foba" in quiet.stdout


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
    assert "-k auto --method mrmr" in saved.params["command"]
    assert "-k 2 --method mrmr" in saved.params["direct_command"]
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


def test_a_column_of_text_that_tells_all_is_named(run, folder, tmp_path):
    table = pd.read_csv(folder / "visits.csv").drop(columns="user")
    status = {"yes": ["paid", "shipped"], "no": ["open", "cancelled"]}
    words = [status[y][i % 2] for i, y in enumerate(table["y"])]
    table.assign(status=words).to_csv(tmp_path / "orders.csv", index=False)
    done = select(run, tmp_path / "orders.csv", "-k", 6)
    assert "leak? column 'status' alone predicts nearly perfectly" in done.stderr


def test_a_leak_is_named_on_standard_error(run, folder):
    done = select(run, folder / "leaking.csv", "-k", 2)
    assert "leak? 'paid' alone predicts nearly perfectly (AUC 1.000)" in done.stderr
    assert "leak? 'paid'" in done.stdout
    clean = select(run, folder / "visits.csv", "-k", 2)
    assert "leak" not in clean.stderr + clean.stdout


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_groups_of_rows_may_be_left_out_as_well(run, folder, tmp_path, form):
    frame = pd.read_csv(folder / "visits.csv").assign(w=1.0)
    path = tmp_path / f"visits.{form}"
    frame.to_csv(path, index=False) if form == "csv" else frame.to_parquet(path)
    asked = (path, "-k", 2, "--method", "foba", "--weight", "w")
    plain = select(run, *asked, "--sample-groups", "user")
    both = select(run, *asked, "--sample-groups", "user", "--never", "user")
    assert (both.stdout, both.stderr) == (plain.stdout, plain.stderr)
    done = run("select", *asked, "--target", "y", "--sample-groups", "w")
    assert "expected a column of their own, got 'w', which is the weight" in done.stderr
    of_users = {"groups": "user", "never": ["user"]}
    for data in (frame, path):
        chosen = api_select(data, "y", 2, "foba", **of_users)
        assert set(chosen.names) == {"c", "f"}
        rated = api_compare(data, "y", ks=[2], methods=["foba"], **of_users)
        assert rated.n_features == 9  # w as well


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-k", "none"], "'none' is not a valid integer"),
        (["-k", "0"], "0 is not in the range"),
        (["-k", "2", "--sample-groups", "nobody"], "no column is called 'nobody'"),
        (["-k", "2", "--sample-groups", "y"], "got 'y', which is the target"),
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
    assert done.stderr == (
        "interrupted while trying methods: nothing has been chosen yet; --method names a "
        "method, --no-trial goes by the kind of data alone\n"
    )


def test_ctrl_c_says_which_trial_or_fold_it_cut_off(run, folder, monkeypatch):
    from shortlist.evaluate import _choose_k
    from shortlist.front import _trial

    n_fits, real = 0, _trial.one_fold

    def third_is_interrupted(*words, **options):
        nonlocal n_fits
        n_fits += 1
        if n_fits == 3:
            raise KeyboardInterrupt
        return real(*words, **options)

    monkeypatch.setattr(_trial, "one_fold", third_is_interrupted)
    monkeypatch.setattr(_choose_k, "one_fold", third_is_interrupted)
    words = ["select", folder / "visits.parquet", "--target", "y", "-k"]
    done = run(*words, 2)
    assert done.exit_code == 130
    assert "while trying methods (trial of gsr, 1 of 3): nothing has" in done.stderr
    n_fits = 0
    done = run(*words, "auto", "--method", "mrmr")
    assert done.exit_code == 130
    assert done.stderr == (
        "interrupted while looking for k (k, fold 3 of 5): nothing has been chosen yet; "
        "-k with a number goes straight to the choice\n"
    )


def columns(run, folder, *words):
    return select(run, folder / "numbers.parquet", "--columns", *words)


def test_columns_have_a_method_picked_for_them_and_say_why(run, folder, tmp_path):
    table = pd.read_parquet(folder / "visits.parquet")
    table.assign(y=2 * table["c"] - table["f"]).to_parquet(folder / "numbers.parquet")
    done = columns(run, folder, "-k", 2, "-o", tmp_path / "model")
    line = done.stderr.splitlines()[0]
    assert line.startswith("online_substitution (room columns): columns that come one")
    assert line.endswith("; --method asks for another")
    saved = Shortlist.load(tmp_path / "model")
    assert f"picked {line}" in saved.notes
    assert saved.params["picked"]["method"] == "online_substitution"
    assert columns(run, folder, "-k", 2, "-q").stderr == ""
    named = columns(run, folder, "-k", 2, "--method", "online_substitution")
    assert "asks for another" not in named.stderr + named.stdout
    lasso = columns(run, folder, "-k", 2, "--lam", "0.1")
    assert lasso.stderr.startswith("grafting (room columns)")


@pytest.mark.parametrize("k", [2, "auto"])
def test_a_model_says_what_was_picked_and_why_as_the_library_does(
    run, folder, tmp_path, k
):
    path = folder / "visits.parquet"
    done = select(run, path, "-k", k, "--holdout", 0, "-o", tmp_path / "model")
    saved, ours = Shortlist.load(tmp_path / "model"), api_select(path, "y", k)
    assert saved.params["picked"] == ours.params["picked"]
    assert "in a trial with" in saved.params["picked"]["why"]
    assert [n.replace("--method", "method=") for n in saved.notes] == list(ours.notes)
    assert done.stderr.count("asks for another") == 1
    told = json.loads(run("report", tmp_path / "model", "--json").stdout)
    assert told["asked"]["picked"] == ours.params["picked"]["why"]
    as_json = select(run, path, "-k", k, "--holdout", 0, "--format", "json")
    assert as_json.stderr.count("asks for another") == 1


@pytest.mark.parametrize("words", [("--stability", "2"), ()])
def test_both_commands_of_a_model_give_its_features_again(run, folder, tmp_path, words):
    first, again, straight = (tmp_path / name for name in ("a", "b", "c"))
    select(run, folder / "visits.csv", "-k", "auto", "--seed", 3, *words, "-o", first)
    saved = Shortlist.load(first)
    for key, path in (("command", again), ("direct_command", straight)):
        program, *command = shlex.split(saved.params[key])
        assert program == "shortlist"
        assert run(*command, "-o", path).exit_code == 0
    assert again.read_bytes() == first.read_bytes()
    direct = Shortlist.load(straight)
    assert direct.names == saved.names
    np.testing.assert_array_equal(direct.weights, saved.weights)
    assert "budget_k" not in direct.trace
    told = json.loads(run("report", first, "--json").stdout)
    assert (told["asked"]["k"], told["asked"]["k_asked"]) == (saved.k, "auto")
    assert told["reproduce"]["seed"] == 3
    assert told["reproduce"]["command"] == saved.params["command"]
    assert told["reproduce"]["direct_command"] == saved.params["direct_command"]


def test_folds_are_those_asked_for_and_the_direct_command_has_none(
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
    command = Shortlist.load(out).params["direct_command"]
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
    assert "--cv" not in told["params"]["direct_command"]
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


def test_a_column_of_groups_is_not_counted_as_a_feature(run, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 15))
    data = pd.DataFrame(X, columns=[f"c{j}" for j in range(15)])
    data["u"] = [f"user {i // 2}" for i in range(600)]
    data["y"] = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.7])]
    data.to_csv(tmp_path / "a.csv", index=False)
    asked = ["select", tmp_path / "a.csv", "-k", 3, "--target", "y", "--no-trial"]
    done = run(*asked, "--sample-groups", "u")
    assert "more rows than features (600 rows, 15 features)" in done.stderr


def test_a_file_of_groups_is_counted_in_groups(run, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 12))
    data = pd.DataFrame(X, columns=[f"f{j}" for j in range(12)])
    data["z"] = X[:, :3].sum(axis=1) + 0.3 * rng.normal(size=240)
    data.to_csv(tmp_path / "a.csv", index=False)
    groups = tmp_path / "groups.tsv"
    groups.write_text("".join(f"f{j}\tg{j // 3}\n" for j in range(12)))
    asked = ["select", tmp_path / "a.csv", "-k", "auto", "--target", "z"]
    done = run(*asked, "--groups", groups, "--method", "foba")
    assert "k = 1 of 1, 2, 3: r2" in done.stderr
