"""From the words on the command line to a source of rows or a saved shortlist."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from shortlist.cli._failures import as_options

if TYPE_CHECKING:
    from shortlist._protocols import Ids, RowBlock, RowSource
    from shortlist._shortlist import Shortlist


def open_rows(
    files: Sequence[str],
    input_format: str = "auto",
    on_error: str = "raise",
    options: Mapping[str, Any] | None = None,
    label_map: str | None = None,
    *,
    strict: bool = True,
) -> RowSource:
    """Source of the rows in these files; patterns and "-" are understood.

    ``strict`` is whether a label that the map does not have is an error.
    """
    from shortlist.sources import LabelledSource
    from shortlist.sources._formats import file_source

    if "-" in files and sys.stdin.isatty():
        click.echo("reading rows from the terminal; Ctrl-D ends them", err=True)
    said = {"input_format": input_format, "on_error": on_error}
    source = file_source(files, **said, **(options or {}))
    return (
        source
        if label_map is None
        else LabelledSource(source, label_map, strict=strict)
    )


def open_labelled(
    files: Sequence[str],
    input_format: str,
    on_error: str,
    options: Mapping[str, Any],
    label_map: str | None,
) -> RowSource:
    """``open_rows`` for rows to learn from: a table must have been told its target."""
    source = open_rows(files, input_format, on_error, options, label_map)
    hint = getattr(source, "target_hint", None)
    if hint is not None:
        raise click.UsageError(as_options(f"{source.name}: expected labels; {hint}"))
    return source


def table_options_of(
    shortlist: Shortlist,
    files: Sequence[str],
    input_format: str,
    given: Mapping[str, Any],
    *,
    keeps_labels: bool = False,
    label_map: str | None = None,
) -> dict[str, Any]:
    """Options to open files with, so that they are read as a model has read others.

    Nothing is added for formats that are no tables; JSON lines count as such.

    Parameters
    ----------
    shortlist : Shortlist
    files : sequence of str
    input_format : str
    given : mapping
        Options of the user, which come first.
    keeps_labels : bool, default=False
        Whether labels that the model does not know are wanted as well.
    label_map : str, default=None
        File of the labels that stand for the classes of the model.
    """
    from shortlist.sources._formats import FORMATS, format_of

    takes = FORMATS[format_of(files, input_format)[0]].takes
    if "scoring" not in takes:
        return dict(given)
    table = shortlist.params.get("table", {})
    known = {name: value for name, value in table.items() if name in takes}
    options: dict[str, Any] = {**known, **given, "scoring": True}
    if label_map is not None:
        options["labels"] = _labels_in(label_map)
    elif not keeps_labels:
        options["labels"] = shortlist.classes or ()
    whole_rows = ("normalize", "interactions")  # the others matter for these, too
    needs_all = any(shortlist.params.get(name) is not None for name in whole_rows)
    if "only" in takes and not needs_all:
        options["only"] = shortlist.names
    return options


def _labels_in(label_map: str) -> list[str]:
    """Labels that a map has, if they are text; none if they are numbers."""
    from shortlist.sources._label_maps import number_in, read_label_map

    labels = list(read_label_map(label_map, "--label-map: expected a file"))
    return [] if all(number_in(label) is not None for label in labels) else labels


def as_params(source: Any) -> dict[str, Any]:
    """What a model should know about the table it was made from, if it was one."""
    from shortlist.sources._csv_head import QUOTE

    if getattr(source, "target", None) is None:
        return {}
    names = ("target", "weight", "missing", "text", "leave_out")
    settings = {name: getattr(source, name, None) for name in names}
    known = {name: one for name, one in settings.items() if one}
    quote = getattr(source, "quote", QUOTE)
    return {"table": known if quote == QUOTE else {**known, "quote": quote}}


def load_model(path: str) -> Shortlist:
    """Read a shortlist; for another kind of file, hint at the order of arguments."""
    from shortlist._protocols import DataError
    from shortlist._shortlist import Shortlist

    try:
        return Shortlist.load(path)
    except DataError as error:
        if "not a file written by" not in str(error):
            raise
        raise DataError(
            f"{error}; expected a model that select -o has saved, before any data"
        ) from None


def skipped_line(source: Any) -> str | None:
    """Say how many bad lines the last pass over a source left out, if any."""
    n = getattr(source, "skipped", 0)
    return f"{n:,} bad line{'s were' if n != 1 else ' was'} left out" if n else None


def forget_names(source: Any, position: int) -> None:
    """Keep names of a pipe's features from piling up where a model knows its own."""
    if getattr(source, "crowded", False):
        import numpy as np

        source.retain(np.empty(0, np.uint64), position)


class TappedSource:
    """A source whose blocks go through a function on their way.

    The function may look at a block or give another one in its place.
    """

    def __init__(self, source: RowSource, tap: Callable[[RowBlock], RowBlock]) -> None:
        self._source, self._tap = source, tap
        self.name, self.reiterable = source.name, source.reiterable
        self.unit, self.size = source.unit, source.size
        self.n_features, self.label_names = source.n_features, source.label_names

    def blocks(self) -> Iterator[RowBlock]:
        """Yield what the function makes of the blocks."""
        return map(self._tap, self._source.blocks())

    def names(self, ids: Ids) -> list[str]:
        """Name the features with these ids."""
        return self._source.names(ids)

    def ids(self, names: Sequence[str]) -> Ids:
        """Ids of the features with these names."""
        return self._source.ids(names)

    def __getattr__(self, attribute: str) -> Any:
        """What only some sources have: ``locate``, ``on_error``."""
        if attribute == "_source":  # not there yet: a copy is being made
            raise AttributeError(attribute)
        return getattr(self._source, attribute)
