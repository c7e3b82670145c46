"""What GSR costs beside the BLAS and LAPACK calls that it cannot do without.

    python -m benchmarks.gsr_cost [--repeats 3] [--quick]

Run it from the project's root. CPU seconds of one thread, the least of the repeats, after a
first run that imports and compiles.

- ISOLET (936 x 617, 26 classes; the training parts of three trials of
  ``papers.gsr.accuracy``, or tables of the same shape where it is missing) with default
  settings: seconds of a whole fit over those of its products that make a Gram or kernel
  matrix and of its Cholesky solves, each made again alone, in the sizes that occurred.
  Residuals and weights of the dual form are products as well; they are not counted, so the
  ratio is on the high side.
- Wide tables (240 x 10304, 40 classes) likewise, and their seconds over the mean of the
  first three. One is drawn; one is ORL, where it is there, its faces scaled up to the
  paper's 112 x 92.
- How seconds grow with features and with samples, for r = 2 and "auto".

Writes ``cost.csv`` and ``growth.csv`` to ``papers/gsr/results``; ``papers.gsr.figures``
draws the second.
"""

import argparse
import csv
import os
import time
from contextlib import contextmanager
from pathlib import Path

for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"  # before numpy is loaded

import numpy as np  # noqa: E402
from benchmarks.data import Missing, load  # noqa: E402
from scipy.linalg import cho_factor, cho_solve  # noqa: E402
from sklearn.model_selection import train_test_split  # noqa: E402

from shortlist import GSR  # noqa: E402
from shortlist.table import _gsr  # noqa: E402
from shortlist.table._gsr_table import DenseTable  # noqa: E402

RESULTS = Path(__file__).parents[1] / "papers" / "gsr" / "results"
COST_FIELDS = ("table", "rows", "features", "classes", "seconds", "blas", "ratio")
COST_FIELDS += ("products", "solves", "over_isolet")
GROWTH_FIELDS = ("along", "rows", "features", "r", "seconds", "products", "solves")
K = 50
FEATURES = (250, 500, 1000, 2000, 4000, 8000, 16000)
SAMPLES = (125, 250, 500, 1000, 2000, 4000)
#: What does not grow while the other does.
FIXED_ROWS, FIXED_FEATURES, CLASSES = 500, 500, 10


