"""How many features of a stable set are expected to be there by chance, at most.

A selection on half of the examples chooses q of p features on average. Call a feature
*low* if such a selection has it with probability q / p at most, which is what choosing
blindly would give. B times the examples are cut into two halves; a feature's share is that
of the 2 B halves that chose it, and stable are those whose share reaches a threshold. Then,
whatever the selection does,

    E (stable and low)  <=  q^2 / ((2 threshold - 1) p),

and if the number of pairs both of whose halves chose a low feature has a unimodal
distribution,

    E (stable and low)  <=  C q^2 / p,

    C = 2 B (b - t + 1) / (b (b + 1)),   t = B (2 threshold - 1),   b = min(2 t - 1, B).

Where C comes from: a share of s needs at least B (2 s - 1) pairs that agree, and both
halves of a pair, which are independent, have a low feature with probability (q / p)^2 at
most. A distribution on 0, 1, ..., B that falls from 0 on is a mixture of even ones on
0 ... b. Of these the largest tail from t on, for its mean, has the one with b = 2 t - 1
(2 t - 2 does as well), or B if that is less; the rest of the mixture stays at 0.

References
----------
Meinshausen, Bühlmann. Stability selection. JRSS B 72 (2010), theorem 1.
Shah, Samworth. Variable selection with error control: another look at stability selection.
JRSS B 75 (2013), theorems 1 and 2.
"""

from __future__ import annotations

import math

from shortlist._protocols import ShortlistError

#: Above this probability of a choice, theorem 2 of Shah and Samworth says nothing.
_LARGEST_CHANCE = 1.0 / math.sqrt(3.0)


def check_threshold(threshold: float) -> None:
    """Refuse shares that a bound cannot be given for."""
    if not 0.5 < threshold <= 1.0:
        raise ShortlistError(
            f"threshold should be above 0.5 and at most 1, got {threshold!r}"
        )


def worst_case(q: float, p: float, threshold: float, n_pairs: int) -> float:
    """Bound on the expected number of low features that are stable, without assumptions.

    Parameters
    ----------
    q : float
        Features that a half chooses on average.
    p : float
        Features to choose from.
    threshold : float
        Share from which on a feature is stable, above 1/2.
    n_pairs : int
        Pairs of halves; shares are multiples of 1 / (2 n_pairs).

    Examples
    --------
    >>> worst_case(10, 1000, 0.75, 50)
    0.2
    """
    check_threshold(threshold)
    return q * q * n_pairs / (_agreements(threshold, n_pairs) * p)


def unimodal(q: float, p: float, threshold: float, n_pairs: int) -> float:
    """The bound under unimodality; where that has none, the one without assumptions.

    Parameters are those of ``worst_case``.

    Examples
    --------
    >>> round(unimodal(10, 1000, 0.75, 50), 3)
    0.102
    """
    general = worst_case(q, p, threshold, n_pairs)
    chance = q / p
    least = min(
        0.5 + chance**2, 0.5 + 0.5 / n_pairs + 0.75 * chance**2
    )  # below it another shape of the distribution has more in its tail
    if chance > _LARGEST_CHANCE or _on_grid(threshold, n_pairs) <= least:
        return general
    t = _agreements(threshold, n_pairs)
    b = min(2 * t - 1, n_pairs)
    factor = 2.0 * n_pairs * (b - t + 1) / (b * (b + 1))
    return min(general, factor * q * q / p)


def _on_grid(threshold: float, n_pairs: int) -> float:
    """The smallest share that there is from the threshold on."""
    return math.ceil(2 * n_pairs * threshold - 1e-9) / (2 * n_pairs)


def _agreements(threshold: float, n_pairs: int) -> int:
    """How many pairs have to agree, at least, for a share of the threshold."""
    return math.ceil(2 * n_pairs * threshold - 1e-9) - n_pairs
