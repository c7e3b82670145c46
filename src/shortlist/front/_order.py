"""What is asked of a method, whatever the data: settings that it knows, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from shortlist._protocols import (
    Capabilities,
    Floats,
    Ids,
    Ints,
    Observer,
    Progress,
    RowSource,
    ShortlistError,
    knowing_groups,
)
from shortlist._shortlist import Shortlist
from shortlist.engines import run
from shortlist.evaluate._choose_k import usual_budgets
from shortlist.evaluate._compare import are_classes
from shortlist.evaluate._contestants import Choose, ranking
from shortlist.front._choice import OF_COLUMNS, known_settings
from shortlist.front._columns_of_rows import algorithm_for_rows
from shortlist.resampling._second_look import SecondLook
from shortlist.sources import ArraySource
from shortlist.table._gather import TableLearner
from shortlist.table._groups import groups_by_name
from shortlist.table._path_trace import support_at


@dataclass(frozen=True)
class Order:
    """A method, and all that is asked of it but the budget."""

    capabilities: Capabilities
    loss: Any = "auto"
    classes: Sequence[Any] | None = None
    always: Sequence[str] = ()
    never: Sequence[str] = ()
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)

    def check(self, arrival: str) -> None:
        """Refuse settings that the method does not have for "rows", or for "columns"."""
        known = known_settings(self.capabilities, arrival)
        gathers = self.capabilities.room == "columns" and arrival == "rows"
        for name in self.settings:
            if gathers and name in OF_COLUMNS:
                raise ShortlistError(
                    f"{name} goes with columns that come one by one, and here rows are "
                    "gathered first; leave it out, or choose with columns=True"
                )
            if name not in known:
                raise ShortlistError(
                    f"{self.capabilities.method} has no setting {name!r}; it has "
                    f"{', '.join(known) or 'none'}"
                )

    def common(self) -> dict[str, Any]:
        """Keywords that algorithms of all rooms have."""
        settings = dict(self.settings)
        if "budget" in self.capabilities.options:
            settings.setdefault(
                "budget", "shared"
            )  # k features in all, as in every room
        return {
            "loss": self.loss,
            "classes": self.classes,
            "always": tuple(self.always),
            "never": tuple(self.never),
            "seed": self.seed,
            **settings,
        }

    def among(self, names: Sequence[str]) -> Order:
        """The same without features that no row has: a table of them has no column."""
        known = set(names)
        always, never = (
            tuple(name for name in part if name in known)
            for part in (self.always, self.never)
        )
        settings, groups = self.settings, self.settings.get("groups")
        if isinstance(groups, Mapping):
            groups = {name: group for name, group in groups.items() if name in known}
            settings = {**settings, "groups": groups}
        return replace(self, always=always, never=never, settings=settings)

    def budgets(
        self,
        asked: Sequence[int],
        n_features: int | None,
        names: Sequence[str] | None = None,
    ) -> list[int]:
        """Budgets for what is always in, and that there are features or groups for.

        ``names`` are those of all features, by which groups go.
        """
        groups = self.settings.get("groups")
        if groups is None or names is None:
            return usual_budgets(asked, n_features, len(set(self.always)))
        group_of = groups_by_name(groups, names)
        kept = np.isin(np.array(names, object), list(self.always))
        limits = len(np.unique(group_of)), len(np.unique(group_of[kept]))
        return usual_budgets(asked, *limits, "groups")

    def has_classes(self, y: np.ndarray) -> bool:
        """Whether these labels are classes."""
        from shortlist.losses import get_loss

        if self.loss == "auto":
            return self.classes is not None or are_classes(y)
        return bool(get_loss(self.loss).is_classifier)

    def learner(
        self, k: int, *, reiterable: bool = True, groups: Ints | None = None
    ) -> Any:
        """Make what an engine runs on rows, of these groups if they are known."""
        make = algorithm_for_rows(self.capabilities)
        learner = make(k, reiterable=reiterable, **self.common())
        return knowing_groups(learner, groups)


def run_order(
    order: Order,
    k: int,
    rows: RowSource,
    groups: Ints | None = None,
    observe: Observer | None = None,
    beyond: Mapping[str, Any] | None = None,
) -> Shortlist:
    """Have the method choose k features from rows.

    ``groups``: of each row, if they are known; ``beyond``: as of ``SecondLook``.
    """
    learner = order.learner(k, reiterable=rows.reiterable, groups=groups)
    look = SecondLook(learner, seed=order.seed, **(beyond or {}))
    learner = look.learner
    if isinstance(learner, TableLearner) and isinstance(rows, ArraySource):
        chosen = learner.choose_from(rows)
    else:
        chosen = run(learner, rows, observe)
    return look.finish(chosen, rows, watching(observe, "fits"))


def watching(observe: Observer | None, unit: str) -> Callable[[str, int, int], None]:
    """Tell an observer of blocks what is being done, and how much of it."""

    def watch(what: str, done: int, total: int) -> None:
        if observe is not None:
            observe(Progress(0, what, done, total, unit, 0, float("nan")))

    return watch


def chooser(order: Order, names: Sequence[str]) -> Choose:
    """What the method chooses from tables whose columns have these names."""

    def choose(
        X: Any,
        y: np.ndarray,
        ks: Sequence[int],
        seed: int,
        weight: Floats | None = None,
        groups: Ints | None = None,
    ) -> dict[int, Ints]:
        source = ArraySource(X, y, sample_weight=weight, feature_names=names)
        always = source.ids(order.always)
        chosen: dict[int, Ids] = {}
        larger: Shortlist | None = None
        for k in sorted(ks, reverse=True):
            found = None if larger is None else _smaller(order, larger, k, always)
            if found is None:
                larger = run_order(order, k, source, groups)
                found = ranking(larger, always)
            chosen[k] = found
        return {k: ids.astype(np.int64) for k, ids in chosen.items()}

    return choose


def _smaller(order: Order, larger: Shortlist, k: int, always: Ids) -> Ids | None:
    """What k features a choice of more has for an answer; None: choose anew."""
    if order.capabilities.nested:
        return ranking(larger, always)[:k]
    return support_at(larger.trace, k) if order.capabilities.path else None
