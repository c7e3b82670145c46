"""Try several methods on parts of the rows before one of them has them all.

Which method is best depends on the data in ways that their size and kind do not tell. So
all that may be the one choose from two thirds of the rows, three times, and are judged by
the last third, as in ``compare``. Rows that a final score is for have no part in it. What
is preferred for data of this kind stays unless another is clearly better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import Floats, Ints, Observer, ShortlistError
from shortlist._registry import selector
from shortlist._splits import cv_among, folds
from shortlist.engines import Interrupted
from shortlist.evaluate._compare import Watch, one_fold
from shortlist.evaluate._contestants import Choose
from shortlist.evaluate._examples import Examples, shared_spread
from shortlist.evaluate._judge import CLASS_METRICS, NUMBER_METRICS
from shortlist.evaluate._to_split import ToSplit
from shortlist.evaluate._whole_table import whole_table, with_labels
from shortlist.front._choice import TRIAL_FOLDS, TRIAL_ROWS, Choice
from shortlist.front._order import Order, chooser, watching

#: What one of several methods may end with and the others go on.
_CANNOT = (ShortlistError, ArithmeticError, ValueError, np.linalg.LinAlgError)
#: What a mean score has to gain at least: less is not worth another method, and a few parts
#: of the rows may agree by chance.
_LEAST_GAIN = 0.005
#: Rows of a class that are needed at least, for there to be some in every part.
_FEWEST = 2 * TRIAL_FOLDS


class Standings(NamedTuple):
    """How methods did in a trial, in the order in which they were preferred before it."""

    metric: str  #: "accuracy" or "r2"
    scores: Mapping[str, Floats]  #: of each method, (n_folds, n_budgets)

    def means(self) -> dict[str, float]:
        """Mean score of each method over folds and budgets."""
        return {name: float(found.mean()) for name, found in self.scores.items()}

    @property
    def best(self) -> str:
        """The method preferred before, unless another is better by more than luck.

        That is: unless the best mean is above its own by half a point, and by more than
        one standard error of the differences in the same parts of the rows.
        """
        means = self.means()
        first = next(iter(self.scores))
        ahead = max(means, key=means.__getitem__)
        gains = (self.scores[ahead] - self.scores[first]).mean(axis=1)
        if len(gains) < 2:
            return ahead
        error = gains.std(ddof=1) / np.sqrt(len(gains))
        return ahead if gains.mean() > max(error, _LEAST_GAIN) else first

    def line(self) -> str:
        """Say how the best did, and how the others."""
        means = self.means()
        best = self.best
        order = sorted(means, key=lambda name: -means[name])
        others = ", ".join(f"{n} {means[n]:.3f}" for n in order if n != best)
        return f"{self.metric} {means[best]:.3f} in a trial with {others}"


def tried(
    to_split: ToSplit,
    order: Order,
    choice: Choice,
    budgets: Sequence[int],
    *,
    observe: Observer | None = None,
) -> Choice:
    """Let the methods that come into question choose from parts of rows in memory."""
    rows, groups, cv = to_split
    blocks, known = with_labels(list(rows.blocks()))
    if not known.any():
        return choice
    table = whole_table(rows, blocks)
    classes, n_columns = order.has_classes(table.y), table.X.shape[1]
    if not n_columns:
        return choice
    named = replace(order.among(table.names), classes=None)
    if order.loss == "auto" and not classes:
        named = replace(named, loss="squared")  # few rows may look like classes
    contestants = {
        name: chooser(replace(named, capabilities=selector(name)), table.names)
        for name in choice.rivals
    }
    own_groups = None if groups is None else groups[known]
    try:
        ks = named.budgets(budgets, n_columns, table.names)
    except ShortlistError:  # too many for the table, or whoever chooses will complain
        ks = [min(*budgets, n_columns)]
    try:
        standings = try_methods(
            contestants,
            Examples(table.X, table.y, table.weight, own_groups),
            ks,
            classes=classes,
            cv=cv_among(cv, known),
            seed=order.seed,
            watch=watching(observe, "fits"),
        )
    except Interrupted:  # what a method had found in a part of the rows is no result
        raise KeyboardInterrupt from None
    return after_trial(choice, standings)


def try_methods(
    contestants: Mapping[str, Choose],
    examples: Examples,
    ks: Sequence[int],
    *,
    classes: bool,
    cv: Any = None,
    seed: int = 0,
    watch: Watch | None = None,
) -> Standings | None:
    """Let methods choose from parts of the rows, and judge what they choose.

    Parameters
    ----------
    contestants : mapping of str to callable
        What each method chooses, the one preferred first.
    examples : Examples
        All rows to learn from, with their labels as they are called; those of one group
        stay together.
    ks : sequence of int
        Budgets, over which scores are averaged.
    classes : bool
        Whether y holds classes.
    cv : int, splitter or list of pairs, default=None
        How all rows are split; None: in three. What is not drawn has no part in it.
    seed : int, default=0
    watch : callable, default=None
        As of ``compare``.

    Returns
    -------
    Standings or None
        None if there are too few rows to tell.
    """
    drawn = _drawn(examples.y, examples.groups, classes, seed)
    if drawn is None:
        return None
    splits = _splits(examples, drawn, cv, classes, seed)
    rows = examples.part(drawn)
    if not splits:
        return None
    try:
        among = shared_spread(rows, splits, classes=classes)
    except ShortlistError:  # all have the same target
        return None
    metric = next(iter(CLASS_METRICS if classes else NUMBER_METRICS))
    found: dict[str, list[list[float]]] = {name: [] for name in contestants}
    done, total = 0, len(splits) * len(contestants)
    for fold, split in enumerate(splits):
        for name, choose in contestants.items():
            if watch is not None:
                watch(f"trial of {name}, {fold + 1} of {len(splits)}", done, total)
            done += 1
            if name not in found:
                continue
            try:
                results = one_fold(
                    name,
                    choose,
                    rows,
                    split,
                    ks,
                    fold,
                    seed,
                    classes=classes,
                    among=among,
                )
            except _CANNOT:  # do what is asked for, on these rows
                del found[name]
                continue
            found[name].append([result.metrics[metric] for result in results])
    scores = {name: np.array(several) for name, several in found.items()}
    scores = {n: s for n, s in scores.items() if np.isfinite(s).all()}
    return Standings(metric, scores) if len(scores) > 1 else None


def after_trial(choice: Choice, standings: Standings | None) -> Choice:
    """The choice that a trial leads to."""
    if standings is None:
        return choice
    best = standings.best
    why = f"{choice.kind}, {standings.line()}"
    return replace(choice, method=best, room=selector(best).room, why=why)


def _splits(
    examples: Examples, drawn: Ints, cv: Any, classes: bool, seed: int
) -> list[tuple[Ints, Ints]]:
    """Splits of the rows that were drawn; a part with one class tells nothing."""
    rows = examples.part(drawn)
    if cv is None:
        pairs = folds(rows.y, TRIAL_FOLDS, rows.groups, classes=classes, seed=seed)
    else:  # of all rows: who says which are to be apart means their numbers
        whole = folds(examples.y, cv, examples.groups, classes=classes, seed=seed)
        pairs = cv_among(whole, np.isin(np.arange(len(examples.y)), drawn))
    return [p for p in pairs if not classes or len(np.unique(rows.y[p[0]])) > 1]


def _drawn(y: np.ndarray, groups: Ints | None, classes: bool, seed: int) -> Ints | None:
    """Rows for a trial, with enough of every class or group; None: there are too few."""
    rng = np.random.default_rng(seed)
    if groups is None:
        rows = rng.permutation(len(y))[:TRIAL_ROWS]
    else:
        number = np.unique(groups, return_inverse=True)[1]
        order = rng.permutation(number.max() + 1)
        sizes = np.cumsum(np.bincount(number)[order])
        kept = order[: max(1, int(np.searchsorted(sizes, TRIAL_ROWS, "right")))]
        rows = np.flatnonzero(np.isin(number, kept))
        if len(kept) < TRIAL_FOLDS:
            return None
    rows = np.sort(rows)
    if classes:
        labels, counts = np.unique(y[rows], return_counts=True)
        known = labels[counts >= _FEWEST]
        if len(known) < 2:
            return None
        return rows[np.isin(y[rows], known)]
    return rows if len(rows) >= _FEWEST else None
