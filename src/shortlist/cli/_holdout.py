"""Rows that are never learned from, and what the chosen features are worth on them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from shortlist._protocols import RowSource
    from shortlist._scoring import Score

#: With fewer rows held out, a score says more about luck than about features.
FEWEST_ROWS = 10
#: What parts are held out of, where rows are drawn from it.
SEQUENCES = "every sequence"


class Split(NamedTuple):
    """What to learn from and what to judge by."""

    train: RowSource
    test: RowSource | None  #: None: nothing is held out
    remark: str | None  #: why not, if it was asked for
    of: str | None = None  #: what the fraction is one of, if not simply of the rows


def hold_out(source: RowSource, fraction: float, seed: int) -> Split:
    """Split a source, unless so few rows would be held out that it is better not to.

    Of fragments of sequences, the last part of every sequence is held out: fragments
    drawn at random overlap, so that others would be known in part.

    Whether there are enough is known before learning only if the source can be read
    again; of a pipe the rows are held out and counted at the end.
    """
    from shortlist.sources import split_holdout

    if fraction == 0.0:
        return Split(source, None, None)
    if has_parts(source):
        return _last_part(source, fraction)
    train, test = split_holdout(source, fraction, seed)
    if source.reiterable:
        n = _count_up_to(test, FEWEST_ROWS)
        if n < FEWEST_ROWS:
            return Split(source, None, too_few(n))
    return Split(train, test, None)


def has_parts(source: Any) -> bool:
    """Whether rows are drawn from sequences, which can be divided."""
    drawn = getattr(source, "fragment", None) is not None
    return drawn and getattr(source, "part", None) is not None


def _last_part(source: Any, fraction: float) -> Split:
    from shortlist._protocols import DataError

    border = 1.0 - fraction
    try:
        test = source.part((border, 1.0))
    except DataError:  # no sequence is long enough
        return Split(source, None, too_few(0))
    if test.size < FEWEST_ROWS:
        return Split(source, None, too_few(test.size))
    return Split(source.part((0.0, border)), test, None, of=SEQUENCES)


def too_few(n: int) -> str:
    """Say why nothing is held out."""
    return (
        f"held out: nothing; {n} row{'s' * (n != 1)} would be too few to judge by, so "
        "all were learned from"
    )


def _count_up_to(source: RowSource, enough: int) -> int:
    n = 0
    for block in source.blocks():
        n += block.n_rows
        if n >= enough:
            break
    return n


def describe(
    metric: str, value: float, baseline: float, loss: float, n_rows: int
) -> str:
    """One line: how good, on how many rows, and what no features at all would give.

    Parameters are the fields of a ``Score``, which a model keeps as a mapping.
    """
    rows = f"{n_rows:,} row{'s' * (n_rows != 1)}"
    if metric == "accuracy":
        how_good = f"accuracy {value:.3f} on {rows}"
        without = f"{baseline:.3f} by always saying the commonest"
    elif math.isnan(value):
        how_good, without = f"{rows} with the same target", "no R2 can be given"
    else:
        how_good = f"R2 {value:.3f} on {rows}"
        without = f"{baseline:g} by always saying the mean"
    return f"{how_good} ({without}), loss {loss:.3g}"


def share(fraction: float, of: str | None) -> str:
    """What was held out, in words."""
    return (
        f"the last {100 * fraction:g} % of {of}"
        if of
        else f"{fraction:.0%} of the rows"
    )


def as_params(score: Score, fraction: float, of: str | None) -> dict[str, Any]:
    """Turn a score into what a shortlist keeps of it."""
    return {"fraction": fraction, **({"of": of} if of else {}), **score._asdict()}
