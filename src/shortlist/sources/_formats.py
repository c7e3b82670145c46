"""Which kind of text a file holds, as its name ends or as somebody says."""

from __future__ import annotations

import os
import re
from typing import Any

from shortlist._protocols import DataError
from shortlist.sources._files import Paths, find_files
from shortlist.sources._labels import check_choice
from shortlist.sources._lines import LineSource
from shortlist.sources.libsvm import LibsvmSource
from shortlist.sources.vw import VwSource

_SOURCES: dict[str, type[LineSource]] = {"libsvm": LibsvmSource, "vw": VwSource}

TEXT_FORMATS = ("auto", *_SOURCES)

_VW_ENDING = re.compile(r"\.vw(\.gz|\.bz2|\.zst)?\Z", re.IGNORECASE)


def text_source(
    paths: Paths, *, input_format: str = "auto", **options: Any
) -> LineSource:
    """Open text files and pipes.

    Parameters
    ----------
    paths : str, path or iterable of them
    input_format : {"auto", "libsvm", "vw"}, default="auto"
        auto: files that end in ``.vw`` (or ``.vw.gz``, ``.vw.bz2``, ``.vw.zst``) are
        Vowpal Wabbit text, all others and standard input libsvm text.
    **options
        Keyword options of the source.
    """
    check_choice("input_format", input_format, TEXT_FORMATS)
    paths = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if input_format == "auto":
        input_format = _format_of(paths)
    return _SOURCES[input_format](paths, **options)


def _format_of(paths: Paths) -> str:
    names = [file.name for file in find_files(paths)]
    are_vw = [_VW_ENDING.search(name) is not None for name in names]
    if any(are_vw) and not all(are_vw):
        raise DataError(
            f"expected files of one format, got {names[are_vw.index(True)]} and "
            f"{names[are_vw.index(False)]}; say which it is (input format libsvm or vw)"
        )
    return "vw" if are_vw[0] else "libsvm"
