"""Where a shortlist comes from: how to make it again, and whom to cite."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

from shortlist._findings import facts_of
from shortlist._protocols import Capabilities, ShortlistError
from shortlist._registry import ROOMS, SENSORS
from shortlist._shortlist import Shortlist
from shortlist.losses import binary_of, get_loss, spell

_RECORDED = (
    "Made by the library. What the call names and does not write out, such as the data, "
    "is not recorded."
)
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
    if shortlist.method == SENSORS:  # has a command of its own, and no registry
        return room.SensorSelector.capabilities  # type: ignore[no-any-return]
    return None


def reproduce(
    shortlist: Shortlist, capabilities: Capabilities | None
) -> dict[str, Any]:
    """Give the command, or the call as far as it was recorded, and the seed."""
    params = shortlist.params
    command, call, remark = params.get("command"), params.get("call"), _RECORDED
    if command is not None:
        call = None
    elif call is None and capabilities is not None:
        call, remark = _call(shortlist, capabilities), _NOT_RECORDED
    return {
        "command": command,
        "direct_command": params.get("direct_command"),
        "call": call,
        "remark": None if call is None else remark,
        "seed": params.get("seed"),
        "version": shortlist.version,
    }


def _call(shortlist: Shortlist, capabilities: Capabilities) -> str:
    """Spell the selector with all settings other than its defaults."""
    selector = capabilities.load("estimator")
    name = selector.__name__
    known = inspect.signature(selector).parameters
    given = {"k": shortlist.k, **shortlist.params}
    if shortlist.n_margins > 1:
        given |= {"budget": shortlist.budget}
    if (loss := _loss(shortlist.loss, capabilities)) is not None:
        given |= {"loss": loss}
    # a result's objective is a number; a parameter of that name is a function
    given.pop("objective", None)
    words = [
        f"{key}={value!r}"
        for key, value in given.items()
        if key in known and (key == "k" or value != known[key].default)
    ]
    more = ", sequence=sequence" if shortlist.method == SENSORS else ""
    facts = facts_of(shortlist)
    made = f"{name}({', '.join(words)})"
    if facts is None:
        chosen = f"{made}.fit(X, y{more}).shortlist_"
        return f"from shortlist import {name}\n\nchosen = {chosen}"
    chosen = f"stability({made}, X, y, n_resamples={facts.asked}).shortlist"
    return f"from shortlist import {name}, stability\n\nchosen = {chosen}"


def _loss(spelled: str, capabilities: Capabilities) -> str | None:
    """A loss as the selector takes it, parameters after a colon; None: it does not."""
    try:
        loss = binary_of(get_loss(spelled))
    except ShortlistError:
        return None
    return spell(loss) if loss.name in capabilities.losses else None
