"""Runs whose results can be merged: --shard and --like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from shortlist.cli._options import all_of

F = TypeVar("F", bound=Callable[..., Any])


def shard_options() -> Callable[[F], F]:
    """--shard, --like: where to save all that is learned, what to start like."""
    decorators = [
        click.option(
            "--shard",
            metavar="FILE",
            help="File to save all that is learned in, for shortlist merge.",
        ),
        click.option(
            "--like",
            metavar="FILE",
            help="Start as the run that wrote this --shard did, so that the two can be "
            "merged.",
        ),
    ]
    return all_of(decorators)


def as_shard(ctx: click.Context, learner: Any) -> Any:
    """Have a learner start like another and save what it learns, if that is asked for."""
    shard, like = ctx.params["shard"], ctx.params["like"]
    if shard is None and like is None:
        return learner
    from shortlist.sketch._merging import Alike, check_mergeable, check_settings
    from shortlist.sketch._shard_files import Saving, load_shard

    check_mergeable(learner)
    if like is not None:
        first = load_shard(like)
        check_settings(first.learner, learner)
        learner = Alike(learner, first.state)
    return learner if shard is None else Saving(learner, shard)
