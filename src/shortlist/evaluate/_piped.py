"""Pipelines as contestants: what the last of their selectors chooses, in columns of X."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import has_fit_parameter

from shortlist._protocols import Ints, ShortlistError


class PipedSelector(BaseEstimator):  # type: ignore[misc]
    """A pipeline up to the last selector whose budget can be set.

    Steps before it may choose columns, or change each by itself, as scalers do. What comes
    after it, a classifier say, has no part in the choice.

    Parameters
    ----------
    pipeline : Pipeline
    budgets : tuple of str
        What selectors call the number of features that they may choose.
    k : int, default=10
    """

    def __init__(self, pipeline: Any, budgets: tuple[str, ...], k: int = 10) -> None:
        self.pipeline = pipeline
        self.budgets = budgets
        self.k = k

    def fit(self, X: Any, y: Any, groups: Any = None) -> PipedSelector:
        """Fit the steps up to the selector, which may choose k columns.

        Groups of rows are for those of the steps that split rows for themselves.
        """
        last, name = self.last_selector()
        steps = clone(self.pipeline[: last + 1])
        told = {}
        if groups is not None:
            listening = (n for n, s in steps.steps if has_fit_parameter(s, "groups"))
            told = {f"{step}__groups": groups for step in listening}
        self.pipeline_ = steps.set_params(**{name: self.k}).fit(X, y, **told)
        return self

    def get_support(self, indices: bool = False) -> Ints:
        """Columns of X that are left after the last selector."""
        assert indices
        columns = np.arange(self.pipeline_.n_features_in_)
        for name, step in self.pipeline_.steps:
            if hasattr(step, "get_support"):
                columns = columns[step.get_support(indices=True)]
            elif step != "passthrough" and not _is_one_to_one(step, len(columns)):
                raise ShortlistError(
                    f"pipelines to compare should keep columns apart, and {name!r} makes "
                    "others of them"
                )
        return columns

    def last_selector(self) -> tuple[int, str]:
        """Place of the last selector that has a budget, and that parameter's name."""
        steps = list(enumerate(self.pipeline.steps))
        for place, (name, step) in reversed(steps):
            known = step.get_params() if hasattr(step, "get_params") else {}
            for budget in self.budgets:
                if budget in known and hasattr(step, "get_support"):
                    return place, f"{name}__{budget}"
        raise ShortlistError(
            "pipelines to compare should have a selector with a parameter "
            f"{' or '.join(self.budgets)}, got {self.pipeline!r}"
        )


def _is_one_to_one(step: Any, n_columns: int) -> bool:
    """Whether a step makes of each column one, of the same name."""
    names = np.array([f"x{j}" for j in range(n_columns)], object)
    try:
        came: list[str] = step.get_feature_names_out(names).tolist()
        expected: list[str] = names.tolist()
        return came == expected
    except (AttributeError, ValueError, TypeError):
        return False
