"""The command that gives the same result again, for a model to carry."""

from __future__ import annotations

import shlex

import click

#: Where and how a result is shown does not change it.
_WITHOUT_EFFECT = {"out", "form", "quiet", "dry_run", "checkpoint", "every", "resume"}


def command_line(ctx: click.Context) -> str:
    """Spell the running command: arguments, and options other than the defaults."""
    words = ["shortlist", ctx.command.name or ""]
    for param in ctx.command.params:
        name = param.name or ""
        value = ctx.params.get(name)
        is_default = value == param.default and type(value) is type(param.default)
        if value is False and param.secondary_opts:  # --no-this
            words.append(param.secondary_opts[0])
        if name in _WITHOUT_EFFECT or value is None or value is False:
            continue
        if value == () or is_default:
            continue
        values = value if isinstance(value, tuple) else (value,)
        if isinstance(param, click.Argument):
            words += values
        else:
            for one in values:
                words += [param.opts[0], *([] if one is True else [str(one)])]
    return shlex.join(words)
