"""Rates of the parts, and one whole run: parser, kernels, command line.

    python -m benchmarks.house [--rows 200000]

Writes a click log (about 1 kB a row) to a temporary folder and prints, as the best of
several repeats with kernels compiled beforehand: MB/s of the libsvm parser and of the
Vowpal Wabbit parser on the same rows with a namespace, million nonzeros a second of the
sketch's learning loop and of the refit, and for `shortlist select` as a process of its
own the wall time, its share of reading the file with the parser alone, and the largest
anonymous memory.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.click_stream import ClickStream

from shortlist._scoring import evaluate
from shortlist.engines import run
from shortlist.sketch._mission import mission
from shortlist.sources import LibsvmSource, VwSource


def best_of(repeats, work):
    """Shortest of several runs, in seconds; the first one warms up."""
    work()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


class InMemory:
    """Blocks of a source, parsed once."""

    unit, n_features, label_names, reiterable = "rows", None, None, True

    def __init__(self, source):
        self.name, self._blocks, self._source = "memory", list(source.blocks()), source
        self.size = sum(block.n_rows for block in self._blocks)
        self.nnz = sum(len(block.ids) for block in self._blocks)

    def blocks(self):
        return iter(self._blocks)

    def names(self, ids):
        return self._source.names(ids)


def whole_process(path, k):
    """Wall seconds and peak anonymous memory (MB) of the command line."""
    command = [sys.executable, "-m", "shortlist", "select", str(path), "-k", str(k)]
    begin = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--quiet", "--format", "csv"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    peak = 0
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        try:
            text = status.read_text()
        except OSError:
            break
        for line in text.splitlines():
            if line.startswith("RssAnon"):
                peak = max(peak, int(line.split()[1]))
        time.sleep(0.01)
    process.wait()
    if process.returncode:
        raise SystemExit(f"shortlist select failed with {process.returncode}")
    return time.perf_counter() - begin, peak / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    stream = ClickStream()
    with tempfile.TemporaryDirectory() as folder:
        train = stream.write(Path(folder) / "train.svm", options.rows)
        n_test = max(5000, options.rows // 4 // 5000 * 5000)
        begin_test = -(-options.rows // 5000) * 5000
        test = stream.write(Path(folder) / "test.svm", n_test, begin_test)
        size = train.stat().st_size / 1e6
        print(f"{options.rows:,} rows, {size:.0f} MB")

        def parse(source):
            for _ in source.blocks():
                pass

        seconds = best_of(options.repeats, lambda: parse(LibsvmSource(train)))
        parsed = InMemory(LibsvmSource(train))
        held_out = InMemory(LibsvmSource(test))
        rate = parsed.nnz / seconds / 1e6
        print(f"parser: {size / seconds:.0f} MB/s, {rate:.1f} M nonzeros/s")
        named = train.with_suffix(".vw")
        with train.open() as rows, named.open("w") as out:
            out.writelines(row.replace(" ", " |click ", 1) for row in rows)
        seconds_vw = best_of(options.repeats, lambda: parse(VwSource(named)))
        rate = named.stat().st_size / seconds_vw / 1e6
        print(f"vw parser: {rate:.0f} MB/s, {seconds_vw / seconds:.2f} x libsvm's time")
        for k in (100, 1000, 16384):
            for recipe in ("paper", "newton", "refit"):
                algorithm = mission(k, recipe=recipe, memory="12MB")
                spent = best_of(options.repeats, lambda a=algorithm: run(a, parsed))
                score = evaluate(run(algorithm, parsed), held_out)
                print(
                    f"k={k} {recipe}: {parsed.nnz / spent / 1e6:.1f} M nonzeros/s, "
                    f"held-out accuracy {score.value:.4f}, loss {score.loss:.4f}"
                )
        wall, peak = min(whole_process(train, 1000) for _ in range(options.repeats))
        print(
            f"shortlist select -k 1000, whole process: {wall:.2f} s "
            f"({wall / seconds:.1f} x parsing once), {peak:.0f} MB anonymous memory"
        )


if __name__ == "__main__":
    main()
