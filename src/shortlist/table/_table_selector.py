"""What the estimators of the table room share."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from shortlist._base import BaseSelector
from shortlist._protocols import Ids, ShortlistError
from shortlist._splits import group_numbers
from shortlist._targets import Target
from shortlist.objectives.checks import as_table
from shortlist.sources._names import ColumnNames
from shortlist.table._gather import Table
from shortlist.table._groups import read_groups
from shortlist.table._selected import Search, Selected, select


class TableSelector(BaseSelector):
    """Base of selectors that search a whole table for supports.

    Subclasses store ``standardize``, ``fit_intercept`` and ``l2`` besides what
    BaseSelector wants, and implement ``_search``.
    """

    _sparse_forms = ("csr", "csc")
    standardize: bool
    fit_intercept: bool
    l2: float | str

    def _search(self) -> Search:
        """Return the method with the settings asked for; bad ones raise."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Select from a table.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Several outputs, of methods that take them, share their features.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        return self._fitted(X, y, sample_weight)

    def _fitted(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> Any:
        """``fit``, of selectors that split rows with the groups of these."""
        self._check_request()
        self._check_penalty("l2", self.l2, others=("auto",))
        search = self._search()
        X, codes, weight, target = self._table(X, y, sample_weight)
        n_features = X.shape[1]
        ids = np.arange(n_features, dtype=np.uint64)
        own = group_numbers(groups, X.shape[0])
        table = Table(X, target.encode(codes), weight, ids, n_features, own)
        self._selected: Selected = self._select(table, target, search)
        self._finish(table, target, codes)
        return self

    def _table(self, *args: Any, **options: Any) -> tuple[Any, np.ndarray, Any, Target]:
        """Validate arrays; entries of a sparse X that come in several parts add up."""
        X, codes, weight, target = super()._table(*args, **options)
        return as_table(X), codes, weight, target

    @staticmethod
    def _check_penalty(name: str, l2: Any, others: tuple[Any, ...]) -> None:
        if any(
            l2 is other or (isinstance(l2, str) and l2 == other) for other in others
        ):
            return
        number = isinstance(l2, Real) and not isinstance(l2, bool)
        if not (number and 0.0 <= float(l2) < np.inf):
            known = " or ".join(map(repr, others))
            raise ShortlistError(
                f"{name} should be a number from 0 or {known}, got {l2!r}"
            )

    def _finish(self, table: Table, target: Target, labels: np.ndarray) -> None:
        """Publish the result for k."""
        self._publish(self._selected.at(self.k, self._names_by_id))

    def _select(self, table: Table, target: Target, search: Search) -> Selected:
        """Search a table, with the features to keep and to leave out."""
        unit_of, always, never = self._units(len(table.ids))
        return select(
            table,
            target,
            search,
            unit_of=unit_of,
            always=always,
            never=never,
            **self._options(),
        )

    def _options(self) -> dict[str, Any]:
        """What the objective of a table is made with."""
        return {
            "standardize": self.standardize,
            "fit_intercept": self.fit_intercept,
            "l2": self.l2,
        }

    def _column_names(self) -> ColumnNames:
        names = getattr(self, "feature_names_in_", None)
        return ColumnNames(names, self.n_features_in_, "X")

    def _names_by_id(self, ids: Ids) -> list[str]:
        names = self._column_names()
        return [names.name(j) for j in ids.tolist()]

    def _units(
        self, n_features: int
    ) -> tuple[np.ndarray | None, tuple[int, ...], tuple[int, ...]]:
        """Unit of each feature, and the units to keep and to leave out."""
        names = self._column_names()
        kept = [names.column(name) for name in self._names_of(self.always)]
        barred = [names.column(name) for name in self._names_of(self.never)]
        unit_of, labels = None, None
        if self.feature_groups is not None:
            every = [names.name(j) for j in range(n_features)]
            unit_of, labels = read_groups(self.feature_groups, every, n_features)
            kept, barred = unit_of[kept].tolist(), unit_of[barred].tolist()
        if both := set(kept) & set(barred):
            first = min(both)
            name = names.name(first) if labels is None else labels[first]
            raise ShortlistError(f"{name!r} is named by always= and by never=")
        return unit_of, tuple(sorted(set(kept))), tuple(sorted(set(barred)))
