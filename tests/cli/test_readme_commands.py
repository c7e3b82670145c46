"""Every command that the README shows does what is written beside it."""

import gzip
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

README = Path(__file__).parents[2] / "README.md"


def commands():
    """Lines of the block under "On the command line"."""
    text = README.read_text().partition("## On the command line")[2]
    return re.findall(r"^    shortlist (.+?)(?:  +#.*)?$", text, re.MULTILINE)


def write_libsvm(path, rng, n=80):
    X = rng.normal(size=(n, 30))
    y = np.where(X[:, 3] - X[:, 8] > 0, 1, -1)
    rows = (
        f"{label} " + " ".join(f"{j}:{v:.4f}" for j, v in enumerate(row))
        for label, row in zip(y, X, strict=True)
    )
    path.write_text("\n".join(rows) + "\n")


@pytest.fixture
def folder(run, tmp_path, monkeypatch):
    """All files that the README speaks of."""
    rng = np.random.default_rng(0)
    monkeypatch.chdir(tmp_path)
    for name in ("data.svm", "new.svm", "monday.svm", "tuesday.svm"):
        write_libsvm(tmp_path / name, rng)
    people = pd.DataFrame({"id": np.arange(60), "age": rng.normal(40, 9, 60)})
    people["town"] = rng.choice(["Bonn", "Oslo", "Rome"], 60)
    people["income"] = people["age"] + 5 * (people["town"] == "Oslo")
    people.to_csv("people.csv", index=False)
    people.to_parquet("new-people.parquet")
    people.assign(label=people["age"] > 40).drop(columns="income").to_json(
        "visits.jsonl", orient="records", lines=True
    )
    kinds = rng.choice(["cat", "lion", "dog", "wolf"], 60)
    people.assign(kind=kinds).to_csv("animals.csv", index=False)
    Path("families.tsv").write_text("cat\tcats\nlion\tcats\ndog\tdogs\nwolf\tdogs\n")
    survey = pd.DataFrame(
        rng.normal(size=(60, 25)), columns=[f"q{j}" for j in range(25)]
    )
    survey.assign(y=np.where(survey["q3"] > 0, "a", "b")).to_csv(
        "survey.csv", index=False
    )
    genes = pd.DataFrame(rng.normal(size=(50, 120)))
    genes.columns = [f"g{j}" for j in range(120)]
    genes.assign(y=genes["g7"] - genes["g9"]).to_parquet("genes.parquet")
    Path("genomes").mkdir()
    for name in ("one", "two"):
        letters = "".join(rng.choice(list("ACGT"), 8000))
        Path(f"genomes/{name}.fna.gz").write_bytes(
            gzip.compress(f">{name}\n{letters}\n".encode())
        )
    home = pd.DataFrame(rng.integers(0, 2, (120, 12)))
    home.columns = [f"sensor{j}" for j in range(12)]
    home.assign(
        activity=np.where(home["sensor2"] > 0, "cooks", "sleeps"),
        day=np.repeat(np.arange(6), 20),
    ).to_csv("home.csv", index=False)
    monday = ["select", "monday.svm", "-k", 2, "--shard", "monday.shard"]
    tuesday = ["select", "tuesday.svm", "-k", 2, "--shard", "tuesday.shard"]
    for words in (monday, [*tuesday, "--like", "monday.shard"]):
        done = run(*words)
        assert done.exit_code == 0, done.stderr
    return tmp_path


def test_the_commands_of_the_readme_run_in_the_order_they_stand_in(run, folder):
    lines = commands()
    assert len(lines) == 16
    for line in lines:
        done = run(*shlex.split(line))
        assert done.exit_code == 0, f"{line}: {done.stderr}"
        assert done.stdout or "-o" in line, line
    assert (folder / "report.html").stat().st_size > 10_000
    assert len(pd.read_csv(folder / "small.csv")) == 80
