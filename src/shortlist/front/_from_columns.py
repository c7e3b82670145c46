"""Choose from columns that are read one by one, with a budget given or to be found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shortlist._leaks import leaks
from shortlist._protocols import (
    ColumnSource,
    Floats,
    Ints,
    Observer,
    ShortlistError,
)
from shortlist._shortlist import Shortlist
from shortlist._splits import cv_among, folds, group_numbers
from shortlist._targets import unlabelled_note
from shortlist.evaluate._choose_k import (
    BudgetCurve,
    can_judge,
    choose_k,
    judge_chosen,
    usual_budgets,
    usual_cv,
)
from shortlist.evaluate._compare import are_classes
from shortlist.evaluate._contestants import ranking
from shortlist.front._budgets import with_curve
from shortlist.front._from_rows import Say
from shortlist.front._order import Order
from shortlist.front._warned import warned
from shortlist.sources._labels import encode_labels, lacking_labels
from shortlist.sources.forms import TargetedColumns


def select_from_columns(
    source: Any,
    order: Order,
    budget: int | Sequence[int],
    *,
    cv: Any = None,
    groups: Ints | None = None,
    observe: Observer | None = None,
    say: Say = lambda line: None,
    beyond: Mapping[str, int] | None = None,
) -> Shortlist:
    """Choose from a source of columns that has its target; see ``select_from_rows``.

    ``beyond``: as of ``LookAtColumns``: what else is asked for.
    """
    source, groups, cv, notes = labelled_columns(source, groups, cv)
    curve = None
    if not isinstance(budget, int):
        curve = find_columns_budget(source, order, budget, cv, groups, observe)
        say(curve.line())
        budget = curve.k
    further = {}
    if beyond:
        from shortlist.resampling._column_substitutes import LookAtColumns

        look = LookAtColumns(**beyond, groups=groups, seed=order.seed)
        further["runner"] = look.run
    chosen = _run(source, order, budget, observe, **further)
    chosen = replace(chosen, notes=(*notes, *chosen.notes))
    if curve is not None:
        chosen = with_curve(chosen, curve)
    if not source.reiterable:  # whoever held the columns has looked at them
        return chosen
    return warned(chosen, lambda: column_leak_notes(chosen, source))


def labelled_columns(
    source: Any, groups: Ints | None = None, cv: Any = None
) -> tuple[Any, Ints | None, Any, tuple[str, ...]]:
    """The same for the rows that have a label, and notes that say how many have none."""
    lacking = lacking_labels(np.asarray(source.y))
    if not lacking.any() or lacking.all():  # whoever learns from none will say so
        return source, groups, cv, ()
    rows = np.flatnonzero(~lacking)
    groups = None if groups is None else groups[rows]
    part = TargetedColumns(source, source.y, rows)
    note = unlabelled_note(len(lacking) - len(rows))
    return part, groups, cv_among(cv, ~lacking), (note,)


def _run(
    source: ColumnSource, order: Order, k: int, observe: Observer | None, **further: Any
) -> Shortlist:
    run = order.capabilities.load("algorithm")
    chosen: Shortlist = run(source, k, observe=observe, **further, **order.common())
    return chosen


def find_columns_budget(
    source: Any,
    order: Order,
    budgets: Sequence[int],
    cv: Any = None,
    groups: Any = None,
    observe: Observer | None = None,
) -> BudgetCurve:
    """Choose with most rows at the largest budget; judge its first k by the others.

    With ``cv`` this is done in every fold, by a model of the rows that it chose with. Else
    once, as columns may take long to go through: a fifth of the rows is judged by folds,
    unless it has too few groups of rows, or rows of a class, for that.
    """
    if not source.reiterable:
        raise ShortlistError(
            f"{source.name}: k='auto' reads columns twice, and an iterator gives them "
            "once; k needs a number"
        )
    budgets, y = order.budgets(budgets, source.n_columns), np.asarray(source.y)
    classes = are_classes(y)
    groups = group_numbers(groups, len(y))

    def ranked(rows: Ints) -> list[str]:
        part = TargetedColumns(source, y, np.sort(rows))
        largest = _run(part, order, max(budgets), observe)
        names = largest.names_by_id()
        known = {name: number for number, name in names.items()}
        always = [known[name] for name in order.always if name in known]
        ranked = ranking(largest, np.array(always, np.uint64))
        return [names[number] for number in ranked.tolist()]

    if cv is None:
        usual = usual_cv(y, groups, classes)
        train, test = folds(y, usual, groups, classes=classes, seed=order.seed)[0]
        others = None if groups is None else groups[test]
        if can_judge(y[test], others, classes=classes, seed=order.seed):
            names = ranked(train)
            return judge_chosen(
                source.take(names).values.T[test],
                y[test],
                {k: np.arange(k) for k in usual_budgets(budgets, len(names))},
                classes=classes,
                groups=others,
                seed=order.seed,
            )

    def choose(
        X: _TableOfColumns,
        y: np.ndarray,
        ks: Sequence[int],
        seed: int,
        weight: Floats | None = None,
        groups: Ints | None = None,
    ) -> dict[int, Any]:
        names = np.array(ranked(X.rows), object)
        return {k: names[:k] for k in ks}

    n_columns = source.n_columns or max(budgets)
    return choose_k(
        choose,
        _TableOfColumns(source, np.arange(len(y)), n_columns),
        y,
        classes=classes,
        budgets=budgets,
        cv=cv,
        groups=groups,
        seed=order.seed,
    )


class _TableOfColumns:
    """Rows of a source of columns, as far as a table is asked for some of either."""

    def __init__(self, source: ColumnSource, rows: Ints, n_columns: int) -> None:
        self._source, self.rows = source, rows
        self.shape = len(rows), n_columns

    def __getitem__(self, asked: Any) -> Any:
        if isinstance(asked, tuple):
            names = asked[1].tolist()
            if not names:
                return np.empty((len(self.rows), 0))
            return self._source.take(names).values.T[self.rows]
        return _TableOfColumns(self._source, self.rows[asked], self.shape[1])


def column_leak_notes(shortlist: Shortlist, source: Any) -> tuple[str, ...]:
    """Warn of chosen columns that predict nearly perfectly on their own."""
    names = list(shortlist.names_by_id().values())
    if not names:
        return ()
    codes, _ = encode_labels(source.y, len(source.y), f"{source.name}: target")
    n_classes = len(shortlist.classes or ())
    if n_classes:
        codes = np.unique(codes, return_inverse=True)[1].astype(np.float64)
    A = source.take(names).values.T
    n_features = source.n_columns or len(names)
    return tuple(leaks(A, codes, names, n_features, n_classes=n_classes))
