"""The exponent r of GSR's loss, chosen by a hold-out of our own.

Which rows are held out, ``_gsr_hold_out`` says; where there are too few, the first exponent
is taken.

The exponents are tried from 2 downwards. Where a smaller one does clearly worse than the
best so far, the smaller ones still are not tried: outliers that these were needed for would
have shown already.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from shortlist._protocols import Floats
from shortlist.table._gsr import Reweighted, reweight
from shortlist.table._gsr_hold_out import classes_of, hold_out_rows
from shortlist.table._gsr_lambda import find_lambda
from shortlist.table._gsr_problem import GsrProblem, GsrSettings

#: What is tried; of equals, the first wins. The first is also the cheapest.
EXPONENTS = (2.0, 1.0, 0.5)
#: Errors that differ by more than so many standard errors do not by chance.
_CLEARLY = 2.0
#: A lam is good enough to judge an exponent by if so few of the units wanted are missing.
_SLACK = 0.2
#: The lam that leaves some number of units grows with the rows by about this power: more
#: rows tell more units from noise. What is found for all rows does not depend on it.
_BY_ROWS = 0.8


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
    lam: Callable[[float], float] | None = None,
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
    lam : callable, default=None
        Penalty for each r, for all rows, where it is not searched for.
    """
    train, test, n_distinct = hold_out_rows(problem, level)
    if not len(test):
        return Exponent(EXPONENTS[0], None, ())
    part, rest, more = problem.divided(train, test)
    share = part.weight.sum() / problem.weight.sum()
    judge = Judge(rest, None if level is None else level + more, n_distinct)
    if lam is not None:
        for r in EXPONENTS:
            if not judge.done:
                judge.tell(reweight(part, replace(settings, r=r), share * lam(r)))
        return Exponent(judge.best, None, tuple(judge.means))
    fewer = share**_BY_ROWS
    settings = replace(settings, r=EXPONENTS[0])
    found = find_lambda(part, settings, wanted, guess * share, slack=_SLACK)
    first, at = found.run, found.aim
    judge.tell(found.run)
    guesses = {EXPONENTS[0]: at / fewer}
    missed = 1.0  # how much too small the last start was, at a distance of 1 from r = 2
    for r in EXPONENTS[1:]:
        if judge.done:
            break
        asked = replace(settings, r=r)
        start = at * _mean_row_weight(part, asked, first)
        where = start * missed ** (2.0 - r)
        found = find_lambda(
            part, asked, wanted, where, judge.is_clearly_worse, slack=_SLACK
        )
        missed = (found.aim / start) ** (1.0 / (2.0 - r))
        judge.tell(found.run)
        guesses[r] = found.aim / fewer
    return Exponent(judge.best, guesses[judge.best], tuple(judge.means))


class Judge:
    """Compares runs by their errors on rows held out."""

    def __init__(self, rest: GsrProblem, level: Floats | None, n_distinct: int) -> None:
        self._rest, self._level, self._n_distinct = rest, level, n_distinct
        self._least: Floats | None = None  #: errors of the best so far
        self.means: list[float] = []  #: of each run that was told
        self.done = False  #: whether those to come are not worth trying

    @property
    def best(self) -> float:
        """The exponent with the least error, if runs were told in the order of theirs."""
        return EXPONENTS[int(np.argmin(self.means))]

    def tell(self, run: Reweighted) -> None:
        """Take note of a run; of equals, the first stays the best."""
        errors = _errors(self._rest, run, self._level)
        mean = self._mean(errors)
        self.done = mean == 0.0 or self.is_clearly_worse(run)
        if not self.means or mean < min(self.means):
            self._least = errors
        self.means.append(mean)

    def is_clearly_worse(self, run: Reweighted) -> bool:
        """Whether the errors are larger than those of the best, and not by chance."""
        if self._least is None:
            return False
        more = _errors(self._rest, run, self._level) - self._least
        mean = self._mean(more)
        variance = self._mean((more - mean) ** 2) / self._n_distinct
        return mean > _CLEARLY * math.sqrt(variance)

    def _mean(self, numbers: Floats) -> float:
        return float(np.average(numbers, weights=self._rest.weight))


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


def _errors(problem: GsrProblem, run: Reweighted, level: Floats | None) -> Floats:
    """Error of each row."""
    E = _residuals(problem, run)
    if level is None:
        lengths: Floats = np.linalg.norm(E.astype(np.float64), axis=1)
        return lengths
    truth = problem.Y + level
    wrong: Floats = np.not_equal(classes_of(truth + E), classes_of(truth)) * 1.0
    return wrong


def spoken(chosen: Exponent) -> Sequence[str]:
    """Notes for the result."""
    tried = zip(EXPONENTS, chosen.errors, strict=False)
    text = ", ".join(f"{error:.4g} for {r:g}" for r, error in tried)
    return (f"r = {chosen.r:g} by the error on held-out rows: {text}",) if text else ()
