"""What MISSION and its peers are compared on: text, DNA, and clicks made on the spot.

A task has rows to learn from and rows to test on, the same for all methods. Sets of text
are split 4 to 1 at random, by class. DNA is the paper's: fragments of 200 letters, drawn
until each letter is covered ``coverage`` times on average, as counts of their 12-mers; a
species is a class. The paper tests on other fragments of the same genomes, which mostly
overlap those learned from; this is "same" here, and "held_out" are fragments of the last
tenth of each genome, no letter of which was learned from.
"""

import sys
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from benchmarks.click_stream import CHUNK, N_IDS, ClickStream
from benchmarks.data import Missing, folder, load
from scipy.sparse import csr_array
from sklearn.model_selection import train_test_split

from shortlist.demo import genomes
from shortlist.sources import ArraySource
from shortlist.sources.fasta import FastaSource

#: Counts of words differ more than their meaning; long texts should not count more.
COUNTS = {"log1p": True, "normalize": "l2"}
TEXT = {
    "newsgroups20": COUNTS,
    "news20_multiclass": COUNTS,
    "rcv1_small": {},  # rows of length 1 already
    "farm_ads": COUNTS,
}
#: Rows of the click log to learn from, and to test on.
CLICK_ROWS, CLICK_TEST_ROWS = 50_000, 20_000
#: Beyond all that anybody learns from, so that tests are the same for any number of rows.
FIRST_TEST_CHUNK = 1_000_000


class Task(NamedTuple):
    """Rows for one split."""

    name: str
    split: int
    train: Any  #: a source
    tests: dict[str, Any]  #: sources, by what they are called in results
    classes: list[Any]
    n_features: int
    prepared: dict[str, Any]  #: settings that all methods get
    planted: np.ndarray | None = (
        None  #: ids that labels were made with, if that is known
    )

    @property
    def n_margins(self):
        """Weights that a feature has."""
        return len(self.classes) if len(self.classes) > 2 else 1


def text(name, split):
    """A set of text, or "small", which is made up."""
    X, y = made_up_text() if name == "small" else loaded(name)
    rows = np.arange(len(y))
    train, test = train_test_split(rows, test_size=0.2, stratify=y, random_state=split)
    return Task(
        name,
        split,
        ArraySource(X[train], y[train]),
        {"test": ArraySource(X[test], y[test])},
        np.unique(y).tolist(),
        X.shape[1],
        COUNTS if name == "small" else TEXT[name],
    )


loaded = lru_cache(maxsize=1)(load)


def made_up_text(n=300, p=400):
    """A few rows of counts, three columns of which tell two classes apart."""
    rng = np.random.default_rng(0)
    X = rng.poisson(0.1, size=(n, p)).astype(float)
    y = np.arange(n) % 2
    X[:, :3] += rng.poisson(2.0, size=(n, 3)) * y[:, None]
    return csr_array(X), y


def dna(name, split, coverage=1.0):
    """Genomes, or excerpts of six that come with the package ("small_dna")."""
    held = held_genomes(name)
    train = held.part((0.0, 0.9), coverage=coverage, seed=3 * split)
    share = min(1.0, coverage)
    return Task(
        name,
        split,
        train,
        {
            "held_out": held.part((0.9, 1.0), coverage=share, seed=3 * split + 1),
            "same": held.part((0.0, 0.9), coverage=0.1 * share, seed=3 * split + 2),
        },
        held.label_names,
        held.n_features,
        {},
    )


@lru_cache(maxsize=1)
def held_genomes(name):
    """All letters, read once."""
    paths = genomes() if name == "small_dna" else None
    if paths is None:
        where = folder() / "genomes"
        paths = sorted(where.glob("*.fna.gz"))
        if not paths:
            raise Missing(f"dna: no *.fna.gz in {where}; set SHORTLIST_DATA")
    return FastaSource(paths, k=12, fragment=200)


def clicks(split, n_rows=CLICK_ROWS, n_test=CLICK_TEST_ROWS, labels=None):
    """Rows of the click log; ``labels`` makes others of its margins and a seed."""
    stream = ClickStream(seed=split + 1)
    train = _click_rows(stream, 0, n_rows, labels)
    test = _click_rows(stream, FIRST_TEST_CHUNK, n_test, labels)
    return Task(
        "clicks",
        split,
        train,
        {"test": test},
        [-1, 1],
        N_IDS + 1,
        {},
        np.sort(stream.true_ids).astype(np.uint64),
    )


def _click_rows(stream, first_chunk, n_rows, labels):
    """Rows from a chunk on, as a source."""
    parts, ys = [], []
    for number in range(first_chunk, first_chunk + -(-n_rows // CHUNK)):
        part = stream.chunk(number)
        shape = (CHUNK, N_IDS + 1)
        parts.append(csr_array((part["values"], part["ids"], part["indptr"]), shape))
        ys.append(part["y"] if labels is None else labels(part["margin"], number))
    indptr = np.concatenate(
        [[0], *(part.indptr[1:] - part.indptr[:-1] for part in parts)]
    ).cumsum()[: n_rows + 1]
    end = indptr[-1]
    values = np.concatenate([part.data for part in parts])[:end]
    ids = np.concatenate([part.indices for part in parts])[:end]
    X = csr_array((values, ids, indptr), (n_rows, N_IDS + 1))
    return ArraySource(X, np.concatenate(ys)[:n_rows])


def gaussian(split, n_rows=2000, n_test=2000, p=300, k=30):
    """A dense table, k columns of which tell two classes apart."""
    rng = np.random.default_rng([split, 11])
    weights = np.zeros(p)
    weights[:k] = 2.0 * rng.choice([-1.0, 1.0], k) * rng.uniform(0.5, 1.5, k)

    def rows(n, part):
        lot = np.random.default_rng([split, 12, part])
        X = lot.standard_normal((n, p))
        y = np.where(lot.random(n) < 1 / (1 + np.exp(-X @ weights)), 1, -1)
        return ArraySource(X, y)

    planted = np.arange(k, dtype=np.uint64)
    tests = {"test": rows(n_test, 1)}
    return Task("gaussian", split, rows(n_rows, 0), tests, [-1, 1], p, {}, planted)


def make(name, split, coverage=1.0, n_rows=CLICK_ROWS):
    """A task by its name."""
    if name == "clicks":
        return clicks(split, n_rows)
    if name == "small_clicks":
        return clicks(split, 2000, 1000)
    if name in ("dna", "small_dna"):
        return dna(name, split, coverage)
    return text(name, split)


def splits_of(names, n_splits, **settings):
    """All tasks that data are there for, split by split; others are named on stderr."""
    for name in names:
        try:
            for split in range(n_splits):
                yield make(name, split, **settings)
        except Missing as missing:
            print(f"left out: {missing}", file=sys.stderr)
