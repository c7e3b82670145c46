"""Vowpal Wabbit text as a source of rows, with features known by name."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from shortlist._protocols import DataError, Ids, Ints, ShortlistError
from shortlist.kernels.line_text import BAD_LABEL, BAD_WEIGHT, Parsed, Rows
from shortlist.kernels.name_hash import hash_bytes
from shortlist.kernels.pairs import N_KINDS, of_kind
from shortlist.kernels.vw_text import (
    BAD_BASE,
    BAD_FEATURE,
    BAD_SCALE,
    BAD_SPACE,
    parse_lines,
    places_for,
    rows_for,
)
from shortlist.sources._files import Characters, Paths
from shortlist.sources._hashed_lines import HashedLineSource
from shortlist.sources._lines import BLOCK_BYTES, number_expected
from shortlist.sources._name_stores import Names

_NAME = re.compile(rb"[^ \t\r\n|:]+")
_NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


class VwSource(HashedLineSource):
    r"""Rows of Vowpal Wabbit text, ``label importance base tag|space a b:2``.

    Before the first bar may stand a label, an importance of 0 or more (the row's weight)
    and a base (ignored), all numbers, and a tag (ignored), which touches the bar or
    begins with ``'``; so ``1|a`` has a tag and no label. What touches a bar is a
    namespace, with or without a scale: ``|space:0.5``. Then follow features ``name`` or
    ``name:value``; a value is 1 if not given, and is multiplied by the scale. Values
    without names are numbered from 0 in each section, as VW does: ``|space :5 :7`` is
    ``|space 0:5 1:7``. Blank lines are passed over. Rows without a label have NaN for it,
    and who learns from the others leaves them out.

    A feature is called ``space^name``, or ``name`` without a namespace; its id is a
    64-bit hash of that.

    Parameters
    ----------
    paths : str, path or iterable of them
        Files, plain or ``.gz``, ``.bz2``, ``.zst``; patterns such as ``data/*.vw.gz``;
        "-" is standard input. Files are read in the order given, patterns in
        alphabetical order.
    on_error : {"raise", "skip"}, default="raise"
        A bad line raises, after the rows before it have been yielded, or is left out
        and counted in ``skipped``.
    block_bytes : int, default=2097152
        Text parsed at a time; a longer line is a block of its own. The rows do not
        depend on it.
    seed : int, default=0
        Of the hash; another seed gives unrelated ids.
    spaces : sequence of str, default=()
        Namespaces that ids should tell apart, at most 63: the lowest bits of an id are
        then the number of its namespace among these, from 1, or 0.

    Attributes
    ----------
    skipped : int
        Bad lines left out by the last call of ``blocks``.
    crowded : bool
        Whether so many names of a pipe are held that ``retain`` should be called.
    n_names : float
        About how many different names there have been.

    Notes
    -----
    Names are not kept, so memory does not grow with them: to name features, files are
    read once more, until all names asked for are found. Of a pipe they are kept as long
    as they may be needed: when there are 300,000, or 32 MB of them, whoever learns says by
    ``retain`` which features are candidates still. If nobody does, or if a few blocks
    alone have more, the first 8 million names, or 256 MB of them, are kept; another
    feature is called "#" and its id in hexadecimal digits.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.vw"
    >>> _ = path.write_text("1 2.0 |house:2 sqft:0.5 new\n-1 'second | 13\n")
    >>> source = VwSource(path)
    >>> block = next(source.blocks())
    >>> block.y, block.weight, block.values
    (array([ 1., -1.]), array([2., 1.]), array([1., 2., 1.]))
    >>> source.names(block.ids)
    ['house^sqft', 'house^new', '13']
    """

    may_lack_labels = True
    features_are = "names of Vowpal Wabbit text"

    def __init__(
        self,
        paths: Paths,
        *,
        on_error: str = "raise",
        block_bytes: int = BLOCK_BYTES,
        seed: int = 0,
        spaces: Sequence[str] = (),
    ):
        if len(spaces) >= N_KINDS:
            raise ShortlistError(
                f"spaces: expected at most {N_KINDS - 1} namespaces, got {len(spaces)}"
            )
        self.spaces = tuple(spaces)
        encoded = [space.encode("utf-8", "surrogateescape") for space in spaces]
        super().__init__(
            paths,
            _VwFormat(seed, hash_bytes(encoded, seed)),
            on_error=on_error,
            block_bytes=block_bytes,
            seed=seed,
        )

    def with_spaces(self, spaces: Sequence[str]) -> VwSource:
        """Give the same source with ids that tell these namespaces apart."""
        paths = [file.path for file in self._files]
        settings = {"on_error": self.on_error, "block_bytes": self.block_bytes}
        return VwSource(paths, seed=self.seed, spaces=spaces, **settings)  # type: ignore[arg-type]

    def ids(self, names: Sequence[str]) -> Ids:
        """Ids that the names have wherever they occur."""
        ids = super().ids(names)
        if not self.spaces:
            return ids
        number_of = {space: i for i, space in enumerate(self.spaces, start=1)}
        kinds = [
            number_of.get(name.partition("^")[0] if "^" in name else "", 0)
            for name in names
        ]
        told = np.array(
            [of_kind(i, np.uint64(kind)) for i, kind in zip(ids, kinds, strict=True)],
            np.uint64,
        )
        self._known |= zip(told.tolist(), names, strict=True)
        return told

    def _encoded(self, name: str) -> bytes:
        """Bytes of a name as they stand in text."""
        # letters that stand for bytes which are no UTF-8 turn into these again
        with suppress(UnicodeEncodeError):
            encoded = name.encode("utf-8", "surrogateescape")
            if _NAME.fullmatch(encoded):
                return encoded
        raise DataError(
            f"{self.name}: expected a name without blanks, '|' and ':', as in "
            f"space^name, got {name!r}"
        )


class _VwFormat:
    """How lines of the text are read, and what is wrong with them."""

    token_ends = b" \t\r\n|"

    def __init__(self, seed: int, spaces: Ids, names: Names | None = None):
        self.names = names
        self._seed = seed
        self._spaces = spaces
        self._places = np.empty((0, 4), np.int64)

    def looking_for(self, names: Names) -> _VwFormat:
        return _VwFormat(self._seed, self._spaces, names)

    def room_for(self, n: int) -> Rows:
        if self.names is not None:
            self._places = places_for(n)
        room: Rows = rows_for(n)
        return room

    def parse(
        self, window: Characters, is_end: bool, skip_bad: bool, room: Rows
    ) -> Parsed:
        seed = np.uint64(self._seed % 2**64)
        spaces = self._spaces
        parsed = Parsed(
            *parse_lines(window, is_end, skip_bad, seed, spaces, room, self._places)
        )
        if self.names is not None:
            n = int(room.indptr[parsed.rows])
            window = _with_numbers(window, self._places[:n])
            self.names.take(window, room.ids[:n], self._places[:n])
        return parsed

    def expected(self, fault: int, token: bytes) -> str:
        _, _, number = token.partition(b":")
        if fault == BAD_LABEL:
            return number_expected(token, "as label")
        if fault == BAD_WEIGHT and _is_finite(token):
            return "an importance of 0 or more"
        if fault == BAD_WEIGHT:
            return number_expected(token, "as importance")
        if fault == BAD_BASE:
            return "a number as base"
        if fault == BAD_SPACE:
            return "the name of a namespace before ':'"
        if fault not in (BAD_SCALE, BAD_FEATURE):
            return "'|' before the features"
        if _is_finite(number):
            return "a value that is finite times the scale of its namespace"
        return number_expected(
            number, "after ':'" if fault == BAD_FEATURE else "as scale of a namespace"
        )


def _with_numbers(text: Characters, places: Ints) -> Characters:
    """Text that has all names, and their places in it: numbers that are names follow it."""
    here = np.flatnonzero(places[:, 2] < 0)
    if not len(here):
        return text
    numbers, which = np.unique(~places[here, 2], return_inverse=True)
    names = [str(number).encode() for number in numbers.tolist()]
    ends = len(text) + np.cumsum([0, *map(len, names)])
    places[here, 2], places[here, 3] = ends[which], ends[which + 1]
    return np.concatenate([text, np.frombuffer(b"".join(names), np.uint8)])


def _is_finite(token: bytes) -> bool:
    """Whether this is a number that only its place makes wrong."""
    return _NUMBER.fullmatch(token) is not None and math.isfinite(float(token))
