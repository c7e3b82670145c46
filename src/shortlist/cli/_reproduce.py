"""The command that gives the same result again, for a model to carry."""

from __future__ import annotations

import shlex
from typing import Any

import click

#: Where and how a result is shown does not change it.
_SHOWING = {"out", "form", "quiet"}
#: Nor does how a run is kept, or whether it is run at all.
_WITHOUT_EFFECT = {*_SHOWING, "dry_run", "checkpoint", "every", "resume"}


def command_line(ctx: click.Context, *, shown: bool = False) -> str:
    """Spell the running command: arguments, and options other than the defaults.

    Those that say where and how the result is shown belong to it only if ``shown``.
    """
    left_out = _WITHOUT_EFFECT - _SHOWING if shown else _WITHOUT_EFFECT
    words = ["shortlist", ctx.command.name or ""]
    for param in ctx.command.params:
        name = param.name or ""
        value = ctx.params.get(name)
        is_default = value == param.default and type(value) is type(param.default)
        if value is False and param.secondary_opts:  # --no-this
            words.append(param.secondary_opts[0])
        if name in left_out or value is None or value is False:
            continue
        if value == () or is_default:
            continue
        values = value if isinstance(value, tuple) else (value,)
        if isinstance(param, click.Argument):
            words += values
        else:
            for one in values:
                words += [param.opts[0], *([] if one is True else [_spelled(one)])]
    return shlex.join(words)


def _spelled(value: Any) -> str:
    """Write a value as its option reads it: the parts of a list with commas between."""
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def how_to_repeat(ctx: click.Context, given: str) -> dict[str, Any]:
    """What a model keeps of how it was made: seed, command, a shorter way if any, files.

    Parameters
    ----------
    ctx : click.Context
        Whose options now say what was decided, too: method and budget.
    given : str
        The command before anything was decided.
    """
    from shortlist.sources._stored import stored

    decided = command_line(ctx)
    straight = {} if decided == given else {"direct_command": decided}
    data = stored(ctx.params["files"])
    came_from = {} if data is None else {"data": data}
    return {"seed": ctx.params["seed"], "command": given, **straight, **came_from}
