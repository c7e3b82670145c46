"""Which format a file has, as its name ends or as somebody says."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from shortlist._protocols import DataError, RowSource, ShortlistError
from shortlist.sources._files import Paths, find_files
from shortlist.sources._labels import check_choice
from shortlist.sources.csv import CsvSource
from shortlist.sources.fasta import FastaSource
from shortlist.sources.jsonl import JsonlSource
from shortlist.sources.libsvm import LibsvmSource
from shortlist.sources.parquet import ParquetSource
from shortlist.sources.vw import VwSource

_TEXT = ("on_error", "block_bytes")
_TABLE = ("target", "weight", "missing", "labels", "leave_out", "scoring", "seed")
_COLUMNS = (*_TABLE, "text", "only")
_CSV = (*_TEXT, *_COLUMNS, "delimiter", "quote", "header")
_ARROW = (*_COLUMNS, "on_error", "block_rows")
_JSON = (*_TEXT, *_TABLE)
_DNA = (
    *_TEXT,
    *("k", "canonical", "alphabet", "fragment", "coverage", "region", "label"),
    *("memory", "seed"),
)
_DNA_ENDINGS = (".fa", ".fasta", ".fna", ".ffn", ".fq", ".fastq")


class Format(NamedTuple):
    """How files of one format are opened."""

    source: Callable[..., Any]  #: makes a RowSource
    endings: tuple[str, ...]  #: of names, before ``.gz``, ``.bz2`` or ``.zst``
    takes: tuple[str, ...]  #: options of the source
    defaults: Mapping[str, Any] = {}  #: of options that the format implies


#: All formats; files whose ending nobody claims, and pipes, are of the first.
FORMATS = {
    "libsvm": Format(LibsvmSource, (), _TEXT),
    "vw": Format(VwSource, (".vw",), (*_TEXT, "seed")),
    "csv": Format(CsvSource, (".csv",), _CSV),
    "tsv": Format(CsvSource, (".tsv",), _CSV, {"delimiter": "\t"}),
    "parquet": Format(ParquetSource, (".parquet", ".pq"), _ARROW),
    "arrow": Format(ParquetSource, (".arrow", ".feather"), _ARROW),
    "jsonl": Format(JsonlSource, (".jsonl", ".ndjson"), _JSON),
    "fasta": Format(FastaSource, _DNA_ENDINGS, _DNA),
}

INPUT_FORMATS = ("auto", *FORMATS)

_PACKED = re.compile(r"(\.gz|\.bz2|\.zst)?\Z", re.IGNORECASE)


def file_source(
    paths: Paths, *, input_format: str = "auto", **options: Any
) -> RowSource:
    """Open files and pipes.

    Parameters
    ----------
    paths : str, path or iterable of them
    input_format : {"auto", "libsvm", "vw", "csv", "tsv", "parquet", "arrow", \
"jsonl", "fasta"}
        auto, the default: what names end in says it (``.vw``, ``.csv.gz``, ...); all
        others and standard input are libsvm text.
    **options
        Keyword options of the source.
    """
    name, paths = format_of(paths, input_format)
    form = FORMATS[name]
    for option in options:
        if option not in form.takes:
            others = [n for n, other in FORMATS.items() if option in other.takes]
            known = f"; formats with it: {', '.join(others)}" if others else ""
            if option == "kmer":  # as the command line calls it
                known = "; the length of words in FASTA and FASTQ files is k="
            raise ShortlistError(
                f"{option}= is no option of files in the format {name}{known}"
            )
    opened: RowSource = form.source(paths, **{**form.defaults, **options})
    return opened


def format_of(paths: Paths, input_format: str = "auto") -> tuple[str, list[Any]]:
    """Name the format of files, and list the paths, which may be an iterator."""
    check_choice("input_format", input_format, INPUT_FORMATS)
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if input_format != "auto":
        return input_format, listed
    first: dict[str, str] = {}  # format to the first file that has it
    for file in find_files(listed):
        first.setdefault(_format_of_name(file.name), file.name)
    if len(first) > 1:
        (one, a), (other, b), *_ = first.items()
        raise DataError(
            f"expected files of one format, got {a} ({one}) and {b} ({other}); say which "
            "it is (input format)"
        )
    return next(iter(first)), listed


def _format_of_name(name: str) -> str:
    ending = _PACKED.sub("", name).lower()
    for form, described in FORMATS.items():
        if ending.endswith(described.endings):
            return form
    return next(iter(FORMATS))
