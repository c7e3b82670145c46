"""One call: look at the data, pick a method, say so, and choose."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

from shortlist._protocols import (
    ColumnSource,
    DataError,
    Observer,
    RowSource,
    ShortlistError,
)
from shortlist._registry import SENSORS, selector
from shortlist._shortlist import Shortlist
from shortlist._splits import check_cv, group_numbers
from shortlist.evaluate._choose_k import BUDGETS
from shortlist.evaluate._held_rows import held
from shortlist.evaluate._row_groups import reader_of_groups, without_groups
from shortlist.evaluate._to_split import settled
from shortlist.front._call import answered, given_arguments, of_columns, spelled_call
from shortlist.front._choice import Choice, choose, fits, with_choice
from shortlist.front._columns_of_rows import METHOD as BY_BOTH
from shortlist.front._facts import facts_of_columns, facts_of_rows
from shortlist.front._from_columns import select_from_columns
from shortlist.front._from_rows import select_from_rows
from shortlist.front._from_sequence import select_from_sequence
from shortlist.front._order import Order
from shortlist.front._trial import tried
from shortlist.sources._columns import leaving_out
from shortlist.sources.forms import (
    as_frame,
    only_rows,
    open_data,
    open_with_groups,
    take_out,
)

_LOG = logging.getLogger("shortlist")


def select(
    data: Any,
    target: Any = None,
    k: int | str = 10,
    method: str = "auto",
    *,
    cv: Any = None,
    groups: Any = None,
    sequence: Any = None,
    columns: bool = False,
    feature_names: Sequence[str] | None = None,
    feature_groups: Mapping[str, str] | None = None,
    loss: Any = "auto",
    classes: Sequence[Any] | None = None,
    always: str | Sequence[str] = (),
    never: str | Sequence[str] = (),
    budgets: Iterable[int] = BUDGETS,
    sample_weight: Any = None,
    missing: str | None = None,
    read: Mapping[str, Any] | None = None,
    trial: bool = True,
    stability: int | None = None,
    substitutes: int | None = None,
    seed: int = 0,
    verbose: bool = False,
    observe: Observer | None = None,
    **settings: Any,
) -> Shortlist:
    """Choose the k features that predict best, by a method that fits the data.

    Parameters
    ----------
    data : array, sparse matrix, table, path, iterable or source
        An array or sparse matrix of shape (n_samples, n_features); a table of pandas,
        polars or pyarrow; a path, pattern or list of paths, of any format that
        ``open_source`` knows; pairs of a name and a column; rows as dictionaries, or
        pairs of these and a label, whose keys may be without end; a source.
    target : array-like or str, default=None
        Labels: an array, or the name of the column or key that has them.
    k : int or "auto", default=10
        The budget. "auto": the smallest of ``budgets`` whose score on rows held out is
        within one standard error of the best; ``trace`` has the curve (``budget_k``,
        ``budget_score``, ``budget_error``).
    method : str, default="auto"
        "auto" goes by how the data come, their size and what is to be predicted, and by
        a trial; the notes of the result say what was picked and why. Or one of those of
        ``shortlist select --method``.
    cv : int, splitter or iterable of pairs of arrays, default=None
        How ``k="auto"`` and the trial split rows; None: five folds, and three. Of columns
        each fold chooses anew (None: the first of five only, unless there are few groups of
        rows, or few rows of a class). Of rows that stream by it is
        a number, the folds of the rows that are held out. If k is a number, and a method
        is named or ``trial=False``, nothing is split and it is an error.
    groups : array-like of shape (n_samples,) or str, default=None
        Rows of one group, such as those of a patient, stay together in every split; of
        tables and files the name of a column, which is then no feature. Fragments of
        sequences overlap, so they have groups unless some are named: stretches of the
        sequences, which no fragment leaves (see ``FastaSource.apart``).
    sequence : array-like of shape (n_samples,) or str, default=None
        The sequence (a day, a recording) of each row, if rows follow each other in time:
        ``SensorSelector`` then chooses, k sensors. Of tables the name of a column, which
        is then no feature. Arguments that mean nothing for sequences are refused.
    columns : bool, default=False
        Whether to read a table or file feature by feature, in memory for k of them.
    feature_names : sequence of str, default=None
        Names of the columns of an array.
    feature_groups : mapping of str to str, default=None
        Group of each feature, of which whole ones are chosen.
    loss, classes, always, never, seed
        As of all selectors; a name by itself is one name.
    budgets : iterable of int
        What ``k="auto"`` chooses from.
    sample_weight : array-like of shape (n_samples,) or str, default=None
        Importance of each row of an array or a table, also when methods and budgets are
        judged; of tables and files also the name of a column, which is then no feature.
    missing : {"error", "zero", "category", "mean"}, default=None
        What a missing value means; None: an error, or what is usual for the format. Not
        all forms of data have all of them.
    read : mapping, default=None
        Other options of the source, such as ``{"delimiter": ";"}``.
    trial : bool, default=True
        Whether ``method="auto"`` lets several methods choose from parts of a table in
        memory (of at most 4,000 of its rows), and takes the one whose features predict
        the other parts best, if it is better than the one preferred by more than luck.
    stability : int, default=None
        Pairs of halves of the rows (50 is usual) that choose as well; the result then
        has the share of them that chose each feature. See ``shortlist.stability``.
    substitutes : int, default=None
        How many features to name, at most, that could take the place of each chosen one
        at little loss; for methods that hold all rows, and for columns that can be read
        again. See ``shortlist.substitutes``.
    verbose : bool, default=False
        Whether to say on standard error what was picked; the logger "shortlist" hears it
        in any case.
    observe : callable, default=None
        Called with a ``Progress`` after every block, and of sequences after every refit.
    **settings
        Settings of the method. With ``method="auto"`` only methods that have them are
        picked.

    Returns
    -------
    Shortlist
        Its notes say what was picked, and warn of chosen columns that predict nearly
        perfectly on their own; ``params["call"]`` is the call.

    Warns
    -----
    LeakWarning
        If a chosen column predicts nearly perfectly on its own.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist import select
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 30))
    >>> chosen = select(X, X[:, 3] - X[:, 8] + 0.1 * rng.normal(size=200), k=2)
    >>> sorted(chosen.names)
    ['x3', 'x8']
    >>> ages = rng.normal(size=900).tolist()
    >>> rows = (
    ...     {"age": a, f"user {i}": 1, "buys": a + rng.normal() > 0}
    ...     for i, a in enumerate(ages)
    ... )
    >>> chosen = select(rows, "buys", k=1)
    >>> chosen.method, chosen.names
    ('mission', ('age',))
    """
    call = spelled_call(select, locals())
    _check_k(k)
    data = as_frame(data)
    cv = check_cv(cv)
    beyond = _beyond(stability, substitutes)
    always, never = _as_names(always), _as_names(never)
    budgets = _checked_budgets(budgets)

    def say(line: str) -> None:
        _LOG.info(line)
        if verbose:
            print(line, file=sys.stderr)

    if sequence is not None or method == SENSORS:
        asked_for = locals()
        given = given_arguments(select, asked_for)
        chosen = select_from_sequence(asked_for, given, settings, say)
        return answered(chosen, call, seed)
    if missing is not None:
        read = {**(read or {}), "missing": missing}
    if feature_groups is not None:
        settings["groups"] = feature_groups
    named = None if method == "auto" else selector(method)
    if cv is not None and k != "auto" and (named is not None or not trial):
        raise ShortlistError(
            "cv: nothing is split, as k is a number and there is no trial; k='auto' and "
            "method='auto' split rows"
        )
    # what is in memory comes by rows where that is needed: for text, resamples, weights
    resamples = bool(beyond) and method == BY_BOTH
    needs_rows = resamples or sample_weight is not None
    goes_by_rows = only_rows(data) or (needs_rows and hasattr(data, "shape"))
    by_column = columns or (
        named is not None and named.room == "columns" and not goes_by_rows
    )
    if isinstance(groups, str):  # is no feature in any case
        never = [name for name in never if name != groups]
    if isinstance(groups, str) and hasattr(data, "columns"):
        data, groups = take_out(data, groups, "groups")
    source: RowSource | ColumnSource
    if isinstance(groups, str) and by_column:
        source, groups = open_with_groups(data, target, groups, read)
    else:
        source = open_data(
            data,
            target,
            columns=by_column,
            feature_names=feature_names,
            sample_weight=sample_weight,
            read=read,
        )
    if not isinstance(source, ColumnSource):
        source = leaving_out(source, never)
    largest = max(budgets) if k == "auto" else int(k)
    asked = {
        "k": largest,
        "n_budgets": len(budgets) if k == "auto" else 1,
        "settings": frozenset(settings),
        "loss": loss,
        "holds_rows": "n_substitutes" in beyond,
    }
    budget = list(budgets) if k == "auto" else int(k)

    def order_of(choice: Choice) -> Order:
        capabilities = selector(choice.method)
        order = Order(capabilities, loss, classes, always, never, seed, settings)
        order.check("columns" if isinstance(source, ColumnSource) else "rows")
        return order

    if isinstance(source, ColumnSource):
        call = of_columns(call)
        columns_facts = facts_of_columns(source, **asked)
        choice = _chosen(named, lambda: choose(columns_facts))
        if choice.room != "columns":
            raise ShortlistError(
                f"{source.name}: {choice.method} needs rows, and these are columns; "
                "online_substitution or grafting go through columns"
            )
        if isinstance(groups, str):
            raise ShortlistError(
                "groups: of columns that come one by one it is an array, a group for each "
                f"row, got {groups!r}"
            )
        groups = group_numbers(groups, len(source.y))  # type: ignore[attr-defined]
        order = order_of(choice)
        if named is None:
            say(choice.line())
        shortlist = select_from_columns(
            source,
            order,
            budget,
            cv=cv,
            groups=groups,
            observe=observe,
            say=say,
            beyond=beyond,
        )
    else:
        if isinstance(
            groups, str
        ):  # the column is no feature: not to be counted as one
            again = reader_of_groups(data, groups, read, source)
            source, groups = without_groups(held(source), groups, again)
        facts = facts_of_rows(source, classes=classes, **asked)
        choice = _chosen(named, lambda: choose(facts))
        order, tries = order_of(choice), trial and len(choice.rivals) > 1
        split_too = "n_pairs" in beyond
        try:
            rows, to_split = settled(
                source, groups, in_memory=tries, split_too=split_too
            )
        except DataError:  # whoever learns from these rows will say so
            tries = False
            rows, to_split = settled(
                source, groups, in_memory=tries, split_too=split_too
            )
        to_split = to_split._replace(cv=cv)
        if tries:
            ks = [budget] if isinstance(budget, int) else budget
            choice = tried(to_split, order, choice, ks, observe=observe)
            order = order_of(choice)
        if named is None:
            say(choice.line())
        shortlist = select_from_rows(
            rows,
            order,
            budget,
            to_split=to_split,
            in_memory=fits(facts) or choice.room in ("table", "columns"),
            observe=observe,
            say=say,
            beyond={**beyond, "groups": to_split.groups} if beyond else None,
        )
    if named is None:
        shortlist = with_choice(shortlist, choice)
    return answered(shortlist, call, seed, data)


def _chosen(named: Any, pick: Callable[[], Choice]) -> Choice:
    return pick() if named is None else Choice(named.method, named.room, "as asked")


def _check_k(k: Any) -> None:
    if k != "auto" and not _is_budget(k):
        raise ShortlistError(f"k should be a whole number from 1 or 'auto', got {k!r}")


def _is_budget(k: Any) -> bool:
    return isinstance(k, Integral) and not isinstance(k, bool) and int(k) >= 1


def _as_names(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _checked_budgets(given: Iterable[int]) -> tuple[int, ...]:
    budgets = tuple(given) if isinstance(given, Iterable) else ()
    odd = [k for k in budgets if not _is_budget(k)]
    if odd or not budgets:
        raise ShortlistError(
            "budgets should be whole numbers from 1, at least one, got "
            f"{odd[0] if odd else given!r}"
        )
    return budgets


def _beyond(stability: int | None, substitutes: int | None) -> dict[str, int]:
    """What is asked for beyond a choice, as ``SecondLook`` calls it."""
    asked: dict[str, int] = {}
    for name, own, number in (
        ("stability", "n_pairs", stability),
        ("substitutes", "n_substitutes", substitutes),
    ):
        if number is None:
            continue
        if not isinstance(number, Integral) or isinstance(number, bool) or number < 1:
            raise ShortlistError(
                f"{name} should be None or a whole number from 1, got {number!r}"
            )
        asked[own] = int(number)
    return asked
