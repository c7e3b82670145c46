"""FoBa against the peers that a statistician would pick, each in a process of its own.

    python -m benchmarks.table [--design big ...] [--method abess ...] [--seeds 3]

Run it from the project's root. Peers: abess (best subset), scikit-learn's orthogonal
matching pursuit, celer's lasso path cut where it has k features, skscope's FoBa and Scope.
They come with `pip install --group bench`; those that are missing are left out and named.
BLAS and other threads are fixed to one for all. Printed for each: share of the planted
features found, CPU and wall seconds (making the data not counted, and compiling only in
its own column), peak memory over that of X, and FoBa's CPU time over the peer's.
"""

import argparse
import json
import os
import subprocess
import sys
import time

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
ONE_THREAD = dict.fromkeys(THREADS, "1") | {
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_ENABLE_X64": "1",
    "JAX_PLATFORMS": "cpu",
}
#: What to compare on each design; skscope needs minutes on the large ones.
METHODS_ON = {
    "k20": ("foba", "abess", "omp", "l1", "skscope_foba", "scope"),
    "gauss": ("foba", "abess", "omp", "l1"),
    "small": ("foba", "abess", "omp", "l1"),
    "ar9": ("foba", "abess", "omp", "l1"),
    "logistic": ("foba", "abess", "l1"),
    "big": ("foba", "abess", "omp", "l1"),
}


def peak_kib():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def run_one(method, design, seed):
    """Fit once, in this process; print the measurements as JSON."""
    import numpy as np
    from benchmarks.table_designs import DESIGNS, make
    from benchmarks.table_peers import METHODS

    X, y, support, weights = make(design, seed)
    logistic, k = DESIGNS[design].logistic, len(support)
    begin = time.process_time()
    few = np.asfortranarray(X[:200, :300])
    METHODS[method](few, y[:200], 5, logistic)  # compiles, imports
    warm_up = time.process_time() - begin
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")  # the peak counts from here
    begin, begin_wall = time.process_time(), time.perf_counter()
    chosen = METHODS[method](X, y, k, logistic)
    spent, wall = time.process_time() - begin, time.perf_counter() - begin_wall
    memory = peak_kib() * 1024 / X.nbytes
    errors = judge(X, y, chosen, support, weights, logistic)
    times = {"cpu": spent, "wall": wall, "warm_up": warm_up, "memory": memory}
    print(json.dumps(errors | times))


def judge(X, y, chosen, support, weights, logistic):
    """What a choice of columns is worth, with weights refitted alike for all methods."""
    import numpy as np

    from shortlist.objectives import LinearObjective

    loss, target = ("logistic", 2.0 * y - 1) if logistic else ("squared", y)
    objective = LinearObjective(loss, X, target, l2=1e-6 if logistic else 0.0)
    fit = objective.refit(np.sort(chosen).astype(np.int64))
    oracle = objective.refit(support.astype(np.int64))
    truth = np.zeros(X.shape[1])
    truth[support] = weights
    found = np.zeros(X.shape[1])
    found[fit.support] = fit.weights
    common = len(np.intersect1d(chosen, support))
    return {
        "recall": common / len(support),
        "extra": len(chosen) - common,
        "missed": len(support) - common,
        "estimation": float(np.linalg.norm(found - truth) / np.linalg.norm(truth)),
        "objective": fit.value,
        "oracle": oracle.value,
    }


def measure(method, design, seed):
    """Run one fit in a process of its own; a text says why it could not be done."""
    command = [sys.executable, "-m", "benchmarks.table", "--one", method, design, seed]
    done = subprocess.run(
        list(map(str, command)),
        env=os.environ | ONE_THREAD,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["killed"])[-1]
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--design", choices=METHODS_ON, action="append")
    parser.add_argument("--method", action="append")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        method, design, seed = options.one
        run_one(method, design, int(seed))
        return
    print(
        f"{'design':9} {'method':12} {'recall':>6} {'CPU s':>7} {'wall s':>7} "
        f"{'warm-up':>7} {'x X':>5} {'foba/it':>8}"
    )
    for design in options.design or METHODS_ON:
        ours = None
        for method in options.method or METHODS_ON[design]:
            runs = [measure(method, design, seed) for seed in range(options.seeds)]
            bad = [run for run in runs if isinstance(run, str)]
            if bad:
                print(f"{design:9} {method:12} left out: {bad[0]}", flush=True)
                continue
            recall, cpu, wall, warm_up, memory = (
                sum(run[key] for run in runs) / len(runs)
                for key in ("recall", "cpu", "wall", "warm_up", "memory")
            )
            ours = cpu if method == "foba" else ours
            ratio = f"{ours / cpu:8.3f}" if ours else ""
            print(
                f"{design:9} {method:12} {recall:6.3f} {cpu:7.2f} {wall:7.2f} "
                f"{warm_up:7.2f} {memory:5.2f} {ratio}",
                flush=True,
            )


if __name__ == "__main__":
    main()
