"""Which chosen features, and by which rows, are looked at as leaks.

Every run on the command line asks for it, so this imports nothing that takes long.
"""

from __future__ import annotations

import numpy as np

from shortlist._leaks import leaks
from shortlist._protocols import RowBlock, RowSource
from shortlist._shortlist import Shortlist
from shortlist._targets import MAX_AUTO_CLASSES
from shortlist.sources._columns import heads_of
from shortlist.sources.pairs import has_pairs
from shortlist.sources.taking import take_from

#: Rows, and nonzeros, in which leaks are looked for.
LOOK_ROWS, _LOOK_NONZEROS = 5_000, 1 << 22
#: Features that are looked at: those with the largest scores.
_MOST_SUSPECTS = 50
#: Flags that distinct features set, and a factor that spreads ids over them.
_FLAG_BITS, _ODD = 22, np.uint64(0x9E3779B97F4A7C15)


def leak_notes(shortlist: Shortlist, rows: RowSource) -> tuple[str, ...]:
    """Warn of chosen features that predict some rows nearly perfectly on their own."""
    if not len(shortlist):
        return ()
    blocks = first_rows(rows)
    if not blocks:
        return ()
    names = shortlist.names_by_id()
    suspects = np.argsort(-shortlist.scores, kind="stable")[:_MOST_SUSPECTS]
    ids = np.unique(shortlist.ids[suspects])
    A, labels = take_from(blocks, ids, dense=True)
    known = np.isfinite(labels)
    n_features = shortlist.n_features or getattr(rows, "n_names", None)
    if n_features is None:
        n_features = about_distinct(blocks)
    n_classes = len(shortlist.classes or ())
    y = labels[known]
    if n_classes:
        values, codes = np.unique(y, return_inverse=True)
        if not 2 <= len(values) <= max(n_classes, MAX_AUTO_CLASSES):
            return ()
        y, n_classes = codes.astype(np.float64), len(values)
    named = [names[number] for number in ids.tolist()]
    columns = {} if has_pairs(shortlist.params) else _columns_of(named, rows)
    found = leaks(
        A[known], y, named, int(n_features), n_classes=n_classes, columns=columns
    )
    return tuple(found)


def _columns_of(names: list[str], rows: RowSource) -> dict[str, list[int]]:
    """Columns that features ``column=value`` are made of, and which are those of each."""
    known = set(getattr(rows, "columns", ()))
    found: dict[str, list[int]] = {}
    for j, name in enumerate(names):
        heads = heads_of(name)
        if heads and name not in known:
            own = [head for head in heads if head in known] or heads[:1]
            found.setdefault(own[-1], []).append(j)
    return found


def about_distinct(blocks: list[RowBlock]) -> int:
    """How many features there are in some rows, within two in a hundred.

    By how many of many flags their hashes set (linear counting): sorting them would take
    longer than reading the rows did.
    """
    flags = np.zeros(1 << _FLAG_BITS, np.bool_)
    for block in blocks:
        flags[(block.ids * _ODD) >> np.uint64(64 - _FLAG_BITS)] = True
    n_set = min(int(np.count_nonzero(flags)), len(flags) - 1)
    return max(1, round(-len(flags) * float(np.log1p(-n_set / len(flags)))))


def first_rows(rows: RowSource, most: int = LOOK_ROWS) -> list[RowBlock]:
    """Blocks from the first on, not too many."""
    found: list[RowBlock] = []
    n = nonzeros = 0
    for block in rows.blocks():
        found.append(block)
        n, nonzeros = n + block.n_rows, nonzeros + len(block.ids)
        if n >= most or nonzeros >= _LOOK_NONZEROS:
            break
    return found
