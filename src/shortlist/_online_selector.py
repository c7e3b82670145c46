"""Estimators that learn from examples one by one, those that select among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shortlist._base import BaseSelector
from shortlist._online import OnlineLearner, OnlineState
from shortlist._predicting import BasePredictor
from shortlist._protocols import (
    Head,
    Observer,
    RowSource,
    ShortlistError,
    knowing_groups,
)
from shortlist._splits import group_numbers
from shortlist.engines import Broken, Interrupted, run
from shortlist.sources import open_source
from shortlist.sources._columns import leaving_out
from shortlist.sources.pairs import has_pairs, with_pairs_as


class OnlineFitting(BasePredictor):
    """How an online learner is fitted: to a table, to a source, bit by bit.

    Subclasses implement ``_learner``.
    """

    def _learner(
        self,
        *,
        classes: Sequence[Any] | None = None,
        reiterable: bool = True,
        one_pass: bool = False,
    ) -> OnlineLearner:
        """Return the algorithm that the parameters of this estimator ask for.

        Parameters
        ----------
        classes : sequence, default=None
            All classes there are, if the caller knows.
        reiterable : bool, default=True
            Whether the data can be read again.
        one_pass : bool, default=False
            Whether the algorithm has to do with what comes by, whatever was asked for.
        """
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Learn from a table.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        groups : array-like of shape (n_samples,), default=None
            Rows of one group, such as those of a user, are set apart together where a
            refit of more than 65,536 rows judges itself by some of them.

        Returns
        -------
        self : object
        """
        self._check_request()
        source, target = self._array_source(X, y, sample_weight)
        own = group_numbers(groups, source.size)
        learner = knowing_groups(self._learner(), own)
        self._forget()
        rows = with_pairs_as(learner.params, source)
        self._publish(run(_Known(learner, target), rows))
        return self

    def fit_source(
        self,
        source: Any,
        *,
        classes: Sequence[Any] | None = None,
        observe: Observer | None = None,
    ) -> Any:
        """Learn from a source: files, frames, anything that yields blocks of rows.

        Parameters
        ----------
        source : RowSource, path or list of paths
            Files of tables need to be told their target:
            ``open_source("data.csv", target="y")``.
        classes : array-like, default=None
            All classes there are, if the first thousand rows may not show each.
        observe : callable, default=None
            Called with a ``Progress`` after every block.

        Returns
        -------
        self : object

        Raises
        ------
        KeyboardInterrupt, DataError
            In mid-run: the estimator is fitted with what had been learned by then.
        """
        self._check_request()
        opened: RowSource = open_source(source)
        self._forget()
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)
        learner = self._learner(classes=classes, reiterable=opened.reiterable)
        opened = leaving_out(opened, learner.never)
        rows = with_pairs_as(learner.params, opened)
        try:
            self._publish(run(learner, rows, observe))
        except (Broken, Interrupted) as stop:
            self._publish(stop.result)
            raise
        if opened.n_features is not None:
            self.n_features_in_ = opened.n_features
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Sequence[Any] | None = None,
        sample_weight: Any = None,
    ) -> Any:
        """Learn from more examples, in one pass; earlier ones are not needed again.

        Calls of ``partial_fit`` go on from each other; what ``fit`` or ``fit_source``
        have learned is left behind by the first one after them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like, default=None
            All classes there will ever be. Needed in the first call, unless that call
            shows them all; with ``loss="auto"`` the first call also decides the loss.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        self._check_request()
        self._check_going_on()
        fresh = not hasattr(self, "_state")
        earlier = getattr(self, "_state", self._example())
        if earlier is not None and classes is None:
            classes = earlier.target.classes
        known = None if earlier is None else earlier.target
        source, target = self._array_source(
            X, y, sample_weight, reset=fresh, classes=classes, known=known
        )
        learner = self._learner(classes=classes, one_pass=True)
        if has_pairs(learner.params):
            raise ShortlistError(
                "interactions= goes with fit and fit_source: pairs are named by reading "
                "the data again"
            )
        if fresh:
            # Without first rows to go by: how calls divide them must not matter.
            self._state: OnlineState = self._begun(learner.begin(source, target, ()))
        elif target.classes != self._state.target.classes:
            raise ShortlistError(
                f"classes should stay {self._state.target.classes}, got {target.classes}"
            )
        for block in source.blocks():
            learner.step(self._state, block)
        self._publish(learner.result(self._state, source))
        return self

    def _check_going_on(self) -> None:
        """Raise if partial_fit cannot go on from what has been learned."""

    def _example(self) -> OnlineState | None:
        """State of another run whose classes this one should have, too."""
        return None

    def _begun(self, state: OnlineState) -> OnlineState:
        """Give the state that the first call of partial_fit learns in."""
        return state

    def _forget(self) -> None:
        """Drop what earlier calls of partial_fit have learned."""
        if hasattr(self, "_state"):
            del self._state


class OnlineSelector(OnlineFitting, BaseSelector):
    """Base of the selectors in ``rows`` and ``sketch``."""


class _Known:
    """A learner whose target is known before the first row."""

    def __init__(self, learner: OnlineLearner, target: Any) -> None:
        self._learner, self._target = learner, target

    def __getattr__(self, name: str) -> Any:
        return getattr(self._learner, name)

    def start(self, source: RowSource, head: Head) -> OnlineState:
        return self._learner.begin(source, self._target, head.rows)
