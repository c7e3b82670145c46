"""Whatever a user has as data, as one table in memory: what a comparison goes over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import (
    DataError,
    Floats,
    Ints,
    RowBlock,
    RowSource,
    ShortlistError,
)
from shortlist.evaluate._examples import Examples, weights_that_differ
from shortlist.evaluate._row_groups import reader_of_groups
from shortlist.evaluate._to_split import settled
from shortlist.evaluate._whole_table import labels_of, whole_table, with_labels
from shortlist.sources import ArraySource, is_table
from shortlist.sources._names import unknown_name
from shortlist.sources.forms import as_frame, open_data, take_out


class Opened(NamedTuple):
    """A table with its labels, without the columns that are no features."""

    X: Any  #: float, dense or CSR, (n_rows, n_features)
    y: np.ndarray  #: labels as they are called, or numbers
    names: tuple[str, ...] | None  #: of the columns; None: x0, x1, ...
    weight: Floats | None  #: of the rows; None: each counts once
    groups: Ints | None  #: of the rows
    always: Ints  #: columns that every method has to choose
    known: np.ndarray  #: which of the rows that were read these are
    n_unlabelled: int  #: how many of the others have no label

    @property
    def rows(self) -> Examples:
        """The rows with all that belongs to each of them."""
        return Examples(self.X, self.y, self.weight, self.groups)


def opened(
    data: Any,
    target: Any = None,
    *,
    groups: Any = None,
    always: Sequence[str] = (),
    never: Sequence[str] = (),
    feature_names: Sequence[str] | None = None,
    sample_weight: Any = None,
    read: Mapping[str, Any] | None = None,
) -> Opened:
    """Open data as ``select`` does, and hold all rows that have a label.

    Parameters are those of ``compare``.
    """
    data = as_frame(data)
    if isinstance(groups, str):  # is no feature in any case
        never = [name for name in never if name != groups]
    if isinstance(groups, str) and is_table(data):
        data, groups = take_out(data, groups, "groups")
    source = open_data(
        data,
        target,
        feature_names=feature_names,
        sample_weight=sample_weight,
        read=read,
    )
    if not isinstance(source, RowSource):
        raise ShortlistError(
            f"{source.name}: compare needs rows, and these are columns"
        )
    hint = getattr(source, "target_hint", None)
    if hint is not None:
        raise ShortlistError(f"{source.name}: expected labels; {hint}")
    again = reader_of_groups(data, groups, read, source)
    source, numbers, _ = settled(source, groups, in_memory=True, again=again)[1]
    if isinstance(source, ArraySource):
        X, names, labels = _matrix(source), feature_names, source.all_labels
        known = np.isfinite(labels) & (source.weights > 0)
        rows, n_unlabelled = np.flatnonzero(known), int(np.isnan(labels).sum())
        X = X if known.all() else X[rows]
        y = labels_of(source, labels[rows])
        weight = weights_that_differ(source.weights[rows])
    else:
        every = list(source.blocks())
        blocks, known = with_labels(every)
        n_unlabelled = sum(int(np.isnan(block.y).sum()) for block in every)
        if known.any():
            table = whole_table(source, blocks)
            X, y, names, weight = table.X, table.y, table.names, table.weight
    if not known.any():
        raise DataError(
            f"{source.name}: expected rows with a label and a weight above 0, got none"
        )
    groups = None if numbers is None else numbers[known]
    features = _Features(source.name, names, X.shape[1])
    skipped = getattr(source, "leave_out", ())  # by whoever read the rows
    barred = [name for name in never if name not in skipped or name in features]
    kept = np.setdiff1d(np.arange(X.shape[1]), features.called("never", barred))
    if not len(kept):
        raise DataError(f"{source.name}: expected features to choose from, got none")
    wanted = features.called("always", always, whole_columns=False)
    if missing := np.setdiff1d(wanted, kept).tolist():
        name = features.name(missing[0])
        raise ShortlistError(f"{name!r} is named by always= and by never=")
    if len(kept) < X.shape[1]:
        names = tuple(features.name(j) for j in kept.tolist())
        X = X[:, kept]
    names = None if names is None else tuple(map(str, names))
    inside = np.searchsorted(kept, wanted)
    facts = weight, groups, inside, known, n_unlabelled
    return Opened(_as_numbers(X), y, names, *facts)


def _matrix(source: ArraySource) -> Any:
    """The array of a source as it is, unless values have to be filled in."""
    X = source.matrix
    values = X.data if hasattr(X, "tocsr") else X
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        from shortlist.table._gather import gather

        blocks: list[RowBlock] = list(source.blocks())  # says which value is none
        X = gather(blocks, source.n_features, every=True).X
        return X if hasattr(source.matrix, "tocsr") else X.toarray()
    return X


def _as_numbers(X: Any) -> Any:
    """Floats; some of scikit-learn wants short indices of sparse tables."""
    X = X if X.dtype.kind == "f" else X.astype(np.float64)
    if hasattr(X, "tocsr") and X.nnz < 2**31:
        short = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        X = type(X)((X.data, *short), shape=X.shape)
    return X


class _Features:
    """Columns by their names, and by those of the columns of text that they are from."""

    def __init__(self, owner: str, names: Sequence[str] | None, n: int) -> None:
        self._owner, self._names, self._n = owner, names, n

    def name(self, column: int) -> str:
        return f"x{column}" if self._names is None else str(self._names[column])

    def __contains__(self, name: str) -> bool:
        return any(self.name(j) == name for j in range(self._n))

    def called(
        self, what: str, wanted: Sequence[str], *, whole_columns: bool = True
    ) -> Ints:
        """Numbers of the columns with these names, increasing."""
        if isinstance(wanted, str):
            raise ShortlistError(f"{what} should be a list of features, got a str")
        if not wanted:
            return np.empty(0, np.int64)
        places: dict[str, list[int]] = {}
        for j in range(self._n):
            name = self.name(j)
            places.setdefault(name, []).append(j)
            column, is_text, _ = name.partition("=")
            if is_text and whole_columns:
                places.setdefault(column, []).append(j)
        for name in wanted:
            if name not in places:
                raise unknown_name(f"{self._owner}: {what}", name, places)
        every = [j for name in wanted for j in places[name]]
        return np.unique(np.array(every, np.int64))
