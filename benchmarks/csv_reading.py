"""Delimited text to rows of features: our own reader beside one on pyarrow.csv.

    python -m benchmarks.csv_reading [--rows 4000000]

Writes a log of two columns of numbers, three of text (20, 5,000 and 300,000 values) and a
label, and reads it, several times one after the other:

* ``CsvSource``: what learning gets, with ids of ``column=value`` and labels as numbers;
* ``pyarrow.csv`` block by block, cells as columns of numbers and of text, and no more;
* the same with columns of text as dictionaries, whose distinct values alone are hashed to
  ids, and rows put together with NumPy: what learning would get by that way.

Ours takes one thread; pyarrow one, and as many as it likes. The blocks of all have the same
size. Prints MB/s and writes ``benchmarks/results/csv_reading.csv``.
"""

import argparse
import csv
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from shortlist.kernels.name_hash import hash_names
from shortlist.sources import CsvSource
from shortlist.sources._lines import BLOCK_BYTES

RESULTS = Path(__file__).parent / "results" / "csv_reading.csv"
TEXTS = {"site": 20, "advertiser": 5_000, "user": 300_000}
NUMBERS = ("price", "age")
REPEATS = 5


def write_log(path, n_rows):
    """Write the log, 100,000 rows at a time."""
    rng = np.random.default_rng(0)
    with path.open("w") as out:
        out.write(",".join([*NUMBERS, *TEXTS, "clicked"]) + "\n")
        for begin in range(0, n_rows, 100_000):
            n = min(100_000, n_rows - begin)
            columns = [np.round(rng.lognormal(2, 1, n), 2), rng.integers(18, 90, n)]
            for name, most in TEXTS.items():
                values = (most * rng.random(n) ** 3).astype(int)
                columns.append([f"{name}-{value:x}" for value in values])
            columns.append(rng.integers(0, 2, n))
            for row in zip(*columns, strict=True):
                out.write(",".join(map(str, row)) + "\n")


def with_ours(path):
    """Nonzeros of all rows, as learning gets them."""
    return sum(len(block.ids) for block in CsvSource(path, "clicked").blocks())


def batches(path, threads, as_dictionaries):
    """What pyarrow makes of the text, block by block."""
    kind = pa.dictionary(pa.int32(), pa.string()) if as_dictionaries else pa.string()
    kinds = dict.fromkeys(NUMBERS, pa.float64()) | dict.fromkeys(TEXTS, kind)
    return arrow_csv.open_csv(
        path,
        arrow_csv.ReadOptions(use_threads=threads, block_size=BLOCK_BYTES),
        convert_options=arrow_csv.ConvertOptions(
            column_types=kinds | {"clicked": pa.float64()}
        ),
    )


def parsed_by_arrow(path, threads):
    """Cells, with nothing done to them."""
    return sum(batch.num_rows for batch in batches(path, threads, False)) * 5


def ids_of(name, column):
    """Ids of ``name=value``, one a row: of distinct values, spread over the rows."""
    words = [f"{name}={value}" for value in column.dictionary.to_pylist()]
    ids = hash_names(words, 0) if words else np.empty(0, np.uint64)
    return ids[column.indices.to_numpy()]


def by_arrow(path, threads):
    """Nonzeros of all rows, made with pyarrow and NumPy."""
    total, of_numbers = 0, hash_names(list(NUMBERS), 0)
    for batch in batches(path, threads, True):
        n, width = batch.num_rows, len(NUMBERS) + len(TEXTS)
        ids, values = np.empty((n, width), np.uint64), np.ones((n, width))
        ids[:, : len(NUMBERS)] = of_numbers
        for place, name in enumerate(NUMBERS):
            values[:, place] = batch.column(name).to_numpy()
        for place, name in enumerate(TEXTS, len(NUMBERS)):
            ids[:, place] = ids_of(name, batch.column(name))
        labels = batch.column("clicked").to_numpy()
        held = values != 0.0
        total += len(ids[held]) + 0 * len(values[held]) + 0 * len(labels)
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=4_000_000)
    n_rows = parser.parse_args().rows
    ways = {
        "CsvSource, to rows": with_ours,
        "pyarrow, to cells, one thread": lambda path: parsed_by_arrow(path, False),
        "pyarrow, to cells, its threads": lambda path: parsed_by_arrow(path, True),
        "pyarrow, to rows, one thread": lambda path: by_arrow(path, False),
        "pyarrow, to rows, its threads": lambda path: by_arrow(path, True),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.csv"
        write_log(path, n_rows)
        megabytes = path.stat().st_size / 1e6
        best = dict.fromkeys(ways, np.inf)
        counts = {}
        for _ in range(REPEATS):
            for name, read in ways.items():
                begin = time.perf_counter()
                counts[name] = read(path)
                best[name] = min(best[name], time.perf_counter() - begin)
    if len(set(counts.values())) > 1:
        raise SystemExit(f"the ways do not agree: {counts}")
    rows = [(name, f"{megabytes / best[name]:.0f}") for name in ways]
    print(f"{n_rows:,} rows, {megabytes:.0f} MB")
    for name, rate in rows:
        print(f"{name:32} {rate:>5} MB/s")
    with RESULTS.open("w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["way", "MB/s"])
        writer.writerows(rows)


if __name__ == "__main__":
    main()
