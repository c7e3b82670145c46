"""Whether ``select`` picks well: its own choice of a method against all of ``compare``.

    python -m benchmarks.front_door [--data colon ...] [--repeats 1]

Run it from the project's root. In each fold every method chooses from the rows to learn
from, with its own settings, and one judge says how well the chosen columns predict the
others, as in ``shortlist compare``. ``select`` is told what it could know of the rows to
learn from (their number, how many columns, how many zeros, how many classes) and picks one
of the methods; that one's scores are its scores.

Whoever changes the order of methods in ``shortlist.front`` should look at the sets in
``DEVELOP`` only; those in ``JUDGE`` say how good it is. The Parquet file of columns is
MNIST's 4 against 9, written to a file and read back, as ``select`` would.

``seconds`` are CPU seconds of choosing in a fold, ``total`` those of the whole comparison,
kernels that had to be compiled included.

A line for each fold goes to ``results/front_door.csv`` as it is done, and is not measured
again (--repeats 0 only prints).
"""

import argparse
import csv
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.data import Missing, load

RESULTS = Path(__file__).parent / "results" / "front_door.csv"
FIELDS = (
    "data",
    "repeat",
    "method",
    "k",
    "fold",
    "metric",
    "score",
    "seconds",
    "total",
)
KS = (5, 10, 20, 50, 100)
DEVELOP = (
    "leukemia", "prostate_ge", "arcene", "rcv1_small", "basehock", "madelon", "semeion",
    "farm_ads", "a9a", "news20_multiclass",
)  # fmt: skip
#: Bytes that are free, for the facts: much more than any of the tables takes.
MEMORY = 8 * 10**9
JUDGE = ("colon", "dexter", "newsgroups20", "parquet")


def table_of(name):
    """X and y of a set."""
    if name != "parquet":
        return load(name)
    import pyarrow as pa
    import pyarrow.parquet as pq

    from shortlist.sources import open_source
    from shortlist.table._gather import gather

    X, y = load("mnist_4v9")
    names = [f"p{j}" for j in range(X.shape[1])]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pixels.parquet"
        columns = {name: X[:, j] for j, name in enumerate(names)}
        pq.write_table(pa.table({**columns, "y": y}), path)
        source = open_source(path, target="y")
        table = gather(list(source.blocks()), source.n_features)
        return table.X.toarray(), table.y


def measure(name, repeat):
    """Lines of one comparison."""
    from shortlist import compare

    X, y = table_of(name)
    begun = time.process_time()
    cv = 5 if len(y) < 5000 else 3
    done = compare(X, y, ks=KS, cv=cv, seed=repeat)
    total = time.process_time() - begun
    for method, reason in done.left_out.items():
        print(f"{name}: left out {method}: {reason}", flush=True)
    for r in done.results:
        score = r.metrics[done.main_metric]
        facts = (name, repeat, r.method, r.k, r.fold, done.main_metric)
        yield (*facts, f"{score:.6f}", f"{r.seconds:.3f}", f"{total:.1f}")


def kept():
    """Lines measured so far."""
    if not RESULTS.exists():
        return []
    with RESULTS.open() as file:
        return list(csv.DictReader(file))


def run(names, repeats):
    done = {(line["data"], int(line["repeat"])) for line in kept()}
    for repeat in range(repeats):
        for name in names:
            if (name, repeat) in done:
                continue
            try:
                lines = list(measure(name, repeat))
            except Missing as error:
                print(error)
                continue
            fresh = not RESULTS.exists()
            with RESULTS.open("a", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                if fresh:
                    writer.writerow(FIELDS)
                writer.writerows(lines)
            print(f"{name}: {float(lines[0][-1]):.0f} CPU seconds", flush=True)


def picked(X, y, k):
    """Method that ``select`` picks, told what it knows of such a table."""
    import numpy as np

    from shortlist.front import Facts, choose

    nonzeros = int(X.nnz if hasattr(X, "nnz") else np.count_nonzero(X))
    n_classes = len(np.unique(y))
    sizes = (X.shape[0], X.shape[1], nonzeros, 32 * nonzeros)
    return choose(Facts("rows", *sizes, memory=MEMORY, n_classes=n_classes, k=k)).method


def show(names):
    """For each set and budget: the pick, the best, and whether one error lies between."""
    import pandas as pd

    frame = pd.DataFrame(kept()).astype({"k": int, "score": float, "total": float})
    print("| data | k | picked | its score | best | its score | error | within |")
    print("|---|---|---|---|---|---|---|---|")
    for name in names:
        part = frame[frame["data"] == name]
        if part.empty:
            continue
        X, y = table_of(name)
        for k, scores in part.groupby("k"):
            by = scores.groupby("method")["score"]
            mean, error = by.mean(), by.sem()
            method, best = picked(X, y, k), mean.idxmax()
            if method not in mean:
                print(f"| {name} | {k} | {method} | not compared | {best} | | | |")
                continue
            within = mean[method] >= mean[best] - error[best]
            print(
                f"| {name} | {k} | {method} | {mean[method]:.3f} | {best} | "
                f"{mean[best]:.3f} | {error[best]:.3f} | {'yes' if within else 'no'} |"
            )
        print(f"\n{name}: {part['total'].iloc[0]:.0f} CPU seconds in all\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", nargs="*", default=(*DEVELOP, *JUDGE))
    parser.add_argument("--repeats", type=int, default=1)
    asked = parser.parse_args()
    run(asked.data, asked.repeats)
    show(asked.data)


if __name__ == "__main__":
    main()
