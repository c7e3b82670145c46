"""``shortlist select --columns``: tables read column by column."""

import json

import numpy as np
import pandas as pd
import pytest

from shortlist import Grafting, OnlineSubstitution, Shortlist, stability
from shortlist._protocols import Progress
from shortlist.cli._progress import detail
from shortlist.columns._run import ColumnRun
from shortlist.front import _from_columns
from shortlist.resampling import _column_substitutes, _columns


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Genes, two of which decide, in a Parquet file and in a folder; the frame."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        rng.normal(size=(200, 50)), columns=[f"gene{j}" for j in range(50)]
    )
    margin = frame["gene7"] - 2 * frame["gene30"]
    frame["kind"] = np.where(margin > 0, "ill", "well")
    frame["age"] = margin + 0.1 * rng.normal(size=200)
    folder = tmp_path_factory.mktemp("columns")
    frame.to_parquet(folder / "genes.parquet")
    (folder / "genes").mkdir()
    for name in frame.columns.drop("kind"):
        np.save(folder / "genes" / f"{name}.npy", frame[name].to_numpy())
    return folder, frame


def test_columns_of_a_file_give_what_the_estimator_gives(run, table, tmp_path):
    folder, frame = table
    model = tmp_path / "model.shortlist"
    done = run(
        *("select", "--columns", folder / "genes.parquet", "--target", "age"),
        *("-k", 2, "--never", "gene1", "-o", model),
    )
    assert done.exit_code == 1  # kind is text
    assert "column 'kind': expected numbers" in done.stderr
    numbers = tmp_path / "numbers.parquet"
    frame.drop(columns="kind").to_parquet(numbers)
    words = ("select", "--columns", numbers, "--target", "age", "-k", 2, "-o", model)
    done = run(*words)
    assert done.exit_code == 0, done.stderr
    assert "2 of 50 features chosen by online_substitution" in done.stdout
    X, y = frame.drop(columns=["kind", "age"]), frame["age"]
    fitted = OnlineSubstitution(2).fit(X, y)
    saved = Shortlist.load(model)
    assert saved.names == fitted.shortlist_.names == ("gene30", "gene7")
    np.testing.assert_allclose(saved.weights, fitted.shortlist_.weights)
    assert saved.params["command"].startswith("shortlist select")
    predicted = run("predict", model, numbers)
    assert predicted.exit_code == 0, predicted.stderr
    values = np.array(predicted.stdout.split(), float)
    np.testing.assert_allclose(values, fitted.predict(X), rtol=1e-4, atol=1e-4)


def test_workers_settings_and_folders(run, table):
    folder, _ = table
    done = run(
        *("select", "--columns", folder / "genes", "--target", "age", "-k", 4),
        *("--workers", 2, "--passes", 3, "--format", "json", "--loss", "huber"),
    )
    assert done.exit_code == 0, done.stderr
    assert '"n_workers": 2' in done.stdout
    assert '"passes": 3' in done.stdout
    assert "gene30" in done.stdout


def test_a_model_of_a_folder_is_saved_but_not_over_its_columns(run, table, tmp_path):
    folder, frame = table
    words = ("select", "--columns", folder / "genes", "--target", "age", "-k", 2)
    done = run(*words, "-o", tmp_path / "model")
    assert done.exit_code == 0, done.stderr
    assert set(Shortlist.load(tmp_path / "model").names) == {"gene7", "gene30"}
    column = folder / "genes" / "gene3.npy"
    done = run(*words, "-o", column)
    assert done.exit_code == 2
    assert "gene3.npy is read by this command" in done.stderr
    np.testing.assert_array_equal(np.load(column), frame["gene3"])


