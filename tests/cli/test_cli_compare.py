"""Comparisons on the command line."""

import io
import signal

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Visits of thirty users; age and one city decide what they buy."""
    folder = tmp_path_factory.mktemp("compare")
    rng = np.random.default_rng(0)
    n = 240
    frame = pd.DataFrame(
        {
            "age": rng.normal(size=n).round(3),
            "noise": rng.normal(size=n).round(3),
            "more": rng.normal(size=n).round(3),
            "city": rng.choice(["Bonn", "Oslo", "Rome"], n),
            "user": np.repeat([f"u{i}" for i in range(30)], 8),
            "day": np.repeat(np.arange(30), 8),
        }
    )
    score = 2 * frame["age"] + 3 * (frame["city"] == "Oslo") - 1
    frame["bought"] = np.where(score > 0, "yes", "no")
    frame["spent"] = (score + 0.1 * rng.normal(size=n)).round(3)
    frame.drop(columns="spent").to_csv(folder / "visits.csv", index=False)
    frame.drop(columns="bought").to_parquet(folder / "spent.parquet")
    return folder


ASKED = ["-k", "1,2", "--methods", "foba,mission", "--cv", 3]


def test_a_table_for_people(run, folder, tmp_path):
    picture = tmp_path / "curves.png"
    words = ["--target", "bought", "--sample-groups", "user", "--plot", picture]
    done = run("compare", folder / "visits.csv", *ASKED, *words)
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "240 rows, 7 features, 3 folds"
    _, *tables, overlaps, verdict = done.stdout.split("\n\n")
    assert [table.splitlines()[0].split()[:3] for table in tables] == [
        ["k", "=", "1"],
        ["k", "=", "2"],
    ]
    head = " ".join(tables[0].splitlines()[0].split()[3:])
    assert head == "accuracy +- auc +- log loss +- overlap CPU s MB"
    best = tables[1].splitlines()[1].split()
    assert best[0] in ("foba", "l1", "mission")
    assert float(best[1]) > 0.9
    assert " ".join(overlaps.splitlines()[0].split()) == "overlap at k = 2 1 2 3 4"
    assert (
        f"best: {best[0]} with 2 features, accuracy {best[1]} +- {best[2]}" in verdict
    )
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_every_fold_as_csv(run, folder):
    words = ["--target", "spent", "--format", "csv", "--sample-groups", "day"]
    done = run("compare", folder / "spent.parquet", *ASKED, *words)
    assert done.exit_code == 0, done.stderr
    frame = pd.read_csv(io.StringIO(done.stdout))
    assert len(frame) == 4 * 2 * 3
    assert {"r2", "rmse", "seconds", "megabytes"} < set(frame)
    assert frame.query("method == 'foba' and k == 2")["r2"].min() > 0.5


def test_a_column_of_groups_is_no_feature(run, folder):
    asked = ["compare", folder / "visits.csv", *ASKED, "--target", "bought"]
    assert "240 rows, 37 features" in run(*asked).stdout
    words = ["--sample-groups", "day"]
    assert "240 rows, 36 features" in run(*asked, *words).stdout
    assert "240 rows, 36 features" in run(*asked, *words, "--never", "day").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-k", "5,x"], "expected whole numbers as in 5,10,20, got '5,x'"),
        (["-k", "0"], "expected whole numbers as in 5,10,20, got '0'"),
        (["--methods", "nobody"], "method should be one of"),
        (["--sample-groups", "nothing"], "no column is called 'nothing'"),
        (["-k", "900"], "from 1 to the number of features (37), got 900"),
        (["--metric", "r2"], "metric should be one of accuracy, auc, log_loss"),
        (["-k", "2", "--overlap-at", "5"], "one of the budgets of -k, got 5"),
        (["--always", "nobody"], "always: expected the name of a feature, got 'nobod"),
        (["--kmer", "3"], "--kmer is no option of files in the format csv"),
    ],
)
def test_what_makes_no_sense_is_refused(run, folder, words, message):
    done = run("compare", folder / "visits.csv", "--target", "bought", *words)
    assert done.exit_code != 0
    assert message in " ".join(done.stderr.split())


def test_labels_have_to_be_named(run, folder):
    done = run("compare", folder / "visits.csv")
    assert done.exit_code == 2
    assert "--target" in done.stderr


def test_rows_without_a_label_have_no_part_in_it(run, folder, tmp_path):
    frame = pd.read_csv(folder / "visits.csv")
    some = frame.assign(bought=frame["bought"].where(np.arange(len(frame)) >= 40))
    some.to_json(tmp_path / "some.jsonl", orient="records", lines=True)
    frame[40:].to_json(tmp_path / "known.jsonl", orient="records", lines=True)
    words = ["--target", "bought", "--sample-groups", "user", "--format", "csv"]
    both = [
        run("compare", tmp_path / f"{name}.jsonl", "-k", 2, "--methods", "mrmr", *words)
        for name in ("some", "known")
    ]
    assert [done.exit_code for done in both] == [0, 0], both[0].stderr
    assert "40 rows with no label were left out" in both[0].stderr
    assert "left out" not in both[1].stderr
    some, known = (
        pd.read_csv(io.StringIO(done.stdout)).drop(columns=["seconds", "megabytes"])
        for done in both
    )
    pd.testing.assert_frame_equal(some, known)


def test_rows_count_as_often_as_their_weights_say(run, folder, tmp_path):
    frame = pd.read_csv(folder / "visits.csv")
    rng = np.random.default_rng(3)
    noise = frame.assign(bought=rng.permutation(frame["bought"]))
    both = pd.concat([frame.assign(times=1), noise.assign(times=0)])
    both.to_csv(tmp_path / "weighted.csv", index=False)
    words = ["--target", "bought", "-k", 2, "--methods", "mrmr", "--format", "csv"]
    found = []
    for path, more in (
        (tmp_path / "weighted.csv", ["--weight", "times"]),
        (folder / "visits.csv", []),
    ):
        done = run("compare", path, *words, *more)
        assert done.exit_code == 0, done.stderr
        table = pd.read_csv(io.StringIO(done.stdout))
        found.append(table.drop(columns=["seconds", "megabytes"]))
    pd.testing.assert_frame_equal(*found)


def test_methods_may_have_blanks_between_and_budgets_too_large_are_told(run, folder):
    asked = ["compare", folder / "visits.csv", "--target", "bought", "--cv", 2]
    done = run(*asked, "-k", "1, 500", "--methods", "mrmr, online_substitution")
    assert done.exit_code == 0, done.stderr
    assert "left out: k = 500, as there are 37 features" in done.stderr
    assert "500" not in done.stdout
    table = done.stdout.split("\n\n")[1].splitlines()
    assert len({len(line) for line in table}) == 1
    assert "online_substitution" in done.stdout
    hushed = run(*asked, "-k", "1,500", "--methods", "mrmr", "--quiet")
    assert hushed.stderr == ""


def test_a_metric_decides_about_order_verdict_and_picture(run, folder, tmp_path):
    picture = tmp_path / "curves.svg"
    asked = [*ASKED, "--target", "bought", "--metric", "log_loss", "--plot", picture]
    done = run("compare", folder / "visits.csv", *asked, "--overlap-at", 1)
    assert done.exit_code == 0, done.stderr
    _, *tables, overlaps, verdict = done.stdout.split("\n\n")
    for table in tables:
        assert table.split()[3:5] == ["log", "loss"]
        losses = [float(line.split()[1]) for line in table.splitlines()[1:]]
        assert losses == sorted(losses)
    assert overlaps.startswith("overlap at k = 1")
    assert ", log loss 0." in verdict
    assert "<svg" in picture.read_text()


def test_features_to_leave_out_and_to_have_in_any_case(run, folder):
    asked = ["compare", folder / "visits.csv", "--target", "bought", *ASKED]
    done = run(*asked, "--never", "user", "--never", "day", "--never", "city=Oslo")
    assert done.stdout.startswith("240 rows, 5 features, 3 folds"), done.stderr
    kept = run(*asked, "--always", "noise")
    # a budget of one is spent on it by all methods
    first = kept.stdout.split("\n\n")[1].splitlines()[1:]
    assert len({line.split()[1] for line in first}) == 1
    both = run(*asked, "--always", "age", "--never", "age")
    assert both.exit_code != 0


def test_small_classes_make_fewer_folds(run, folder, tmp_path):
    frame = pd.read_csv(folder / "visits.csv").drop(columns="user")
    frame.loc[:2, "bought"] = "maybe"
    frame.to_csv(tmp_path / "rare.csv", index=False)
    asked = ["--target", "bought", "-k", 1, "--methods", "mrmr"]
    done = run("compare", tmp_path / "rare.csv", *asked)
    assert done.exit_code == 0, done.stderr
    assert ", 3 folds" in done.stdout
    assert "3 folds instead of 5, as there are 3 rows of class maybe" in done.stderr


def test_a_table_without_features_is_one_line(run, tmp_path):
    (tmp_path / "none.csv").write_text("y\n1\n0\n1\n0\n")
    done = run("compare", tmp_path / "none.csv", "-k", 1, "--target", "y")
    assert done.exit_code == 1
    assert "none.csv: expected features to choose from, got none" in done.stderr
    assert "internal error" not in done.stderr


def test_words_of_dna_are_compared_as_they_are_selected(run, tmp_path):
    rng = np.random.default_rng(0)
    for label, letters in (("one", "ACGT"), ("two", "ACGGT")):
        records = ("".join(rng.choice(list(letters), 60)) for _ in range(30))
        text = "".join(f">r{i}\n{r}\n" for i, r in enumerate(records))
        (tmp_path / f"{label}.fasta").write_text(text)
    files = [tmp_path / "one.fasta", tmp_path / "two.fasta"]
    words = ["--kmer", 2, "--fragment", "none", "--cv", 3, "-k", 2, "--methods", "mrmr"]
    done = run("compare", *files, *words)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("60 rows, 16 features, 3 folds")
    both = run("compare", *files, *words, "--canonical")
    assert both.stdout.startswith("60 rows, 10 features, 3 folds")


@pytest.mark.parametrize("form", ["table", "csv"])
def test_ctrl_c_keeps_the_folds_that_are_done(run, folder, monkeypatch, form):
    from shortlist.evaluate import _compare

    fits = []
    original = _compare.one_fold

    def one_fold(*parts, **options):
        fits.append(parts)
        if len(fits) == 6:  # of three a fold
            signal.raise_signal(signal.SIGINT)
        return original(*parts, **options)

    monkeypatch.setattr(_compare, "one_fold", one_fold)
    words = ["--target", "bought", "-k", 1, "--methods", "mrmr", "--format", form]
    done = run("compare", folder / "visits.csv", *words)
    assert done.exit_code == 130
    assert "incomplete: 5 of 15 fits were done" in done.stderr
    assert "interrupted: the comparison is incomplete" in done.stderr
    if form == "csv":
        assert len(done.stdout.splitlines()) == 1 + 5  # nothing is lost
    else:
        assert done.stdout.startswith("240 rows, 37 features, 1 fold, incomplete\n")
        assert "best: " in done.stdout
