"""Examples run, and what they say holds."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from shortlist.demo import genomes
from shortlist.sources.fasta import FastaSource

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def printed():
    command = [sys.executable, "examples/bacteria.py"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "refit ..." in done.stderr
    return done.stdout


def test_bacteria_are_recognised_by_words_that_were_never_seen_there(printed):
    found = re.findall(
        r"held out: ([0-9.]+) of 600 fragments .*\(([0-9.]+) by", printed
    )
    (long, baseline), (short, _) = [tuple(map(float, pair)) for pair in found]
    assert long > baseline + 0.05
    assert short > baseline + 0.5


def test_words_that_bacteria_look_for_themselves_are_found(printed):
    long_words = printed.partition("words of 6 letters")[0]
    for species, word in (("haemophilus", "AAGTGCGGT"), ("neisseria", "GCCGTCTGAA")):
        (line,) = re.findall(rf"^  {species}.*$", long_words, re.MULTILINE)
        assert re.search(rf"{word}[ACGT]*\*", line)


def test_excerpts_are_whole_and_listed_by_accession():
    source = FastaSource(genomes(), k=3, fragment=1000)
    assert source.size == 6 * 200
    assert len(source.label_names) == 6
    readme = (genomes()[0].parent / "README.md").read_text()
    for path in genomes():
        record = FastaSource(path, k=3, fragment=1000).locate(0).split("record ")[1]
        accession, _, bases = record.partition(":")
        assert f"| `{path.name}` | {accession} |" in readme
        assert bases.startswith("1000001-1200000,")


def test_few_sensors_of_the_smart_home_are_enough(tmp_path):
    table = tmp_path / "house.csv"
    command = [sys.executable, "examples/smart_home.py", str(table)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    (enough,) = re.findall(r"^enough: (.*)$", done.stdout, re.MULTILINE)
    assert 3 <= len(enough.split(", ")) <= 6
    assert "bed pressure" in enough
    header, first = table.read_text().splitlines()[:2]
    assert header.startswith("day,activity,bed pressure,")
    assert first.startswith("day 1,sleep,")
