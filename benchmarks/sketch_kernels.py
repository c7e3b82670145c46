"""What the kernels of the sketch room cost alone, in nanoseconds a nonzero.

    python -m benchmarks.sketch_kernels

Rows of the click log of ``benchmarks/click_stream.py``, at several sizes of the sketch and
several numbers of nonzeros a row. Each block is learned from many times, and its fastest
time counts, as a machine has moods. At the end whole runs, with and without a thread that
parses ahead. Results go to ``benchmarks/results/sketch_kernels.csv``.
"""

import csv
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
from benchmarks.click_stream import CHUNK, ClickStream

from shortlist.engines import run, serial
from shortlist.engines.serial import look_at_head
from shortlist.kernels.csr import row_slice
from shortlist.kernels.libsvm_text import parse_lines, rows_for
from shortlist.sketch._mission import mission
from shortlist.sources import LibsvmSource

RESULTS = Path(__file__).parent / "results" / "sketch_kernels.csv"
K, REPEATS = 1000, 25
MEMORIES = ("1MB", "4MB", "12MB", "64MB")
RECIPES = ("newton", "refit", "shards", "paper")
#: Rows of the log that are joined to one; None: only the first ten nonzeros of a row.
WIDTHS = {"10": None, "60": 1, "600": 10}


def fastest(work, parts, n):
    """Nanoseconds for each of n things, by the fastest time of every part."""
    best = np.full(len(parts), np.inf)
    for _ in range(REPEATS):
        for i, part in enumerate(parts):
            begin = time.perf_counter()
            work(part)
            best[i] = min(best[i], time.perf_counter() - begin)
    return best.sum() / n * 1e9


def reshaped(block, n_joined):
    """The same nonzeros in longer rows, or the first ten of each row."""
    if n_joined == 1:
        return block
    if n_joined is None:
        rows = [block.indptr[:-1] + t for t in range(10)]
        at = np.sort(np.concatenate(rows))
        indptr = np.arange(block.n_rows + 1) * 10
        ids, values = block.ids[at].copy(), block.values[at].copy()
        return block._replace(indptr=indptr, ids=ids, values=values)
    n = block.n_rows // n_joined
    block = row_slice(block, 0, n * n_joined)
    indptr = block.indptr[::n_joined].copy()
    y, weight = block.y[::n_joined].copy(), block.weight[::n_joined].copy()
    return block._replace(indptr=indptr, y=y, weight=weight)


def learning(source, blocks, recipe, memory):
    """Cost of making ready and of learning, after a few passes over the blocks."""
    learner = mission(K, memory=memory, recipe=recipe)
    state = learner.start(source, look_at_head(source)[0])
    works = [learner.ahead(state, block) for block in blocks]
    n = sum(len(block.ids) for block in blocks)
    for work in works * 3:
        learner.step(state, work)
    return fastest(lambda block: learner.ahead(state, block), blocks, n), fastest(
        lambda work: learner.step(state, work), works, n
    )


def parsing(path, n_windows):
    text, room, cuts = np.fromfile(path, np.uint8), rows_for(1 << 20), [0]
    text.flags.writeable = False
    nonzeros = 0
    for _ in range(n_windows):
        window = text[cuts[-1] : cuts[-1] + (1 << 20)]
        parsed = parse_lines(window, False, False, room)
        cuts.append(cuts[-1] + parsed[0])
        nonzeros += int(room.indptr[parsed[2]])
    windows = [text[a:b] for a, b in pairwise(cuts)]
    return fastest(lambda w: parse_lines(w, True, False, room), windows, nonzeros)


def whole_runs(source, n):
    """Nanoseconds a nonzero of whole runs, with and without a thread to parse."""
    ahead = serial.read_ahead
    for name, reader in (("with", ahead), ("without", lambda blocks: blocks)):
        serial.read_ahead = reader
        try:
            times = []
            for _ in range(5):
                begin = time.perf_counter()
                run(mission(K, memory="12MB", recipe="newton"), source)
                times.append(time.perf_counter() - begin)
        finally:
            serial.read_ahead = ahead
        yield f"whole run {name} a thread that parses", min(times) / n * 1e9


def main():
    rows = []

    def note(what, memory, width, cost):
        rows.append((what, memory, width, f"{cost:.1f}"))
        print(f"{what:45} {memory:>6} {width:>4}  {cost:5.1f} ns", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        path = ClickStream().write(Path(folder) / "train.svm", 5 * CHUNK)
        source = LibsvmSource(path)
        blocks = [block for block, _ in zip(source.blocks(), range(6), strict=False)]
        note("parse libsvm text", "", "60", parsing(path, 6))
        for recipe in RECIPES:
            for memory in MEMORIES:
                ahead, learn = learning(source, blocks, recipe, memory)
                note(f"encode and check, {recipe}", memory, "60", ahead)
                note(f"learn, {recipe}", memory, "60", learn)
        for width, n_joined in WIDTHS.items():
            shaped = [reshaped(block, n_joined) for block in blocks]
            _, learn = learning(source, shaped, "newton", "12MB")
            note("learn, newton", "12MB", width, learn)
        n = sum(len(block.ids) for block in source.blocks())
        for what, cost in whole_runs(source, n):
            note(what, "12MB", "60", cost)
    with RESULTS.open("w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["what", "memory", "nonzeros a row", "ns a nonzero"])
        writer.writerows(rows)


if __name__ == "__main__":
    main()
