"""Columns of tables as features: what they are called, and which names they can have.

A column of numbers is a feature named after it; a column of text makes a feature
``column=value`` of each value. An id is a 64-bit hash of the name, so tables that share
names share ids, whatever library or file they came from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from shortlist._protocols import DataError, Ids, RowSource
from shortlist.kernels.name_hash import hash_bytes
from shortlist.sources._names import unknown_name

MISSING = "missing"
POLICIES = ("error", "zero", "category")
_MOST_LISTED = 20


class FeatureColumns:
    """The columns of a table that make features.

    Parameters
    ----------
    owner : str
        What messages call the table.
    numbers, text : iterable of str
        Columns of either kind.
    missing : {"error", "zero", "category"}
        Whether a missing value makes a feature ``column=missing``.
    seed : int, default=0
        Of the hash.
    left_out : iterable of str, default=()
        Columns that make no features though they could; their names may be asked for.
    """

    def __init__(
        self,
        owner: str,
        numbers: Iterable[str],
        text: Iterable[str],
        missing: str,
        seed: int = 0,
        left_out: Iterable[str] = (),
    ):
        self.owner = owner
        self.left_out = dict.fromkeys(left_out)
        self.numbers, self.text = dict.fromkeys(numbers), dict.fromkeys(text)
        self._counts_missing = missing == "category"
        self._seed = seed
        for column in (*self.numbers, *self.text):
            if self._has_prefix(column):
                raise DataError(
                    f"{owner}: column {column!r}: expected a name that no value of "
                    "another column makes; rename it"
                )

    @property
    def kinds(self) -> dict[str, str]:
        """What each column holds."""
        text = dict.fromkeys(self.text, "text")
        return {**dict.fromkeys(self.numbers, "numbers"), **text}

    def hashed(self, names: Sequence[str]) -> Ids:
        """Hash names, known or not."""
        ids: Ids = hash_bytes([encoded(name) for name in names], self._seed)
        return ids

    def check(self, name: str, seen: Iterable[str] = ()) -> None:
        """Refuse a name that no feature of the table can have."""
        if name in self.text:
            raise DataError(
                f"{self.owner}: expected the name of a feature, got {name!r}, which is a "
                f"column of text: its features are {name}=value"
            )
        if not self._is_feature(name) and not self._is_left_out(name):
            known = dict.fromkeys([*self.numbers, *seen])
            raise unknown_name(self.owner, name, known)

    def always_there(self) -> list[str]:
        """Names that do not depend on values."""
        columns = [*self.numbers, *self.text] if self._counts_missing else []
        return [*self.numbers, *(f"{column}={MISSING}" for column in columns)]

    def _has_prefix(self, name: str) -> bool:
        """Whether a name reads as ``column=value`` of one of the columns."""
        return any(
            head in self.text or (self._counts_missing and head in self.numbers)
            for head in heads_of(name)
        )

    def _is_left_out(self, name: str) -> bool:
        return any(head in self.left_out for head in (name, *heads_of(name)))

    def _is_feature(self, name: str) -> bool:
        if name in self.numbers:
            return True
        column, _, value = name.rpartition("=")
        if column in self.numbers:
            return self._counts_missing and value == MISSING
        return self._has_prefix(name)


class NamesById:
    """Names of features by their ids, no two alike.

    Parameters
    ----------
    owner : str
        What messages call the table.
    """

    def __init__(self, owner: str):
        self._owner = owner
        self._names: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, number: int) -> bool:
        return number in self._names

    def add(self, ids: Iterable[int], names: Iterable[str]) -> None:
        """Remember names; another one with the same id is refused."""
        for number, name in zip(ids, names, strict=True):
            other = self._names.setdefault(number, name)
            if other != name:
                raise DataError(
                    f"{self._owner}: features {other!r} and {name!r} have the same "
                    "64-bit hash; rename one of them"
                )

    def get(self, number: int) -> str:
        """Name of an id; of an unknown one "#" and its hexadecimal digits."""
        return self._names.get(number, f"#{number:016x}")

    def keep(self, ids: Iterable[int]) -> None:
        """Forget all names but these."""
        self._names = {n: self._names[n] for n in ids if n in self._names}

    def __iter__(self) -> Iterator[str]:
        return iter(self._names.values())


def encoded(name: str) -> bytes:
    """Bytes of a name; letters that stand for bytes which are no UTF-8 are these."""
    try:
        return name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # other lone surrogates are legal in Python
        return name.encode("utf-8", "surrogatepass")


def heads_of(name: str) -> list[str]:
    """What stands before each "=" in a name."""
    return [name[:i] for i, character in enumerate(name) if character == "="]


def leaving_out(source: RowSource, names: Sequence[str]) -> RowSource:
    """The source without those of the names that are columns, where it knows of any."""
    without = getattr(source, "leaving_out", None)
    if without is None or not names:
        return source
    left: RowSource = without(names)
    return left


def columns_in(names: Iterable[str], columns: Iterable[str]) -> dict[str, bool]:
    """Columns that features are made of, and whether their names say it is of text.

    Examples
    --------
    >>> columns_in(["age", "city=Bonn", "city=missing"], ["age", "city", "y"])
    {'age': False, 'city': True}
    """
    known = set(columns)
    found: dict[str, bool] = {}
    for name in names:
        if name in known:
            found[name] = False
        elif heads := [head for head in heads_of(name) if head in known]:
            is_text = name != f"{heads[-1]}={MISSING}"
            found[heads[-1]] = found.get(heads[-1], False) or is_text
    return found


def require_columns(source: RowSource, names: Iterable[str]) -> None:
    """Refuse a table without columns that features of a model are made of.

    A column that is not there would count as zero in every row. Sources that are no tables
    have no ``columns``, and nothing is said about them.
    """
    columns: Sequence[str] | None = getattr(source, "columns", None)
    if columns is None:
        return
    known = set(columns)
    parts = (part for name in names for part in _parts_of(name, known))
    lacking = list(
        dict.fromkeys(part for part in parts if not columns_in([part], known))
    )
    if lacking:
        more = f" and {len(lacking) - 1:,} more" if len(lacking) > 1 else ""
        raise DataError(
            f"{source.name}: expected a column for {lacking[0]!r}{more}, as the model has, "
            f"got none; columns are {listed([column for column in columns if column])}"
        )


def _parts_of(name: str, known: Collection[str]) -> list[str]:
    """A name, or those of the two features that it is the product of."""
    return [name] if columns_in([name], known) else name.split("*")


def listed(columns: Sequence[str]) -> str:
    """Names of columns for a message, not too many."""
    shown = ", ".join(map(repr, columns[:_MOST_LISTED]))
    more = len(columns) - _MOST_LISTED
    return f"{shown} and {more:,} more" if more > 0 else shown


def check_column(
    owner: str, parameter: str, column: str, columns: Collection[str], hint: str = ""
) -> None:
    """Refuse the name of a column that is not there; a hint may follow."""
    if column in columns:
        return
    error = unknown_name(f"{owner}: {parameter}", column, columns, "column")
    named = [name for name in columns if name]
    raise DataError(f"{error}; columns are {listed(named)}{hint}")


def unique_columns(owner: str, columns: Sequence[str], hint: str = "") -> None:
    """Refuse columns that share a name; a hint may follow."""
    seen: set[str] = set()
    for column in columns:
        if column in seen:
            raise DataError(
                f"{owner}: expected different names of columns, got {column!r} twice"
                f"{hint}"
            )
        seen.add(column)
