"""Regret and truncation errors against the bounds of Theorems 1 and 2.

    python -m papers.barda.regret [--set basehock ...] [--passes 100]

A stream is a set that is passed over again and again, in a fresh order each time, rows
scaled to length 1, k = 50, lambda = 0. Regret after T examples is the sum of losses, each
before its example is learned from, less T times the mean loss of the best k-sparse model in
hindsight. Nobody knows that model: the better of what FoBa chooses and of what B-ARDA's
features give when fitted exactly stands in for it, so true regret is at least this much.
Both have a ridge. With hardly any, the loss is lower still, but some weights are in the
hundreds, and bounds, which hold for any model, grow with their squares.

Theorem 1 wants gradients below delta. With rows of length 1 and the usual delta = .01 they
are not, so delta = 1 is tried as well, below which they stay unless a margin has the wrong
sign.

Writes ``results/regret.csv``, a line a pass: what the bounds are made of.
"""

import argparse
from pathlib import Path

import numpy as np
from papers.barda.tasks import SETS, Shuffled, tasks
from papers.results import Ledger
from sklearn.preprocessing import normalize

from shortlist import FoBa
from shortlist._scoring import evaluate
from shortlist._steps import LOSS
from shortlist._targets import Target
from shortlist.losses import SquaredHinge
from shortlist.rows import BARDA, _methods
from shortlist.rows._state import N_XI
from shortlist.sources import ArraySource

RESULTS = Path(__file__).parent / "results" / "regret.csv"
KEYS = ("set", "method", "truncation", "delta", "T")
FACTS = (
    "loss",
    "best",
    "length",
    "largest",
    "gradients",
    "xi",
    "xi_max",
    "xi_sum",
    "apart",
)
ETA = 0.3
CASES = (
    ("barda", "paper", 0.01),
    ("barda", "paper", 1.0),
    ("barda", "naive", 0.01),
    ("barda", "naive", 1.0),
    ("bamd", "paper", 0.01),
    ("bamd", "naive", 0.01),
)


def best_in_hindsight(X, y, k):
    """Mean loss and weights, by column, of the better of two k-sparse models."""
    plain = {"loss": "squared_hinge", "normalize": None}
    models = [BARDA(k, passes=20, **plain), FoBa(k, loss="squared_hinge", l2=1e-3)]
    rows, found = ArraySource(X, y), []
    for model in models:
        chosen = model.fit(X, y).shortlist_
        weights = np.zeros(X.shape[1])
        weights[chosen.ids.astype(np.int64)] = chosen.weights
        found.append((evaluate(chosen, rows).loss, weights))
    return min(found, key=lambda pair: pair[0])


def errors(model, T):
    """Last truncation error noted, the largest so far, and their sum over T rows.

    Some are noted; each stands for the rows since the one before, the last also for those
    that follow it.
    """
    n = int(model.state.clock[N_XI])
    rows, xi = model.state.xi[:n].T
    total = np.diff(rows, prepend=0.0) @ xi + (T - rows[-1]) * xi[-1]
    return {"xi": xi[-1], "xi_max": float(xi.max()), "xi_sum": float(total)}


def weights_of(rule, model, target, n_features):
    found = rule.found(model, target, np.empty(0, np.uint64))
    weights = np.zeros(n_features)
    weights[found.ids.astype(np.int64)] = found.weight
    return weights


def follow(X, y, k, case, passes, best):
    """Yield T and what the bounds are made of, after each pass."""
    method, truncation, delta = case
    settings = {"eta": ETA, "delta": delta, "truncation": truncation}
    rule = getattr(_methods, method)(k, refit=False, **settings).rule
    target = Target(SquaredHinge(), (-1, 1), np.array([-1.0, 1.0]))
    model, stream = rule.create(target, X.shape[1]), Shuffled(X, y, 0)
    mean_loss, ideal = best
    apart, T = float(np.abs(ideal).max()), 0
    for _ in range(passes):
        for block in stream.blocks():
            rule.learn(model, target, block)
        T += len(y)
        weights = weights_of(rule, model, target, X.shape[1])
        apart = max(apart, float(np.abs(ideal - weights).max()))
        yield (
            T,
            {
                "loss": float(rule.totals(model)[LOSS]),
                "best": mean_loss,
                "length": float(ideal @ ideal),
                "largest": float(np.abs(ideal).max()),
                "gradients": float(np.sqrt(model.state.cells[1::2]).sum()),
                **errors(model, T),
                "apart": apart,
            },
        )


def measure(task, k, cases, passes, ledger):
    """Add what is not in the ledger."""
    X, y = normalize(task.X), np.where(task.y > 0, 1, -1)
    missing = [c for c in cases if (task.name, *c, passes * len(y)) not in ledger]
    best = best_in_hindsight(X, y, k) if missing else None
    for case in missing:
        for T, facts in follow(X, y, k, case, passes, best):
            if (place := (task.name, *case, T)) not in ledger:
                ledger.add(place, facts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", choices=SETS, action="append")
    parser.add_argument("--passes", type=int, default=100)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    if asked.quick:
        print("barda, quick")
        ledger = Ledger(None, KEYS, FACTS)
        for task in tasks(["small"]):
            measure(task, 5, CASES[:1] + CASES[-1:], 2, ledger)
        return
    ledger = Ledger(asked.out, KEYS, FACTS)
    for task in tasks(asked.set or ("basehock", "dexter")):
        measure(task, 50, CASES, asked.passes, ledger)


if __name__ == "__main__":
    main()
