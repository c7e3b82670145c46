"""Every selector of every room, by the name that users type."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from shortlist._protocols import Capabilities, ShortlistError

ROOMS = ("table", "sketch")


@cache
def selectors() -> dict[str, Capabilities]:
    """Capabilities of all selectors, by method name."""
    found: dict[str, Capabilities] = {}
    for room in ROOMS:
        for capabilities in import_module(f"shortlist.{room}").SELECTORS:
            found[capabilities.method] = capabilities
    return found


def selector(method: str) -> Capabilities:
    """Capabilities of the selector with this name."""
    try:
        return selectors()[method]
    except KeyError:
        known = ", ".join(sorted(selectors()))
        raise ShortlistError(
            f"method should be one of {known}, got {method!r}"
        ) from None
