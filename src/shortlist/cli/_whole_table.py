"""Files as one table in memory, for commands that go over all rows many times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from shortlist.cli._input import open_labelled, open_rows
from shortlist.cli._options import given_table_options

if TYPE_CHECKING:
    from shortlist._protocols import Ints, RowSource
    from shortlist.evaluate._whole_table import WholeTable


def read_whole(
    options: Mapping[str, Any], given: Mapping[str, Any]
) -> tuple[WholeTable, Ints | None, int]:
    """Read the rows that have a label; return their groups too, and how many have none."""
    import numpy as np

    from shortlist.evaluate._whole_table import whole_table, with_labels
    from shortlist.front._to_split import settled

    asked = ("files", "input_format", "on_error")
    files, input_format, on_error = (options[name] for name in asked)
    source = open_labelled(files, input_format, on_error, given, options["label_map"])
    column = options["sample_groups"]
    again = None if column is None else reader_of_groups(options)
    _, (rows, groups, _) = settled(source, column, in_memory=True, again=again)
    blocks = list(rows.blocks())
    labelled, known = with_labels(blocks)
    n_unlabelled = sum(int(np.isnan(block.y).sum()) for block in blocks)
    table = whole_table(rows, labelled)
    return table, None if groups is None else groups[known], n_unlabelled


def reader_of_groups(options: Mapping[str, Any]) -> Callable[[], RowSource] | None:
    """What reads --sample-groups as a target, if files have one and can be read again."""
    from shortlist.sources._formats import FORMATS, format_of

    files, input_format = options["files"], options["input_format"]
    takes = FORMATS[format_of(files, input_format)[0]].takes
    if "target" not in takes or "-" in files or options["on_error"] == "skip":
        return None
    given = {**given_table_options(options), "target": options["sample_groups"]}
    return lambda: open_rows(files, input_format, "raise", given)
