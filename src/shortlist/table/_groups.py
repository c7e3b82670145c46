"""Groups of features, from what users write to the unit of each feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from shortlist._protocols import Ints, ShortlistError


def groups_by_name(groups: Mapping[str, str] | str, names: Sequence[str]) -> Ints:
    """Number the units of features by their names.

    Parameters
    ----------
    groups : "columns" or mapping of str to str
        A feature ``column=value`` belongs to its column; or the group of each feature that
        is there. What has no group is its own.
    names : sequence of str
        Names of all features.
    """
    if groups == "columns":
        labels = [name.partition("=")[0] for name in names]
    else:
        assert isinstance(groups, Mapping)
        labels = [groups.get(name, name) for name in names]
        if unknown := sorted(set(groups) - set(names)):
            raise ShortlistError(f"groups: no feature is called {unknown[0]!r}")
    return read_groups(labels, names, len(names))[0]


def read_groups(
    groups: Any, names: Sequence[str], n_features: int
) -> tuple[Ints, tuple[str, ...]]:
    """Number the units that features are selected in.

    Parameters
    ----------
    groups : mapping, sequence of sequences, or array-like of shape (n_features,)
        Names of groups with their features; or lists of features; or a label for each
        feature. Features are names or numbers. What belongs to no group is its own.
    names : sequence of str
        Names of all features.
    n_features : int

    Returns
    -------
    unit_of : ndarray of shape (n_features,)
    labels : tuple of str
        Name of each unit.
    """
    if not isinstance(groups, Mapping):
        items = list(groups)
        flat = [not isinstance(item, list | tuple | set | np.ndarray) for item in items]
        if all(flat) and len(items) == n_features:
            found, unit_of = np.unique(np.array(items, dtype=str), return_inverse=True)
            return unit_of.astype(np.int64), tuple(found.tolist())
        if any(flat):
            raise ShortlistError(
                f"feature_groups should be a mapping, lists of features or one label for "
                f"each of the {n_features} features, got {len(items)} items"
            )
        groups = {f"group {i}": members for i, members in enumerate(items)}
    place = {name: j for j, name in enumerate(names)}
    unit_of = np.full(n_features, -1, np.int64)
    labels: list[str] = []
    for label, members in groups.items():
        if len(members) == 0:
            raise ShortlistError(f"feature_groups: {label!r} has no features")
        for member in members:
            if isinstance(member, Integral) and not isinstance(member, bool):
                j = int(member)
            else:
                j = place.get(str(member), -1) if isinstance(member, str) else -1
            if not 0 <= j < n_features:
                raise ShortlistError(f"feature_groups: no feature is called {member!r}")
            if unit_of[j] >= 0:
                raise ShortlistError(
                    f"feature_groups: {names[j]!r} is in {labels[unit_of[j]]!r} and in "
                    f"{label!r}"
                    if unit_of[j] < len(labels)
                    else f"feature_groups: {names[j]!r} is named twice in {label!r}"
                )
            unit_of[j] = len(labels)
        labels.append(str(label))
    alone = np.flatnonzero(unit_of < 0)
    unit_of[alone] = len(labels) + np.arange(len(alone))
    return unit_of, (*labels, *(names[j] for j in alone.tolist()))
