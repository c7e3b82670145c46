"""What users may ask of any method of this room; anything else raises."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np

from shortlist._protocols import ShortlistError


def check_switches(**switches: Any) -> None:
    """Refuse what is neither True nor False."""
    for name, value in switches.items():
        if not isinstance(value, (bool, np.bool_)):
            raise ShortlistError(f"{name} should be True or False, got {value!r}")


def check_passes(passes: Any, tol: Any) -> None:
    """Refuse numbers of passes, and tolerances, that are none."""
    if not isinstance(passes, Integral) or passes < 1:
        raise ShortlistError(f"passes should be a whole number from 1, got {passes!r}")
    if not isinstance(tol, Real) or not float(tol) >= 0:
        raise ShortlistError(f"tol should be a number from 0, got {tol!r}")


def check_lists(k: int, always: Collection[str], never: Collection[str]) -> None:
    """Refuse more features than there is room for, or the same to keep and leave out."""
    if len(set(always)) > k:
        raise ShortlistError(
            f"always= names {len(set(always))} features, more than the budget k={k}"
        )
    if both := sorted(set(always) & set(never)):
        raise ShortlistError(f"{both[0]!r} is named by always= and by never=")
