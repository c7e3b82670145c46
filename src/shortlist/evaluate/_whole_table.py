"""All rows of a source as one table, for who goes over them many times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import Ids, RowBlock, RowSource, ShortlistError
from shortlist.kernels.csr import take_rows

#: Share of entries that are not zero from which on a table is held densely.
_DENSE = 0.3


class WholeTable(NamedTuple):
    """All rows."""

    X: Any  #: dense or CSR, (n_rows, n_features)
    y: np.ndarray  #: labels as they are called, or numbers
    names: tuple[str, ...]
    groups: np.ndarray | None  #: of the rows
    ids: Ids  #: of the columns


def whole_table(
    source: RowSource, blocks: Sequence[RowBlock], groups: str | None = None
) -> WholeTable:
    """Put the blocks of a source together; ``groups`` names a column of groups."""
    from shortlist.table._gather import gather

    if not blocks:
        raise ShortlistError(f"{source.name}: no rows")
    table = gather(blocks, source.n_features)
    X, ids, rows = table.X, table.ids, None
    names = np.array(source.names(ids), object)
    if groups is not None:
        own = group_columns(names.tolist(), groups)
        rows = groups_in(X[:, np.flatnonzero(own)])
        X, names, ids = X[:, np.flatnonzero(~own)], names[~own], ids[~own]
    n_rows, n_features = X.shape
    if X.nnz >= _DENSE * n_rows * n_features:
        X = X.toarray()
    y = labels_of(source, table.y)
    return WholeTable(X, y, tuple(names.tolist()), rows, ids)


def with_labels(
    blocks: Sequence[RowBlock],
) -> tuple[list[RowBlock], np.ndarray]:
    """Rows that have a label, and which of all these are."""
    known = [np.isfinite(block.y) for block in blocks]
    kept = [
        block if all_of.all() else take_rows(block, np.flatnonzero(all_of))
        for block, all_of in zip(blocks, known, strict=True)
    ]
    return kept, np.concatenate([np.zeros(0, bool), *known])


def are_weighted(blocks: Sequence[RowBlock]) -> bool:
    """Whether some rows count more than others."""
    weights = [block.weight for block in blocks if block.n_rows]
    return any((weight != weights[0][0]).any() for weight in weights)


def labels_of(source: RowSource, y: np.ndarray) -> np.ndarray:
    """Labels as they are called, or numbers."""
    if source.label_names is None:
        return y
    return np.array(source.label_names, object)[y.astype(np.int64)].astype(str)


def group_columns(names: Sequence[str], column: str) -> np.ndarray:
    """Which features a column of groups makes: a number, or one of several words."""
    own = np.array([name.partition("=")[0] == column for name in names], bool)
    if not own.any():
        raise ShortlistError(f"groups of rows: no column is called {column!r}")
    return own


def groups_in(part: Any) -> np.ndarray:
    """Group of each row, by the columns that tell it."""
    if part.shape[1] == 1:
        return np.asarray(part.toarray()[:, 0])
    # a column of words is a feature for each of them
    return np.asarray(part.argmax(axis=1)).ravel()
