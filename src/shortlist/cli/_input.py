"""From the words on the command line to a source of rows or a saved shortlist."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from shortlist._protocols import Ids, RowBlock, RowSource
    from shortlist._shortlist import Shortlist


def open_rows(
    files: Sequence[str],
    input_format: str = "auto",
    on_error: str = "raise",
    options: Mapping[str, Any] | None = None,
) -> RowSource:
    """Source of the rows in these files; patterns and "-" are understood."""
    from shortlist.sources._formats import file_source

    if "-" in files and sys.stdin.isatty():
        click.echo("reading rows from the terminal; Ctrl-D ends them", err=True)
    said = {"input_format": input_format, "on_error": on_error}
    return file_source(files, **said, **(options or {}))


def table_options_of(
    shortlist: Shortlist,
    files: Sequence[str],
    input_format: str,
    given: Mapping[str, Any],
    *,
    keeps_labels: bool = False,
) -> dict[str, Any]:
    """Options to open files with, so that they are read as a model has read others.

    Nothing is added for formats that are no tables.

    Parameters
    ----------
    shortlist : Shortlist
    files : sequence of str
    input_format : str
    given : mapping
        Options of the user, which come first.
    keeps_labels : bool, default=False
        Whether labels that the model does not know are wanted as well.
    """
    from shortlist.sources._formats import FORMATS, format_of

    if "scoring" not in FORMATS[format_of(files, input_format)[0]].takes:
        return dict(given)
    known = shortlist.params.get("table", {})
    options: dict[str, Any] = {**known, **given, "scoring": True}
    if not keeps_labels:
        options["labels"] = shortlist.classes or ()
    whole_rows = ("normalize", "interactions")  # the others matter for these, too
    if all(shortlist.params.get(name) is None for name in whole_rows):
        options["only"] = shortlist.names
    return options


def as_params(source: Any) -> dict[str, Any]:
    """What a model should know about the table it was made from, if it was one."""
    if getattr(source, "target", None) is None:
        return {}
    names = ("target", "weight", "missing", "text")
    settings = {name: getattr(source, name) for name in names}
    return {"table": {name: one for name, one in settings.items() if one}}


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
