"""Room columns: how fast features are gone through, in how much memory, and what is found.

    python -m benchmarks.columns [--recall] [--memory] [--threads] [--quick]

Without a part: speed. Features are drawn beforehand and gone through once; columns and GB a
second of processor time, once kernels are compiled, with matrix products on one thread. One
after the other the number of rows, the budget, the columns of a block and the loss change.
``one by one`` is the algorithm as the paper states it, a product of the retained columns
with the gradient for each arrival, in NumPy; ``blocks`` makes the same steps in blocks, and
whether it ends with the same features stands beside. ``product`` is the share of the speed
of a bare matrix product of arrivals with as many columns as there are to retain.

``--recall``: share of the true features found, with the defaults, by exact exchanges and by
gradient steps, and by simulated workers. ``--memory``: the most anonymous memory while
features are made one by one, against their number. ``--threads``: seconds on the clock, in
turns, of one worker with its defaults, of one worker by gradient steps, of one that pulls
and pushes as several do, and of two, which make gradient steps; and what they find.

Each part writes its lines to ``results/columns.csv`` and leaves those of the others there;
``--quick`` writes none.
"""

import argparse
import csv
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from benchmarks.columns_recall import found_shares, sparse_design
from papers.results import read_lines
from threadpoolctl import threadpool_limits

from shortlist._targets import Target
from shortlist.columns import OnlineSubstitution
from shortlist.columns._data import Data
from shortlist.columns._sharing import SharedSubstitution
from shortlist.columns._substitution import Request
from shortlist.losses import Squared
from shortlist.sources import ArrayColumns

RESULTS = Path(__file__).parent / "results" / "columns.csv"
FIELDS = (
    *("part", "what", "n", "p", "k", "block", "workers"),
    *("columns_per_s", "gb_per_s", "times_one_by_one", "same_features", "product"),
    *("seconds", "recall", "megabytes"),
)
K = 100
#: Steps of the one by one version, of a newcomer and of the others: lengths that are safe
#: for all sizes here.
ETA, M = 1.0, 1.6


class Table:
    """Lines of a part, printed as they come and written together."""

    def __init__(self, part, path):
        self.part, self.path, self.lines = part, path, []

    def add(self, what, **facts):
        """Print a line and keep it."""
        facts = {
            name: f"{fact:.4g}" if isinstance(fact, float) else fact
            for name, fact in facts.items()
        }
        self.lines.append({"part": self.part, "what": what, **facts})
        cells = "  ".join(f"{name} {fact}" for name, fact in facts.items())
        print(f"{what}: {cells}", flush=True)

    def write(self):
        """Take the place of this part's lines in the file."""
        if self.path is None:
            return
        others = [line for line in read_lines(self.path) if line["part"] != self.part]
        with self.path.open("w", newline="") as file:
            table = csv.DictWriter(file, FIELDS, lineterminator="\n")
            table.writeheader()
            table.writerows([*others, *self.lines])


def cpu_seconds(work, repeats=2):
    """The least processor time of some rounds."""
    spent = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        spent.append(time.process_time() - begin)
    return min(spent)


def one_by_one(Z, y, k):
    """Numbers of the rows of Z (features) retained by gradient steps, one at a time."""
    n = len(y)
    S, w, held = np.empty((k, n)), np.zeros(k), []
    for j, x in enumerate(Z):
        m = len(held)
        g = (w[:m] @ S[:m] - y) / n
        w[:m] -= ETA / M * (S[:m] @ g)
        newcomer = -ETA * (x @ g)
        slot = m if m < k else int(np.abs(w).argmin())
        if m < k:
            held.append(j)
        elif abs(newcomer) > abs(w[slot]):
            held[slot] = j
        else:
            continue
        S[slot], w[slot] = x, newcomer
    return set(held)


