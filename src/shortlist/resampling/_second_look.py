"""Stability and substitutes of whatever learns from rows, along with the choice itself.

Methods that stream learn from halves in the same passes as from all rows; those that solve
a whole table keep it, and are asked again after the choice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from shortlist._protocols import RowSource, ShortlistError
from shortlist._shortlist import Shortlist
from shortlist.resampling._streams import Resampled
from shortlist.resampling._tables import Recalling
from shortlist.table._gather import TableLearner

Watch = Callable[[str, int, int], None]

#: Share of halves from which on a feature is called stable.
THRESHOLD = 0.75


class SecondLook:
    """What is asked for beyond a choice.

    Parameters
    ----------
    learner : TableLearner or OnlineLearner
        What chooses.
    n_pairs : int, default=0
        Pairs of halves that stability is judged by; 0: none.
    n_substitutes : int, default=0
        Substitutes to name of each chosen feature at most; only of table learners.
    groups : ndarray of shape (n_rows,), default=None
        Group of each row; rows of one are never in both halves.
    seed : int, default=0

    Attributes
    ----------
    learner : TableLearner or Resampled
        What to run in place of the learner: it does the same, and more.
    """

    def __init__(
        self,
        learner: Any,
        *,
        n_pairs: int = 0,
        n_substitutes: int = 0,
        groups: np.ndarray | None = None,
        seed: int = 0,
    ) -> None:
        self.learner: Any = learner
        self._pairs, self._substitutes = n_pairs, n_substitutes
        self._groups, self._seed = groups, seed
        self._table: Recalling | None = None
        if isinstance(learner, TableLearner) and (n_pairs or n_substitutes):
            self._table = Recalling(learner)
            self.learner = self._table.learner
        elif n_substitutes:
            raise ShortlistError(
                "substitutes need all rows in memory, which a method that streams has "
                "not; foba, say, has"
            )
        elif n_pairs:
            self.learner = Resampled(learner, n_pairs, THRESHOLD, seed, groups)

    def finish(self, shortlist: Shortlist, rows: RowSource, watch: Watch) -> Shortlist:
        """Add to a result what could not be had in the same passes over the rows.

        Ctrl-C raises ``Interrupted`` with what there is.
        """
        if self._table is None:
            return shortlist
        if self._pairs:
            shortlist = self._table.stability(
                shortlist,
                self._pairs,
                threshold=THRESHOLD,
                seed=self._seed,
                groups=self._table.groups_of_rows(self._groups, rows),
                watch=watch,
            )
        if self._substitutes:
            shortlist = self._table.substitutes(
                shortlist, self._substitutes, watch=watch
            )
        return shortlist
