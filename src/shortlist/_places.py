"""Places that files are written to: what keeps one from being written, before any work."""

from __future__ import annotations

import os


def why_not_written(path: str | os.PathLike[str]) -> str | None:
    """Say why no file can be written here, and what to do; None if nothing is known.

    Examples
    --------
    >>> why_not_written("no/such/folder/report.html")
    'there is no folder no/such/folder; make it first'
    """
    out, target = os.fspath(path), os.path.realpath(path)
    folder = os.path.dirname(target)
    if os.path.isdir(target):
        return f"{out} is a folder; give the name of a file"
    if not os.path.isdir(folder):
        return f"there is no folder {os.path.dirname(out) or folder}; make it first"
    if not os.access(folder if is_replaced(target) else target, os.W_OK):
        return f"{out} cannot be written: no permission"
    return None


def is_replaced(path: str) -> bool:
    """Whether a new file takes the place of this one; pipes and devices stay."""
    return not os.path.exists(path) or os.path.isfile(path)