class Speed:
    """Columns, a feature a row, and how long it takes to go through them once."""

    def __init__(self, table, n, p):
        rng = np.random.default_rng(0)
        self.table, self.n, self.p = table, n, p
        self.X = rng.standard_normal((p, n))
        self.X -= self.X.mean(1, keepdims=True)
        self.X /= self.X.std(1, keepdims=True)
        self.z = self.X[:50].T @ rng.standard_normal(50)
        self.y = self.z + rng.standard_normal(n)

    def target(self, loss):
        """What is to be predicted, in a form that goes with the loss."""
        scaled = self.z / self.z.std()
        return {
            "logistic": self.z > 0,
            "squared_hinge": self.z > 0,
            "softmax": np.digitize(scaled, [-0.5, 0.5]),
            "poisson": np.random.default_rng(1).poisson(np.exp(0.5 * scaled)),
        }.get(loss, self.y)

    def measure(self, k, *, some=None, block=None, loss="squared", **settings):
        """Return the selector, CPU seconds a column, and what a line says of it."""
        some = min(some or self.p, self.p)
        y, found = self.target(loss), []
        settings = {"passes": 1, "refit": False, "loss": loss, **settings}

        def work():
            source = ArrayColumns(self.X[:some].T, block_columns=block)
            found.append(OnlineSubstitution(k, **settings).fit_columns(source, y))

        work()  # compiles
        each = cpu_seconds(work) / some
        width = ArrayColumns(self.X[:some].T, block_columns=block).block_columns
        place = {"n": self.n, "p": some, "k": k, "block": width}
        rate = {"columns_per_s": 1 / each, "gb_per_s": 8e-9 * self.n / each}
        return found[-1], each, place | rate

    def add(self, what, k, **how):
        """Measure, and add a line."""
        self.table.add(what, **self.measure(k, **how)[2])

    def compare(self, k):
        """Add lines for one by one, the same in blocks, and the defaults."""
        few = min(self.p, 3 * k)
        held = one_by_one(self.X[:few], self.y - self.y.mean(), k)
        slow = cpu_seconds(
            lambda: one_by_one(self.X[:few], self.y - self.y.mean(), k), 1
        )
        # arrivals while there is room cost less; those after that are the rule
        room = cpu_seconds(lambda: one_by_one(self.X[:k], self.y - self.y.mean(), k), 1)
        slow = (slow - room) / (few - k)
        retained = self.X[:k].copy()
        product = cpu_seconds(lambda: self.X @ retained.T) / self.p
        rate = {"columns_per_s": 1 / slow, "gb_per_s": 8e-9 * self.n / slow}
        self.table.add("one by one", n=self.n, p=few, k=k, **rate)
        fitted, *_ = self.measure(k, some=few, eta=ETA, m=M)
        same = set(fitted.get_support(indices=True).tolist()) == held
        cases = {"blocks, same steps": {"eta": ETA, "m": M}, "defaults": {}}
        cases["gradient"] = {"exchange": "gradient"}
        for what, settings in cases.items():
            _, each, facts = self.measure(k, **settings)
            ratios = {"times_one_by_one": slow / each, "product": product / each}
            told = {"same_features": same} if what.startswith("blocks") else {}
            self.table.add(what, **facts, **ratios, **told)


def report_speed(table, quick):
    p, sizes = (400, (1_000, 5_000)) if quick else (1_000, (1_000, 5_000, 50_000))
    for n in sizes:
        speed = Speed(table, n, p)
        speed.compare(K)
    for k in (10, 30, 300):
        speed.compare(k)
    for block in (1, 16, 64, 256):
        speed.add("defaults", K, block=block)
        speed.add("gradient", K, block=block, exchange="gradient")
    for loss in ("logistic", "squared_hinge", "huber", "poisson"):
        speed.add(f"{loss}, defaults", K, loss=loss, some=300)
        speed.add(f"{loss}, gradient", K, loss=loss, some=200, exchange="gradient")
    speed.add("softmax, 3 classes", K, loss="softmax", some=150)


