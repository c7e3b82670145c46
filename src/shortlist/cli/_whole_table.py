"""Files as one table in memory, for commands that go over all rows many times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shortlist.cli._input import open_labelled

if TYPE_CHECKING:
    from shortlist.evaluate._whole_table import WholeTable


def read_whole(
    options: Mapping[str, Any], given: Mapping[str, Any], groups: str | None = None
) -> WholeTable:
    """Read the rows that have a label; ``groups`` names a column of groups."""
    from shortlist.evaluate._whole_table import whole_table, with_labels

    asked = ("files", "input_format", "on_error")
    files, input_format, on_error = (options[name] for name in asked)
    source = open_labelled(files, input_format, on_error, given, options["label_map"])
    labelled, _ = with_labels(list(source.blocks()))
    return whole_table(source, labelled, groups)
