"""Figure 3: features found, and memory needed, as the number of features grows.

    python -m papers.mission.growth [--tables 10] [--p 1000 ...]

100 rows of Gaussian X, weights of 1 on 5 random features of p, no noise. Measured are

    found   the share of the 5 features found; methods with a sketch have CELLS log2(p)^2
            numbers, so that memory grows as the paper says it may
    cells   the fewest numbers, over all three rows of a sketch, with which all 5 are
            found: of widths that grow by a half each, the first that succeeds and whose
            next one does, too

``mission`` is the form with full gradients (see ``methods``), ``mission_paper`` Algorithm
1 with single examples, ``mission_refit`` the default of the package, ``iht`` hard
thresholding with the step of ``mission``. Full gradients stop after 1000 iterations.

Writes ``results/growth.csv``, a line a table and method, as it goes; lines that are there
are not measured again.
"""

import argparse
from pathlib import Path

import numpy as np
from papers.mission.methods import PASSES, _step
from papers.results import Ledger

from shortlist import Mission, ShortlistError
from shortlist.sketch._full_gradient import full_gradient_mission

RESULTS = Path(__file__).parent / "results" / "growth.csv"
KEYS = ("what", "p", "table", "method")
N, K = 100, 5
SIZES = (500, 1000, 2000, 4000, 8000, 16000, 32000)
#: Numbers in a sketch, in units of log2(p)^2; 900 for p = 1000, as in Table 1.
CELLS = 9
ROWS = 3
SMALLEST_WIDTH, GROWTH = 8, 1.5
MAX_ITER = 1000


def table(p, number):
    """Draw a table."""
    rng = np.random.default_rng([p, number])
    X = rng.standard_normal((N, p))
    support = np.sort(rng.choice(p, K, replace=False))
    return X, X[:, support].sum(axis=1), support


def mission(X, y, width, seed):
    return _full(X, y, gamma=0.99, width=width, seed=seed)


def iht(X, y, width, seed):
    return _full(X, y, gamma=0.0)


def _full(X, y, **settings):
    try:
        found = full_gradient_mission(
            X, y, K, step=_step(X), max_iter=MAX_ITER, **settings
        )
    except ShortlistError:  # it diverges
        return np.empty(0, int)
    return found.support


def mission_paper(X, y, width, seed):
    return _single(X, y, width, seed, recipe="paper", passes=PASSES)


def mission_refit(X, y, width, seed):
    return _single(X, y, width, seed, recipe="refit", passes=PASSES)


def _single(X, y, width, seed, **settings):
    try:
        estimator = Mission(
            K, loss="squared", memory=ROWS * width, seed=seed, **settings
        )
        return estimator.fit(X, y).get_support(indices=True)
    except ShortlistError:  # weights without bound, or a sketch without room
        return np.empty(0, int)


METHODS = {
    method.__name__: method for method in (mission, mission_paper, mission_refit, iht)
}


def share_found(method, p, number):
    """Share of the planted features that a method finds, with memory by the formula."""
    X, y, support = table(p, number)
    width = round(CELLS * np.log2(p) ** 2 / ROWS)
    return float(np.isin(support, METHODS[method](X, y, width, number)).mean())


def fewest_cells(method, p, number):
    """Numbers in the smallest sketch that is enough, or "" if none is."""
    X, y, support = table(p, number)
    width, succeeded = float(SMALLEST_WIDTH), None
    while width <= GROWTH * p:
        now = round(width)
        if np.array_equal(METHODS[method](X, y, now, number), support):
            if succeeded:
                return ROWS * succeeded
            succeeded = now
        else:
            succeeded = None
        width *= GROWTH
    return ""


MEASURES = {
    "found": (share_found, tuple(METHODS)),
    "cells": (fewest_cells, ("mission", "mission_paper", "mission_refit")),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--p", type=int, action="append")
    parser.add_argument("--what", choices=MEASURES, action="append")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    ledger = Ledger(None if asked.quick else asked.out, KEYS, ("value",))
    sizes, tables = asked.p or SIZES, asked.tables
    if asked.quick:
        sizes, tables = (50,), 1
    for number in range(tables):
        for p in sizes:
            for what in asked.what or MEASURES:
                measure, methods = MEASURES[what]
                for method in methods:
                    place = (what, p, number, method)
                    if place not in ledger:
                        ledger.add(place, {"value": measure(method, p, number)})


if __name__ == "__main__":
    main()
