"""Figure 3: time and loss against workers: threads here, Ray on three local nodes.

    python -m papers.os.speedup [--repeats 3] [--minutes 10] [--engine ray]

n = 1000, p = 8192, s = 64 (regression) or 32 (signs, squared hinge), as in the paper;
gradient steps, four passes. Also n = 20,000 and p = 2048, where columns are long enough for
two threads to have something to do. Seconds on the clock, and the loss at the end. With Ray
they begin when the first features have been gone through; what it takes to start processes
stands beside. Matrix products take one thread in each worker. The paper has six machines,
this one has as many cores as the results say; Ray's processes share these, so beyond as
many workers its curve can show overhead only.

Writes ``results/speedup.csv``, a line a run; times need an idle machine. No run begins when
``--minutes`` are over; the same command goes on from there.
"""

import argparse
import os
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
from papers.os.designs import draw
from papers.os.methods import LOSS
from papers.results import Ledger
from threadpoolctl import threadpool_limits

from shortlist import OnlineSubstitution

RESULTS = Path(__file__).parent / "results" / "speedup.csv"
KEYS = ("engine", "kind", "n", "p", "workers", "repeat")
FACTS = ("seconds", "start", "loss", "recall", "cores")
SHAPES = ((1000, 8192), (20_000, 2048))
S = {"regression": 64, "classes": 32}
WORKERS = {"threads": (1, 2, 4, 8), "ray": (1, 2, 3)}


def run(problem, kind, engine, workers, s):
    """Seconds, last loss and recall."""
    seen = []

    def observe(progress):
        if not seen:
            seen.append(time.perf_counter())

    selector = OnlineSubstitution(
        s,
        loss=LOSS[kind],
        exchange="gradient",
        n_workers=workers,
        engine=engine,
        refit=False,
    )
    begin = time.perf_counter()
    with threadpool_limits(1, "blas"):
        selector.fit_columns(problem.X, problem.y, observe=observe)
    end, start = time.perf_counter(), seen[0] if engine == "ray" else begin
    hits = np.intersect1d(selector.get_support(indices=True), problem.support)
    trace = selector.shortlist_.trace
    return {
        "seconds": end - start,
        "start": start - begin,
        "loss": float(trace["loss"][-1]),
        "recall": len(hits) / s,
        "cores": os.cpu_count(),
    }


@contextmanager
def nodes():
    """A cluster of three nodes on this machine, which OnlineSubstitution finds."""
    from ray.cluster_utils import Cluster

    # not 127.0.0.1, which Ray takes for the address that others know this machine by
    local = {"node_ip_address": "127.0.0.2", "num_cpus": 2}
    cluster = Cluster(True, head_node_args={**local, "include_dashboard": False})
    try:
        for _ in range(2):
            cluster.add_node(**local)
        os.environ["RAY_ADDRESS"] = cluster.address
        yield
    finally:
        cluster.shutdown()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--engine", choices=WORKERS, action="append")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    engines, shapes, sizes = asked.engine or WORKERS, SHAPES, S
    ledger = Ledger(asked.out, KEYS, FACTS)
    if asked.quick:
        print("os, quick")
        ledger = Ledger(None, KEYS, FACTS)
        engines, shapes, sizes = ("threads",), ((100, 64),), dict.fromkeys(S, 8)
        asked.repeats = 1
    last = time.monotonic() + 60 * asked.minutes
    for kind in sizes:  # kernels are compiled
        for workers in (1, 2):
            run(draw(kind, 64, 0, s=8, n=100), kind, "threads", workers, 8)
    for repeat in range(asked.repeats):
        for engine in engines:
            todo = [
                (engine, kind, n, p, workers, repeat)
                for n, p in shapes
                for kind in sizes
                for workers in WORKERS[engine]
            ]
            todo = [place for place in todo if place not in ledger]
            # of no use to threads, which it would take time from
            with nodes() if todo and engine == "ray" else nullcontext():
                for place in todo:
                    if time.monotonic() > last:
                        print(f"{asked.minutes:g} minutes are over; more can follow")
                        return
                    _, kind, n, p, workers, _ = place
                    problem = draw(kind, p, repeat, s=sizes[kind], n=n)
                    found = run(problem, kind, engine, workers, sizes[kind])
                    ledger.add(place, found)


if __name__ == "__main__":
    main()
