"""Comparisons on the command line."""

import io

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
    tables = done.stdout.split("k = ")[1:]
    assert [table.split()[0] for table in tables] == ["1", "2"]
    best = tables[1].splitlines()[1].split()
    assert best[0] in ("foba", "l1", "mission")
    assert float(best[1]) > 0.9
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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-k", "5,x"], "expected whole numbers as in 5,10,20, got '5,x'"),
        (["-k", "0"], "expected whole numbers as in 5,10,20, got '0'"),
        (["--methods", "nobody"], "method should be one of"),
        (["--sample-groups", "nothing"], "no column is called 'nothing'"),
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
    assert "left out: 40 rows without a label" in both[0].stderr
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
