"""Rows with the products of their features: interactions, made on the fly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import (
    DataError,
    Ids,
    Ints,
    RowBlock,
    RowSource,
    ShortlistError,
    place_of,
)
from shortlist.kernels.csr import row_slice
from shortlist.kernels.id_table import index_ids
from shortlist.kernels.pairs import N_KINDS, find_pairs, pair_id, with_pairs
from shortlist.sources._distinct_names import DistinctNames

#: Nonzeros of a block with its pairs: 16 MB.
_MOST_NONZEROS = 1 << 20
#: A row with more features than this has more than eight million pairs.
MOST_FEATURES = 4096


class PairSource:
    """Rows of another source, with products of two features of a row besides.

    A pair is called ``a*b``, in the order of the ids of a and b; its id is a 64-bit hash
    of the two. Which two features a pair is of is not kept: to name pairs, the rows are
    read again.

    Parameters
    ----------
    base : RowSource
        Can be read again.
    spaces : sequence of str, default=None
        Pairs of namespaces, as ``"user*ad"``, whose features make pairs; None: any two
        features do. Only Vowpal Wabbit text has namespaces.

    Examples
    --------
    >>> from shortlist.sources import ArraySource
    >>> source = PairSource(ArraySource([[2.0, 0.0, 5.0], [1.0, 1.0, 0.0]], [0, 1]))
    >>> block = next(source.blocks())
    >>> source.names(block.ids), block.values
    (['x0', 'x2', 'x0*x2', 'x0', 'x1', 'x0*x1'], array([ 2.,  5., 10.,  1.,  1.,  1.]))
    """

    n_features: int | None = None

    def __init__(self, base: RowSource, spaces: Sequence[str] | None = None) -> None:
        if not base.reiterable:
            raise DataError(
                f"{base.name}: pairs are named by reading the data again, and a pipe "
                "cannot be; save it to a file"
            )
        self._spaces = spaces
        self._wanted = np.zeros((0, 0), np.bool_)
        if spaces is not None:
            base, self._wanted = _told_apart(base, spaces)
        self.base = base
        self.name, self.unit, self.size = base.name, base.unit, base.size
        self.reiterable: bool = True
        self.label_names: Sequence[str] | None = base.label_names
        self._members: dict[int, tuple[int, int]] = {}
        self._unmet = set(range(1, len(self._named_spaces) + 1))
        self._distinct = DistinctNames()

    def __getattr__(self, attribute: str) -> Any:
        if attribute == "base":  # not there yet: a copy is being made
            raise AttributeError(attribute)
        value = getattr(self.base, attribute)
        # these of the base would be without pairs
        own = {"part": self._part, "apart": self._apart}
        return value if value is None else own.get(attribute, value)

    def _part(self, *arguments: Any, **options: Any) -> PairSource:
        part = self.base.part(*arguments, **options)  # type: ignore[attr-defined]
        return PairSource(part, self._spaces)

    def _apart(self) -> tuple[PairSource, Ints] | None:
        found = self.base.apart()  # type: ignore[attr-defined]
        return None if found is None else (PairSource(found[0], self._spaces), found[1])

    @property
    def _named_spaces(self) -> list[str]:
        """Namespaces that pairs are asked of, in the order of their numbers from 1."""
        return _spaces_in(self._spaces or ())

    @property
    def remarks(self) -> tuple[str, ...]:
        """Namespaces that were asked for and have not been met, and remarks of the base."""
        others: tuple[str, ...] = getattr(self.base, "remarks", ())
        if not self._unmet:
            return others
        named = self._named_spaces
        unmet = ", ".join(repr(named[number - 1]) for number in sorted(self._unmet))
        return (*others, f"interactions: no row has a feature in namespace {unmet}")

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
            if self._unmet:
                kinds = np.unique(block.ids & np.uint64(N_KINDS - 1))
                self._unmet.difference_update(kinds.tolist())
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
                yield _expanded(self._wanted, row_slice(block, begin, end))
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
            indptr, ids_here, wanted = block.indptr, block.ids, self._wanted
            missing -= find_pairs(wanted, index, indptr, ids_here, first_of, second_of)
            if missing == 0:
                break
        found = first_of != second_of
        members = zip(first_of[found].tolist(), second_of[found].tolist(), strict=True)
        self._members |= zip(ids[found].tolist(), members, strict=True)


Interactions = int | Sequence[str] | None


def check_interactions(interactions: Interactions) -> int | list[str] | None:
    """Give what asks for pairs as a result keeps it; refuse anything else."""
    if interactions is None or interactions == 2:
        return None if interactions is None else 2
    if not isinstance(interactions, int):
        spaces = interactions
        if isinstance(spaces, str):
            spaces = spaces.split(",")
        pairs = [s for s in spaces if isinstance(s, str) and s.count("*") == 1]
        if pairs and len(pairs) == len(spaces):
            return pairs
    raise ShortlistError(
        "interactions should be None, 2 or pairs of namespaces, as ['user*ad'], got "
        f"{interactions!r}"
    )


def has_pairs(params: Mapping[str, Any]) -> bool:
    """Whether a result with these settings may have chosen pairs."""
    return params.get("interactions") is not None


def with_pairs_as(params: Mapping[str, Any], source: RowSource) -> RowSource:
    """Rows as a result with these settings has them: with pairs, or as they are."""
    interactions = check_interactions(params.get("interactions"))
    if interactions is None:
        return source
    return PairSource(source, None if isinstance(interactions, int) else interactions)


def _spaces_in(pairs: Sequence[str]) -> list[str]:
    return sorted({space for pair in pairs for space in pair.split("*")})


def _told_apart(
    base: RowSource, spaces: Sequence[str]
) -> tuple[RowSource, NDArray[np.bool_]]:
    """A source whose ids tell namespaces apart, and which of these make pairs."""
    pairs = [tuple(pair.split("*")) for pair in spaces]
    known = _spaces_in(spaces)
    with_spaces = getattr(base, "with_spaces", None)
    if with_spaces is None:
        raise ShortlistError(
            f"{base.name}: interactions by namespace need Vowpal Wabbit text; "
            "interactions=2 makes pairs of any two features"
        )
    number_of = {space: i for i, space in enumerate(known, start=1)}
    wanted = np.zeros((N_KINDS, N_KINDS), np.bool_)
    told: RowSource = with_spaces(known)
    for a, b in pairs:
        wanted[number_of[a], number_of[b]] = wanted[number_of[b], number_of[a]] = True
    return told, wanted


def _expanded(wanted: NDArray[np.bool_], block: RowBlock) -> RowBlock:
    lengths = np.diff(block.indptr)
    room = int((lengths * (lengths + 1) // 2).sum())
    indptr = np.zeros(block.n_rows + 1, np.int64)
    ids, values = np.empty(room, np.uint64), np.empty(room)
    n = with_pairs(wanted, block.indptr, block.ids, block.values, indptr, ids, values)
    return block._replace(indptr=indptr, ids=ids[:n], values=values[:n])
