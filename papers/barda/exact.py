"""Whether the lazy scheme keeps the very features that scoring all of them would.

    python -m papers.barda.exact [--set farm_ads] [--k 100] [--rows 4000]

One pass over a set. After each example, the features that the compiled B-ARDA or B-AMD
holds are compared with those of the slow version of the tests, which scores and sorts all
d of them. Prints at how many examples the two differ: at none, or something is wrong.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from benchmarks.data import Missing
from papers.barda.tasks import SETS, make
from sklearn.preprocessing import normalize

from shortlist._targets import Target
from shortlist.kernels.csr import row_slice
from shortlist.losses import SquaredHinge
from shortlist.rows import _methods
from shortlist.sources import ArraySource

sys.path.append(str(Path(__file__).parents[2] / "tests"))
from reference.rows import SlowBamd, SlowBarda

SLOW = {"barda": SlowBarda, "bamd": SlowBamd}


def held(rule, model, target):
    return np.sort(rule.found(model, target, np.empty(0, np.uint64)).ids).astype(int)


def differences(task, method, k, lam, n_rows):
    """Count examples compared, and those after which the supports differ."""
    X, y = normalize(task.X), np.where(task.y > 0, 1, -1)
    order = np.random.default_rng(0).permutation(len(y))[:n_rows]
    target = Target(SquaredHinge(), (-1, 1), np.array([-1.0, 1.0]))
    rule = getattr(_methods, method)(k, lam=lam).rule
    model = rule.create(target, X.shape[1])
    # of the rule: its rate for the bias is known once the target is
    rate = model.method.bias_rate
    slow = SLOW[method](X.shape[1], k=k, eta=0.3, lam=lam, bias_rate=rate)
    apart, seconds = 0, 0.0
    for block in ArraySource(X[order], y[order]).blocks():
        for i in range(block.n_rows):
            row = row_slice(block, i, i + 1)
            rule.learn(model, target, row)
            begin = time.thread_time()
            slow.learn(target.loss, row)
            seconds += time.thread_time() - begin
            apart += not np.array_equal(held(rule, model, target), slow.support())
    return len(order), apart, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", choices=SETS, default="farm_ads")
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    name, k = ("small", 5) if asked.quick else (asked.set, asked.k)
    try:
        task = make(name)
    except Missing as missing:
        print(f"left out: {missing}")
        return
    for method in SLOW:
        for lam in (0.0, 1e-4):
            rows, apart, seconds = differences(task, method, k, lam, asked.rows)
            print(
                f"{name} {method} k={k} lam={lam:g}: {rows:,} examples, supports differ "
                f"after {apart}; the slow version took {seconds:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
