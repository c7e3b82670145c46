"""Tables 4 and 5 in kind: ranking where one label is rare.

    python -m papers.mission.skewed [--rows 100000] [--splits 3]

Neither Criteo's terabyte nor Splice-Site's three are here. Instead the click log of
``benchmarks.click_stream`` with labels redrawn from its margins, lowered until one row in
50 is positive. Methods rank rows that they have not seen; ``truth`` ranks them by the
margins that labels were drawn from, which nobody can beat for long. As in the paper one
pass, and the same memory beyond the top k for all but SGD-IHT.

Writes ``results/skewed.csv``, a line a fit with the area under the ROC curve (AUC) and
average precision (AP), as it goes; lines that are there are not measured again.
"""

import argparse
from pathlib import Path

import numpy as np
from benchmarks.click_stream import ClickStream
from papers.mission.rivals import WITHOUT_K, fitted, rival
from papers.mission.tasks import CLICK_TEST_ROWS, FIRST_TEST_CHUNK, clicks
from papers.results import Ledger
from sklearn.metrics import average_precision_score, roc_auc_score

RESULTS = Path(__file__).parent / "results" / "skewed.csv"
KEYS = ("rows", "split", "k", "method")
FACTS = ("auc", "ap", "positive")
METHODS = (
    "mission_refit",
    "mission_paper",
    "sgd_iht",
    "batch_iht",
    "iht_refit",
    "hashed",
)
SIZES = (1000, 16384)
#: Share of positive rows.
RARE = 0.02
#: Numbers in a sketch, and buckets: those of the paper's Table 5.
CELLS = 786_432


class RareLabels:
    """Labels by lowered margins."""

    def __init__(self, split):
        self.split = split
        margins = ClickStream(seed=split + 1).chunk(0)["margin"]
        low, high = 0.0, 50.0
        while high - low > 1e-6:
            self.offset = (low + high) / 2
            if _probability(margins - self.offset).mean() > RARE:
                low = self.offset
            else:
                high = self.offset

    def __call__(self, margins, number):
        """Draw the labels of a chunk."""
        rng = np.random.default_rng([self.split, 7, number])
        chances = _probability(margins - self.offset)
        return np.where(rng.random(len(margins)) < chances, 1, -1)


def _probability(margins):
    return 1.0 / (1.0 + np.exp(-margins))


def ranked(y, margins):
    """How good margins are as a ranking of rows."""
    return {
        "auc": float(roc_auc_score(y, margins)),
        "ap": float(average_precision_score(y, margins)),
        "positive": float(np.mean(y > 0)),
    }


def by_truth(split, n_test):
    """How good the margins are that labels were drawn from."""
    stream, labels = ClickStream(seed=split + 1), RareLabels(split)
    margins, ys, number = [], [], FIRST_TEST_CHUNK
    while sum(map(len, ys)) < n_test:
        margins.append(stream.chunk(number)["margin"])
        ys.append(labels(margins[-1], number))
        number += 1
    y, z = np.concatenate(ys)[:n_test], np.concatenate(margins)[:n_test]
    return ranked(y, z)


def by_method(method, k, task):
    """How good the ranking of a method is."""
    estimator = rival(method, k, task, cells=CELLS)
    fitted(estimator, task)
    model = estimator._responding()
    blocks = list(task.tests["test"].blocks())
    y = np.concatenate([block.y for block in blocks])
    z = np.concatenate([model.margins(block)[:, 0] for block in blocks])
    return ranked(y, z)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--method", choices=METHODS, action="append")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    ledger = Ledger(None if asked.quick else asked.out, KEYS, FACTS)
    rows, n_test, splits, sizes = asked.rows, CLICK_TEST_ROWS, asked.splits, SIZES
    if asked.quick:
        rows, n_test, splits, sizes = 1000, 1000, 1, (20,)
    for split in range(splits):
        if (place := (rows, split, 0, "truth")) not in ledger:
            ledger.add(place, by_truth(split, n_test))
        task = clicks(split, rows, n_test, RareLabels(split))
        for method in asked.method or METHODS:
            for k in (0,) if method in WITHOUT_K else sizes:
                if (place := (rows, split, k, method)) not in ledger:
                    ledger.add(place, by_method(method, k, task))


if __name__ == "__main__":
    main()
