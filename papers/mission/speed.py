"""CPU time of MISSION as a multiple of that of hard thresholding and of hashing.

    python -m papers.mission.speed [--set clicks ...] [--repeats 5]

The paper: 2 to 4 times feature hashing, 1 to 2 times IHT. Here one pass over rows held in
memory, so that parsing does not blur the ratio, but for DNA, the words of which are made on
the fly. All methods take turns within a repeat and ratios are of one repeat. Everything is
compiled before the first.

Writes ``results/speed.csv``, a line a repeat and method, as it goes: CPU seconds of all
threads together, of which BLAS has one. Repeats that are there are not measured again.
"""

import argparse
from pathlib import Path

from papers.mission.rivals import fitted, rival
from papers.mission.tasks import CLICK_ROWS, make, splits_of
from papers.results import Ledger

RESULTS = Path(__file__).parent / "results" / "speed.csv"
KEYS = ("set", "size", "k", "repeat", "method")
METHODS = (
    "hashed",
    "sgd_iht",
    "batch_iht",
    "mission_paper",
    "mission_lazy",
    "mission_refit",
)
#: Features for each class.
SETS = {
    "clicks": (1000, 16384),
    "farm_ads": (100, 1000),
    "newsgroups20": (100, 1000),
    "dna": (1024, 16384),
    "small": (5,),
}
#: What has the same kernels, and is small.
REHEARSALS = {"clicks": "small", "farm_ads": "small", "small": "small"}


def rehearse(name):
    """Have all compiled that a set needs."""
    task = make(REHEARSALS.get(name, "small_dna"), 0, coverage=0.02)
    for method in METHODS:
        fitted(rival(method, 5, task, cells=1 << 16), task)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", choices=SETS, action="append")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--coverage", type=float, default=0.05, help="of DNA")
    parser.add_argument("--rows", type=int, default=CLICK_ROWS, help="of clicks")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    ledger = Ledger(None if asked.quick else asked.out, KEYS, ("seconds",))
    names, repeats = asked.set or list(SETS)[:4], asked.repeats
    if asked.quick:
        names, repeats = ("small",), 1
    for task in splits_of(names, 1, coverage=asked.coverage, n_rows=asked.rows):
        rehearse(task.name)
        for repeat in range(repeats):
            for k in SETS[task.name]:
                measure(task, k, repeat, ledger)


def measure(task, k, repeat, ledger):
    """One fit of each method; written together, as ratios are of one repeat."""
    places = [(task.name, task.train.size, k, repeat, method) for method in METHODS]
    if places[-1] in ledger:
        return
    took = [fitted(rival(method, k, task), task) for method in METHODS]
    for place, seconds in zip(places, took, strict=True):
        ledger.add(place, {"seconds": seconds})


if __name__ == "__main__":
    main()
