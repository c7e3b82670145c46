"""Files opened as the options of a command that learns from them say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from shortlist.cli._dna import dna_settings
from shortlist.cli._input import open_labelled, open_rows
from shortlist.cli._options import given_table_options

if TYPE_CHECKING:
    from shortlist._protocols import RowSource


def open_asked(options: Mapping[str, Any]) -> RowSource:
    """Open the files; a table must have been told its target.

    What --never names is not even read, where the format can leave it out.
    """
    from shortlist.sources._formats import FORMATS, format_of

    files, input_format = options["files"], options["input_format"]
    given, label_map = given_table_options(options), options["label_map"]
    classes = options.get("classes")
    takes = FORMATS[format_of(files, input_format)[0]].takes
    if classes is not None and "labels" in takes and label_map is None:
        given["labels"] = classes.split(",")
    if options["never"] and "leave_out" in takes:
        given["leave_out"] = options["never"]
    given |= dna_settings(options, files, input_format)
    return open_labelled(files, input_format, options["on_error"], given, label_map)


def need_not_leave_out_groups(options: dict[str, Any]) -> None:
    """Have --never not name the column of groups, which is read and is no feature."""
    column = options["sample_groups"]
    options["never"] = tuple(name for name in options["never"] if name != column)


def reader_of_groups(options: Mapping[str, Any]) -> Callable[[], RowSource] | None:
    """What reads --sample-groups as a target, if files have one and can be read again."""
    from shortlist.sources._formats import FORMATS, format_of

    files, input_format = options["files"], options["input_format"]
    takes = FORMATS[format_of(files, input_format)[0]].takes
    if "target" not in takes or "-" in files or options["on_error"] == "skip":
        return None
    given = {**given_table_options(options), "target": options["sample_groups"]}
    return lambda: open_rows(files, input_format, "raise", given)
