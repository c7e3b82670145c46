"""Room columns: how fast features are gone through, in how much memory, and what is found.

    python -m benchmarks.columns [--quick] [--recall] [--memory] [--threads]

Speed: features drawn beforehand, n rows, k = 100 retained, in columns and GB a second of
processor time once kernels are compiled (OPENBLAS_NUM_THREADS=1 makes it that of a core).
``one by one`` is the algorithm as the paper states it, a product of the retained columns
with the gradient for each arrival, in NumPy; the share of the speed of a bare matrix
product of the same size stands beside. ``--recall``: share of the true features found,
with the defaults, by exact exchanges and by gradient steps, and by simulated workers.
``--memory``: the most anonymous memory while features are made one by one, against their
number. ``--threads``: seconds on the clock of one worker and of two, in turns, and what
they find; OPENBLAS_NUM_THREADS=1 leaves the other core to the other worker.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from shortlist.columns import OnlineSubstitution

K = 100


def columns_of(rng, n, p):
    """Named columns that are made as they are asked for."""
    return ((f"c{j}", rng.standard_normal(n)) for j in range(p))


def seconds(work):
    begin = time.process_time()
    work()
    return time.process_time() - begin


def one_by_one(X, y, k):
    """Gradient steps on k retained columns, an arrival at a time."""
    n = len(y)
    S, w = X[:k].copy(), np.zeros(k)
    for x in X[k:]:
        g = (w @ S - y) / n
        w -= (S @ g) / 1.6
        newcomer = -(x @ g)
        weakest = np.abs(w).argmin()
        if abs(newcomer) > abs(w[weakest]):
            S[weakest], w[weakest] = x, newcomer


def report_speed(quick):
    print(f"{'':34}{'columns/s':>12}{'GB/s':>8}{'x one by one':>14}{'x product':>11}")
    p = 400 if quick else 1000
    rng = np.random.default_rng(0)
    for n in (5_000, 50_000):
        X = rng.standard_normal((p, n))  # a row is a feature: they lie one by one
        y = X[:50].T @ rng.standard_normal(50) + rng.standard_normal(n)
        slow = seconds(lambda X=X, y=y: one_by_one(X[:300], y, K)) / 200
        product = seconds(lambda X=X: X @ np.vstack([X[:K], X[:K]]).T) / p
        cases = [("exact", {}), ("gradient", {"exchange": "gradient"})]
        cases += [("logistic", {"loss": "logistic"})]
        for name, settings in cases:
            some = p // 4 if name == "logistic" else p
            target = y > 0 if name == "logistic" else y

            def work(passes, X=X[:some], target=target, settings=settings):
                selector = OnlineSubstitution(K, passes=passes, refit=False, **settings)
                selector.fit_columns(X.T, target)

            work(1)
            spent = seconds(lambda work=work: work(1)) / some
            cells = f"{1 / spent:12,.0f}{8e-9 * n / spent:8.2f}{slow / spent:14.1f}"
            label = f"n = {n:,}, k = {K}, {name}"
            print(f"{label:34}{cells}{product / spent:11.2f}", flush=True)


def sparse_design(n, p, s, seed, rho=0.0, signs=False, flipped=0.0):
    """Columns of unit variance, neighbours correlated by rho; s of them make y.

    Of signs a share may be flipped.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p if rho else 0):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    support = rng.choice(p, s, replace=False)
    w = rng.choice([-1.0, 1.0], s) if rho else rng.standard_normal(s)
    z = X[:, support] @ w
    noise = 0.5 if rho else 0.1
    if signs:
        wrong = rng.random(n) < flipped
        return X, np.where(wrong, -np.sign(z), np.sign(z)), set(support)
    return X, z + noise * rng.standard_normal(n), set(support)


def recall(X, y, support, **settings):
    found = OnlineSubstitution(len(support), **settings).fit(X, y)
    return len(set(found.get_support(indices=True)) & support) / len(support)


