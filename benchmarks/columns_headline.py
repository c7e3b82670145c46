"""The promise of room columns, scaled to a small machine: many features, little memory.

    python -m benchmarks.columns_headline [--features 200000] [--rows 50000] [--passes 2]

Features are drawn one by one, from a seed of their own, whenever they are asked for, so
that there is no table anywhere; a hundred of them, and noise, make the target. The process
that chooses a hundred is watched for the most anonymous memory it takes. Beside its time
stand the time that drawing takes alone and that of bare matrix products of the same
retained columns with as many arrivals, both measured on a part: what is left of the former
over the latter is the share of the speed of a product that is reached. Set
OPENBLAS_NUM_THREADS=1 for a core's. Writes ``results/columns_headline.csv``.
"""

import argparse
import csv
import multiprocessing
import time
from pathlib import Path

import numpy as np
from benchmarks.columns import K

from shortlist.columns import OnlineSubstitution

RESULTS = Path(__file__).parent / "results" / "columns_headline.csv"
#: Columns that are drawn, and multiplied, to learn what that takes.
SAMPLE = 1000


class Drawn:
    """Columns made as they are asked for: ``for name, column in drawn()``."""

    def __init__(self, n_rows, n_features):
        self.n_rows, self.n_features = n_rows, n_features

    def column(self, number):
        """Draw a column from a seed of its own."""
        draw = np.random.Generator(np.random.SFC64(number)).standard_normal
        return draw(self.n_rows, dtype=np.float32)

    def __call__(self):
        """All of them, in order."""
        return ((f"f{j}", self.column(j)) for j in range(self.n_features))

    def target(self):
        """Planted features, and the sum of these with noise."""
        rng = np.random.default_rng(1)
        planted = rng.choice(self.n_features, K, replace=False)
        y = 0.5 * rng.standard_normal(self.n_rows)
        for j in planted:
            y += rng.choice([-1.0, 1.0]) * (0.5 + rng.random()) * self.column(j)
        return planted, y


def choose(drawn, passes, answer):
    """Choose, in a process of its own; answer with seconds and what was found."""
    planted, y = drawn.target()
    OnlineSubstitution(5, passes=1).fit_columns(  # imports and compiles
        lambda: ((f"f{j}", drawn.column(j)) for j in range(20)), y
    )
    wall, cpu = time.perf_counter(), time.process_time()
    fitted = OnlineSubstitution(K, passes=passes).fit_columns(drawn, y)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    found = {f"f{j}" for j in planted} & set(fitted.shortlist_.names)
    answer.put((wall, cpu, len(found) / K))


def watched(drawn, passes):
    """Seconds, recall and the most anonymous memory of the process that chooses (MB)."""
    context = multiprocessing.get_context("spawn")
    answer = context.Queue()
    process = context.Process(target=choose, args=(drawn, passes, answer))
    process.start()
    status, peak = Path(f"/proc/{process.pid}/status"), 0
    while process.is_alive():
        lines = status.read_text().splitlines()
        peak = max([peak, *(int(x.split()[1]) for x in lines if "RssAnon" in x)])
        process.join(0.1)
    if process.exitcode:
        raise SystemExit("the process that chooses has failed")
    return *answer.get(), peak / 1024


def seconds_alone(drawn):
    """CPU seconds to draw a column, and to multiply it with the retained ones."""
    begin = time.process_time()
    some = [drawn.column(j) for j in range(min(SAMPLE, drawn.n_features))]
    drawing = (time.process_time() - begin) / len(some)
    arrivals = np.array(some, np.float64)
    retained = arrivals[:K].copy()
    begin = time.process_time()
    arrivals @ retained.T
    return drawing, (time.process_time() - begin) / len(some)


def main():
    """Run it and write a line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--features", type=int, default=200_000)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    drawn = Drawn(asked.rows, asked.features)
    wall, cpu, recall, megabytes = watched(drawn, asked.passes)
    drawing, product = (
        asked.passes * asked.features * each for each in seconds_alone(drawn)
    )
    line = {
        "rows": asked.rows,
        "features": asked.features,
        "kept": K,
        "passes": asked.passes,
        "wall": round(wall, 1),
        "cpu": round(cpu, 1),
        "drawing": round(drawing, 1),
        "product": round(product, 1),
        "share": round(product / (cpu - drawing), 3),
        "recall": recall,
        "megabytes": round(megabytes),
    }
    with asked.out.open("w", newline="") as file:
        table = csv.DictWriter(file, line, lineterminator="\n")
        table.writeheader()
        table.writerow(line)
    for name, value in line.items():
        print(f"{name:10}{value:>12,}")


if __name__ == "__main__":
    main()
