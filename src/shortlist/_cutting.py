"""From many candidates to the k that stay, by scores of a refit.

What a weight is worth depends on what stands beside it. Among a thousand candidates a
column shares its credit with others that say the same, and looks worth less than it would
alone. So while refits cost no pass over the data, half of the candidates go at a time, and
the rest is refitted before the next go.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shortlist._calibrating import trusted
from shortlist._protocols import Floats, Ids
from shortlist._refit import Coordinates, Refit, keep
from shortlist._rules import Found, best


def wald_scores(refit: Refit) -> Floats:
    """How many standard errors each weight is away from none."""
    spread = np.sqrt(refit.chosen.information + refit.ridges())
    score: Floats = np.abs(refit.chosen.weight) * spread
    return score


def found_by(refit: Refit) -> Found:
    """The weights of a refit, with the scores to rank them by."""
    weights = refit.chosen.weight * trusted(wald_scores(refit), refit.doubt)
    chosen = refit.weighing(weights)
    score = np.abs(refit.chosen.weight) * np.sqrt(chosen.evidence + refit.ridges())
    weight = chosen.weight / chosen.scale_of()
    unknown = np.full(len(weight), np.nan)  # ranking needs none, and they take a while
    return Found(chosen.id_of(), chosen.margin, weight, score, unknown, chosen.bias)


def best_of(refit: Refit, k: int, budget: str, always: Ids) -> Coordinates:
    """The coordinates that a budget of k keeps."""
    found = found_by(refit)
    which = best(found.ids, found.margin, found.score, k, budget, always)
    return keep(refit.weighing(refit.chosen.weight), which)


def cut_in_stages(refit: Refit, k: int, budget: str, always: Ids) -> Refit:
    """Cut a finished refit whose rows are kept to k, and finish that."""
    for size in _sizes(_candidates(refit, budget), k):
        refit = refit.narrowed(best_of(refit, size, budget, always))
        refit.finish()
    return refit


def cut_to_keep(
    refit: Refit, k: int, budget: str, always: Ids
) -> tuple[Coordinates, bool]:
    """Cut a finished refit to as many, by halves, as all rows could be kept for.

    If there are no more than k of these, to k. Also says whether there are more.
    """
    for size in _sizes(_candidates(refit, budget), k):
        few = best_of(refit, size, budget, always)
        if size > k and refit.could_keep(few.ids):
            return few, True
    return few, False


def _candidates(refit: Refit, budget: str) -> int:
    """As many as ``best`` has to choose from: features, or those of a margin."""
    if budget == "shared":
        return len(refit.chosen.ids)
    return int(np.bincount(refit.chosen.margin).max(initial=0))


def _sizes(n: int, k: int) -> Iterator[int]:
    """Halves of n, rounded up, while these are more than k; then k.

    >>> list(_sizes(100, 10))
    [50, 25, 13, 10]
    """
    while (n := -(-n // 2)) > k:
        yield n
    yield k
