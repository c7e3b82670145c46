"""What files data came from: their names and their size, for results to carry.

Only what is the same whenever the same files are read: times and folders are not.
"""

from __future__ import annotations

import os
from typing import Any

from shortlist.sources._files import STDIN, Paths, find_files

#: Files that are named; of more there is only the number.
_MOST_NAMED = 3


def stored(paths: Paths) -> dict[str, Any] | None:
    """Names, number and bytes of files, as stored.

    Parameters
    ----------
    paths : path, pattern or iterable of them
        A directory stands for the files in it.

    Returns
    -------
    facts : dict or None
        ``files``, ``names`` (of the first) and ``bytes``; None if a part of the data is
        a pipe, of which nobody knows the size.
    """
    found: list[tuple[str, int]] = []
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        if os.path.isdir(path):
            with os.scandir(path) as inside:
                sizes = [one.stat().st_size for one in inside if one.is_file()]
            name = os.path.basename(os.path.abspath(path)) + os.sep
            found.append((name, sum(sizes)))
            continue
        for file in find_files(path):
            if file.path == STDIN or file.size is None:
                return None
            found.append((os.path.basename(file.path), file.size))
    names = tuple(name for name, _ in found[:_MOST_NAMED])
    n_bytes = sum(size for _, size in found)
    return {"files": len(found), "names": names, "bytes": n_bytes}
