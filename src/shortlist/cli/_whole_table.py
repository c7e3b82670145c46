"""Files as one table in memory, for commands that go over all rows many times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shortlist._protocols import ShortlistError
from shortlist.cli._input import open_labelled

if TYPE_CHECKING:
    from shortlist._protocols import RowSource

#: Share of entries that are not zero from which on a table is held densely.
_DENSE = 0.3


class WholeTable(NamedTuple):
    """All rows."""

    X: Any  #: dense or CSR, (n_rows, n_features)
    y: np.ndarray  #: labels as they are called, or numbers
    names: tuple[str, ...]
    groups: np.ndarray | None  #: of the rows


def read_whole(
    options: Mapping[str, Any], given: Mapping[str, Any], groups: str | None = None
) -> WholeTable:
    """Read files with the options of a command; ``groups`` names a column of groups."""
    from shortlist.table._gather import gather

    asked = ("files", "input_format", "on_error")
    files, input_format, on_error = (options[name] for name in asked)
    source = open_labelled(files, input_format, on_error, given, options["label_map"])
    parts = list(source.blocks())
    if not parts:
        raise ShortlistError(f"{source.name}: no rows")
    table = gather(parts, source.n_features)
    names = np.array(source.names(table.ids), object)
    X, rows = table.X, None
    if groups is not None:
        X, names, rows = _without_groups(X, names, groups)
    n_rows, n_features = X.shape
    if X.nnz >= _DENSE * n_rows * n_features:
        X = X.toarray()
    return WholeTable(X, _labels(source, table.y), tuple(names.tolist()), rows)


def _labels(source: RowSource, y: np.ndarray) -> np.ndarray:
    if source.label_names is None:
        return y
    return np.array(source.label_names, object)[y.astype(np.int64)].astype(str)


def _without_groups(
    X: Any, names: np.ndarray, column: str
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Take a column of groups out of the features: a number, or one of several words."""
    own = np.array([name.partition("=")[0] == column for name in names.tolist()], bool)
    if not own.any():
        raise ShortlistError(f"--sample-groups: no column is called {column!r}")
    part = X[:, np.flatnonzero(own)]
    if part.shape[1] == 1:
        groups = part.toarray()[:, 0]
    else:  # a column of words is a feature for each of them
        groups = np.asarray(part.argmax(axis=1)).ravel()
    return X[:, np.flatnonzero(~own)], names[~own], groups