def l1_recall(X, y, support):
    """Of the largest weights of an l1-penalised SVM that leaves as many, or a few more."""
    from sklearn.svm import LinearSVC

    k, few, many, best = len(support), 1e-4, 10.0, None
    for _ in range(12):
        C = np.sqrt(few * many)
        model = LinearSVC(penalty="l1", dual=False, C=C, tol=1e-3, max_iter=3000)
        w = model.fit(X, y).coef_[0]
        if np.count_nonzero(w) >= k:
            many, best = C, w
        else:
            few = C
    chosen = np.argsort(-np.abs(best))[:k]
    return len(set(chosen.tolist()) & support) / k


def report_recall(quick):
    seeds = range(2 if quick else 10)
    designs = {
        "regression, p = 2000": (1315, 2000, 100),
        "regression, p = 6000": (1506, 6000, 100),
        "correlated by 0.9": (800, 2000, 50, 0.9),
    }
    for name, (n, p, s, *rho) in designs.items():
        for exchange in ("exact", "gradient"):
            found = [
                recall(*sparse_design(n, p, s, seed, *rho), exchange=exchange)
                for seed in seeds
            ]
            print(f"{name:24}{exchange:10}{np.mean(found):7.3f}", flush=True)
    report_classes(seeds)
    for q in (1, 4, 8):
        found = [
            recall(*sparse_design(1000, 8192, 64, seed), n_workers=q, staleness=q)
            for seed in seeds
        ]
        print(f"{f'{q} workers, stale by {q}':34}{np.mean(found):7.3f}", flush=True)


def report_classes(seeds):
    """Beside an L1-SVM, of labels that are signs, and with one in ten flipped."""
    for p, flipped in ((1000, 0.0), (2000, 0.0), (2000, 0.1)):
        n = int(1.2 * 100 * np.log2(p))
        tasks = [(n, p, 100, seed, 0.0, True, flipped) for seed in seeds]
        what = f"signs, p = {p}" + (", 10 % flipped" if flipped else "")
        for loss in ("logistic", "squared_hinge"):
            for exchange in ("exact", "gradient"):
                found = [
                    recall(*sparse_design(*task), loss=loss, exchange=exchange)
                    for task in tasks
                ]
                label = f"{what}, {loss}"
                print(f"{label:46}{exchange:10}{np.mean(found):7.3f}", flush=True)
        found = [l1_recall(*sparse_design(*task)) for task in tasks]
        print(f"{what + ', L1-SVM':56}{np.mean(found):7.3f}", flush=True)


def peak_memory(p, n=10_000):
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
    return peak / 1024


def report_memory(quick):
    for p in (1_000, 10_000) if quick else (10_000, 100_000):
        begin = time.perf_counter()
        peak = peak_memory(p)
        spent = time.perf_counter() - begin
        print(f"p = {p:,}: {peak:.0f} MB, {spent:.0f} s", flush=True)


def report_threads(quick):
    n, p, s = (5_000, 500, 20) if quick else (50_000, 2_000, 100)
    X, y, support = sparse_design(n, p, s, 0)
    X = np.asfortranarray(X)
    for round_number in range(4):
        spent, found = [], []
        for n_workers in (1, 2):
            begin = time.perf_counter()
            found.append(recall(X, y, support, n_workers=n_workers))
            spent.append(time.perf_counter() - begin)
        if round_number == 0:
            continue  # kernels were compiled
        print(
            f"one worker {spent[0]:.1f} s, recall {found[0]:.2f}; two {spent[1]:.1f} s, "
            f"recall {found[1]:.2f}: {spent[0] / spent[1]:.2f} times as fast",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for part in ("quick", "recall", "memory", "threads"):
        parser.add_argument(f"--{part}", action="store_true")
    asked = parser.parse_args()
    if asked.recall:
        report_recall(asked.quick)
    elif asked.threads:
        report_threads(asked.quick)
    elif asked.memory:
        report_memory(asked.quick)
    else:
        report_speed(asked.quick)


if __name__ == "__main__":
    main()