def drawn(rows, features, classes, seed=0):
    """Rows around the centre of their class, which a few features tell apart.

    A twentieth of the labels is wrong, so no exponent is without error, which would end
    the search for one.
    """
    rng = np.random.default_rng([5, seed])
    y = np.arange(rows) % classes
    centers = np.zeros((classes, features))
    told = max(1, min(2 * K, features // 2))
    centers[:, :told] = rng.normal(size=(classes, told))
    X = centers[y] + 1.5 * rng.normal(size=(rows, features))
    wrong = np.arange(0, rows, 20)
    y[wrong] = (y[wrong] + 1) % classes
    return X, y


def standard(X):
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)


def trained_on(X, y, seed):
    """What a trial learns from."""
    y = np.unique(y, return_inverse=True)[1]
    few, _ = train_test_split(
        np.arange(len(y)), train_size=0.6, stratify=y, random_state=seed
    )
    return standard(X[few]), y[few]


def isolet(trials=3):
    """Tables of 936 x 617."""
    try:
        X, y = load("isolet1_isolet5")
    except Missing:
        for seed in range(trials):
            yield f"drawn like isolet, {seed}", *drawn(936, 617, 26, seed)
        return
    for seed in range(trials):
        yield f"isolet, trial {seed}", *trained_on(X[:1560], y[:1560], seed)


def wide():
    """Tables of 240 x 10304."""
    yield "drawn, wide", *drawn(240, 10304, 40)
    try:
        X, y = load("orl_32x32")
    except Missing:
        return
    from scipy.ndimage import zoom

    faces = X.reshape(-1, 32, 32)
    large = np.stack([zoom(face, (112 / 32, 92 / 32), order=1) for face in faces])
    yield "orl, scaled up", *trained_on(large.reshape(len(large), -1), y, 0)


@contextmanager
def recorded():
    """Have the sizes of all products and solves written down."""
    calls = []
    gram, kernel, solve = DenseTable.gram, DenseTable.kernel, _gsr._ridge_solve

    def noted_gram(self, weight, center):
        calls.append(("product", self.shape[::-1], self.dtype))
        return gram(self, weight, center)

    def noted_kernel(self, spread, center):
        calls.append(("product", self.shape, self.dtype))
        return kernel(self, spread, center)

    def noted_solve(G, d, lam, rhs):
        calls.append(("solve", rhs.shape, G.dtype))
        return solve(G, d, lam, rhs)

    DenseTable.gram, DenseTable.kernel = noted_gram, noted_kernel
    _gsr._ridge_solve = noted_solve
    try:
        yield calls
    finally:
        DenseTable.gram, DenseTable.kernel = gram, kernel
        _gsr._ridge_solve = solve


def replayed(calls):
    """CPU seconds of the same products and solves, and of nothing else."""
    rng = np.random.default_rng(0)
    seconds = 0.0
    for what, (n, m), dtype in calls:
        if what == "product":
            B = np.asfortranarray(rng.random((n, m)), dtype=dtype)
            begin = time.process_time()
            _ = B @ B.T
        else:
            M = np.full((n, n), 0.5, dtype=dtype, order="F")
            M[np.diag_indices(n)] = n
            rhs = np.ones((n, m), dtype=dtype)
            begin = time.process_time()
            factor = cho_factor(M, overwrite_a=True, check_finite=False)
            cho_solve(factor, rhs, check_finite=False)
        seconds += time.process_time() - begin
    return seconds


def fit(X, y, r="auto"):
    loss = "softmax" if y.max() > 1 else "logistic"
    return GSR(min(K, X.shape[1] // 2), r=r, loss=loss).fit(X, y)


def timed(X, y, repeats, r="auto"):
    """Least CPU seconds of a fit, and the calls that it made."""
    seconds = []
    for _ in range(repeats):
        begin = time.process_time()
        fit(X, y, r)
        seconds.append(time.process_time() - begin)
    with recorded() as calls:
        fit(X, y, r)
    return min(seconds), calls


def counts(calls):
    kinds = [what for what, _, _ in calls]
    return {"products": kinds.count("product"), "solves": kinds.count("solve")}


def cost_rows(first, others, repeats):
    """A line for each table; the mean of the first is the unit of the others."""
    units = []
    for name, X, y in [*first, *others]:
        seconds, calls = timed(X, y, repeats)
        blas = min(replayed(calls) for _ in range(repeats))
        if len(units) < len(first):
            units.append(seconds)
        yield {
            "table": name,
            "rows": X.shape[0],
            "features": X.shape[1],
            "classes": int(y.max()) + 1,
            "seconds": f"{seconds:.3g}",
            "blas": f"{blas:.3g}",
            "ratio": f"{seconds / blas:.2f}",
            **counts(calls),
            "over_isolet": f"{seconds / np.mean(units):.2f}",
        }


def growth_rows(features, samples, repeats):
    shapes = [("features", FIXED_ROWS, m) for m in features]
    shapes += [("samples", n, FIXED_FEATURES) for n in samples]
    for along, n, m in shapes:
        X, y = drawn(n, m, CLASSES)
        for r in (2.0, "auto"):
            seconds, calls = timed(X, y, repeats, r)
            place = {"along": along, "rows": n, "features": m, "r": r}
            yield {**place, "seconds": f"{seconds:.3g}", **counts(calls)}


def write(path, fields, rows):
    """Write lines as they come, and show them."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="") as out:
        lines = csv.DictWriter(out, fields, lineterminator="\n")
        lines.writeheader()
        for row in rows:
            lines.writerow(row)
            out.flush()
            print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    fit(*drawn(60, 20, 3))  # imports and compiles
    if asked.quick:
        first, others = [("gsr", *drawn(60, 20, 3))], [("wide", *drawn(60, 80, 3))]
        sizes = ((20,), (1000,))
    else:
        first, others, sizes = list(isolet()), wide(), (FEATURES, SAMPLES)
    rows = cost_rows(first, others, asked.repeats)
    write(asked.out / "cost.csv", COST_FIELDS, rows)
    write(asked.out / "growth.csv", GROWTH_FIELDS, growth_rows(*sizes, asked.repeats))


if __name__ == "__main__":
    main()
