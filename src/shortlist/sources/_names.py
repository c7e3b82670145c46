"""Names of numbered columns, given or made up ("x0", "x1", ...)."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from shortlist._protocols import DataError


class ColumnNames:
    """Names of n columns, both ways; made-up names take no memory.

    Parameters
    ----------
    names : sequence of str or None
        None makes them up.
    n : int
        Number of columns.
    owner : str
        What messages call the thing that has the columns.
    """

    def __init__(self, names: Sequence[str] | None, n: int, owner: str):
        self.n = n
        self.owner = owner
        self._names = None if names is None else [str(name) for name in names]
        self._columns = {name: i for i, name in enumerate(self._names or ())}
        if self._names is None:
            return
        if len(self._names) != n:
            raise DataError(
                f"{owner}: feature_names: expected {n} names, got {len(self._names)}"
            )
        if len(self._columns) != n:
            repeated = next(
                name for i, name in enumerate(self._names) if self._columns[name] != i
            )
            raise DataError(
                f"{owner}: expected different names of features, got {repeated!r} twice"
            )

    def name(self, column: int) -> str:
        """Name of a column."""
        if not 0 <= column < self.n:
            raise DataError(f"{self.owner}: expected ids below {self.n}, got {column}")
        return f"x{column}" if self._names is None else self._names[column]

    def column(self, name: str) -> int:
        """Column of a name."""
        if self._names is None:
            digits = name[1:]
            if name[:1] == "x" and digits.isdecimal() and digits.isascii():
                column = int(digits)
                if column < self.n and str(column) == digits:
                    return column
            last = f"x{self.n - 1}"
            raise DataError(
                f"{self.owner}: expected a name from 'x0' to {last!r}, got {name!r}"
            )
        if name not in self._columns:
            raise unknown_name(self.owner, name, self._names)
        return self._columns[name]


def unknown_name(
    owner: str, name: str, known: Iterable[str], what: str = "feature"
) -> DataError:
    """Error that lists the known names nearest to an unknown one."""
    near = difflib.get_close_matches(name, list(known), n=3)
    hint = f"; nearest: {', '.join(map(repr, near))}" if near else ""
    return DataError(f"{owner}: expected the name of a {what}, got {name!r}{hint}")
