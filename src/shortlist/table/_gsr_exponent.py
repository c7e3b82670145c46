"""The exponent r of GSR's loss, chosen by a hold-out of our own.

Rows are put in order along a fixed random direction, within classes if there are any, and
every third is held out. Copies of a row go together, and neither the order of rows nor
whether one is repeated or weighted makes a difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from shortlist._protocols import Floats, Ints
from shortlist.table._gsr import GsrProblem, GsrSettings, Reweighted
from shortlist.table._gsr_lambda import find_lambda

#: What is tried; of equals, the first wins. The first is also the cheapest.
EXPONENTS = (2.0, 1.0, 0.5)
#: With fewer distinct rows nothing is held out, and the first is taken.
_FEWEST_ROWS = 12
#: Rows whose places differ by less than this share of their range are the same.
_SAME = 1e-9


class Exponent(NamedTuple):
    """The choice."""

    r: float
    guess: float | None  #: lam for all rows; None if nothing was tried
    errors: tuple[float, ...]  #: held-out error of each that was tried


def choose_exponent(
    problem: GsrProblem,
    settings: GsrSettings,
    wanted: int,
    guess: float,
    level: Floats | None,
) -> Exponent:
    """Choose by the error on held-out rows of weights for the number of units wanted.

    Parameters
    ----------
    problem, settings, wanted, guess
        As for ``find_lambda``; ``guess`` is for r = 2.
    level : ndarray of shape (n_outputs,), or None
        What was taken off Y, whose signs, or largest outputs, are classes: errors are
        those of classification. None: they are mean lengths of residuals, which a few
        outliers among the rows held out do not decide.
    """
    train, test = hold_out_rows(problem, level)
    if not len(test):
        return Exponent(EXPONENTS[0], None, ())
    part, rest = problem.of_rows(train), problem.of_rows(test)
    share = part.weight.sum() / problem.weight.sum()
    errors: list[float] = []
    guesses: list[float] = []
    first: Reweighted | None = None
    lam = guess * share
    missed = 1.0  # how much too small the last start was, at a distance of 1 from r = 2
    for r in EXPONENTS:
        asked = replace(settings, r=r)
        if first is None:
            found = find_lambda(part, asked, wanted, lam)
            first, lam = found.run, found.lam
        else:
            start = lam * _mean_row_weight(part, asked, first)
            found = find_lambda(part, asked, wanted, start * missed ** (2.0 - r))
            missed = (found.lam / start) ** (1.0 / (2.0 - r))
        errors.append(_error(rest, found.run, level))
        guesses.append(found.lam / share)
        if errors[-1] == 0.0:  # of equals the first wins
            break
    best = int(np.argmin(errors))
    return Exponent(EXPONENTS[best], guesses[best], tuple(errors))


def hold_out_rows(problem: GsrProblem, level: Floats | None) -> tuple[Ints, Ints]:
    """Rows to learn from and to hold out."""
    n, m = problem.table.shape
    direction = np.random.default_rng(0).normal(size=(m, 1))
    along = problem.table.times(direction.astype(problem.table.dtype))[:, 0]
    kind = np.zeros(n) if level is None else classes_of(problem.Y + level)
    order = np.lexsort((along, kind))
    gap = np.diff(along[order]) > _SAME * np.ptp(along)
    number = np.concatenate([[0], np.cumsum(gap | (np.diff(kind[order]) != 0))])
    if number[-1] + 1 < _FEWEST_ROWS:
        return np.arange(n), np.empty(0, np.int64)
    held = np.empty(n, bool)
    held[order] = number % 3 == 1
    return np.flatnonzero(~held), np.flatnonzero(held)


def classes_of(margins: Floats) -> Ints:
    """Number of the class that margins point at."""
    if margins.shape[1] == 1:
        return np.asarray(margins[:, 0] > 0, np.int64)
    return np.asarray(np.argmax(margins, axis=1))


def _mean_row_weight(
    problem: GsrProblem, settings: GsrSettings, run: Reweighted
) -> float:
    """Weight that r gives to rows, on average, where another r has left them.

    A lam in proportion to it lets about as many units survive.
    """
    r, E = settings.r, _residuals(problem, run)
    squares = np.sum(E.astype(np.float64) ** 2, axis=1) + settings.sigma_of_residuals
    weights = (r / 2) * squares ** (r / 2 - 1)
    return float(np.average(weights, weights=problem.weight))


def _residuals(problem: GsrProblem, run: Reweighted) -> Floats:
    E: Floats = problem.table.take(run.columns).times(run.W) + run.b - problem.Y
    return E


def _error(problem: GsrProblem, run: Reweighted, level: Floats | None) -> float:
    E = _residuals(problem, run)
    if level is None:
        errors = np.linalg.norm(E.astype(np.float64), axis=1)
    else:
        truth = problem.Y + level
        errors = (classes_of(truth + E) != classes_of(truth)).astype(np.float64)
    return float(np.average(errors, weights=problem.weight))


def spoken(chosen: Exponent) -> Sequence[str]:
    """Notes for the result."""
    tried = zip(EXPONENTS, chosen.errors, strict=False)
    text = ", ".join(f"{error:.4g} for {r:g}" for r, error in tried)
    return (f"r = {chosen.r:g} by the error on held-out rows: {text}",) if text else ()
