"""The click log as whole processes: shortlist beside Vowpal Wabbit and scikit-learn.

    python -m benchmarks.sketch [--size 200MB] [--repeats 3] [--ks 1000,16384]

Writes the click log of ``benchmarks/click_stream.py`` at the size asked for, a validation
and a test part besides, and runs one after the other, several times:

* shortlist's recipes newton, refit and paper, 12 MB of sketch, defaults otherwise;
* Vowpal Wabbit, logistic loss, 22 bits, one pass; for accuracy also with l1, its strength
  chosen on the validation part;
* scikit-learn's SGDClassifier on all columns that load_svmlight_file loads: l1, five
  epochs, its strength chosen on the validation part and its weights cut to the k largest.

Prints MB/s, million nonzeros a second, wall time against Vowpal Wabbit's, peak anonymous
memory and accuracy on the test part. Kernels are compiled beforehand, and Python may keep
bytecode, as an installation has it: otherwise each process would compile this package's
modules anew. Vowpal Wabbit and scikit-learn are left out where they are not installed.
"""

import argparse
import csv
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from benchmarks.click_stream import CHUNK, N_IDS, ClickStream

RESULTS = Path(__file__).parent / "results"
BYTES_A_ROW = 957
UNITS = {"MB": 10**6, "GB": 10**9}


def n_rows_of(size):
    """Rows, in whole chunks, of a file of about this size, such as 200MB."""
    rows = float(size[:-2]) * UNITS[size[-2:].upper()] / BYTES_A_ROW
    return max(CHUNK, round(rows / CHUNK) * CHUNK)


def run_process(words):
    """Wall seconds and largest anonymous memory (MB) of a command."""
    surroundings = {
        name: value
        for name, value in os.environ.items()
        if name != "PYTHONDONTWRITEBYTECODE"
    }
    begin = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, env=surroundings)
    status, peak = Path(f"/proc/{process.pid}/status"), 0
    while process.poll() is None:
        try:
            lines = status.read_text().splitlines()
        except OSError:
            break
        sizes = [int(line.split()[1]) for line in lines if line.startswith("RssAnon")]
        peak = max([peak, *sizes])
        time.sleep(0.005)
    if process.wait():
        raise SystemExit(f"{' '.join(words)} failed with {process.returncode}")
    return time.perf_counter() - begin, peak / 1024


def shortlist_words(train, k, recipe, model):
    words = [sys.executable, "-m", "shortlist", "select", str(train), "-k", str(k)]
    words += ["--method", "mission"]
    words += ["--recipe", recipe, "--memory", "12MB", "--holdout", "0", "--quiet"]
    return [*words, "--format", "csv", "-o", str(model)]


def vw_words(train, model, l1=0.0):
    words = [sys.executable, "-m", "vowpalwabbit", "-d", str(train), "-b", "22"]
    words += ["--loss_function", "logistic", "--quiet", "-f", str(model)]
    return [*words, "--l1", str(l1)] if l1 else words


def shortlist_accuracy(model, test):
    from shortlist import Shortlist
    from shortlist._scoring import evaluate
    from shortlist.sources import LibsvmSource

    return evaluate(Shortlist.load(model), LibsvmSource(test)).value


def vw_accuracy(model, test, folder):
    out = folder / "predictions"
    words = [sys.executable, "-m", "vowpalwabbit", "-t", "-i", str(model), "--quiet"]
    subprocess.run([*words, "-d", str(test), "-p", str(out)], check=True)
    margins = np.loadtxt(out)
    labels = np.array([int(line.split(maxsplit=1)[0]) for line in test.open()])
    return float(np.mean((margins > 0) == (labels > 0)))


def sklearn_accuracies(train, valid, test, ks):
    """Accuracy of SGD with l1 at each k, and seconds to load and fit once."""
    from sklearn.datasets import load_svmlight_file
    from sklearn.linear_model import SGDClassifier

    def load(path):
        X, y = load_svmlight_file(str(path), n_features=N_IDS + 1, zero_based=True)
        # SGDClassifier takes 32-bit indices only
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        return X, y

    fits, begin = [], time.perf_counter()
    X, y = load(train)
    for alpha in (3e-7, 1e-6, 3e-6, 1e-5, 3e-5):
        model = SGDClassifier(
            loss="log_loss",
            penalty="l1",
            alpha=alpha,
            max_iter=5,
            tol=None,
            random_state=0,
        )
        fits.append(model.fit(X, y))
        if len(fits) == 1:
            seconds = time.perf_counter() - begin
    parts = {"valid": load(valid), "test": load(test)}

    def accuracy(model, part, k):
        X_new, y_new = parts[part]
        w = model.coef_[0].copy()
        w[np.argsort(-np.abs(w))[k:]] = 0.0
        return float(np.mean((X_new @ w + model.intercept_[0] > 0) == (y_new > 0)))

    chosen = {k: max(fits, key=lambda m, k=k: accuracy(m, "valid", k)) for k in ks}
    return {k: accuracy(chosen[k], "test", k) for k in ks}, seconds


