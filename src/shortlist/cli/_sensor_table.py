"""A time-ordered table, from files to what sensors are selected from."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from shortlist._protocols import Floats, Ints, RowSource

# A sensor may say so many different things before it is taken for something else.
_FEW_TEXTS = 5


class SensorColumns(NamedTuple):
    """Rows in the order of time."""

    X: Any  #: CSR, a column for each of names
    names: list[str]
    y: list[Any]  #: activities; None where there is none
    sequence: Sequence[Any] | None  #: of each row
    origin: str  #: files, for messages


def read_sensors(
    files: Sequence[str],
    label: str,
    sequence: str | None,
    never: Sequence[str] = (),
    input_format: str = "auto",
) -> SensorColumns:
    """Read tables; a column of texts makes a column for each text, as in ``lamp=on``."""
    from shortlist._protocols import ShortlistError
    from shortlist.cli._input import open_rows

    if label == sequence:
        raise ShortlistError(
            f"--label and --sequence should be two columns, got {label!r} for both"
        )

    def opened(options: Mapping[str, Any]) -> RowSource:
        return open_rows(files, input_format, options=options)

    return table_of(opened, files, input_format, {"target": label}, sequence, never)[1]


def table_of(
    opened: Callable[[Mapping[str, Any]], RowSource],
    files: Sequence[str],
    input_format: str,
    options: Mapping[str, Any],
    sequence: str | None,
    never: Sequence[str] = (),
) -> tuple[RowSource, SensorColumns]:
    """Read a table, the column of sequences as texts, by ``opened`` with these options.

    Lines of JSON say by themselves what is text: their sequences are read as labels are,
    by one more reading of the files.
    """
    from shortlist._protocols import DataError
    from shortlist.sources._formats import FORMATS, format_of

    if sequence is None:
        source = opened(options)
        return source, sensor_columns(source, None, never)
    if "text" not in FORMATS[format_of(files, input_format)[0]].takes:
        source = opened(options)
        again = {**options, "target": sequence}
        names = _labels(opened(again)) if source.reiterable else None
        return source, sensor_columns(source, sequence, never, names)
    try:
        source = opened({**options, "text": (*options.get("text", ()), sequence)})
        return source, sensor_columns(source, sequence, never)
    except DataError as error:
        asked = f"expected the name of a column, got {sequence!r}"
        named = str(error).replace(f": text: {asked}", f": --sequence: {asked}")
        raise DataError(named) from None


def sensor_columns(
    source: RowSource,
    sequence: str | None,
    never: Sequence[str] = (),
    sequences: Sequence[Any] | None = None,
) -> SensorColumns:
    """Rows of a table without what is no sensor: ``sequence``, ``never``.

    ``sequences``: of each row, None where there is none, if the rows do not tell.
    """
    from scipy.sparse import csr_array

    from shortlist._protocols import DataError

    blocks = list(source.blocks())
    if not any(block.n_rows for block in blocks):
        raise DataError(f"{source.name}: expected rows, got none")
    ids = np.concatenate([block.ids for block in blocks])
    values = np.concatenate([block.values for block in blocks])
    sizes = np.concatenate([np.diff(block.indptr) for block in blocks])
    y = np.concatenate([block.y for block in blocks])
    found, place = np.unique(ids, return_inverse=True)
    names = source.names(found)
    # a sensor that is always 0 has no values here, but a column
    columns = {*map(sensor_name, names), *getattr(source, "columns", ())}
    unread = getattr(source, "leave_out", ())
    for name in never:
        if name not in columns and name not in names and name not in unread:
            raise DataError(f"{source.name}: expected a column {name!r} to leave out")

    row_of = np.repeat(np.arange(len(sizes)), sizes)
    if sequence is not None and sequences is None:
        sequences = _sequences(source, sequence, names, row_of, place, len(sizes))
    if sequences is not None and None in sequences:
        row = sequences.index(None)
        raise DataError(
            f"{source.name}: row {row}: expected a value in column {sequence!r}, got none"
        )
    barred = {sequence, *never}
    kept = [
        j
        for j, name in enumerate(names)
        if name not in barred and sensor_name(name) not in barred
    ]
    if not kept:
        raise DataError(
            f"{source.name}: expected columns of sensors with values other than 0, got "
            "none"
        )
    kept.sort(key=lambda j: names[j])
    table = csr_array((values, (row_of, place)), shape=(len(sizes), len(names)))
    return SensorColumns(
        table.tocsr()[:, kept],
        [names[j] for j in kept],
        _in_words(y, source.label_names),
        sequences,
        source.name,
    )


def _sequences(
    source: RowSource,
    sequence: str,
    names: Sequence[str],
    row_of: Ints,
    place: Ints,
    n_rows: int,
) -> list[str | None]:
    """The sequence of each row, by the feature that its text has made."""
    from shortlist._protocols import DataError

    if sequence in names:
        raise DataError(
            f"{source.name}: column {sequence!r}: expected texts that name sequences, got "
            "numbers, which a pipe of JSON lines cannot have; save it to a file first"
        )
    found: list[str | None] = [None] * n_rows
    texts = {
        j: name[len(sequence) + 1 :]
        for j, name in enumerate(names)
        if name.startswith(f"{sequence}=")
    }
    for row, j in zip(row_of.tolist(), place.tolist(), strict=True):
        if j in texts:
            found[row] = texts[j]
    return found


def _labels(source: RowSource) -> list[Any]:
    """The label of each row, None where there is none."""
    y = np.concatenate([np.empty(0), *(block.y for block in source.blocks())])
    return _in_words(y, source.label_names)


def _in_words(y: Floats, names: Sequence[str] | None) -> list[Any]:
    """Codes of labels, or numbers, as what they stand for."""
    return [
        None if np.isnan(code) else _plain(code) if names is None else names[int(code)]
        for code in y.tolist()
    ]


@contextlib.contextmanager
def naming_columns(origin: str, columns: Mapping[str, str | None]) -> Iterator[None]:
    """Have complaints about labels and sequences name the files and their column."""
    from shortlist._protocols import DataError

    try:
        yield
    except DataError as error:
        what, _, why = str(error).partition(": ")
        raise DataError(f"{origin}: column {columns[what]!r}: {why}") from None


def remarks_on(
    table: SensorColumns, separator: str | None, unlabelled: Sequence[Any]
) -> list[str]:
    """What is probably not meant: sensors that are a time or a name, labels misspelt.

    Examples
    --------
    >>> names = [f"time=0:{t}" for t in range(9)] + ["door"]
    >>> table = SensorColumns(np.empty((9, 10)), names, ["cook"] * 9, None, "a.csv")
    >>> for line in remarks_on(table, None, ["idle"]):
    ...     print(line)
    time has 9 different texts in 9 rows; --never time leaves it out
    no row has the label idle, which --unlabelled names
    """
    n_rows, values = (
        table.X.shape[0],
        Counter(sensor_name(name, separator) for name in table.names if "=" in name),
    )
    return [
        f"{name} has {n:,} different texts in {n_rows:,} rows; --never {name} leaves it out"
        for name, n in values.items()
        if n > max(_FEW_TEXTS, n_rows // 2)
    ] + [
        f"no row has the label {label}, which --unlabelled names"
        for label in unlabelled
        if label not in table.y
    ]


def unlabelled_values(texts: Sequence[str], labels: Sequence[Any]) -> list[Any]:
    """Labels that mean that nobody knows, as numbers where labels are numbers.

    Examples
    --------
    >>> unlabelled_values(["0", "idle"], [None, 3, 1])
    [0, 'idle']
    >>> unlabelled_values(["0"], ["cook", "0"])
    ['0']
    """
    if any(isinstance(label, str) for label in labels):
        return list(texts)
    values: list[Any] = []
    for text in texts:
        try:
            values.append(_plain(float(text)))
        except ValueError:
            values.append(text)
    return values


def _plain(number: float) -> float:
    """Return whole numbers as such: activity 3, not 3.0."""
    return int(number) if number.is_integer() else number


def sensor_name(column: str, separator: str | None = None) -> str:
    """Sensor that a column belongs to.

    Examples
    --------
    >>> sensor_name("lamp=on"), sensor_name("door:last", ":"), sensor_name("door")
    ('lamp', 'door', 'door')
    """
    name = column.partition("=")[0] or column
    return name if separator is None else name.partition(separator)[0] or name
