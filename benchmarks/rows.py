"""Room rows: how fast examples are learned from, and how well words are chosen.

    python -m benchmarks.rows [--quick] [--accuracy]

Peers are in ``benchmarks.rows_peers``.

Speed: rows of 75 features whose ids follow a power law over d, k = 100, parsed already, in
processor time of this thread, once kernels are compiled: the median of blocks of 1000, as
other work of the machine disturbs some. Then other k and other numbers of features a row,
at d = 10^6. ``naive`` scores all of d at each example and parts the k best from the others,
in NumPy; ``reference`` is the version of the tests, which sorts them. ``hashed`` has ids
spread over 64 bits, so that a table leads to slots. Writes ``results/rows.csv``.
``--accuracy``: test accuracy with the defaults on the splits of the authors of B-ARDA, mean
of ten orders of the rows, as far as the data are here.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from benchmarks.data import Missing, folder, load
from papers.results import Ledger

from shortlist._protocols import RowBlock
from shortlist._scoring import evaluate
from shortlist._targets import Target
from shortlist.engines import run
from shortlist.kernels.csr import row_slice
from shortlist.losses import SquaredHinge
from shortlist.rows import _methods
from shortlist.sources import ArraySource

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from reference.rows import SlowBarda

RESULTS = Path(__file__).parent / "results" / "rows.csv"
K, NNZ, ROWS = 100, 75, 1000
#: Other budgets and other numbers of features a row, at this d.
BUDGETS, LENGTHS, MIDDLE = (10, 1000, 10_000), (10, 1000), 10**6
METHODS = ("barda", "bamd", "ofs", "sofs", "l1arda", "adafobos")
TARGET = Target(SquaredHinge(), (-1, 1), np.array([-1.0, 1.0]))
SETS = (("basehock", 50), ("dexter", 50), ("farm_ads", 100))


def draw(rng, d, spread, nnz=NNZ):
    """Rows in which every fiftieth feature tells the class, if not the commonest one."""
    rank = ((rng.random(ROWS * nnz) * (d**-0.1 - 1) + 1) ** -10).astype(np.int64) - 1
    ids = np.sort(((rank % d) * 7_368_787 % d).reshape(ROWS, nnz), axis=1).ravel()
    x = np.full(len(ids), nnz**-0.5)
    # id 0 is in most rows: if it told, nearly all would be of one class
    w = np.where(ids % 50 == 7, np.where(ids % 100 == 7, 1.0, -1.0), 0.0)
    noise = 0.1 * rng.normal(size=ROWS)
    y = np.where((w * x).reshape(ROWS, nnz).sum(axis=1) + noise > 0, 1.0, -1.0)
    ids = ids.astype(np.uint64) * np.uint64(spread)
    starts = np.arange(0, ROWS * nnz + 1, nnz)
    return RowBlock(starts, ids, x, y, np.ones(ROWS), 0, ROWS)


def microseconds(method, d, spread=1, *, k=K, nnz=NNZ, n_blocks=30, **settings):
    """Time of an example, after as many to warm up."""
    rng = np.random.default_rng(0)
    rule = getattr(_methods, method)(k, **settings).rule
    model = rule.create(TARGET, None)
    blocks = [draw(rng, d, spread, nnz) for _ in range(2 * n_blocks)]
    for block in blocks[:n_blocks]:
        rule.learn(model, TARGET, block)
    seconds = []
    for block in blocks[n_blocks:]:
        begin = time.thread_time()
        rule.learn(model, TARGET, block)
        seconds.append(time.thread_time() - begin)
    return 1e6 * np.median(seconds) / ROWS


def naive_microseconds(d, n_rows=30):
    """Time of an example if all of d is looked at."""
    block = draw(np.random.default_rng(0), d, 1)
    G, S, w = np.zeros(d), np.zeros(d), np.zeros(d)
    apart = -1e-300 * np.arange(d)  # partitions of equals take fifteen times as long
    seconds = []
    for i in range(n_rows):
        begin = time.thread_time()
        inside = slice(block.indptr[i], block.indptr[i + 1])
        ids, x, y = block.ids[inside].astype(int), block.values[inside], block.y[i]
        g = -y * max(0.0, 1.0 - y * (w[ids] @ x)) * x
        np.add.at(G, ids, g)
        np.add.at(S, ids, g * g)
        H = 0.01 + np.sqrt(S)
        kept = np.argpartition(G * G / H + apart, -K)[-K:]
        w[:] = 0.0
        w[kept] = -0.3 * G[kept] / H[kept]
        seconds.append(time.thread_time() - begin)
    return 1e6 * np.median(seconds)


def reference_microseconds(d, n_rows=5):
    """Time of an example of the version that the tests compare with."""
    block, slow = draw(np.random.default_rng(0), d, 1), SlowBarda(d, k=K, eta=0.3)
    begin = time.thread_time()
    slow.learn(TARGET.loss, row_slice(block, 0, n_rows))
    return 1e6 * (time.thread_time() - begin) / n_rows


def report_shapes(quick):
    """Print times of other budgets and of shorter and longer rows; return them."""
    n_blocks, lines = 2 if quick else 30, []
    shapes = [(k, NNZ) for k in BUDGETS] + [(K, nnz) for nnz in LENGTHS]
    for k, nnz in shapes:
        for method in ("barda", "bamd"):
            us = microseconds(method, MIDDLE, k=k, nnz=nnz, n_blocks=n_blocks)
            name = f"{method}, k = {k:,}, {nnz} a row"
            print(f"{name:34}{us:9.1f} us {nnz / us:5.1f} M nonzeros/s", flush=True)
            lines.append((method, k, nnz, us))
    return lines


def report_speed(quick):
    """Print times, and write them down if they are not quick ones."""
    sizes = (10**4, 10**6) if quick else (10**4, 10**5, 10**6, 10**7)
    lines = []
    print(f"{'method':24}" + "".join(f"{f'd = {d:,}':>18}" for d in sizes))
    cases = [(method, {}) for method in METHODS]
    cases += [("barda", {"lam": 1e-4}), ("barda", {"forget": 0.9999})]
    for method, settings in cases:
        times = [microseconds(method, d, **settings) for d in sizes]
        lines.append((" ".join([method, *map(str, settings)]), times))
        print_line(*lines[-1])
    lines.append(("hashed barda", [microseconds("barda", d, 2**40 + 1) for d in sizes]))
    print_line(*lines[-1])
    lines.append(("reference barda", [reference_microseconds(d) for d in sizes]))
    print_line(*lines[-1])
    lines.append(("naive barda", [naive_microseconds(d) for d in sizes]))
    print_line(*lines[-1])
    ratios = [slow / fast for slow, fast in zip(lines[-1][1], lines[0][1], strict=True)]
    print(f"{'naive / barda':24}" + "".join(f"{ratio:16.0f} x" for ratio in ratios))
    shapes = report_shapes(quick)
    if not quick:
        RESULTS.unlink(missing_ok=True)  # numbers of one hour belong together
        ledger = Ledger(RESULTS, ("method", "d", "k", "nnz"), ("us", "mnnz"))
        for name, times in lines:
            for d, us in zip(sizes, times, strict=True):
                ledger.add((name, d, K, NNZ), {"us": us, "mnnz": NNZ / us})
        for method, k, nnz, us in shapes:
            ledger.add((method, MIDDLE, k, nnz), {"us": us, "mnnz": nnz / us})


def print_line(name, times):
    cells = "".join(f"{t:9.1f} us {NNZ / t:4.1f} M" for t in times)
    print(f"{name:24}{cells}", flush=True)


def accuracy(name, method, k, orders):
    X, y = load(name)
    with np.load(folder() / f"{name}.npz", allow_pickle=False) as archive:
        is_test = archive["split"] == 1
    test, found = ArraySource(X[is_test], y[is_test]), []
    for seed in range(orders):
        rows = np.random.default_rng(seed).permutation(np.flatnonzero(~is_test))
        learner = getattr(_methods, method)(k)
        found.append(evaluate(run(learner, ArraySource(X[rows], y[rows])), test).value)
    return 100 * np.mean(found)


def report_accuracy(orders):
    print(f"{'method':12}" + "".join(f"{f'{name} at {k}':>18}" for name, k in SETS))
    for method in METHODS:
        cells = []
        for name, k in SETS:
            try:
                cells.append(f"{accuracy(name, method, k, orders):18.1f}")
            except Missing:
                cells.append(f"{'no data':>18}")
        print(f"{method:12}{''.join(cells)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--accuracy", action="store_true")
    asked = parser.parse_args()
    if asked.accuracy:
        report_accuracy(2 if asked.quick else 10)
    else:
        report_speed(asked.quick)


if __name__ == "__main__":
    main()
