"""Whole groups of features on the command line, of which K are counted."""

import numpy as np
import pandas as pd
import pytest

from shortlist import Shortlist
from shortlist.table import FoBa

CITIES = ("Bonn", "Oslo", "Rome", "Ulm")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Numbers that three of four cities, and one of two measurements, decide."""
    rng = np.random.default_rng(0)
    n = 600
    city, colour = rng.choice(CITIES, n), rng.choice(["red", "blue"], n)
    a, b = rng.normal(size=(2, n)).round(3)
    y = a + 2.0 * (city == "Bonn") - 2.0 * (city == "Oslo") + (city == "Rome")
    frame = pd.DataFrame({"a": a, "b": b, "city": city, "colour": colour})
    frame["y"] = (y + 0.1 * rng.normal(size=n)).round(3)
    path = tmp_path_factory.mktemp("groups") / "table.csv"
    frame.to_csv(path, index=False)
    return frame, path


def chosen(run, path, tmp_path, *words, method="foba"):
    model = tmp_path / "model.shortlist"
    asked = ["select", path, "-k", 2, "--target", "y", "--holdout", 0, "-o", model]
    done = run(*asked, "--method", method, *words)
    assert done.exit_code == 0, done.stderr
    return Shortlist.load(model), done


@pytest.mark.parametrize("method", ["foba", "iti", "gsr"])
def test_columns_of_a_table_are_chosen_whole(run, table, tmp_path, method):
    result, done = chosen(run, table[1], tmp_path, "--groups", "columns", method=method)
    assert set(result.names) == {"a", *(f"city={city}" for city in CITIES)}
    assert "k = 2 counts groups; they hold 5 features" in done.stdout + done.stderr


def test_groups_of_a_file_are_those_of_the_estimator(run, table, tmp_path):
    frame, path = table
    groups = tmp_path / "groups.tsv"
    groups.write_text("a\tmeasured\nb\tmeasured\ncity=Bonn\trhine\n")
    result, _ = chosen(run, path, tmp_path, "--groups", groups)
    X = pd.get_dummies(
        frame.drop(columns="y"), prefix_sep="=", columns=["city", "colour"], dtype=float
    )
    fitted = FoBa(
        2, feature_groups={"measured": ["a", "b"], "rhine": ["city=Bonn"]}
    ).fit(X, frame["y"])
    assert {"a", "b"} < set(result.names)
    assert set(result.names) == set(fitted.shortlist_.names)
    np.testing.assert_allclose(
        sorted(result.weights), sorted(fitted.shortlist_.weights), rtol=1e-6
    )


def test_what_was_asked_for_is_told_in_groups(run, table, tmp_path):
    chosen(run, table[1], tmp_path, "--groups", "columns")
    shown = run("inspect", tmp_path / "model.shortlist").stdout
    assert "k = 2 groups with 5 columns\n" in shown


def test_always_and_never_mean_the_group_of_a_feature(run, table, tmp_path):
    words = ["--groups", "columns", "--always", "colour=red", "--never", "a"]
    result, _ = chosen(run, table[1], tmp_path, *words)
    cities = {f"city={city}" for city in CITIES}
    assert set(result.names) == {"colour=red", "colour=blue", *cities}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tone\nz\tone\n", "groups: no feature is called 'z'"),
        ("a one\n", "expected key, tab, label, got 'a one'"),
        (None, "expected columns, or a file of features and groups"),
    ],
)
def test_groups_that_cannot_be_are_refused(run, table, tmp_path, text, message):
    path = tmp_path / "groups.tsv"
    if text is not None:
        path.write_text(text)
    asked = ["select", table[1], "-k", 2, "--target", "y", "--method", "foba"]
    done = run(*asked, "--groups", path)
    assert done.exit_code != 0
    assert message in " ".join(done.stderr.split())


def test_a_method_that_knows_no_groups_says_so(run, table):
    asked = ["select", table[1], "-k", 2, "--target", "y", "--groups", "columns"]
    done = run(*asked, "--method", "mission")
    assert done.exit_code == 2
    assert "mission has no setting --groups" in done.stderr


@pytest.mark.parametrize("method", ["foba", "gsr"])
@pytest.mark.parametrize("how", ["columns", "file"])
def test_halves_choose_whole_columns_as_the_run_does(run, table, tmp_path, method, how):
    groups = "columns"
    if how == "file":
        groups = tmp_path / "groups.tsv"
        groups.write_text("".join(f"city={city}\tcity\n" for city in CITIES))
    words = ["--groups", groups, "--stability", 3]
    result, _ = chosen(run, table[1], tmp_path, *words, method=method)
    assert {f"city={city}" for city in CITIES} < set(result.names)
    assert result.to_frame()["stability"].tolist() == [1.0] * 5
    facts = result.params["stability"]
    assert facts["features"] == (4 if how == "columns" else 5)  # two colours, or one
    assert facts["mean_chosen"] == 2.0
