"""Figure 3: time and loss against workers: threads here, Ray on three local nodes.

    python -m papers.os.speedup [--repeats 10] [--engine ray]

n = 1000, p = 8192, s = 64 (regression) or 32 (signs, squared hinge), as in the paper;
gradient steps, four passes. Also n = 20,000 and p = 2048, where columns are long enough for
two threads to have something to do. Wall-clock time of the run, and the loss it ends with.
The paper has six machines, this one has as many cores as the results say; Ray's processes
share these, so its curve can show overhead only.

Writes ``results/speedup.csv``, a line a run; times need an idle machine.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
from papers.os.designs import draw
from papers.os.methods import LOSS
from papers.results import Ledger

from shortlist import OnlineSubstitution

RESULTS = Path(__file__).parent / "results" / "speedup.csv"
KEYS = ("engine", "kind", "n", "p", "workers", "repeat")
FACTS = ("seconds", "loss", "recall", "cores")
SHAPES = ((1000, 8192), (20_000, 2048))
S = {"regression": 64, "classes": 32}
WORKERS = {"threads": (1, 2, 4, 8), "ray": (1, 2, 3)}


def run(problem, kind, engine, workers, s):
    """Seconds, last loss and recall."""
    selector = OnlineSubstitution(
        s,
        loss=LOSS[kind],
        exchange="gradient",
        n_workers=workers,
        engine=engine,
        refit=False,
    )
    begin = time.perf_counter()
    selector.fit(problem.X, problem.y)
    spent = time.perf_counter() - begin
    hits = np.intersect1d(selector.get_support(indices=True), problem.support)
    trace = selector.shortlist_.trace
    return {
        "seconds": spent,
        "loss": float(trace["loss"][-1]),
        "recall": len(hits) / s,
        "cores": os.cpu_count(),
    }


def nodes():
    """A cluster of three nodes on this machine, which OnlineSubstitution finds."""
    from ray.cluster_utils import Cluster

    # not 127.0.0.1, which Ray takes for the address that others know this machine by
    local = {"node_ip_address": "127.0.0.2", "num_cpus": 2}
    cluster = Cluster(True, head_node_args={**local, "include_dashboard": False})
    for _ in range(2):
        cluster.add_node(**local)
    os.environ["RAY_ADDRESS"] = cluster.address
    return cluster


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=10)
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
    for engine in engines:
        cluster = nodes() if engine == "ray" else None
        for repeat in range(asked.repeats):
            for n, p in shapes:
                for kind, s in sizes.items():
                    problem = draw(kind, p, repeat, s=s, n=n)
                    for workers in WORKERS[engine]:
                        place = (engine, kind, n, p, workers, repeat)
                        if place not in ledger:
                            ledger.add(place, run(problem, kind, engine, workers, s))
        if cluster is not None:
            cluster.shutdown()


if __name__ == "__main__":
    main()
