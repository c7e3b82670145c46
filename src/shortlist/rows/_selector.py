"""What the estimators of this room share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shortlist._class_weight import ClassWeight
from shortlist._displays import MembershipDisplay
from shortlist._online import OnlineLearner
from shortlist._online_selector import OnlineSelector
from shortlist.rows._methods import rows_learner
from shortlist.rows._one_by_one import OneByOne


class RowsSelector(OneByOne, OnlineSelector):
    """Base of the estimators: settings that all have, and the way to the algorithm."""

    def __init__(
        self,
        k: int = 10,
        *,
        loss: Any = "auto",
        refit: bool = True,
        budget: str = "per_class",
        passes: int = 1,
        log1p: bool = False,
        normalize: str | None = "l2",
        class_weight: ClassWeight = None,
        always: Sequence[str | int] | None = None,
        never: Sequence[str | int] | None = None,
        feature_groups: None = None,
    ) -> None:
        self.k = k
        self.loss = loss
        self.refit = refit
        self.budget = budget
        self.passes = passes
        self.log1p = log1p
        self.normalize = normalize
        self.class_weight = class_weight
        self.always = always
        self.never = never
        self.feature_groups = feature_groups

    def _learner(
        self,
        *,
        classes: Sequence[Any] | None = None,
        reiterable: bool = True,
        one_pass: bool = False,
    ) -> OnlineLearner:
        return rows_learner(
            self.capabilities,
            self.k,
            loss=self.loss,
            classes=classes,
            always=self._names_of(self.always),
            never=self._names_of(self.never),
            reiterable=reiterable and not one_pass,
            **{name: getattr(self, name) for name in self.capabilities.options},
        )

    def plot_membership(self, ax: Any = None, *, most: int = 40) -> MembershipDisplay:
        """Draw which features were members from when to when.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        most : int, default=40
            Features to draw at most, those that were members longest. Of text, the 64
            longest have their names; beyond them, and where a pipe of very many names
            has forgotten those that left, there are ids.

        Returns
        -------
        display : MembershipDisplay
            With ``ax_`` and, as ``frame``, the stays.
        """
        shortlist, names = self.shortlist_, getattr(self, "feature_names_in_", None)
        display = MembershipDisplay
        if names is None and hasattr(self, "n_features_in_"):
            return display(shortlist, most, lambda i: f"x{i}").plot(ax=ax)
        if names is None:
            return display(shortlist, most).plot(ax=ax)
        return display(shortlist, most, lambda i: str(names[i])).plot(ax=ax)
