"""What there is to know about data before anything is chosen from them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shortlist._protocols import (
    ColumnSource,
    DataError,
    RowBlock,
    RowSource,
    ShortlistError,
)
from shortlist._targets import Target, target_of
from shortlist.engines.serial import HEAD_ROWS

#: Rows that a look at the beginning of a source takes in, and nonzeros.
_LOOK_ROWS, _LOOK_NONZEROS = 20_000, 1 << 20
#: Bytes of a nonzero in a table that is gathered and solved for: number, column, copies.
NONZERO_BYTES = 32
#: And of a feature there: its name, where that is looked up, numbers that methods have of
#: each. Words that hardly repeat take many times their text.
FEATURE_BYTES = 600


@dataclass(frozen=True)
class Facts:
    """How data come, how much there is of them, and what is to be predicted."""

    arrival: str  #: "rows", "columns" or "sequence"
    n_rows: int | None = None
    n_features: int | None = None  #: at least so many
    n_nonzeros: int | None = None
    n_bytes: int | None = None  #: that a method needs to have all rows in memory
    memory: int | None = None  #: bytes that are free
    n_classes: int = 0  #: 0: numbers are to be predicted
    again: bool = True  #: whether the data can be read again
    k: int = 10
    n_budgets: int = 1  #: of which k is the largest
    loss: str = "auto"
    settings: frozenset[str] = frozenset()  #: names of those that somebody asks for
    must_stream: bool = False  #: whether rows may not be held in memory
    holds_rows: bool = False  #: whether they must be, to look for substitutes

    @property
    def density(self) -> float:
        """Share of entries that are not zero; 1 if nobody knows."""
        if not (self.n_rows and self.n_features) or self.n_nonzeros is None:
            return 1.0
        return min(1.0, self.n_nonzeros / (self.n_rows * self.n_features))


def facts_of_rows(
    source: RowSource,
    *,
    loss: Any = "auto",
    classes: Any = None,
    **asked: Any,
) -> Facts:
    """Look at a source of rows, of which the beginning is read if that can be undone.

    Parameters
    ----------
    source : RowSource
    loss, classes
        As for all selectors.
    **asked
        Other fields of ``Facts``: ``k``, ``settings``, ``must_stream``.
    """
    known: dict[str, Any] = {"arrival": "rows", "again": source.reiterable, **asked}
    known |= {
        "memory": free_memory(),
        "loss": loss if isinstance(loss, str) else loss.name,
    }
    if not source.reiterable or known.get("must_stream"):
        return Facts(**known)  # nothing that is in the rows would change the choice
    blocks = _beginning(source)
    if not blocks:
        raise DataError(f"{source.name}: expected rows to learn from, got none")
    read, size = blocks[-1].position, source.size
    scale = max(1.0, size / read) if size and read else 1.0
    n_rows = sum(block.n_rows for block in blocks)
    n_nonzeros = sum(len(block.ids) for block in blocks)
    n_features = features_of(source, blocks, scale)
    y = getattr(source, "all_labels", None)
    if y is None:  # as many as decide what is learned; odd ones may follow
        y = np.concatenate([block.y for block in blocks])[:HEAD_ROWS]
    n_classes = 0
    with contextlib.suppress(ShortlistError):  # whoever learns from them will report it
        n_classes = n_classes_of(target_of(source, loss, classes, y))
    return Facts(
        n_rows=round(scale * n_rows),
        n_features=n_features,
        n_nonzeros=round(scale * n_nonzeros),
        n_bytes=table_bytes(round(scale * n_nonzeros), n_features),
        n_classes=n_classes,
        **known,
    )


def facts_of_columns(source: ColumnSource, **asked: Any) -> Facts:
    """Look at a source of columns; nothing of it is read."""
    return Facts(
        "columns",
        n_rows=source.n_rows,
        n_features=source.n_columns,
        memory=free_memory(),
        again=source.reiterable,
        **asked,
    )


def table_bytes(n_nonzeros: int, n_features: int) -> int:
    """Bytes that a table takes in memory, and methods that choose from it.

    Columns without an entry take nothing.

    Examples
    --------
    >>> table_bytes(1000, 10), table_bytes(1000, 10**9)
    (38000, 632000)
    """
    return NONZERO_BYTES * n_nonzeros + FEATURE_BYTES * min(n_features, n_nonzeros)


def n_classes_of(target: Target) -> int:
    """How many classes there are; 0: numbers."""
    return 0 if target.classes is None else len(target.classes)


def free_memory() -> int | None:
    """Bytes that this process may still take, as far as the system tells.

    The least of what the machine and, in a container, its limit leave.
    """
    known = [n for n in (_free_on_machine(), _free_in_container()) if n is not None]
    return min(known) if known else None


def _free_on_machine() -> int | None:
    lines = _lines("/proc/meminfo")
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    try:  # other than Linux: half of what there is
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return None


def _free_in_container() -> int | None:
    limit, used = (
        _lines(f"/sys/fs/cgroup/memory.{name}") for name in ("max", "current")
    )
    if not limit or not used or not limit[0].isdigit():
        return None
    return max(0, int(limit[0]) - int(used[0]))


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def _beginning(source: RowSource) -> list[RowBlock]:
    """Blocks from the first on, a few of them, up to what is wrong with the data."""
    found: list[RowBlock] = []
    rows = nonzeros = 0
    try:
        for block in source.blocks():
            found.append(block)
            rows, nonzeros = rows + block.n_rows, nonzeros + len(block.ids)
            if rows >= _LOOK_ROWS or nonzeros >= _LOOK_NONZEROS:
                break
    except DataError:
        if not found:  # whoever learns from what there is will report it
            raise
    return found


def features_of(source: RowSource, blocks: Sequence[RowBlock], scale: float) -> int:
    """How many features there are about, if new ones go on coming as they do here.

    Of words the number grows like a power of how much has been read: about the square
    root in prose, nearly the first where each is a name of its own.

    Parameters
    ----------
    source : RowSource
    blocks : sequence of RowBlock
        The beginning of its rows.
    scale : float
        How many times as long all of them are.
    """
    if source.n_features:
        return source.n_features
    ids = np.concatenate([block.ids for block in blocks])
    n_half = len(ids) // 2
    every, half = (len(np.unique(part)) for part in (ids, ids[:n_half]))
    if every <= 1.05 * half or not half:
        return every
    power = min(1.0, float(np.log(every / half) / np.log(len(ids) / n_half)))
    n_features: int = round(every * scale**power)
    return n_features
