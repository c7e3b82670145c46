"""The click log as whole processes: shortlist beside Vowpal Wabbit and scikit-learn.

    python -m benchmarks.sketch [--size 200MB] [--repeats 3] [--ks 1000,16384]

Writes the click log of ``benchmarks/click_stream.py`` at the size asked for, a validation
and a test part besides, and runs one after the other, several times:

* shortlist's recipes newton, refit and paper, 12 MB of sketch, defaults otherwise;
* Vowpal Wabbit, logistic loss, 22 bits, one pass; for accuracy also cut to its k largest
  weights, and with l1, its strength chosen on the validation part;
* scikit-learn's SGDClassifier on all columns that load_svmlight_file loads: l1, five
  epochs, once for each of five strengths, of which the validation part chooses, and its
  weights cut to the k largest.

Prints MB/s, million nonzeros a second, wall time against Vowpal Wabbit's, peak anonymous
memory and accuracy on the test part. Kernels are compiled beforehand, and Python may keep
bytecode, as an installation has it: otherwise each process would compile this package's
modules anew. Vowpal Wabbit and scikit-learn are left out where they are not installed.
"""

import argparse
import csv
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from benchmarks.click_stream import CHUNK, ClickStream

RESULTS = Path(__file__).parent / "results"
BYTES_A_ROW = 957
UNITS = {"MB": 10**6, "GB": 10**9}
#: Strengths of l1 to choose from.
ALPHAS, VW_L1S = (3e-7, 1e-6, 3e-6, 1e-5, 3e-5), (1e-6, 3e-6, 1e-5, 3e-5)
#: Size of Vowpal Wabbit's table; where its intercept is, before it is taken modulo that.
VW_BITS, VW_CONSTANT = 22, 11650396
SKLEARN = "scikit-learn l1, all weights"


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
    words = [sys.executable, "-m", "vowpalwabbit", "-d", str(train), "-b", str(VW_BITS)]
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
    return float(np.mean((margins > 0) == (labels > 0))), margins


def sklearn_words(train, alpha, weights):
    words = [sys.executable, "-m", "benchmarks.sketch_sklearn"]
    return [*words, str(train), str(alpha), str(weights)]


class Linear(NamedTuple):
    """Weights of all that a peer has learned, some or all of which are to predict."""

    weights: np.ndarray
    intercept: float

    def cut(self, k):
        """The same with the k largest weights only."""
        w = np.zeros_like(self.weights)
        best = np.argpartition(np.abs(self.weights), -k)[-k:]
        w[best] = self.weights[best]
        return self._replace(weights=w)

    def margins(self, path):
        """Margin of each row of a libsvm file, and whether its label is positive."""
        from shortlist.sources import LibsvmSource

        parts = []
        for block in LibsvmSource(path).blocks():
            terms = self.weights[block.ids % len(self.weights)] * block.values
            ends = np.r_[0.0, np.cumsum(terms)][block.indptr]
            parts.append((np.diff(ends) + self.intercept, block.y > 0))
        return map(np.concatenate, zip(*parts, strict=True))

    def accuracy(self, path):
        margins, positive = self.margins(path)
        return float(np.mean((margins > 0) == positive))


def sklearn_accuracies(folder, valid, test, ks):
    """Accuracy at each k of the strength of l1 that is best on the validation part."""
    models = []
    for alpha in ALPHAS:
        with np.load(folder / f"sklearn{alpha}.npz") as kept:
            models.append(Linear(kept["weights"], float(kept["intercept"])))
    best = max(models, key=lambda model: model.accuracy(valid))
    yield SKLEARN, best.accuracy(test)
    for k in ks:
        cut = [model.cut(k) for model in models]
        best = max(cut, key=lambda model: model.accuracy(valid))
        yield f"scikit-learn l1, cut to k={k}", best.accuracy(test)


def vw_cut_accuracies(train, test, predicted, folder, ks):
    """Accuracy of Vowpal Wabbit's k largest weights; all of them predict as it does."""
    readable = folder / "readable"
    words = [*vw_words(train, folder / "again"), "--readable_model", str(readable)]
    subprocess.run(words, check=True)
    weights = np.zeros(1 << VW_BITS)
    for line in readable.read_text(errors="replace").splitlines():
        if found := re.fullmatch(r"(\d+):(\S+)( \S+)*", line):
            weights[int(found[1])] = float(found[2])
    intercept = float(weights[VW_CONSTANT % len(weights)])
    weights[VW_CONSTANT % len(weights)] = 0.0
    whole = Linear(weights, intercept)
    own, _ = whole.margins(test)
    np.testing.assert_allclose(own, predicted, atol=1e-3)
    for k in ks:
        yield f"Vowpal Wabbit, cut to k={k}", whole.cut(k).accuracy(test)


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
            accuracy["Vowpal Wabbit"], margins = vw_accuracy(
                folder / "vw", vw_test, folder
            )
            accuracy.update(vw_cut_accuracies(vw_train, test, margins, folder, ks))
            best = None
            for l1 in VW_L1S:
                run_process(vw_words(vw_train, folder / f"vw{l1}", l1))
                score, _ = vw_accuracy(folder / f"vw{l1}", vw_valid, folder)
                best = max(best or (score, l1), (score, l1))
            held_out, _ = vw_accuracy(folder / f"vw{best[1]}", vw_test, folder)
            accuracy[f"Vowpal Wabbit --l1 {best[1]:g}"] = held_out
        if not options.no_sklearn:
            times[SKLEARN] = [
                run_process(sklearn_words(train, alpha, folder / f"sklearn{alpha}"))
                for alpha in ALPHAS
            ]
            accuracy.update(sklearn_accuracies(folder, valid, test, ks))
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
