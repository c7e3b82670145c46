"""``shortlist select --stability`` and ``--substitutes``."""

import json

import numpy as np
import pytest

from shortlist import FoBa, Shortlist, stability
from shortlist.resampling import _tables


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A table in which c3 and c8 decide, and c7 is much like c3."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 10)).round(3)
    X[:, 7] = (X[:, 3] + 0.4 * rng.normal(size=200)).round(3)
    y = np.where(X[:, 3] - X[:, 8] + 0.5 * rng.normal(size=200) > 0, "yes", "no")
    path = tmp_path_factory.mktemp("data") / "people.csv"
    head = ",".join([*(f"c{j}" for j in range(10)), "y"])
    rows = [",".join([*map(str, x), label]) for x, label in zip(X, y, strict=True)]
    path.write_text("\n".join([head, *rows]))
    return path


def test_a_table_method_tells_shares_and_substitutes(run, people, tmp_path):
    out = tmp_path / "model"
    words = (people, "-k", 2, "--target", "y", "--method", "foba", "-o", out)
    result = run("select", *words, "--stability", 4, "--substitutes", 1)
    assert result.exit_code == 0, result.stderr
    assert "in 75% of 8 halves or more, at most" in result.stdout
    assert "instead of c3: c7 (" in result.stdout
    model = Shortlist.load(out)
    assert set(model.names) == {"c3", "c8"}
    facts = model.params["stability"]
    assert (facts["pairs"], facts["features"], facts["mean_chosen"]) == (4, 10, 2.0)
    assert model.params["holdout"]["n_rows"] > 10
    told = json.loads(run("report", out, "--json").stdout)
    assert told["entries"]["stability"] == [1.0, 1.0]
    assert told["substitutes"]["substitute"][0] == "c7"
    assert "--stability 4" in told["reproduce"]["command"]


def test_a_stream_tells_shares_in_the_same_passes(run, people):
    words = (people, "-k", 2, "--target", "y", "--stability", 3, "--format", "csv")
    result = run("select", *words)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "rank,name,id,weight,score,error,stability"
    assert {line.split(",")[1] for line in lines[1:]} == {"c3", "c8"}
    assert all(float(line.split(",")[-1]) > 0.6 for line in lines[1:])


def test_ctrl_c_keeps_the_pairs_that_are_done(run, people, monkeypatch):
    solved = []

    def rows_of(table, rows):
        solved.append(rows)
        if len(solved) == 4:
            raise KeyboardInterrupt
        return original(table, rows)

    original = _tables._rows_of
    monkeypatch.setattr(_tables, "_rows_of", rows_of)
    words = (people, "-k", 2, "--target", "y", "--method", "foba", "--stability", 9)
    result = run("select", *words)
    assert result.exit_code == 130
    assert "partial: 1 of 9 pairs of halves were fitted" in result.stdout
    assert "interrupted: the result is partial" in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--method", "mission", "--substitutes", 2),
            "--substitutes needs all rows in memory, and mission has",
        ),
        (("--stability", 2, "--checkpoint", "c"), "does not go with --checkpoint"),
        (
            ("--substitutes", 2, "--columns", "--workers", 2),
            "--substitutes does not go with --workers",
        ),
        (
            ("--stability", 2, "--columns", "--workers", 2),
            "--stability does not go with --workers",
        ),
        (
            ("--stability", 2, "--columns", "--engine", "ray"),
            "--stability does not go with --engine",
        ),
        (("--stability", 2, "--interactions", 2), "does not go with --interactions"),
        (("--stability", 0), "0 is not in the range"),
    ],
)
def test_what_cannot_be_had_is_refused_at_once(run, people, words, said):
    result = run("select", people, "-k", 2, "--target", "y", *words)
    assert result.exit_code == 2
    assert said in result.stderr


def test_groups_of_rows_stay_together_in_halves(run, tmp_path):
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(40), 5)
    X = rng.normal(size=(200, 8)).round(3)
    y = (X[:, 3] + rng.normal(size=40)[people]).round(3)
    path, out = tmp_path / "visits.csv", tmp_path / "model"
    head = ",".join([*(f"c{j}" for j in range(8)), "person", "y"])
    rows = [
        ",".join(map(str, [*x, person, label]))
        for x, person, label in zip(X, people, y, strict=True)
    ]
    path.write_text("\n".join([head, *rows]))
    words = ("-k", 3, "--target", "y", "--method", "foba", "--holdout", 0, "-o", out)
    words = (path, *words, "--stability", 6, "--sample-groups", "person")
    assert run("select", *words).exit_code == 0
    found = stability(FoBa(k=3), X, y, n_resamples=6, groups=people)
    shares = dict(zip(found.names, found.shares.tolist(), strict=True))
    told = Shortlist.load(out).to_frame()
    assert dict(zip(told["name"], told["stability"], strict=True)) == {
        name: shares[name.replace("c", "x")] for name in told["name"]
    }


@pytest.mark.parametrize("method", ["mission", "barda", "foba"])
def test_a_column_of_groups_is_no_feature_to_choose_from(run, people, tmp_path, method):
    """Were its values counted, bounds on false choices would be too small."""
    grouped = tmp_path / "grouped.csv"
    head, *rows = people.read_text().splitlines()
    rows = [f"patient {i // 5},{row}" for i, row in enumerate(rows)]
    grouped.write_text("\n".join([f"patient,{head}", *rows]))
    words = ("-k", 2, "--target", "y", "--method", method, "--stability", 2)
    words = (*words, "--sample-groups", "patient", "--never", "c9", "--format", "json")
    result = run("select", grouped, *words)
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["params"]["stability"]["features"] == 9
