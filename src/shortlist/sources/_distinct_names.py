"""How many names a source has hashed, and how likely it is that two share an id."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from shortlist._protocols import RowBlock
from shortlist.kernels.distinct import n_distinct, note_ids, registers

PROBABILITY = "name_collision_probability"


class DistinctNames:
    """Counts the different ids of a source, in one pass, by estimate."""

    def __init__(self) -> None:
        self._seen = registers()
        self._is_complete = False

    @property
    def n(self) -> float:
        """How many there have been, within a few percent."""
        return float(n_distinct(self._seen))

    def counting(self, blocks: Iterator[RowBlock]) -> Iterator[RowBlock]:
        """Yield blocks and note their ids, unless all there are have been noted."""
        if self._is_complete:
            yield from blocks
            return
        for block in blocks:
            note_ids(self._seen, block.ids)
            yield block
        self._is_complete = True


def collision_probability(n: float) -> float:
    """Bound on the probability that any two of n names have the same 64-bit hash.

    Examples
    --------
    >>> collision_probability(1e6) < 1e-7
    True
    """
    return min(1.0, n * n / 2.0**65)


def collision_params(source: Any) -> dict[str, Any]:
    """What a result should say about its names, if they were hashed."""
    n = getattr(source, "n_names", None)
    return {} if n is None else {PROBABILITY: collision_probability(n)}