def report_recall(table, quick):
    for what, n, p, s, workers, share in found_shares(quick):
        table.add(what, n=n, p=p, k=s, workers=workers, recall=float(share))


def columns_of(rng, n, p):
    """Named columns that are made as they are asked for."""
    return ((f"c{j}", rng.standard_normal(n)) for j in range(p))


def peak_memory(p, n):
    """Most anonymous memory (MB) of a process of its own that goes through p features."""
    code = (
        "import numpy as np; from benchmarks.columns import columns_of; "
        "from shortlist.columns import OnlineSubstitution; "
        "rng = np.random.default_rng(0); "
        f"OnlineSubstitution(20).fit_columns(columns_of(rng, {n}, {p}), "
        f"rng.standard_normal({n}))"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    peak, status = 0, Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        lines = status.read_text().splitlines()
        found = [int(x.split()[1]) for x in lines if x.startswith("RssAnon")]
        peak = max([peak, *found])
        time.sleep(0.02)
    if process.returncode:
        raise SystemExit("the process that chooses has failed")
    return peak / 1024


def report_memory(table, quick):
    n, sizes = (2_000, (500, 5_000)) if quick else (10_000, (10_000, 100_000))
    for p in sizes:
        begin = time.perf_counter()
        peak = peak_memory(p, n)
        spent = time.perf_counter() - begin
        table.add("peak", n=n, p=p, k=20, megabytes=peak, seconds=spent)


def shared_by_one(X, y, k, seed):
    """Names chosen by one worker that pulls and pushes as if there were others."""
    data = Data.of(Target(Squared(), None, np.empty(0)), y, None)
    request = Request(k, exchange="gradient")
    return SharedSubstitution(data, request, ArrayColumns(X), 1, seed=seed).run().names


def chosen_by(X, y, k, seed, **settings):
    found = OnlineSubstitution(k, seed=seed, **settings).fit_columns(X, y)
    return found.shortlist_.names


def report_threads(table, quick):
    n, p, s, rounds = (5_000, 500, 20, 1) if quick else (50_000, 2_000, 100, 3)
    steps = {"exchange": "gradient"}
    ways = {
        "one, defaults": (1, chosen_by, {}),
        "one, gradient": (1, chosen_by, steps),
        "one that shares, gradient": (1, shared_by_one, {}),
        "two, gradient": (2, chosen_by, {**steps, "n_workers": 2}),
    }
    small = sparse_design(500, 200, 10, 0)
    for _, work, settings in ways.values():  # compiles
        work(*small[:2], 10, 0, **settings)
    spent, found = {what: [] for what in ways}, {what: [] for what in ways}
    for seed in range(rounds):
        X, y, support = sparse_design(n, p, s, seed)
        X, truth = np.asfortranarray(X), {f"x{j}" for j in support}
        for what, (_, work, settings) in ways.items():
            begin = time.perf_counter()
            names = work(X, y, s, seed, **settings)
            spent[what].append(time.perf_counter() - begin)
            found[what].append(len(set(names) & truth) / s)
    least = {what: float(np.median(times)) for what, times in spent.items()}
    for what, (workers, *_) in ways.items():
        facts = {"seconds": least[what], "recall": float(np.mean(found[what]))}
        table.add(what, n=n, p=p, k=s, workers=workers, **facts)
    for what, time_of_it in list(least.items())[:-1]:
        print(
            f"two are {time_of_it / least['two, gradient']:.2f} times as fast as {what}"
        )


PARTS = {
    "speed": report_speed,
    "recall": report_recall,
    "memory": report_memory,
    "threads": report_threads,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for part in (*PARTS, "quick"):
        parser.add_argument(f"--{part}", action="store_true")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    chosen = [part for part in PARTS if getattr(asked, part)] or ["speed"]
    for part in chosen:
        table = Table(part, None if asked.quick else asked.out)
        with threadpool_limits(1, "blas"):
            PARTS[part](table, asked.quick)
        table.write()


if __name__ == "__main__":
    main()
