"""What the budget of a result counts: features, or what may have several columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shortlist._shortlist import Shortlist

#: What k counts, by the setting ``unit`` of methods that do not count features.
_THINGS = {"sensor": "sensor", "group": "group", "feature": "weight"}


def budget_in_units(shortlist: Shortlist) -> tuple[int, str]:
    """How many were asked for, or found by ``k="auto"``, and of what.

    ``Shortlist.k`` counts columns, of which a group or a sensor may have several.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist import FoBa
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> pairs = FoBa(k=1, feature_groups=[[0, 1], [2, 3]])
    >>> chosen = pairs.fit(X, X[:, 0] + X[:, 1]).shortlist_
    >>> chosen.k, budget_in_units(chosen)
    (2, (1, 'group'))
    """
    thing = _THINGS.get(str(shortlist.params.get("unit")))
    if thing is None:
        return shortlist.k, "feature"
    return int(shortlist.params["k"]), thing
