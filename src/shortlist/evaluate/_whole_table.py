"""All rows of a source as one table, for who goes over them many times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import Floats, Ids, RowBlock, RowSource, ShortlistError
from shortlist.evaluate._examples import weights_that_differ
from shortlist.kernels.csr import take_rows

#: Share of entries that are not zero from which on a table is held densely.
_DENSE = 0.3


class WholeTable(NamedTuple):
    """All rows."""

    X: Any  #: dense or CSR, (n_rows, n_features)
    y: np.ndarray  #: labels as they are called, or numbers
    names: tuple[str, ...]
    weight: Floats | None  #: of the rows; None: each counts once
    ids: Ids  #: of the columns


def whole_table(source: RowSource, blocks: Sequence[RowBlock]) -> WholeTable:
    """Put the blocks of a source together."""
    from shortlist.table._gather import gather

    if not any(block.n_rows for block in blocks):
        raise ShortlistError(f"{source.name}: no rows with a label")
    table = gather(blocks, source.n_features)
    X, ids = table.X, table.ids
    n_rows, n_features = X.shape
    if X.nnz >= _DENSE * n_rows * n_features:
        X = X.toarray()
    y, names = labels_of(source, table.y), tuple(source.names(ids))
    assert table.weight is not None
    return WholeTable(X, y, names, weights_that_differ(table.weight), ids)


def with_labels(
    blocks: Sequence[RowBlock],
) -> tuple[list[RowBlock], np.ndarray]:
    """Rows that have a label and a weight above 0, and which of all these are."""
    known = [np.isfinite(block.y) & (block.weight > 0) for block in blocks]
    kept = [
        block if all_of.all() else take_rows(block, np.flatnonzero(all_of))
        for block, all_of in zip(blocks, known, strict=True)
    ]
    return kept, np.concatenate([np.zeros(0, bool), *known])


def labels_of(source: RowSource, y: np.ndarray) -> np.ndarray:
    """Labels as they are called, or numbers."""
    if source.label_names is None:
        return y
    return np.array(source.label_names, object)[y.astype(np.int64)].astype(str)
