"""``shortlist merge``: one model from runs on parts of the data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from shortlist.cli._command import Command
from shortlist.cli._options import quiet_option, result_format_option
from shortlist.cli._output import check_model_output
from shortlist.cli._presenting import say
from shortlist.cli._reproduce import command_line

if TYPE_CHECKING:
    from shortlist.sketch._shard_files import Shard


@click.command(
    cls=Command,
    examples=(
        "shortlist merge monday.shard tuesday.shard -o model.shortlist",
        "shortlist merge week.shard monday.shard --shard both.shard",
    ),
)
@click.argument("shards", metavar="SHARD...", nargs=-1, required=True)
@click.option("-o", "out", metavar="OUT", help="File to save the model in.")
@click.option(
    "--shard",
    metavar="FILE",
    help="File to save all that was learned in, to be merged with others later.",
)
@result_format_option()
@quiet_option()
@click.pass_context
def merge(
    ctx: click.Context,
    shards: tuple[str, ...],
    out: str | None,
    shard: str | None,
    form: str,
    quiet: bool,
) -> None:
    """Add up what several runs of select have learned, each from a part of the data.

    SHARD is what select --shard wrote. All must have been learned with the same settings,
    and all but the first with --like the first, so that they share seeds, sizes, units
    and classes. The order of shards does not matter but for rounding.
    """
    for path in (out, shard):
        check_model_output(path, shards)
    whole = _merged(shards)
    shortlist = whole.shortlist()
    params = {**shortlist.params, "command": command_line(ctx)}
    shortlist = replace(shortlist, params=params)
    if shard is not None:
        whole.save(shard)
    try:
        if out is not None:
            shortlist.save(out)
    finally:  # a disk that is full should not cost the result
        say(shortlist, form, shortlist.notes)
    if not quiet:
        click.echo(f"merged {len(shards)} shards", err=True)
        for path, what in ((out, "model"), (shard, "shard")):
            if path is not None:
                click.echo(f"{what} saved to {path}", err=True)


def _merged(paths: tuple[str, ...]) -> Shard:
    from shortlist.sketch._shard_files import check_apart, load_shard, merge_shards

    if len(set(paths)) < len(paths):
        twice = next(path for path in paths if paths.count(path) > 1)
        raise click.UsageError(f"{twice} is named twice; its rows would count twice")
    shards = {path: load_shard(path) for path in paths}
    check_apart(shards)
    return merge_shards(list(shards.values()))
