"""Small files by all names that commands in the documentation and the help speak of.

One name is one kind of data wherever it stands, so that a command may go from page to page.
"""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd


def write_files(folder: Path) -> None:
    """Write all of them; shards and models are made by commands (``MAKING``)."""
    rng = np.random.default_rng(0)
    _write_rows(folder, rng)
    _write_people(folder, rng)
    _write_wide_tables(folder, rng)
    _write_genomes(folder, rng)
    _write_houses(folder, rng)


#: Commands that make the rest, out of the files.
MAKING = (
    "select monday.svm -k 2 --shard monday.shard",
    "select tuesday.svm -k 2 --shard tuesday.shard --like monday.shard",
    "select week.svm -k 2 --shard week.shard --like monday.shard",
    "select data.svm -k 4 --method mission -o model.shortlist",
)


def _write_rows(folder: Path, rng: np.random.Generator, n: int = 80) -> None:
    """Libsvm and Vowpal Wabbit text; features 3 and 8 decide."""
    plain = ["data", "new", "monday", "tuesday", "week", "day-1", "day-2"]
    for stem in plain:
        X = rng.normal(size=(n, 30))
        y = np.where(X[:, 3] - X[:, 8] > 0, 1, -1)
        rows = [
            f"{label} " + " ".join(f"{j}:{v:.4f}" for j, v in enumerate(row))
            for label, row in zip(y, X, strict=True)
        ]
        text = "\n".join(rows) + "\n"
        (folder / f"{stem}.svm").write_text(text)
        (folder / f"{stem}.svm.gz").write_bytes(gzip.compress(text.encode()))
        if stem == "data":
            clicks = (row.replace(" ", " |ad ", 1) for row in rows)
            (folder / "clicks.vw").write_text("\n".join(clicks) + "\n")


def _write_people(folder: Path, rng: np.random.Generator, n: int = 60) -> None:
    """Tables of numbers and text."""
    people = pd.DataFrame({"id": np.arange(n), "age": rng.normal(40, 9, n)})
    people["town"] = rng.choice(["Bonn", "Oslo", "Rome"], n)
    for name in ("height", "children", "rooms"):
        people[name] = rng.normal(size=n)
    people["ill"] = np.where(people["age"] + rng.normal(0, 4, n) > 40, "yes", "no")
    people["income"] = people["age"] + 5 * (people["town"] == "Oslo")
    people.to_csv(folder / "people.csv", index=False)
    people.to_parquet(folder / "new-people.parquet")
    people.assign(label=people["age"] > 40).drop(columns="income").to_json(
        folder / "visits.jsonl", orient="records", lines=True
    )
    kinds = rng.choice(["cat", "lion", "dog", "wolf"], n)
    people.assign(kind=kinds).to_csv(folder / "animals.csv", index=False)
    (folder / "families.tsv").write_text(
        "cat\tcats\nlion\tcats\ndog\tdogs\nwolf\tdogs\n"
    )
    visits = people[["age", "height", "rooms", "children"]].assign(
        income=people["income"], user=np.arange(n) // 3
    )
    visits.assign(bought=people["ill"]).to_csv(folder / "visits.csv", index=False)


def _write_wide_tables(folder: Path, rng: np.random.Generator) -> None:
    """Tables with more columns than budgets."""
    survey = pd.DataFrame(rng.normal(size=(60, 25)))
    survey.columns = [f"q{j}" for j in range(25)]
    answers = np.where(survey["q3"] > 0, "a", "b")
    survey.assign(y=answers).to_csv(folder / "survey.csv", index=False)
    survey.assign(outcome=answers).to_csv(folder / "patients.csv", index=False)
    genes = pd.DataFrame(rng.normal(size=(50, 120)))
    genes.columns = [f"g{j}" for j in range(120)]
    genes.assign(y=genes["g7"] - genes["g9"]).to_parquet(folder / "genes.parquet")


def _write_genomes(folder: Path, rng: np.random.Generator) -> None:
    """Two sequences, each a class."""
    (folder / "genomes").mkdir()
    for name in ("one", "two"):
        letters = "".join(rng.choice(list("ACGT"), 8000))
        text = f">{name}\n{letters}\n".encode()
        (folder / f"genomes/{name}.fna.gz").write_bytes(gzip.compress(text))


def _write_houses(folder: Path, rng: np.random.Generator) -> None:
    """Sensors over time; the second tells the activity."""
    fires = rng.integers(0, 2, (120, 12))
    activity = np.where(fires[:, 2] > 0, "cooks", "sleeps")
    house = pd.DataFrame(fires, columns=[f"sensor{j}" for j in range(12)])
    by_day = house.assign(activity=activity, day=np.repeat(np.arange(6), 20))
    for name in ("home", "house"):
        by_day.to_csv(folder / f"{name}.csv", index=False)
    house.columns = [f"room{j % 4}:sensor{j}" for j in range(12)]
    house.assign(activity=activity).to_parquet(folder / "house.parquet")
