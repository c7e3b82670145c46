"""FoBa against the peers that a statistician would pick, each in a process of its own.

    python benchmarks/table.py [--design big|logistic|ar9|gauss|small] [--seeds 3]

Peers: abess (best subset), scikit-learn's orthogonal matching pursuit, celer's lasso path
cut where it has k features and refitted. They come with `pip install --group bench`; those
that are missing are left out and named. BLAS threads are fixed to one for all. Printed
for each: share of the true features found, CPU seconds (compiling, which is reported
apart, and making the data not counted), peak memory over that of X, and FoBa's CPU time
over the peer's.
"""

import argparse
import json
import os
import subprocess
import sys
import time

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

DESIGNS = {
    "gauss": {"n": 1315, "p": 2000, "s": 100, "rho": 0.0, "noise": 0.1, "pm1": False},
    "small": {"n": 600, "p": 2000, "s": 100, "rho": 0.0, "noise": 0.1, "pm1": True},
    "ar9": {"n": 800, "p": 2000, "s": 50, "rho": 0.9, "noise": 0.5, "pm1": True},
    "big": {"n": 5000, "p": 50_000, "s": 100, "rho": 0.0, "noise": 0.1, "pm1": False},
    "logistic": {
        "n": 2000,
        "p": 20_000,
        "s": 50,
        "rho": 0.7,
        "noise": None,
        "pm1": True,
    },
}


def make(name, seed):
    """X with unit-variance columns, y, true support."""
    import numpy as np

    design = DESIGNS[name]
    n, p, s, rho = (design[key] for key in ("n", "p", "s", "rho"))
    rng = np.random.default_rng([7, seed])
    X = np.empty((n, p), order="F")
    previous = np.zeros(n)
    for j in range(p):
        fresh = rng.standard_normal(n)
        previous = rho * previous + np.sqrt(1 - rho**2) * fresh if j and rho else fresh
        X[:, j] = previous
    for j in range(p):
        X[:, j] /= X[:, j].std()
    support = np.sort(rng.choice(p, s, replace=False))
    sizes = rng.choice([-1.0, 1.0], s) if design["pm1"] else rng.standard_normal(s)
    z = X[:, support] @ sizes
    if design["noise"] is None:
        return X, np.where(rng.random(n) < 1 / (1 + np.exp(-z)), 1, 0), support
    return X, z + design["noise"] * rng.standard_normal(n), support


def by_foba(X, y, k, logistic):
    from shortlist import FoBa

    loss = "logistic" if logistic else "squared"
    return FoBa(k, loss=loss).fit(X, y).get_support(indices=True)


def by_abess(X, y, k, logistic):
    import numpy as np
    from abess.linear import LinearRegression, LogisticRegression

    model = (LogisticRegression if logistic else LinearRegression)(support_size=k)
    return np.flatnonzero(model.fit(X, y).coef_)


def by_omp(X, y, k, logistic):
    import numpy as np
    from sklearn.linear_model import OrthogonalMatchingPursuit

    if logistic:
        raise NotImplementedError
    model = OrthogonalMatchingPursuit(n_nonzero_coefs=k).fit(X, y)
    return np.flatnonzero(model.coef_)


def by_celer(X, y, k, logistic):
    import numpy as np
    from celer import celer_path

    kind = "logreg" if logistic else "lasso"
    target = 2.0 * y - 1 if logistic else y - y.mean()
    _, coefs, _ = celer_path(X, target, pb=kind, n_alphas=60, eps=1e-3, tol=1e-4)
    sizes = (coefs != 0).sum(axis=0)
    enough = int(np.argmax(sizes >= k)) if (sizes >= k).any() else coefs.shape[1] - 1
    return np.argsort(-np.abs(coefs[:, enough]))[:k]


METHODS = {"foba": by_foba, "abess": by_abess, "omp": by_omp, "celer": by_celer}


def peak_kib():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def run_one(method, design, seed):
    """Fit once, in this process; print the measurements as JSON."""
    X, y, support = make(design, seed)
    logistic, k = design == "logistic", len(support)
    METHODS[method](X[:200, :300].copy(order="F"), y[:200], 5, logistic)  # warm up
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")  # the peak counts from here
    begin = time.process_time()
    chosen = METHODS[method](X, y, k, logistic)
    spent = time.process_time() - begin
    found = len(set(chosen.tolist()) & set(support.tolist())) / k
    memory = peak_kib() * 1024 / X.nbytes
    print(json.dumps({"recall": found, "cpu": spent, "memory": memory}))


def measure(method, design, seed):
    command = [sys.executable, __file__, "--one", method, design, str(seed)]
    done = subprocess.run(
        command,
        env=os.environ | dict.fromkeys(THREADS, "1"),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--design", choices=DESIGNS, action="append")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        method, design, seed = options.one
        run_one(method, design, int(seed))
        return
    print(
        f"{'design':9} {'method':6} {'recall':>6} {'CPU s':>7} {'x X':>5} {'foba/it':>8}"
    )
    for design in options.design or DESIGNS:
        ours = None
        for method in METHODS:
            runs = [measure(method, design, seed) for seed in range(options.seeds)]
            bad = [run for run in runs if isinstance(run, str)]
            if bad:
                print(f"{design:9} {method:6} left out: {bad[0]}")
                continue
            recall, cpu, memory = (
                sum(run[key] for run in runs) / len(runs)
                for key in ("recall", "cpu", "memory")
            )
            ours = cpu if method == "foba" else ours
            ratio = f"{ours / cpu:8.2f}" if ours else ""
            print(
                f"{design:9} {method:6} {recall:6.3f} {cpu:7.2f} {memory:5.2f} {ratio}"
            )


if __name__ == "__main__":
    main()
