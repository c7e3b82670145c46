"""Where a shortlist comes from: how to make it again, and whom to cite."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

from shortlist._protocols import Capabilities
from shortlist._registry import ROOMS
from shortlist._shortlist import Shortlist

_NOT_RECORDED = (
    "Made by the library. The call has the settings that were recorded; the data, and "
    "what was said about single features (always, never, feature_groups), are not."
)


def capabilities_of(shortlist: Shortlist) -> Capabilities | None:
    """What is known about the method; None for one that is not ours."""
    if shortlist.room not in ROOMS:
        return None
    room = import_module(f"shortlist.{shortlist.room}")
    for capabilities in room.SELECTORS:
        if capabilities.method == shortlist.method:
            return capabilities  # type: ignore[no-any-return]
    if shortlist.method == "sensors":  # has a command of its own, and no registry
        return room.SensorSelector.capabilities  # type: ignore[no-any-return]
    return None


def reproduce(
    shortlist: Shortlist, capabilities: Capabilities | None
) -> dict[str, Any]:
    """Give the command, or the call as far as it was recorded, and the seed."""
    params = shortlist.params
    command = params.get("command")
    call = None
    if command is None and capabilities is not None:
        call = _call(shortlist, capabilities)
    return {
        "command": command,
        "call": call,
        "remark": None if call is None else _NOT_RECORDED,
        "seed": params.get("seed"),
        "version": shortlist.version,
    }


def _call(shortlist: Shortlist, capabilities: Capabilities) -> str:
    """Spell the selector with all settings other than its defaults."""
    selector = capabilities.load("estimator")
    name = selector.__name__
    known = inspect.signature(selector).parameters
    given = {"k": shortlist.k, **shortlist.params}
    if shortlist.loss.partition("(")[0] in capabilities.losses:
        given |= {"loss": shortlist.loss}
    # a result's objective is a number; a parameter of that name is a function
    given.pop("objective", None)
    words = [
        f"{key}={value!r}"
        for key, value in given.items()
        if key in known and (key == "k" or value != known[key].default)
    ]
    return f"from shortlist import {name}\n\n{name}({', '.join(words)}).fit(X, y)"
