"""What rows stand for: what runs must share if their sums are to be of the same things.

The same id may be column 7 of one file and a word of DNA in another, and nothing that is
learned tells. So what a source makes of its files is kept in words, beside the sums.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Meaning = Mapping[str, Any]

#: What is told, as options have it, and the attribute of sources that knows.
_FACTS = {
    "features": "features_are",
    "kmer": "k",
    "canonical": "canonical",
    "alphabet": "alphabet",
    "fragment": "fragment",
    "target": "target",
    "weight": "weight",
    "missing": "missing",
}
#: What the columns were told to be, and what they are, whoever said so.
TEXT, KINDS = "text", "kinds"


def meaning_of(source: Any) -> dict[str, Any]:
    """Say what the rows of a source stand for, in plain values.

    Examples
    --------
    >>> from shortlist.sources import ArraySource
    >>> meaning_of(ArraySource([[1.0]], [1]))["features"]
    'columns of arrays'
    """
    meaning: dict[str, Any] = {
        name: getattr(source, attribute, None) for name, attribute in _FACTS.items()
    }
    meaning[TEXT] = list(getattr(source, "text", ()))
    meaning[KINDS] = dict(getattr(source, "column_kinds", {}))
    return meaning


def difference(mine: Meaning, yours: Meaning) -> str | None:
    """Name the first thing that rows do not share; None if there is none, or none known."""
    if not mine or not yours:
        return None
    for name in _FACTS:
        ours, theirs = mine.get(name), yours.get(name)
        if ours != theirs:
            return f"{name} = {ours!r} and {theirs!r}"
    others = yours[KINDS]
    for column, kind in mine[KINDS].items():
        if others.get(column, kind) != kind:
            return (
                f"column {column!r} of {kind} and of {others[column]}; text= makes it "
                "text in both"
            )
    return None


def joined(mine: Meaning, yours: Meaning) -> Meaning:
    """What rows stand for that are in either of two sets without a difference."""
    if not mine or not yours:
        return mine or yours
    return {**mine, KINDS: {**yours[KINDS], **mine[KINDS]}}
