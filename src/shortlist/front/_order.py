"""What is asked of a method, whatever the data: settings that it knows, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from shortlist._protocols import (
    Capabilities,
    Floats,
    Ints,
    Observer,
    Progress,
    RowSource,
    ShortlistError,
)
from shortlist._shortlist import Shortlist
from shortlist.engines import run
from shortlist.evaluate._compare import are_classes
from shortlist.evaluate._contestants import Choose
from shortlist.front._columns_of_rows import algorithm_for_rows
from shortlist.resampling._second_look import SecondLook
from shortlist.sources import ArraySource
from shortlist.table._gather import TableLearner


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

    def check(self) -> None:
        """Refuse settings that the method does not have."""
        known = self.capabilities.options
        if self.capabilities.room == "columns":
            known = (*known, "n_workers", "engine")
        for name in self.settings:
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
        return replace(self, always=always, never=never)

    def has_classes(self, y: np.ndarray) -> bool:
        """Whether these labels are classes."""
        from shortlist.losses import get_loss

        if self.loss == "auto":
            return self.classes is not None or are_classes(y)
        return bool(get_loss(self.loss).is_classifier)

    def learner(self, k: int, *, reiterable: bool = True) -> Any:
        """Make what an engine runs on rows."""
        make = algorithm_for_rows(self.capabilities)
        return make(k, reiterable=reiterable, **self.common())


def run_order(
    order: Order,
    k: int,
    rows: RowSource,
    observe: Observer | None = None,
    beyond: Mapping[str, Any] | None = None,
) -> Shortlist:
    """Have the method choose k features from rows; ``beyond``: as of ``SecondLook``."""
    learner = order.learner(k, reiterable=rows.reiterable)
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
    ) -> dict[int, Ints]:
        source = ArraySource(X, y, sample_weight=weight, feature_names=names)
        chosen: dict[int, Ints] = {}
        ranked: Ints | None = None
        for k in sorted(ks, reverse=True):
            if ranked is None or not order.capabilities.nested:
                ranked = ranking(run_order(order, k, source)).astype(np.int64)
            chosen[k] = ranked[:k]
        return chosen

    return choose


def ranking(shortlist: Shortlist) -> np.ndarray:
    """Ids of the chosen features, the best first, by their best score in any margin."""
    order = np.argsort(-shortlist.scores, kind="stable")
    ids, first = np.unique(shortlist.ids[order], return_index=True)
    return np.asarray(ids[np.argsort(first)])
