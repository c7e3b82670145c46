"""Rows with the products of their features: interactions, made on the fly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from shortlist._protocols import (
    DataError,
    Ids,
    RowBlock,
    RowSource,
    ShortlistError,
    place_of,
)
from shortlist.kernels.csr import row_slice
from shortlist.kernels.id_table import index_ids
from shortlist.kernels.pairs import find_pairs, pair_id, with_pairs
from shortlist.sources._distinct_names import DistinctNames

#: Nonzeros of a block with its pairs: 16 MB.
_MOST_NONZEROS = 1 << 20
#: A row with more features than this has more than eight million pairs.
MOST_FEATURES = 4096


class PairSource:
    """Rows of another source, with the product of any two features of a row besides.

    A pair is called ``a*b``, in the order of the ids of a and b; its id is a 64-bit hash
    of the two. Which two features a pair is of is not kept: to name pairs, the rows are
    read again.

    Parameters
    ----------
    base : RowSource
        Can be read again.

    Examples
    --------
    >>> from shortlist.sources import ArraySource
    >>> source = PairSource(ArraySource([[2.0, 0.0, 5.0], [1.0, 1.0, 0.0]], [0, 1]))
    >>> block = next(source.blocks())
    >>> source.names(block.ids), block.values
    (['x0', 'x2', 'x0*x2', 'x0', 'x1', 'x0*x1'], array([ 2.,  5., 10.,  1.,  1.,  1.]))
    """

    n_features: int | None = None

    def __init__(self, base: RowSource) -> None:
        if not base.reiterable:
            raise DataError(
                f"{base.name}: pairs are named by reading the data again, and a pipe "
                "cannot be; save it to a file"
            )
        self.base = base
        self.name, self.unit, self.size = base.name, base.unit, base.size
        self.reiterable: bool = True
        self.label_names: Sequence[str] | None = base.label_names
        self._members: dict[int, tuple[int, int]] = {}
        self._distinct = DistinctNames()

    def __getattr__(self, attribute: str) -> Any:
        if attribute == "base":  # not there yet: a copy is being made
            raise AttributeError(attribute)
        value = getattr(self.base, attribute)
        # a part of the base would be without pairs
        return self._part if attribute == "part" and value is not None else value

    def _part(self, *arguments: Any, **options: Any) -> PairSource:
        return PairSource(self.base.part(*arguments, **options))  # type: ignore[attr-defined]

    @property
    def n_names(self) -> float:
        """About how many different features and pairs there have been."""
        return self._distinct.n

    def locate(self, row: int) -> str:
        """Where in the input a row stands."""
        return place_of(self.base, row)

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the rows in order, in blocks that stay small with their pairs."""
        return self._distinct.counting(self._expanded_blocks())

    def _expanded_blocks(self) -> Iterator[RowBlock]:
        for block in self.base.blocks():
            lengths = np.diff(block.indptr)
            longest = int(lengths.max(initial=0))
            if longest > MOST_FEATURES:
                row = block.first_row + int(np.argmax(lengths))
                raise DataError(
                    f"{self.locate(row)}: expected at most {MOST_FEATURES:,} features in "
                    f"a row to make pairs of, got {longest:,}"
                )
            sizes = np.cumsum(lengths * (lengths + 1) // 2)
            begin = 0
            while begin < block.n_rows:
                before = sizes[begin - 1] if begin else 0
                end = int(np.searchsorted(sizes, before + _MOST_NONZEROS, "right"))
                end = max(end, begin + 1)
                yield _expanded(row_slice(block, begin, end))
                begin = end

    def names(self, ids: Ids) -> list[str]:
        """Names of features and of pairs."""
        unknown = np.array(
            [number for number in ids.tolist() if number not in self._members],
            np.uint64,
        )
        if len(unknown):
            self._look_up(np.unique(unknown))
        plain = [number for number in ids.tolist() if number not in self._members]
        parts = [m for number in ids.tolist() for m in self._members.get(number, ())]
        needed = np.unique(np.array([*plain, *parts], np.uint64))
        name_of = dict(zip(needed.tolist(), self.base.names(needed), strict=True))
        return [
            "*".join(name_of[m] for m in self._members.get(number, (number,)))
            for number in ids.tolist()
        ]

    def ids(self, names: Sequence[str]) -> Ids:
        """Ids of features, and of pairs written ``a*b``."""
        return np.array([self._id_of(name) for name in names], np.uint64)

    def _id_of(self, name: str) -> int:
        stars = [i for i, character in enumerate(name) if character == "*"]
        for star in stars:  # names may have stars of their own
            try:
                a, b = self.base.ids([name[:star], name[star + 1 :]]).tolist()
            except DataError:
                continue
            number = int(pair_id(np.uint64(a), np.uint64(b)))
            self._members[number] = (min(a, b), max(a, b))
            return number
        return int(self.base.ids([name])[0])

    def _look_up(self, ids: Ids) -> None:
        """Read the rows until the members of all these are known, or to the end."""
        index = index_ids(ids)
        first_of, second_of = (np.zeros(len(ids), np.uint64) for _ in range(2))
        missing = len(ids)
        for block in self.base.blocks():
            missing -= find_pairs(index, block.indptr, block.ids, first_of, second_of)
            if missing == 0:
                break
        found = first_of != second_of
        members = zip(first_of[found].tolist(), second_of[found].tolist(), strict=True)
        self._members |= zip(ids[found].tolist(), members, strict=True)


def check_interactions(interactions: int | None) -> None:
    """Refuse what is neither no interactions nor pairs."""
    if interactions not in (None, 2):
        raise ShortlistError(f"interactions should be None or 2, got {interactions!r}")


def has_pairs(params: Mapping[str, Any]) -> bool:
    """Whether a result with these settings may have chosen pairs."""
    return params.get("interactions") == 2


def with_pairs_as(params: Mapping[str, Any], source: RowSource) -> RowSource:
    """Rows as a result with these settings has them: with pairs, or as they are."""
    if not has_pairs(params):
        return source
    return PairSource(source)


def _expanded(block: RowBlock) -> RowBlock:
    lengths = np.diff(block.indptr)
    room = int((lengths * (lengths + 1) // 2).sum())
    indptr = np.zeros(block.n_rows + 1, np.int64)
    ids, values = np.empty(room, np.uint64), np.empty(room)
    n = with_pairs(block.indptr, block.ids, block.values, indptr, ids, values)
    return block._replace(indptr=indptr, ids=ids[:n], values=values[:n])
