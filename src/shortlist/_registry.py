"""Every selector of every room, by the name that users type."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from shortlist._protocols import Capabilities, ShortlistError

#: Those that are quick to import first: a room is opened only if the ones before it do not
#: know the method.
ROOMS = ("sketch", "rows", "table", "columns")

#: The method for sequences of rows: other arguments, so none of those registered here.
SENSORS = "sensors"


@cache
def _in_room(room: str) -> dict[str, Capabilities]:
    """Capabilities of a room's selectors, by method name."""
    known = import_module(f"shortlist.{room}").SELECTORS
    return {capabilities.method: capabilities for capabilities in known}


def selectors() -> dict[str, Capabilities]:
    """Capabilities of all selectors, by method name."""
    return {method: c for room in ROOMS for method, c in _in_room(room).items()}


def selector(method: str) -> Capabilities:
    """Capabilities of the selector with this name."""
    for room in ROOMS:
        if method in _in_room(room):
            return _in_room(room)[method]
    known = ", ".join(sorted(selectors()))
    raise ShortlistError(f"method should be one of {known}, got {method!r}")
