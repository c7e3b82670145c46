"""shortlist merge: one model from runs on parts of the data."""

import json

import numpy as np
import pytest

from shortlist import Shortlist


@pytest.fixture
def days(tmp_path):
    """Two files of VW text with words, of which a few matter."""
    rng = np.random.default_rng(0)
    words = [f"word{i}" for i in range(400)]
    paths = []
    for day in ("monday", "tuesday"):
        path = tmp_path / f"{day}.vw"
        with path.open("w") as file:
            for _ in range(2_500):
                chosen = rng.choice(400, rng.integers(4, 9), replace=False)
                score = (chosen < 4).sum() - (chosen >= 396).sum() + 0.2 * rng.normal()
                line = " ".join(words[i] for i in chosen)
                file.write(f"{1 if score > 0 else -1} |t {line}\n")
        paths.append(path)
    return paths


@pytest.fixture
def shards(days, run, tmp_path):
    made = [tmp_path / f"{path.stem}.shard" for path in days]
    like = []
    for path, shard in zip(days, made, strict=True):
        done = run("select", path, "-k", "8", "--shard", shard, *like)
        assert done.exit_code == 0, done.stderr
        like = ["--like", made[0]]
    return made


def test_days_are_learned_one_by_one_and_merged(shards, run, tmp_path):
    model = tmp_path / "model"
    done = run("merge", *shards, "-o", model)
    assert done.exit_code == 0, done.stderr
    merged = Shortlist.load(model)
    best = {f"t^word{i}" for i in (0, 1, 2, 3, 396, 397, 398, 399)}
    assert set(merged.names) == best
    assert f"{merged.n_examples:,} examples" in done.stdout
    assert merged.params["command"].startswith("shortlist merge")
    assert "merged 2 shards" in done.stderr
    again = run("merge", *shards, "--shard", tmp_path / "both", "--format", "json")
    assert again.exit_code == 0
    for order in ((tmp_path / "both", shards[1]), (shards[0], tmp_path / "both")):
        twice = run("merge", *order)
        assert (twice.exit_code, twice.stdout) == (2, "")
        assert f"{order[0]} and {order[1]} have a run in common" in twice.stderr


def test_a_merged_shard_is_merged_with_others_later(days, shards, run, tmp_path):
    both, third = tmp_path / "both", tmp_path / "third"
    lines = days[0].read_text().splitlines(keepends=True)
    (tmp_path / "wednesday.vw").write_text("".join(lines[:500]))
    words = ("-k", "8", "--shard", third, "--like", shards[0])
    assert run("select", tmp_path / "wednesday.vw", *words).exit_code == 0
    assert run("merge", *shards, "--shard", both).exit_code == 0
    done = run("merge", both, third, "--format", "json", "-q")
    assert (done.exit_code, done.stderr) == (0, "")
    assert json.loads(done.stdout)["params"]["shards"] == 3


def test_what_cannot_be_merged_is_refused_in_one_line(days, shards, run, tmp_path):
    other = tmp_path / "other"

    def refused(*words):
        done = run(*words)
        assert done.exit_code in (1, 2)
        (line,) = done.stderr.strip().splitlines()
        return line

    run("select", days[1], "-k", "8", "--shard", other)
    assert "mean squared norm" in refused("merge", shards[0], other)
    run("select", days[1], "-k", "8", "--shard", other, "--seed", "3")
    assert "alike" in refused("merge", shards[0], other)
    assert "twice" in refused("merge", shards[0], shards[0])
    assert "merge" in refused("merge", shards[0], days[0])
    assert "No such file" in refused("merge", shards[0], tmp_path / "absent")
    like = ("--like", shards[0])
    words = ("select", days[1], "-k", "8", "--shard", other)
    assert "recipe" in refused(*words, "--recipe", "newton")
    assert "alike" in refused(*words, *like, "--memory", "2MB")
    assert "merged" in refused(*words, "--method", "sgd_iht")
    assert "read by this command" in refused("merge", *shards, "-o", shards[0])
