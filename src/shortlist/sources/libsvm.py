"""Libsvm (svmlight) text as a source of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shortlist._protocols import DataError, Ids
from shortlist.kernels.libsvm_text import parse_lines, rows_for
from shortlist.kernels.line_text import BAD_LABEL, Parsed, Rows
from shortlist.sources._files import Characters, Paths
from shortlist.sources._lines import BLOCK_BYTES, LineSource, number_expected


class LibsvmSource(LineSource):
    r"""Rows of libsvm text, one a line: ``label id:value id:value # comment``.

    Ids are integers from 0 to 2^64 - 1, in any order; repeated ids add up. Blank lines,
    comments and ``qid:`` tokens are passed over; a line with a label only is a row
    without features. Values that are not finite are errors: text knows no missing
    values, as features that a line does not mention are zero.

    Parameters
    ----------
    paths : str, path or iterable of them
        Files, plain or ``.gz``, ``.bz2``, ``.zst``; patterns such as ``data/*.svm.gz``;
        "-" is standard input. Files are read in the order given, patterns in
        alphabetical order.
    on_error : {"raise", "skip"}, default="raise"
        A bad line raises, after the rows before it have been yielded, or is left out
        and counted in ``skipped``.
    block_bytes : int, default=2097152
        Text parsed at a time; a longer line is a block of its own. The rows do not
        depend on it.

    Attributes
    ----------
    skipped : int
        Bad lines left out by the last call of ``blocks``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.svm"
    >>> _ = path.write_text("1 3:0.5 8:2 # first\n-1 3:1\n")
    >>> block = next(LibsvmSource(path).blocks())
    >>> block.y, block.ids, block.values
    (array([ 1., -1.]), array([3, 8, 3], dtype=uint64), array([0.5, 2. , 1. ]))
    """

    features_are = "ids of libsvm text"

    def __init__(
        self, paths: Paths, *, on_error: str = "raise", block_bytes: int = BLOCK_BYTES
    ):
        super().__init__(
            paths, _LibsvmFormat(), on_error=on_error, block_bytes=block_bytes
        )

    def names(self, ids: Ids) -> list[str]:
        """Decimal digits of the ids."""
        return [str(number) for number in ids.tolist()]

    def ids(self, names: Sequence[str]) -> Ids:
        """Ids that the names, decimal digits, stand for."""
        numbers = [_read_id(name.encode()) for name in names]
        if None in numbers:
            raise DataError(
                f"{self.name}: expected an integer from 0 to 2^64 - 1 "
                f"as the name of a feature, got {names[numbers.index(None)]!r}"
            )
        return np.array(numbers, np.uint64)


class _LibsvmFormat:
    """How lines of libsvm text are read, and what is wrong with them."""

    token_ends = b" \t\r\n#"

    def room_for(self, n: int) -> Rows:
        room: Rows = rows_for(n)
        return room

    def parse(
        self, window: Characters, is_end: bool, skip_bad: bool, room: Rows
    ) -> Parsed:
        return Parsed(*parse_lines(window, is_end, skip_bad, room))

    def expected(self, fault: int, token: bytes) -> str:
        if fault == BAD_LABEL:
            return number_expected(token, "as label")
        digits, colon, number = token.partition(b":")
        if not colon:
            return "id:value"
        if not digits.isdigit():
            return "an integer id before ':'"
        if _read_id(digits) is None:
            return "an id below 2^64"
        return number_expected(number, "after ':'")


def _read_id(digits: bytes) -> int | None:
    """Read an id; None if this is not one."""
    # Python refuses to turn very many digits into an integer, be they zeros
    significant = digits.lstrip(b"0") or b"0"
    if not digits.isdigit() or len(significant) > 20 or int(significant) >= 2**64:
        return None
    return int(significant)
