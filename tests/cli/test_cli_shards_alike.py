"""Shards are merged only if they mean the same things; --like asks for nothing twice."""

import numpy as np
import pytest

from shortlist import Shortlist
from shortlist.sketch._shard_files import load_shard


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Small files of all kinds, of two days each."""
    folder = tmp_path_factory.mktemp("days")
    rng = np.random.default_rng(0)
    for day in ("monday", "tuesday"):
        chosen = [rng.choice(30, 4, replace=False) for _ in range(400)]
        labels = [1 if 3 in row or rng.random() < 0.1 else -1 for row in chosen]
        rows = list(zip(labels, chosen, strict=True))
        texts = {
            "svm": [f"{y} " + " ".join(f"{i}:1" for i in sorted(x)) for y, x in rows],
            "vw": [f"{y} |t " + " ".join(f"w{i}" for i in x) for y, x in rows],
            "csv": [
                "y,a,code,town",
                *(f"{y},{x[0]},{x[1]},{'Bonn' if 3 in x else ''}" for y, x in rows),
            ],
        }
        for ending, lines in texts.items():
            (folder / f"{day}.{ending}").write_text("\n".join(lines) + "\n")
        (folder / day).mkdir()  # files of the same names are of the same classes
        for name in ("one", "two"):
            letters = "".join(
                rng.choice(list("ACGT" if name == "one" else "AACG"), 4000)
            )
            (folder / day / f"{name}.fna").write_text(f">{name}\n{letters}\n")
    return folder


def files_of(folder, day, ending):
    if ending == "fna":
        return [folder / day / f"{name}.fna" for name in ("one", "two")]
    return [folder / f"{day}.{ending}"]


TABLE = ("--target", "y")
KMERS = ("--kmer", 6, "--fragment", 100)


@pytest.mark.parametrize(
    ("first", "second", "what"),
    [
        (("svm",), ("vw",), "got features = 'ids of libsvm text' and 'names of Vowpal"),
        (("vw",), ("vw", "--interactions", 2), "got interactions = None and 2"),
        (
            ("fna", *KMERS),
            ("fna", *KMERS, "--canonical"),
            "got canonical = False and Tr",
        ),
        (
            ("fna", *KMERS),
            ("fna", "--kmer", 5, "--fragment", 100),
            "got kmer = 6 and 5",
        ),
        (
            ("csv", *TABLE),
            ("csv", *TABLE, "--missing", "category"),
            "got missing = 'zero' and 'category'",
        ),
        (
            ("csv", *TABLE),
            ("csv", *TABLE, "--text", "code"),
            "got column 'code' of numbers and of text; --text makes it text in both",
        ),
        (("csv", *TABLE), ("csv", "--target", "a"), "got target = 'y' and 'a'"),
    ],
)
def test_shards_that_mean_other_things_are_refused(
    run, folder, tmp_path, first, second, what
):
    one, other = tmp_path / "one", tmp_path / "other"

    def select(day, words, *more):
        ending, *options = words
        files = files_of(folder, day, ending)
        loss = () if ending == "fna" else ("--loss", "squared")
        common = ("-k", 3, "--method", "mission", *loss)
        return run("select", *files, *common, *options, *more)

    for day, words, shard in (("monday", first, one), ("tuesday", second, other)):
        done = select(day, words, "--shard", shard)
        assert done.exit_code == 0, done.stderr
    like = select("tuesday", second, "--like", one, "--shard", tmp_path / "third")
    for refused in (run("merge", one, other), like):
        assert refused.exit_code == 2, refused.stderr
        (line,) = refused.stderr.strip().splitlines()
        assert what in line
        assert refused.stdout == ""


@pytest.mark.parametrize(
    "words",
    [
        ("vw", "--memory", "2MB", "--interactions", "t*t", "--never", "t^w7"),
        ("csv", *TABLE, "--missing", "category", "--text", "code", "--log1p"),
        ("fna", *KMERS, "--canonical", "--class-weight", "balanced", "--seed", 3),
    ],
)
def test_like_takes_what_is_not_given_from_the_shard(run, folder, tmp_path, words):
    one, other, third = (tmp_path / name for name in ("one", "other", "third"))
    ending, *options = words
    monday, tuesday = (files_of(folder, day, ending) for day in ("monday", "tuesday"))
    named = ("--method", "mission", "-k", 3)
    first = run("select", *monday, *named, *options, "--shard", one)
    assert first.exit_code == 0, first.stderr
    model = tmp_path / "model"
    done = run("select", *tuesday, "--like", one, "--shard", other, "-o", model)
    assert done.exit_code == 0, done.stderr
    spelled = run("select", *tuesday, *named, *options, "--like", one, "--shard", third)
    assert spelled.exit_code == 0, spelled.stderr
    assert load_shard(other).marks == load_shard(third).marks
    assert run("merge", one, other).exit_code == 0
    assert Shortlist.load(model).k == 3


def test_like_goes_by_what_is_given(run, folder, tmp_path):
    one = tmp_path / "one"
    words = ("select", folder / "monday.vw", "-k", 3, "--shard", one)
    assert run(*words, "--memory", "2MB").exit_code == 0
    other = ("select", folder / "tuesday.vw", "--like", one)
    refused = run(*other, "--memory", "4MB")
    assert refused.exit_code == 2
    assert "got memory = '2MB' and '4MB'" in refused.stderr
    missing = run("select", folder / "tuesday.vw")
    assert missing.exit_code == 2
    assert "Missing option '-k'" in missing.stderr
