"""Where rows, and columns, come from: files and pipes, arrays, tables."""

from __future__ import annotations

import os
from inspect import signature
from typing import Any

from shortlist._protocols import DataError, RowSource, ShortlistError
from shortlist.sources._formats import file_source
from shortlist.sources._tables import is_table
from shortlist.sources.arrays import ArraySource
from shortlist.sources.column_arrays import ArrayColumns
from shortlist.sources.column_files import NpyColumns
from shortlist.sources.column_parquet import ParquetColumns
from shortlist.sources.column_stream import StreamColumns
from shortlist.sources.column_tables import FrameColumns
from shortlist.sources.columns import open_columns
from shortlist.sources.csv import CsvSource
from shortlist.sources.fasta import FastaSource
from shortlist.sources.frames import FrameSource
from shortlist.sources.holdout import split_holdout
from shortlist.sources.jsonl import JsonlSource
from shortlist.sources.labelled import LabelledSource, LabelMap
from shortlist.sources.libsvm import LibsvmSource
from shortlist.sources.parquet import ParquetSource
from shortlist.sources.taking import take
from shortlist.sources.vw import VwSource

__all__ = [
    "ArrayColumns",
    "ArraySource",
    "CsvSource",
    "FastaSource",
    "FrameColumns",
    "FrameSource",
    "JsonlSource",
    "LabelledSource",
    "LibsvmSource",
    "NpyColumns",
    "ParquetColumns",
    "ParquetSource",
    "StreamColumns",
    "VwSource",
    "is_table",
    "open_columns",
    "open_source",
    "split_holdout",
    "take",
]


def open_source(
    data: Any, *, label_map: LabelMap | None = None, **options: Any
) -> RowSource:
    """Make a source of whatever holds the rows.

    Parameters
    ----------
    data : path, list of paths, array, table, pair or RowSource
        A path, a pattern, "-" or a list of these is read as what files end in: ``.csv``,
        ``.tsv``, ``.vw``, ``.jsonl``, ``.fasta``, ``.fastq`` (also packed: ``.csv.gz``,
        ``.bz2``, ``.zst``), ``.parquet``, ``.pq``, ``.arrow``, ``.feather``; all others
        are libsvm text. ``input_format`` may say "libsvm", "vw", "csv", "tsv",
        "parquet", "arrow", "jsonl" or "fasta". An array or a table
        may come with its labels, as a pair ``(X, y)``. A source is returned as it is.
    label_map : mapping or path, default=None
        From labels to names of classes, which take their place; or the path of a text
        file with lines of label, tab, class. Labels with the same class are grouped.
    **options
        Keyword options of the source that fits the data, such as ``target="y"``: the
        column of the labels.

    Returns
    -------
    RowSource

    Examples
    --------
    >>> open_source(([[1.0, 0.0], [0.0, 2.0]], [1, -1])).n_features
    2
    """
    source = _open(data, options)
    return source if label_map is None else LabelledSource(source, label_map)


def _open(data: Any, options: dict[str, Any]) -> RowSource:
    if isinstance(data, RowSource):
        if options:
            raise DataError(
                f"expected no options for a source, got {', '.join(options)}"
            )
        return data
    if _is_path(data):
        return file_source(data, **options)
    if isinstance(data, (list, tuple)) and data and all(map(_is_path, data)):
        return file_source(data, **options)
    X, y = data if isinstance(data, tuple) and len(data) == 2 else (data, None)
    if is_table(X):
        given = {**({"target": y} if y is not None else {}), **options}
        return FrameSource(X, **_known(FrameSource, "tables in memory", given))
    if hasattr(X, "shape") or isinstance(X, (list, tuple)):
        return ArraySource(X, y, **_known(ArraySource, "arrays", options))
    raise DataError(
        "expected a path, an array, a table, a pair (X, y) or a source, "
        f"got {type(data).__name__}"
    )


def _known(source: type, what: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options, all of which are those of a source in memory; refuse others."""
    takes = signature(source).parameters
    for option in options:
        if option not in takes:
            hint = "; k-mers are counted in FASTA and FASTQ files" * (option == "kmer")
            raise ShortlistError(f"{option}= is no option of {what}{hint}")
    return options


def _is_path(data: Any) -> bool:
    return isinstance(data, (str, os.PathLike))
