"""Files of lines with a key, a tab and a label: what they say, as text."""

from __future__ import annotations

import math
import os

from shortlist._protocols import DataError, ShortlistError


def read_label_map(path: str | os.PathLike[str], expected: str) -> dict[str, str]:
    """Read a map; blanks around keys and labels and blank lines do not count.

    Parameters
    ----------
    path : str or path
    expected : str
        What to say of a path that cannot be read, up to "got".

    Raises
    ------
    DataError
        For a line that is no pair, or a key with two labels.
    """
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().split("\n")
    except OSError as error:
        raise ShortlistError(
            f"{expected}, got {os.fspath(path)!r} ({error.strerror})"
        ) from None
    labels: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        key, _, label = (part.strip() for part in line.partition("\t"))
        # not as lines of data are cited, which can be left out
        place = f"{os.fspath(path)}: line {number}"
        if not line.strip():
            continue
        if not key or not label or "\t" in label:
            raise DataError(f"{place}: expected key, tab, label, got {line.rstrip()!r}")
        if labels.get(key, label) != label:
            raise DataError(
                f"{place}: expected one label for {key!r}, got {labels[key]!r} and "
                f"{label!r}"
            )
        labels[key] = label
    return labels


def number_in(text: str) -> float | None:
    """The finite number that a text spells, if it does."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