def test_grafting_has_a_penalty_and_one_worker(run, table):
    folder, _ = table
    words = ("select", "--columns", folder / "genes", "--target", "age", "-k", 9)
    words += ("--method", "grafting", "--lam", 0.5, "--format", "json")
    done = run(*words)
    assert done.exit_code == 0, done.stderr
    assert '"penalty": 0.5' in done.stdout
    assert "gene30" in done.stdout
    done = run(*words, "--workers", 2)
    assert done.exit_code != 0
    assert "grafting goes with one worker" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--method", "mission"), "mission reads rows; --columns goes with"),
        (("--memory", "1MB"), "online_substitution: has no setting memory"),
        (("--holdout", "0.1"), "--holdout does not go with --columns"),
        (("other.parquet",), "--columns wants one FILE, got 2"),
        (("--loss", "hinge"), "online_substitution: does not know the loss hinge"),
        (("--never", "gene99"), "'gene99'"),
        (("--missing", "category"), "missing: expected"),
    ],
)
def test_what_does_not_go_with_columns_is_refused(run, table, words, message):
    done = run(
        "select", "--columns", table[0] / "genes", "-k", 2, "--target", "age", *words
    )
    assert done.exit_code != 0
    assert message in " ".join(done.stderr.split())


@pytest.mark.parametrize("form", ["folder", "file"])
def test_options_that_name_columns_are_called_by_their_names(
    run, table, tmp_path, form
):
    folder, frame = table
    path = folder / "genes"
    if form == "file":
        path = tmp_path / "genes.parquet"
        frame.drop(columns="kind").to_parquet(path)
    asked = ("select", "--columns", path, "-k", 2)
    for target, words, complaint in (
        ("age", ("--sample-groups", "no"), "groups of rows: expected the name of a"),
        ("no", ("--sample-groups", "age"), "target: expected the name of a column"),
        ("age", ("--sample-groups", "age"), "got 'age', which is the target"),
        ("age", ("--never", "no"), "--never"),
    ):
        done = run(*asked, "--target", target, *words)
        assert done.exit_code != 0
        line = done.stderr.splitlines()[-1]
        assert complaint in line
        assert "leave_out" not in line


def test_groups_of_rows_may_be_left_out_as_well(run, table):
    groups = ("--sample-groups", "gene3", "--stability", 2)
    words = ("--columns", table[0] / "genes", "--target", "age", "-k", 2, *groups)
    plain = run("select", *words)
    both = run("select", *words, "--never", "gene3")
    assert both.exit_code == 0, both.stderr
    assert both.stdout == plain.stdout


def test_missing_values_are_filled_in_on_request(run, table, tmp_path):
    frame = table[1].drop(columns="kind")
    frame.loc[3, "gene2"] = np.nan
    frame.to_parquet(tmp_path / "gaps.parquet")
    words = ("select", "--columns", tmp_path / "gaps.parquet", "--target", "age")
    done = run(*words, "-k", 2)
    assert "row 3, column 'gene2'" in done.stderr
    assert run(*words, "-k", 2, "--missing", "mean").exit_code == 0


def test_a_target_is_needed_and_rows_are_refused(run, table, data):
    done = run("select", "--columns", table[0] / "genes", "-k", 2)
    assert "--columns wants --target" in done.stderr
    done = run("select", data, "-k", 2, "--method", "grafting")
    assert "grafting goes with --columns" in done.stderr


def test_progress_is_in_columns_a_second():
    progress = Progress(2, "select", 500, 1000, "columns", 500, 0.25)
    assert "250 columns/s" in detail(progress, 250.0, 250.0)
    assert "2 s left" in detail(progress, 250.0, 250.0)


@pytest.mark.parametrize("words", [["--workers", "2"], ["--engine", "ray"]])
def test_workers_go_with_columns(run, tmp_path, words):
    (tmp_path / "a.svm").write_text("1 1:2\n0 2:3\n")
    done = run("select", tmp_path / "a.svm", "-k", "1", *words)
    assert done.exit_code == 2
    assert f"{words[0]} goes with --columns" in done.stderr


def test_a_column_of_text_may_be_left_out(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(50, 4)), columns=list("abcd"))
    path = tmp_path / "people.parquet"
    frame.assign(who="x", y=frame["b"]).to_parquet(path)
    words = ["select", "--columns", path, "--target", "y", "-k", 1]
    refused = run(*words)
    assert "column 'who': expected numbers" in " ".join(refused.stderr.split())
    done = run(*words, "--never", "who", "--never", "a", "--format", "json")
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert [entry["name"] for entry in told["entries"]] == ["b"]
    assert "--never who" in told["params"]["command"]


