"""From a table to a Shortlist: what all methods that search for supports share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import (
    Capabilities,
    Fit,
    Floats,
    Ids,
    Ints,
    ShortlistError,
)
from shortlist._shortlist import Shortlist
from shortlist._targets import Target
from shortlist.losses import binary_of, spell
from shortlist.table._foba import Path
from shortlist.table._gather import Table, TableLearner
from shortlist.table._groups import groups_by_name
from shortlist.table._path_trace import left_behind, path_trace
from shortlist.table._problem import TableProblem, table_problem

Names = Callable[[Ids], list[str]]


class Found(NamedTuple):
    """What a search leaves behind: supports, and how it went."""

    path: Path
    trace: Mapping[str, np.ndarray] = {}
    notes: tuple[str, ...] = ()
    params: Mapping[str, Any] = {}  #: settings that the search decided on
    scores: Floats | None = None  #: of each column; None: the size of its weights
    record: Any = None  #: what else the method's estimator wants


@dataclass(frozen=True)
class Search:
    """A method, as it is asked for.

    Parameters
    ----------
    capabilities : Capabilities
    k : int
        The budget; units that are always in count.
    run : callable
        Called with a TableProblem, the budget left for units that are free, and the
        keywords ``unit_of``, ``always`` and ``never``; returns Found.
    params : mapping
        Settings, for the result.
    gram, search_l2
        See ``table_problem``.
    asked : mapping
        Other keywords of ``table_problem``.
    """

    capabilities: Capabilities
    k: int
    run: Callable[..., Found]
    params: Mapping[str, Any] = field(default_factory=dict)
    gram: bool = True
    search_l2: float | str | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)


class PathStep(NamedTuple):
    """The best support of its size, as entries of a Shortlist."""

    ids: Ids
    margin: Ints
    weights: Floats  #: of the columns as they are
    scores: Floats  #: size of the standardised weights, if the search has no other
    intercept: Floats
    objective: float


class Selected(NamedTuple):
    """All that a search on a table leaves behind; holds on to none of the data."""

    capabilities: Capabilities
    params: Mapping[str, Any]
    steps: dict[int, PathStep]  #: best, by number of units, those always in counted
    latest: dict[int, PathStep]  #: reached last, likewise
    loss: str
    target: Target | None  #: None: an objective of the user's own
    grouped: bool
    n_examples: int
    n_features: int | None
    trace: Mapping[str, np.ndarray] = {}
    notes: tuple[str, ...] = ()
    record: Any = None

    def best_size(self, k: int) -> int:
        """Size of the best support of at most k units; of equals, the largest.

        It is k unless the search stopped before.
        """
        within = sorted((size for size in self.steps if size <= k), reverse=True)
        return min(within, key=lambda size: self.steps[size].objective)

    def best(self, k: int) -> PathStep:
        """Best support of at most k units."""
        return self.steps[self.best_size(k)]

    def at(self, k: int, names: Names) -> Shortlist:
        """Publish the best support of at most k units."""
        step = self.best(k)
        n_distinct = len(np.unique(step.ids))
        target = self.target
        notes = [] if target is None or target.note is None else [target.note]
        params = {**self.params, "objective": step.objective}
        if self.grouped:
            params |= {"k": k, "unit": "group"}
            notes.append(f"k = {k} counts groups; they hold {n_distinct} features")
        elif n_distinct < min(k, self.n_features or k):
            notes.append(
                f"{n_distinct} of {k} features asked for: no other adds anything"
            )
        path = path_trace(self.steps, k)
        left = left_behind(path, step.ids)
        # in one call, as a file may be read again for it
        named = names(np.concatenate([step.ids, left]))
        if len(left):
            path |= {"left_ids": left, "left_names": np.array(named[len(step.ids) :])}
        return Shortlist(
            method=self.capabilities.method,
            room=self.capabilities.room,
            loss=self.loss,
            k=max(1, n_distinct) if self.grouped else k,
            ids=step.ids,
            names=tuple(named[: len(step.ids)]),
            margin=step.margin,
            weights=step.weights,
            scores=step.scores,
            intercept=step.intercept,
            classes=None if target is None else target.classes,
            n_examples=self.n_examples,
            n_features=self.n_features,
            params=params,
            trace={**self.trace, **path},
            notes=(*notes, *self.notes),
        )


def select(
    table: Table,
    target: Target,
    search: Search,
    *,
    unit_of: np.ndarray | None = None,
    always: tuple[int, ...] = (),
    never: tuple[int, ...] = (),
    **options: Any,
) -> Selected:
    """Search a table; ``always`` and ``never`` are units, ``always`` count in k."""
    check_always(always, search.k)
    losses, method = search.capabilities.losses, search.capabilities.method
    if target.n_outputs == 1 and binary_of(target.loss).name not in losses:
        known = ", ".join(losses)
        raise ShortlistError(
            f"{method} works with loss={known}, got {target.loss.name!r}"
        )
    problem = table_problem(
        table.X,
        table.y,
        target,
        sample_weight=table.weight,
        gram=search.gram,
        search_l2=search.search_l2,
        always=_columns_of(always, unit_of),
        **search.asked,
        **options,
    )
    problem = replace(problem, row_groups=table.groups)
    free = search.k - len(always)
    found = search.run(problem, free, unit_of=unit_of, always=always, never=never)

    def entries(fit: Fit) -> PathStep:
        return _entries(problem, fit, table.ids, found.scores)

    best, latest = by_size(problem.weighed(found.path), len(always), entries)
    return Selected(
        search.capabilities,
        {**search.params, **found.params},
        best,
        latest,
        spell(target.loss),
        target,
        unit_of is not None,
        len(table.y),
        table.n_features,
        found.trace,
        found.notes,
        found.record,
    )


def _units_of(columns: tuple[int, ...], unit_of: np.ndarray) -> tuple[int, ...]:
    """Units of some columns."""
    return tuple(np.unique(unit_of[list(columns)]).tolist())


def _columns_of(units: tuple[int, ...], unit_of: np.ndarray | None) -> Ints:
    """Columns of some units."""
    if unit_of is None:
        return np.array(units, np.int64)
    return np.flatnonzero(np.isin(unit_of, units))


def check_always(always: tuple[int, ...], k: int) -> None:
    """Refuse more units to keep than the budget has room for."""
    if len(always) > k:
        raise ShortlistError(
            f"always= names {len(always)} features, more than the budget k={k}"
        )


def by_size(
    path: Path, n_always: int, entries: Callable[[Fit], PathStep]
) -> tuple[dict[int, PathStep], dict[int, PathStep]]:
    """Best and latest steps of a path, by size with the units always in."""
    best, latest = (
        {size + n_always: entries(step.fit) for size, step in steps.items()}
        for steps in (path.best, path.latest)
    )
    return best, latest


def _entries(
    problem: TableProblem, fit: Fit, ids: Ids, scores: Floats | None
) -> PathStep:
    weights, intercept = problem.raw(fit)
    feature, margin = np.divmod(fit.support, problem.n_outputs)
    sizes = np.abs(weights) * problem.scale[feature]
    ranked_by = sizes if scores is None else scores[feature]
    return PathStep(ids[feature], margin, weights, ranked_by, intercept, fit.value)


def learner_of(
    make: Callable[..., Any], publish: Callable[..., Shortlist]
) -> Callable[..., TableLearner]:
    """Make what an engine runs, gather the rows and then choose, of a method.

    ``make`` is given k and the method's own settings; what it returns has ``params`` and
    goes first to ``publish``, with the table, the target, ``names`` of ids, and the columns
    ``always`` in and ``never``. Neither ``seed`` nor ``reiterable`` matters: nothing is
    drawn, and the data are read once.
    """

    def learner(
        k: int,
        *,
        loss: Any = "auto",
        classes: Sequence[Any] | None = None,
        always: Sequence[str] = (),
        never: Sequence[str] = (),
        groups: Mapping[str, str] | str | None = None,
        seed: int = 0,
        reiterable: bool = True,
        **settings: Any,
    ) -> TableLearner:
        asked = make(k, **settings)

        def solve(
            table: Table,
            target: Target,
            kept: tuple[int, ...],
            barred: tuple[int, ...],
            names: Names,
        ) -> Shortlist:
            units = {}
            if groups is not None:
                unit_of = groups_by_name(groups, names(table.ids))
                kept, barred = _units_of(kept, unit_of), _units_of(barred, unit_of)
                units = {"unit_of": unit_of}
            return publish(
                asked, table, target, names, always=kept, never=barred, **units
            )

        lists = always, never
        return TableLearner(k, solve, loss, classes, *lists, asked.params, groups)

    return learner


def search_learner_of(make: Callable[..., Search]) -> Callable[..., TableLearner]:
    """``learner_of`` for methods that search for supports."""

    def publish(
        search: Search, table: Table, target: Target, names: Names, **units: Any
    ) -> Shortlist:
        return select(table, target, search, **units).at(search.k, names)

    return learner_of(make, publish)
