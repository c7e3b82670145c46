"""Stability and substitutes of methods that solve a whole table.

A ``TableLearner`` gathers rows and solves. ``Recalling`` keeps what it solved, so that
halves of the same rows can be solved after it, and columns be exchanged, without reading
anything again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from shortlist._protocols import Ids, Ints, RowSource, ShortlistError
from shortlist._shortlist import Shortlist
from shortlist.engines import Interrupted
from shortlist.resampling._halves import complementary_halves, labels_of
from shortlist.resampling._result import Stability, Tally
from shortlist.resampling._substitutes import find_substitutes
from shortlist.table._gather import Table, TableLearner
from shortlist.table._groups import groups_by_name
from shortlist.table._selected import Names

Watch = Callable[[str, int, int], None]


class Recalling:
    """A table learner that can be asked about its table afterwards.

    Parameters
    ----------
    learner : TableLearner
    """

    def __init__(self, learner: TableLearner) -> None:
        self._solve, self._groups = learner.solve, learner.groups
        self._asked: tuple[Any, ...] | None = None
        self.learner = replace(learner, solve=self._solve_and_keep)

    def _solve_and_keep(self, *asked: Any) -> Shortlist:
        self._asked = asked
        return self._solve(*asked)

    def groups_of_rows(
        self, groups: np.ndarray | None, rows: RowSource
    ) -> np.ndarray | None:
        """Groups of the rows that were solved for: those with a bad label are not."""
        assert self._asked is not None
        table, target = self._asked[:2]
        if groups is None or len(groups) == len(table.y):
            return groups
        known = np.concatenate([target.knows(block.y) for block in rows.blocks()])
        if len(groups) != len(known):
            raise ShortlistError(
                f"groups should have one entry a row ({len(known)}), got {len(groups)}"
            )
        return np.asarray(groups[known])

    def stability(
        self,
        shortlist: Shortlist,
        n_pairs: int,
        *,
        threshold: float,
        seed: int,
        groups: np.ndarray | None = None,
        watch: Watch,
    ) -> Shortlist:
        """The same result with shares of halves; Ctrl-C raises ``Interrupted`` with it."""
        assert self._asked is not None
        table, target, kept, barred, names = self._asked
        halves = complementary_halves(
            len(table.y),
            n_pairs,
            classes=labels_of(table.y, target),
            groups=groups,
            seed=seed,
        )
        called: Names = _by_number
        tally, n_units = Tally(), table.X.shape[1] - len(barred)
        if self._groups is not None:
            called = _known_names(table.ids, names)
            group_of = groups_by_name(self._groups, called(table.ids))
            tally = Tally(lambda ids: group_of[np.searchsorted(table.ids, ids)])
            n_units = len(np.setdiff1d(group_of, group_of[list(barred)]))

        def result() -> Shortlist:
            found = Stability(
                tally,
                shortlist,
                names,
                asked=n_pairs,
                n_features=n_units,
                threshold=threshold,
            )
            assert found.shortlist is not None
            return found.shortlist

        try:
            for pair, rows in enumerate(halves):
                supports = []
                for side in (0, 1):
                    watch(f"pair {pair + 1} of {n_pairs}", 2 * pair + side, 2 * n_pairs)
                    part = _rows_of(table, rows[side])
                    solved = self._solve(part, target, kept, barred, called)
                    supports.append(solved.support)
                tally.add(*supports)
        except KeyboardInterrupt:
            raise Interrupted(result() if tally.n_pairs else shortlist) from None
        return result()

    def substitutes(self, shortlist: Shortlist, n: int, *, watch: Watch) -> Shortlist:
        """The same result with substitutes; Ctrl-C raises ``Interrupted`` with some."""
        assert self._asked is not None
        table, target, _, barred, names = self._asked
        return find_substitutes(
            shortlist, table, target, names, n, never=barred, watch=watch
        )


def _rows_of(table: Table, rows: Ints) -> Table:
    weight = None if table.weight is None else table.weight[rows]
    groups = None if table.groups is None else table.groups[rows]
    X, y = table.X[rows], table.y[rows]
    return table._replace(X=X, y=y, weight=weight, groups=groups)


def _by_number(ids: Ids) -> list[str]:
    """Names that nobody will read: the real ones may take another look at a file."""
    return [str(i) for i in ids.tolist()]


def _known_names(every: Ids, names: Names) -> Names:
    """Real names, which groups of features go by, looked up once for all halves."""
    called = names(every)
    return lambda ids: [called[j] for j in np.searchsorted(every, ids).tolist()]