@pytest.mark.parametrize("method", ["online_substitution", "grafting"])
def test_halves_of_the_rows_choose_from_the_same_columns(run, table, tmp_path, method):
    frame = table[1]
    model = tmp_path / "model.shortlist"
    numbers = tmp_path / "numbers.parquet"
    people = np.repeat(np.arange(50), 4)
    frame.drop(columns="kind").assign(person=people).to_parquet(numbers)
    words = ("select", "--columns", numbers, "--target", "age", "-k", 3, "-o", model)
    words = (*words, "--stability", 4, "--sample-groups", "person", "--method", method)
    done = run(*words, "--never", "gene1")
    assert done.exit_code == 0, done.stderr
    assert "in 75% of 8 halves or more, at most" in done.stdout
    saved = Shortlist.load(model)
    X, y = frame.drop(columns=["kind", "age", "gene1"]), frame["age"]
    selector = {"grafting": Grafting, "online_substitution": OnlineSubstitution}
    found = stability(selector[method](3), X, y, n_resamples=4, groups=people)
    shares = dict(zip(found.names, found.shares.tolist(), strict=True))
    told = saved.to_frame()
    assert dict(zip(told["name"], told["stability"], strict=True)) == {
        name: shares.get(name, 0.0) for name in saved.names
    }
    assert saved.params["stability"]["features"] == 49
    assert "--stability 4" in saved.params["command"]


def stops(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize("stability", [(), ("--stability", 3)])
@pytest.mark.parametrize("where", ["at once", "in the first block"])
def test_ctrl_c_before_a_column_was_chosen_leaves_out_alone(
    run, table, tmp_path, monkeypatch, where, stability
):
    owner, name = {
        "at once": (_from_columns, "labelled_columns"),
        "in the first block": (ColumnRun, "step"),
    }[where]
    monkeypatch.setattr(owner, name, stops)
    model = tmp_path / "keep.shortlist"
    model.write_bytes(b"what a good run has left")
    words = ("select", "--columns", table[0] / "genes", "--target", "age", "-k", 2)
    done = run(*words, *stability, "--method", "grafting", "-o", model)
    assert (done.exit_code, done.stdout) == (130, "")
    assert done.stderr == "interrupted before anything was learned\n"
    assert model.read_bytes() == b"what a good run has left"


def test_ctrl_c_after_the_choice_keeps_it(run, table, tmp_path, monkeypatch):
    words = ("select", "--columns", table[0] / "genes", "--target", "age", "-k", 2)
    words = (*words, "--substitutes", 1, "--stability", 2)
    whole = run(*words, "--format", "csv").stdout
    for owner, name, said in (
        (
            _from_columns,
            "column_leak_notes",
            "interrupted before leaks were looked for",
        ),
        (_column_substitutes, "slopes_without", "interrupted: the result is partial"),
    ):
        model = tmp_path / name
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, stops)
            done = run(*words, "-o", model, "--format", "csv")
        assert done.exit_code == 130, done.stderr
        assert done.stderr.splitlines()[-1] == said
        assert done.stdout == whole
        assert set(Shortlist.load(model).names) == {"gene7", "gene30"}


def test_ctrl_c_before_a_pair_of_halves_is_done_is_told(run, table, monkeypatch):
    folder, _ = table
    monkeypatch.setattr(_columns.HalfRun, "step", stops)
    words = ("select", "--columns", folder / "genes", "--target", "age", "-k", 2)
    done = run(*words, "--stability", 3)
    assert done.exit_code == 130
    assert "none of 3 pairs of halves was fitted" in done.stdout + done.stderr
    assert "interrupted: the result is partial" in done.stderr


def test_substitutes_are_told_of_columns(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(90, 8)), columns=list("abcdefgh"))
    frame["h"] = frame["b"] + 0.3 * rng.normal(size=90)
    frame["y"] = frame["b"] - frame["c"] + 0.3 * rng.normal(size=90)
    frame.to_parquet(tmp_path / "genes.parquet")
    words = (
        "select",
        "--columns",
        tmp_path / "genes.parquet",
        "--target",
        "y",
        "-k",
        2,
    )
    done = run(*words, "--substitutes", 1)
    assert done.exit_code == 0, done.stderr
    assert "instead of b: h (" in done.stdout
