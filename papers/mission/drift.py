"""Whether, and why, Algorithm 1 gets worse with more passes over the same rows.

    python -m papers.mission.drift [--design clicks ...] [--splits 3]

Designs: the click log, 20,000 rows, with k = 1000 and 100 of 2000 planted features; and a
Gaussian table of 2000 x 300 with k = 30, all that are planted.

Only the top k take part in margins, so only their weights are held back by what they
predict. All others gather gradients without end: each pass over the same rows adds the
same chance correlations again. Variants that take away one possible cause each:

    paper      as it is
    identity   exact weights: no collisions in a sketch
    slow       a fifth of the learning rate, so five passes go as far as one did
    unbiased   labels of equal weight, so that the intercept has little to learn
    gamma      what is outside the top k fades (section 5.1), by 1 % in 100 examples
    fresh      five times the rows in one pass: as many steps, none on a row seen before
    heard      margins of all weights, nothing refitted (recipe="newton")

Writes ``results/drift.csv``: after each pass the share of planted features among those
chosen, accuracy, the share of those chosen that were chosen a pass before, and the mean
weight of those chosen; lines that are there are not measured again.
"""

import argparse
from pathlib import Path

import numpy as np
from papers.mission.rivals import default_cells
from papers.mission.tasks import clicks, gaussian
from papers.results import Ledger

import shortlist.sketch._paper as paper
from shortlist._scoring import Predictor, evaluate
from shortlist.sketch import Mission
from shortlist.sketch._example import steps_for

RESULTS = Path(__file__).parent / "results" / "drift.csv"
KEYS = ("design", "rows", "k", "split", "variant", "passes")
FACTS = ("planted", "accuracy", "stayed", "size")
PASSES = 5
#: How to draw a design, its rows, and k.
DESIGNS = {
    "clicks": (clicks, 20_000, 1000),
    "clicks, few": (clicks, 20_000, 100),
    "gaussian": (gaussian, 2000, 30),
}
SLOW = 0.2
VARIANTS = {
    "paper": {},
    "identity": {"sketch": "identity"},
    "slow": {},
    "unbiased": {"class_weight": "balanced"},
    "gamma": {"gamma": 0.9999},
    "fresh": {},
    "heard": {"recipe": "newton"},
}


def slow_steps(target, *, damped):
    """Steps as they are, but for their rate."""
    return steps_for(target, damped=damped)._replace(rate=SLOW)


def chosen_after(passes, variant, k, task, draw):
    """What a variant publishes after so many passes."""
    if variant == "fresh":
        task = draw(task.split, passes * task.train.size, 1)
        passes = 1
    settings = {
        "recipe": "paper",
        "loss": "logistic",
        "memory": default_cells(task),
        "seed": task.split,
        "passes": passes,
    } | VARIANTS[variant]
    if variant == "identity":
        settings["memory"] = task.n_features  # numbers, one for each
    plain = paper.steps_for
    paper.steps_for = slow_steps if variant == "slow" else plain
    try:
        estimator = Mission(k, **settings)
        estimator.fit_source(task.train, classes=task.classes)
    finally:
        paper.steps_for = plain
    return estimator.shortlist_


def follow(design, variant, split, n_passes, ledger):
    """Add a line a pass to the ledger."""
    draw, n_rows, k = DESIGNS[design]
    places = [(design, n_rows, k, split, variant, p + 1) for p in range(n_passes)]
    if all(place in ledger for place in places):
        return
    task, before = draw(split, n_rows), None
    for place in places:
        found = chosen_after(place[-1], variant, k, task, draw)
        if place not in ledger:
            facts = {
                "planted": float(np.mean(np.isin(found.ids, task.planted))),
                "accuracy": evaluate(Predictor(found), task.tests["test"]).value,
                "size": float(np.mean(np.abs(found.weights))),
            }
            if before is not None:
                facts["stayed"] = float(np.mean(np.isin(found.ids, before)))
            ledger.add(place, facts)
        before = found.ids


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--design", choices=DESIGNS, action="append")
    parser.add_argument("--variant", choices=VARIANTS, action="append")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--passes", type=int, default=PASSES)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    if asked.quick:
        print("mission, paper")
        follow("gaussian", "slow", 0, 2, Ledger(None, KEYS, FACTS))
        return
    ledger = Ledger(asked.out, KEYS, FACTS)
    for design in asked.design or DESIGNS:
        for split in range(asked.splits):
            for variant in asked.variant or VARIANTS:
                follow(design, variant, split, asked.passes, ledger)


if __name__ == "__main__":
    main()
