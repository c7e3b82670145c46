"""Room rows beside Vowpal Wabbit, scikit-learn and river, on the same stream.

    python -m benchmarks.rows_peers [--quick] [--repeats 3]

The stream of ``benchmarks.rows``: 75 features a row of d = 10^6, two classes. Each learner
passes over it once and predicts each example before it learns from it (scikit-learn, which
would take minutes one by one, each thousand). B-ARDA selects, and so does river's
``SelectKBest``, by correlations of features with the class; it sorts all of them for each
row, so it gets the first rows only. The others keep a weight for every feature. CPU time,
all threads, once everything is compiled and imported.

    parsed      from arrays in memory; VW from its own cache file
    one by one  dictionaries, a call of predict_one and one of learn_one each
    text        from a file of Vowpal Wabbit's form, from the disk cache of the system

Writes ``results/rows_peers.csv``. What is not installed is named and left out.
"""

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from benchmarks.rows import NNZ, ROWS, TARGET, K, draw
from papers.results import Ledger

from shortlist._steps import HITS, WEIGHT
from shortlist.engines import run
from shortlist.rows import BARDA, _methods
from shortlist.sources import VwSource

RESULTS = Path(__file__).parent / "results" / "rows_peers.csv"
KEYS, FACTS = ("data", "method", "d", "repeat"), ("us", "mnnz", "accuracy")
D, BLOCKS = 10**6, 40
#: Blocks for who looks at all features in each row.
FEW = 1


def by_barda(blocks, path, d):
    rule = _methods.barda(K).rule
    model = rule.create(TARGET, None)
    begin = time.process_time()
    for block in blocks:
        rule.learn(model, TARGET, block)
    seconds = time.process_time() - begin
    totals = rule.totals(model)
    return seconds, totals[HITS] / totals[WEIGHT]


def by_barda_from_text(blocks, path, d):
    begin = time.process_time()
    learner = _methods.barda(K, refit=False)
    trace = run(learner, VwSource(path)).trace
    seconds = time.process_time() - begin
    rows = np.diff(trace["rows"], prepend=0)
    return seconds, trace["accuracy"] @ rows / rows.sum()


def _by_vw(path, more):
    from vowpalwabbit import Workspace

    words = f"-d {path} --loss_function logistic --binary -b 22 --noconstant --quiet"
    begin = time.process_time()
    # its constructor reads all of the file; it has no progressive accuracy but this loss
    learner = Workspace(f"{words} {more}", enable_logging=False)
    seconds = time.process_time() - begin
    missed = learner.get_sum_loss() / learner.get_weighted_examples()
    learner.finish()
    return seconds, 1.0 - missed


def by_vw(blocks, path, d):
    cache = path.with_suffix(".cache")
    if not cache.exists():
        _by_vw(path, f"--cache_file {cache}")
    return _by_vw(path, f"--cache_file {cache}")


def by_vw_from_text(blocks, path, d):
    return _by_vw(path, "")


def by_sgd(blocks, path, d):
    from scipy.sparse import csr_array
    from sklearn.linear_model import SGDClassifier

    learner, seconds, hits = SGDClassifier(loss="log_loss", random_state=0), 0.0, 0
    for i, block in enumerate(blocks):
        ids, starts = block.ids.astype(np.int32), block.indptr.astype(np.int32)
        X = csr_array((block.values, ids, starts), shape=(ROWS, d))
        begin = time.process_time()
        if i:
            hits += np.sum(learner.predict(X) == block.y)
        learner.partial_fit(X, block.y, classes=[-1.0, 1.0])
        seconds += time.process_time() - begin
    return seconds, hits / ((len(blocks) - 1) * ROWS)


def _one_by_one(learner, blocks):
    """Predict, then learn, a dictionary a row; making these is not counted."""
    seconds, hits = 0.0, 0
    for block in blocks:
        numbers, values = block.ids.tolist(), block.values.tolist()
        for i, label in enumerate((block.y > 0).tolist()):
            part = slice(block.indptr[i], block.indptr[i + 1])
            x = dict(zip(numbers[part], values[part], strict=False))
            begin = time.process_time()
            hits += learner.predict_one(x) == label
            learner.learn_one(x, label)
            seconds += time.process_time() - begin
    return seconds, hits / (len(blocks) * ROWS)


def by_barda_one_by_one(blocks, path, d):
    learner = BARDA(K)
    learner.learn_one({}, False)  # it has to know its classes to predict
    return _one_by_one(learner, blocks)


def by_river(blocks, path, d):
    from river import linear_model, optim

    return _one_by_one(linear_model.LogisticRegression(optim.AdaGrad(0.1)), blocks)


def by_river_selecting(blocks, path, d):
    from river import feature_selection, linear_model, optim, stats

    best = feature_selection.SelectKBest(stats.PearsonCorr(), k=K, use_abs=True)
    model = linear_model.LogisticRegression(optim.AdaGrad(0.1))
    few = blocks[:FEW]
    seconds, accuracy = _one_by_one(best | model, few)
    return seconds * len(blocks) / len(few), accuracy


METHODS = {
    ("parsed", "B-ARDA, k = 100"): by_barda,
    ("parsed", "Vowpal Wabbit"): by_vw,
    ("parsed", "SGDClassifier"): by_sgd,
    ("one by one", "B-ARDA, k = 100"): by_barda_one_by_one,
    ("one by one", "river, LogisticRegression"): by_river,
    ("one by one", f"river, SelectKBest, {FEW * ROWS} rows"): by_river_selecting,
    ("text", "B-ARDA, k = 100"): by_barda_from_text,
    ("text", "Vowpal Wabbit"): by_vw_from_text,
}


def write_text(blocks, path):
    """Write the rows in the form of Vowpal Wabbit."""
    value = f":{blocks[0].values[0]:.6g}"
    with path.open("w") as out:
        for block in blocks:
            for ids, y in zip(block.ids.reshape(ROWS, NNZ), block.y, strict=True):
                cells = " ".join(f"{i}{value}" for i in ids.tolist())
                out.write(f"{int(y)} | {cells}\n")


def measure(d, n_blocks, repeats, ledger):
    """Run all that is installed; the first run of each, which compiles, is left out."""
    rng = np.random.default_rng(0)
    blocks = [draw(rng, d, 1) for _ in range(n_blocks)]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.vw"
        write_text(blocks, path)
        for (data, method), learn in METHODS.items():
            try:
                learn(blocks[:2], path, d)
            except ImportError as missing:
                print(f"left out: {method}: {missing}")
                continue
            for repeat in range(repeats):
                seconds, accuracy = learn(blocks, path, d)
                us = 1e6 * seconds / (n_blocks * ROWS)
                facts = {"us": us, "mnnz": NNZ / us, "accuracy": float(accuracy)}
                ledger.add((data, method, d, repeat), facts)
                print(
                    f"{data:12}{method:30}{us:8.1f} us {NNZ / us:6.1f} M nonzeros/s",
                    end="",
                )
                print(f"   accuracy {100 * accuracy:.1f} %", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    if asked.quick:
        measure(10**4, 3, 1, Ledger(None, KEYS, FACTS))
        return
    asked.out.unlink(missing_ok=True)  # numbers of one machine and hour belong together
    measure(D, BLOCKS, asked.repeats, Ledger(asked.out, KEYS, FACTS))


if __name__ == "__main__":
    main()
