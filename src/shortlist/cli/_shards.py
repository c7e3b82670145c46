"""Runs whose results can be merged: --shard and --like.

A run that is --like another needs no setting of that one again: what is not given on the
command line is taken from its shard.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from shortlist.cli._options import all_of

if TYPE_CHECKING:
    from shortlist._protocols import RowSource
    from shortlist.sketch._shard_files import Shard

F = TypeVar("F", bound=Callable[..., Any])

_DEFAULT = click.core.ParameterSource.DEFAULT
#: Where a setting comes from that is taken from a shard.
_FROM_SHARD = click.core.ParameterSource.DEFAULT_MAP
#: Options about rows, by the names that a shard has for what they say.
_OF_ROWS = ("target", "weight", "missing", "text", "kmer", "canonical", "fragment")
_LIKE = "like"


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
            "merged. Options that are not given, -k among them, are as they were there.",
        ),
    ]
    return all_of(decorators)


def settle_like(ctx: click.Context) -> None:
    """Take what is not given from --like; without it, a budget must be given."""
    options = ctx.params
    if options["like"] is None or options["columns"]:
        if options["k"] is None:
            param = next(p for p in ctx.command.params if p.name == "k")
            raise click.MissingParameter(ctx=ctx, param=param)
        return
    from shortlist.sketch._shard_files import load_shard

    first = ctx.meta[_LIKE] = load_shard(options["like"])
    for name, value in {**_settings(first), **_row_settings(first, options)}.items():
        if ctx.get_parameter_source(name) is _DEFAULT and value != options[name]:
            options[name] = value
            ctx.set_parameter_source(name, _FROM_SHARD)


def _settings(first: Shard) -> dict[str, Any]:
    """Options that describe the learner of a shard."""
    from shortlist.sketch._merging import check_mergeable

    learner = first.learner
    rule = check_mergeable(learner)
    return {
        "method": learner.method,
        "k": learner.k,
        "memory": rule.memory,
        "seed": rule.seed,
        "passes": learner.passes,
        "budget": learner.budget,
        "log1p": learner.preparing.log1p,
        "normalize": learner.preparing.normalize,
        "class_weight": learner.class_weight,
        "interactions": learner.params.get("interactions"),
        "always": tuple(learner.always),
        "never": tuple(learner.never),
    }


def _row_settings(first: Shard, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that describe the rows of a shard, if these files are of that kind."""
    from shortlist.sources._formats import FORMATS, format_of

    source = FORMATS[format_of(options["files"], options["input_format"])[0]].source
    if first.rows.get("features") != source.features_are:  # type: ignore[attr-defined]
        return {}
    said = ((name, first.rows.get(name)) for name in _OF_ROWS)
    known: dict[str, Any] = {name: one for name, one in said if one is not None}
    if "kmer" in known:
        known |= {
            "iupac": first.rows["alphabet"] == "iupac",
            "fragment": first.rows["fragment"] or "none",
        }
    return {**known, "text": tuple(known["text"])}


def as_shard(ctx: click.Context, learner: Any, source: RowSource) -> Any:
    """Have a learner start like another and save what it learns, if that is asked for."""
    shard, like = ctx.params["shard"], ctx.params["like"]
    if shard is None and like is None:
        return learner
    from shortlist.sketch._merging import (
        Alike,
        check_mergeable,
        check_rows,
        check_settings,
    )
    from shortlist.sketch._shard_files import Saving
    from shortlist.sources._meaning import meaning_of

    check_mergeable(learner)
    if like is not None:
        first: Shard = ctx.meta[_LIKE]
        check_rows(first.rows, meaning_of(source))
        check_settings(first.learner, learner)
        learner = Alike(learner, first.state)
    return learner if shard is None else Saving(learner, shard)