def as_vw(path):
    """The same rows with a bar before the features."""
    out = path.with_suffix(".vw")
    with path.open() as rows, out.open("w") as lines:
        lines.writelines(row.replace(" ", " | ", 1) for row in rows)
    return out


def count_nonzeros(path):
    from shortlist.sources import LibsvmSource

    return sum(len(block.ids) for block in LibsvmSource(path).blocks())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", default="200MB")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--ks", default="1000,16384")
    parser.add_argument("--no-sklearn", action="store_true")
    options = parser.parse_args()
    ks = [int(k) for k in options.ks.split(",")]
    stream, n = ClickStream(), n_rows_of(options.size)
    n_part = max(CHUNK, min(50_000, n // 4 // CHUNK * CHUNK))
    has_vw = importlib.util.find_spec("vowpalwabbit") is not None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train = stream.write(folder / "train.svm", n)
        valid = stream.write(folder / "valid.svm", n_part, n)
        test = stream.write(folder / "test.svm", n_part, n + n_part)
        size, nnz = train.stat().st_size / 1e6, count_nonzeros(train) / 1e6
        print(f"{n:,} rows, {size:.0f} MB, {nnz:.1f} M nonzeros")
        runs = {
            f"shortlist {recipe}, k={k}": shortlist_words(
                train, k, recipe, folder / f"{recipe}{k}"
            )
            for k in ks
            for recipe in ("newton", "refit", "paper")
        }
        if has_vw:
            vw_train, vw_valid, vw_test = map(as_vw, (train, valid, test))
            runs["Vowpal Wabbit"] = vw_words(vw_train, folder / "vw")
        for words in runs.values():  # compiles kernels, fills the page cache
            run_process(words)
        times = {name: [] for name in runs}
        for _ in range(options.repeats):  # in turns, as a machine has moods
            for name, words in runs.items():
                times[name].append(run_process(words))
        accuracy = {
            f"shortlist {recipe}, k={k}": shortlist_accuracy(
                folder / f"{recipe}{k}", test
            )
            for k in ks
            for recipe in ("newton", "refit", "paper")
        }
        if has_vw:
            accuracy["Vowpal Wabbit"] = vw_accuracy(folder / "vw", vw_test, folder)
            best = None
            for l1 in (1e-6, 3e-6, 1e-5, 3e-5):
                run_process(vw_words(vw_train, folder / f"vw{l1}", l1))
                score = vw_accuracy(folder / f"vw{l1}", vw_valid, folder)
                best = max(best or (score, l1), (score, l1))
            held_out = vw_accuracy(folder / f"vw{best[1]}", vw_test, folder)
            accuracy[f"Vowpal Wabbit --l1 {best[1]:g}"] = held_out
        if not options.no_sklearn:
            scores, seconds = sklearn_accuracies(train, valid, test, ks)
            for k, score in scores.items():
                accuracy[f"scikit-learn l1, cut to k={k}"] = score
            print(f"scikit-learn, loading and one fit: {seconds:.1f} s")
    chunks = range((n + n_part) // CHUNK, (n + 2 * n_part) // CHUNK)
    bayes = np.concatenate([stream.chunk(number)["margin"] for number in chunks])
    best_possible = float(np.mean(1 / (1 + np.exp(-np.abs(bayes)))))
    report(times, accuracy, size, nnz, best_possible)


def report(times, accuracy, size, nnz, best_possible):
    """Print a table and keep it as CSV."""
    yardstick = min(wall for wall, _ in times.get("Vowpal Wabbit", [(np.nan, 0)]))
    rows = []
    for name in dict.fromkeys([*times, *accuracy]):
        wall, peak = min(times.get(name, [(np.nan, np.nan)]))
        rows.append(
            {
                "method": name,
                "MB/s": f"{size / wall:.0f}",
                "M nnz/s": f"{nnz / wall:.1f}",
                "seconds": f"{wall:.2f}",
                "wall / VW": f"{wall / yardstick:.2f}",
                "memory MB": f"{peak:.0f}",
                "accuracy": f"{accuracy.get(name, np.nan):.4f}",
            }
        )
    print(f"nobody can be right more often than {best_possible:.4f}")
    widths = {c: max(len(c), *(len(row[c]) for row in rows)) for c in rows[0]}
    for row in (dict(zip(widths, widths, strict=True)), *rows):
        print("  ".join(row[c].ljust(widths[c]) for c in widths))
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / f"sketch_{size:.0f}MB.csv").open("w", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
