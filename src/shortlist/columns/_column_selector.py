"""What estimators of this room share: tables, sources and columns of later days."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from shortlist._base import BaseSelector
from shortlist._protocols import ColumnSource, Observer, ShortlistError
from shortlist._shortlist import Shortlist
from shortlist.columns._data import Data
from shortlist.columns._numbered import NumberedFrom
from shortlist.columns._run import ColumnRequest, ColumnRun
from shortlist.engines.columns import run_columns
from shortlist.engines.serial import Broken, Interrupted
from shortlist.sources import ArrayColumns, is_table, open_columns
from shortlist.sources._names import ColumnNames


class ColumnSelector(BaseSelector):
    """Base of the room's selectors; subclasses say what is asked for (``_request``)."""

    n_features_in_: int
    feature_names_in_: np.ndarray
    _run_so_far: ColumnRun

    def _request(self) -> ColumnRequest:
        """Return what is asked for; bad settings raise."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Select from the columns of a table.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        self._check_request()
        X, codes, weight, target = self._table(X, y, sample_weight)
        known = getattr(self, "feature_names_in_", None)
        names = ColumnNames(known, X.shape[1], "X")
        for name in (*self._names_of(self.always), *self._names_of(self.never)):
            names.column(name)
        kept = "number" if known is None else [str(name) for name in known]
        source = NumberedFrom(ArrayColumns(X, name="X"), 0, kept)
        self._run(source, Data.of(target, codes, weight), None)
        return self

    def fit_columns(
        self,
        columns: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        classes: Sequence[Any] | None = None,
        observe: Observer | None = None,
    ) -> Any:
        """Select from columns that are read block by block.

        Parameters
        ----------
        columns : path, array, table, dict, iterable of (name, column), or ColumnSource
            See ``open_columns``.
        y : array-like of shape (n_samples,), default=None
            None: the target that the source has among its columns.
        sample_weight : array-like of shape (n_samples,), default=None
        classes : array-like, default=None
            All classes there are, if y does not show each.
        observe : callable, default=None
            Called with a ``Progress`` after every block.

        Returns
        -------
        self : object

        Raises
        ------
        KeyboardInterrupt, DataError
            In mid-run: the estimator is fitted with what had been found by then.
        """
        source, data = self._opened(columns, y, sample_weight, classes)
        self._run(source, data, observe)
        return self

    def _opened(
        self,
        columns: Any,
        y: Any,
        sample_weight: Any = None,
        classes: Sequence[Any] | None = None,
    ) -> tuple[ColumnSource, Data]:
        """A source of columns and what is to be predicted, checked."""
        self._check_request()
        source = open_columns(columns)
        labels = getattr(source, "y", None) if y is None else y
        if labels is None:
            raise ShortlistError(
                f"{source.name}: y should be given, or the target named (target=)"
            )
        codes, target = self._target(np.asarray(labels), classes)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(
                sample_weight, codes, dtype=np.float64, ensure_non_negative=True
            )
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)
        if getattr(source, "is_numbered", False) and source.n_columns is not None:
            self.n_features_in_ = source.n_columns
        return source, Data.of(target, codes, sample_weight)

    def add_columns(self, columns: Any, *, observe: Observer | None = None) -> Any:
        """Let more features arrive, on later days perhaps, for the same examples.

        They compete with the features that are in; those that left do not come back.
        After ``fit`` they become further columns of X: predictions then want them too.

        Parameters
        ----------
        columns : path, array, table, iterable of (name, column), or ColumnSource
            Rows in the same order as before.
        observe : callable, default=None
            Called with a ``Progress`` after every block.

        Returns
        -------
        self : object
        """
        check_is_fitted(self)
        if not hasattr(self, "_run_so_far"):
            raise ShortlistError("add_columns goes with n_workers=1 and threads")
        source = open_columns(columns)
        more: Any = source
        is_of_table = hasattr(self, "n_features_in_")
        if is_of_table:
            more = self._appended(source, columns)
        elif getattr(source, "is_numbered", False):
            # numbers that begin anew would stand for columns of earlier days
            more = NumberedFrom(source, self._run_so_far.n_features, "number")
        self._run_so_far.resume()
        try:
            self._publish(run_columns(self._run_so_far, more, observe))
        except (Broken, Interrupted) as stop:
            self._publish(stop.result)
            raise
        finally:
            if is_of_table:
                self._count_columns(more.met)
        return self

    def _count_columns(self, names: list[str]) -> None:
        """Have X as many columns more as came."""
        self.n_features_in_ += len(names)
        if hasattr(self, "feature_names_in_"):
            every = [*self.feature_names_in_, *names]
            self.feature_names_in_ = np.array(every, dtype=object)

    def _appended(self, source: ColumnSource, columns: Any) -> NumberedFrom:
        """Further columns of the table that was fitted."""
        known = getattr(self, "feature_names_in_", None)
        nameless = getattr(source, "is_numbered", False)
        if known is not None and nameless:
            raise ShortlistError("columns should have names, as those of X had")
        if known is None and is_table(columns):
            raise ShortlistError("columns should be an array, as X was one")
        names = "number" if known is None else "keep"
        taken = () if known is None else map(str, known)
        return NumberedFrom(source, self.n_features_in_, names, tuple(taken))

    def _run(self, source: Any, data: Data, observe: Observer | None) -> None:
        """Run over a source and publish what came of it."""
        if hasattr(self, "_run_so_far"):
            del self._run_so_far
        try:
            self._publish(self._choose(source, data, observe))
        except (Broken, Interrupted) as stop:
            self._publish(stop.result)
            raise

    def _choose(self, source: Any, data: Data, observe: Observer | None) -> Shortlist:
        """Run over a source, alone, ready to go on with columns of later days."""
        self._run_so_far = self._run_over(data)
        chosen = run_columns(self._run_so_far, source, observe)
        assert isinstance(chosen, Shortlist)
        return chosen

    def _run_over(self, data: Data) -> ColumnRun:
        """What one worker steps through columns."""
        return ColumnRun(data, self._request(), self.capabilities.method)

    @property
    def _works_alone(self) -> bool:
        """Whether one worker, in this process, does all."""
        return True
