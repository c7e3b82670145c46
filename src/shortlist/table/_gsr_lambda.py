"""The penalty, where a user leaves it open.

For p < 1 it is one at which about as many units survive as are wanted, by a bracketed
search. Fewer survive under a larger lam, by and large as a power of it: the next one to
try is guessed by that, or between two that let too many and too few live, on log scales.
Every run starts afresh, from all units: a unit that is zero could not return.

Hardly more units than there are rows survive under any lam, and long before that it is so
small that all rows are fitted exactly, and what survives means little: no more units are
asked for than a share of the rows. The others rank by how late they went.

For p = 1 few survive only where all are shrunk so far that the wrong ones do (on ISOLET the
best 50 by RFS then tell 79 % of the letters, with this rule 91 %): a share of the largest
penalty that leaves anything is taken, and norms alone rank.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from shortlist.table._gsr import Reweighted, reweight
from shortlist.table._gsr_problem import GsrProblem, GsrSettings

#: Of the largest penalty that leaves anything, for p = 1.
_SHARE = 0.05
#: Columns whose correlation with Y is smaller have none.
_NONE = 1e-12
#: Steps of the search before there is a bracket, in logarithms, and how far they may go.
_SHORTEST, _LONGEST, _FARTHEST = 0.1, 2.0, 20.0
#: Survivors fall as lam to the power of minus this over sqrt(r): so it was on ISOLET and
#: SEMEION. A search begins with it; what it finds does not depend on it otherwise.
_STEEPNESS = 1.5
#: How close to its ends, as a share, a bracket is divided.
_MARGIN = 0.15
#: A bracket whose ends are closer, as a ratio, is not divided any more.
_NARROW = 1.05
_MAX_PROBES = 40
#: Units asked for are at most this share of the rows, however often these are repeated.
_OF_ROWS = 0.5
#: Smaller lams are not tried once they have let no more survive over this distance.
_STALLED = 6.0
#: A run is given up once fewer than this share of the units wanted are left.
_HOPELESS = 0.5


End = tuple[float, int]  #: a lam, and how many survive under it


@dataclass
class LambdaSearch:
    """What was tried, and the run that came closest."""

    lam: float
    run: Reweighted
    tried: list[float] = field(default_factory=list)
    survivors: list[int] = field(default_factory=list)
    aim: float = math.nan  #: a guess at a lam that leaves neither too few nor too many


def find_lambda(
    problem: GsrProblem,
    settings: GsrSettings,
    wanted: int,
    guess: float,
    hopeless: Callable[[Reweighted], bool] | None = None,
    *,
    slack: float = 0.0,
) -> LambdaSearch:
    """Find a lam for the number of units wanted; see the module and ``search_lambda``."""
    if settings.p < 1.0:
        most = max(1, int(_OF_ROWS * problem.n_distinct_rows))
        wanted = min(wanted, most)
        return search_lambda(problem, settings, wanted, guess, hopeless, slack=slack)
    lam = _SHARE * largest_lambda(problem, settings)
    run = reweight(problem, settings, lam)
    return LambdaSearch(lam, run, [lam], [run.n_survivors(problem.kept)], lam)


def largest_lambda(problem: GsrProblem, settings: GsrSettings) -> float:
    """Beyond this, W = 0 is the minimum for p = 1, but for units that are always in."""
    r, Y = settings.r, problem.unexplained
    squares = np.sum(Y.astype(np.float64) ** 2, axis=1) + settings.sigma_of_residuals
    weight = problem.weight * r * squares ** (r / 2 - 1)
    slopes = problem.table.transposed_times(
        weight.astype(problem.table.dtype)[:, np.newaxis] * Y
    )
    rows = np.sum(slopes.astype(np.float64) ** 2, axis=1)
    free = np.bincount(problem.unit_of, rows)[~problem.kept]
    largest = float(np.sqrt(free.max(initial=0.0)))
    return max(largest, _NONE * float(weight.sum()))


def search_lambda(
    problem: GsrProblem,
    settings: GsrSettings,
    wanted: int,
    guess: float,
    hopeless: Callable[[Reweighted], bool] | None = None,
    *,
    slack: float = 0.0,
) -> LambdaSearch:
    """Find a lam at which ``wanted`` units survive, or a fifth more.

    If there is none, that with the nearest number of survivors, as a ratio, is taken; of
    several, the largest.

    Parameters
    ----------
    problem : GsrProblem
    settings : GsrSettings
    wanted : int
        Number of units, not counting those that are always in; at least 1.
    guess : float
        Where to begin.
    hopeless : callable, default=None
        Whether a run with as many survivors as are wanted, or more, is so bad that nothing
        else is worth trying; the search ends with it.
    slack : float, default=0.0
        The share of the units wanted that may be missing.
    """
    enough = wanted + max(1, wanted // 5)
    least = math.ceil((1.0 - slack) * wanted)
    aim, steepness = math.sqrt(wanted * enough), _STEEPNESS / math.sqrt(settings.r)
    fewest = math.ceil(_HOPELESS * wanted)
    tried: dict[float, int] = {}
    best: tuple[float, float, Reweighted] | None = None
    low: End | None = None
    high: End | None = None  # too many survive at low, too few at high
    most = guess, -1  # of those that are too few, and where it came first
    lam = guess
    while len(tried) < _MAX_PROBES:
        run = reweight(problem, settings, lam, fewest=fewest)
        tried[lam] = count = run.n_survivors(problem.kept)
        off = abs(math.log(max(count, 0.1) / wanted))
        given_up = count < fewest
        if least <= count <= enough or (
            count > enough and hopeless is not None and hopeless(run)
        ):
            best = off, lam, run
            break
        if not given_up and (best is None or off < best[0]):
            best = off, lam, run
        if count < wanted:
            high = lam, count
            most = (lam, count) if count > most[1] else most
        else:
            low = lam, count
        if low and high and high[0] < _NARROW * low[0]:
            break
        stalled = 0.0 if low or given_up else math.log(most[0] / lam)
        lam = _next(low, high, aim, steepness, given_up)
        lam *= math.exp(-stalled)  # the longer nothing changes, the longer the steps
        if stalled > _STALLED or abs(math.log(lam / guess)) > _FARTHEST:
            break
    if best is None:
        last = min(tried, key=lambda at: (abs(tried[at] - wanted), -at))
        best = 0.0, last, reweight(problem, settings, last)
    _, lam, run = best
    off = math.log(max(tried[lam], 1) / aim) / steepness
    aimed = lam * math.exp(min(max(off, -_SHORTEST), _SHORTEST))
    return LambdaSearch(lam, run, list(tried), list(tried.values()), aimed)


def _next(
    low: End | None, high: End | None, aim: float, steepness: float, blind: bool
) -> float:
    """Guess a lam; ``blind``: the last number of survivors is only a bound."""
    if low is None or high is None:
        lam, count = low or high or (1.0, 1)
        step = abs(math.log(max(count, 1) / aim)) / steepness
        step = min(max(step, _SHORTEST), _LONGEST)
        return lam * math.exp(step if high is None else -step)
    share = 0.5
    if not blind and high[1] > 0:
        share = math.log(low[1] / aim) / math.log(low[1] / high[1])
    share = min(max(share, _MARGIN), 1.0 - _MARGIN)
    return low[0] * math.exp(share * math.log(high[0] / low[0]))
