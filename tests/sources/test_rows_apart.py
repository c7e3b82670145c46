"""Fragments overlap; whoever splits them gets stretches that share no letter."""

import re

import numpy as np
import pytest

from shortlist import ArraySource
from shortlist._protocols import rows_apart
from shortlist.sources import FastaSource, LabelledSource
from shortlist.sources.holdout import split_rows
from shortlist.sources.pairs import PairSource


@pytest.fixture(scope="module")
def genomes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("apart")
    rng = np.random.default_rng(0)
    for name, sizes in (("a", (3000, 130)), ("b", (5000, 60))):
        records = ("".join(rng.choice(list("ACGT"), n)) for n in sizes)
        text = "".join(f">{name}{i}\n{letters}\n" for i, letters in enumerate(records))
        (folder / f"{name}.fa").write_text(text)
    return [folder / "a.fa", folder / "b.fa"]


def places(source):
    """Record, first and last letter of each row."""
    pattern = re.compile(r"record (\S+), letters (\d+) to (\d+)")
    found = [pattern.search(source.locate(row)).groups() for row in range(source.size)]
    return [(name, int(first), int(last)) for name, first, last in found]


def test_fragments_of_two_stretches_share_no_letter(genomes):
    source = FastaSource(genomes, k=3, fragment=50, coverage=5.0)
    apart, groups = rows_apart(source)
    assert len(groups) == apart.size == source.size
    owner = {}
    for (name, first, last), group in zip(places(apart), groups.tolist(), strict=True):
        for letter in range(first, last + 1):
            assert owner.setdefault((name, letter), group) == group
    # a record of 3,000 letters has 20 stretches, one of 130 is too short for two
    named = [name for name, *_ in places(apart)]
    assert len({g for g, name in zip(groups, named, strict=True) if name == "a0"}) == 20
    assert len({g for g, name in zip(groups, named, strict=True) if name == "a1"}) == 1


def test_ordinary_rows_stay_as_they_are_and_parts_have_stretches_too(genomes):
    source = FastaSource(genomes, k=3, fragment=50)
    before = places(source)
    apart, _ = rows_apart(source)
    assert places(source) == before != places(apart)
    train, groups = rows_apart(source.part((0.0, 0.5)))
    assert len(groups) == train.size
    assert max(last for name, _, last in places(train) if name == "a0") <= 1500


def test_sources_around_fragments_know_the_stretches(genomes):
    base = FastaSource(genomes, k=3, fragment=50)
    plain, groups = rows_apart(base)
    for wrapped in (LabelledSource(base, {"a": "x", "b": "y"}), PairSource(base)):
        apart, own = rows_apart(wrapped)
        assert type(apart) is type(wrapped)
        np.testing.assert_array_equal(own, groups)
        firsts = [next(source.blocks()).ids[:3] for source in (apart, plain)]
        assert firsts[0][0] == firsts[1][0]
    assert rows_apart(LabelledSource(base, {"a": "x", "b": "y"}))[0].label_names == [
        "x",
        "y",
    ]


def test_rows_that_have_nothing_in_common_are_split_as_they_are(genomes):
    for source in (FastaSource(genomes, k=3, fragment=None), ArraySource(np.eye(3))):
        assert rows_apart(source) == (source, None)
    # some of the rows have other numbers than those that groups are of
    view, _ = split_rows(
        FastaSource(genomes, k=3, fragment=50), np.arange(164) % 2 == 0
    )
    assert rows_apart(view) == (view, None)


def test_rows_are_held_out_as_somebody_says():
    X, drawn = np.arange(1.0, 11.0)[:, np.newaxis], np.arange(10) % 3 == 0
    train, test = split_rows(ArraySource(X, np.arange(10), block_rows=4), drawn)
    labels = [np.concatenate([b.y for b in part.blocks()]) for part in (train, test)]
    assert labels[0].tolist() == [1, 2, 4, 5, 7, 8]
    assert labels[1].tolist() == [0, 3, 6, 9]
    assert (train.locate(2), test.locate(2)) == ("array: row 4", "array: row 6")
    with pytest.raises(Exception, match="expected 9 rows to split, got more"):
        list(split_rows(ArraySource(X), drawn[:9])[0].blocks())
