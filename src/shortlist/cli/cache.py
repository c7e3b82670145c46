"""``shortlist cache``: the compiled kernels on disk."""

from __future__ import annotations

import click

from shortlist.cli._command import Command, Group
from shortlist.cli._output import aligned


@click.group(cls=Group, examples=("shortlist cache info", "shortlist cache clear"))
def cache() -> None:
    """Show or delete compiled kernels.

    Kernels are compiled when first used and kept in a folder, $SHORTLIST_CACHE or the
    user's cache. Versions that nobody has used for a month go by themselves.
    """


@cache.command(cls=Command, examples=("shortlist cache info",))
def info() -> None:
    """Show where compiled kernels are and how much they take."""
    from shortlist.kernels._jit import cache_info

    found = cache_info()
    click.echo(
        aligned(
            [
                ("folder", found["folder"]),
                ("this version", _amount(found["files"], "file", found["bytes"])),
                (
                    "other versions",
                    _amount(found["older_folders"], "folder", found["older_bytes"]),
                ),
            ]
        )
    )


@cache.command(cls=Command, examples=("shortlist cache clear",))
def clear() -> None:
    """Delete all compiled kernels; the next run compiles again."""
    from shortlist.kernels._jit import cache_info, clear_cache

    before = cache_info()
    clear_cache()
    freed = before["bytes"] + before["older_bytes"]
    click.echo(f"{freed / 1e6:.1f} MB deleted", err=True)


def _amount(n: int, what: str, n_bytes: int) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}, {n_bytes / 1e6:.1f} MB"
