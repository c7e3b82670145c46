"""Delimited text (CSV, TSV) as a source of rows, with features known by name."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from shortlist._protocols import Ids, ShortlistError
from shortlist.kernels.csv_text import TEXT
from shortlist.sources._cell_names import CellNames
from shortlist.sources._columns import NamesById, listed
from shortlist.sources._csv_columns import CsvColumns
from shortlist.sources._csv_head import (
    QUOTE,
    Head,
    check_delimiter,
    check_quote,
    lay_out,
    read_head,
)
from shortlist.sources._csv_header import AUTO, names_in
from shortlist.sources._csv_rows import CsvFormat, CsvReader
from shortlist.sources._distinct_names import DistinctNames
from shortlist.sources._files import Paths, Text, TextFile, find_files, open_text
from shortlist.sources._labels import too_many_labels
from shortlist.sources._lines import BLOCK_BYTES, LineFormat, LineSource, Reader


class CsvSource(LineSource):
    r"""Rows of delimited text with a header; features are known by their names.

    Columns are what they are for ``FrameSource``, with the same names and ids: a column
    of numbers, or of the words true and false, is a feature named after it; any other
    column makes a feature ``column=value`` of each of its values, which is 1 in the rows
    that have the value. Zeros are left out of the rows. What a column holds is decided
    by the first rows (1 MB of a file, 1,000 lines of a pipe) and does not change: a cell
    that does not fit is an error.

    Cells may be quoted as RFC 4180 says, with delimiters and newlines in them. An empty
    cell is missing; in a column of numbers, so are NA, N/A, #N/A, NaN, null, None and ?.
    Blank lines are passed over. A column without a name, as row numbers have, is left out.

    Parameters
    ----------
    paths : str, path or iterable of them
        Files, plain or ``.gz``, ``.bz2``, ``.zst``; patterns such as ``data/*.csv.gz``;
        "-" is standard input. All have the same header.
    target : str, default=None
        Column of the labels. Numbers are kept (true is 1), others become codes into
        ``label_names``; a missing label is NaN.
    weight : str, default=None
        Column of the importance of each row.
    delimiter : str, default=None
        What separates cells; None finds out which of comma, semicolon, tab and bar.
    quote : str or None, default='"'
        What quotes cells; with None, or "none", quotes are characters like any other, and
        no cell has a delimiter or newline in it.
    header : bool or "auto", default="auto"
        Whether the first row names the columns; without, they are "x0", "x1", ... "auto":
        it does if it has ``target`` or another column named here, else unless it has
        numbers where the rows below have numbers, too.
    on_error : {"raise", "skip"}, default="raise"
        A bad row raises, after the rows before it have been yielded, or is left out and
        counted in ``skipped``.
    block_bytes : int, default=2097152
        Text parsed at a time; a longer row is a block of its own. The rows do not
        depend on it.
    missing : {"zero", "category", "error"}, default="zero"
        Whether a missing value leaves the feature out, makes the feature
        ``column=missing``, or is an error.
    text : iterable of str, default=()
        Columns of text, whatever their first rows look like: codes, for example.
    labels : iterable, default=None
        All labels there are. If not given and not numbers, they are collected by reading
        the files once more, or from the first rows of a pipe. Another one is an error.
    only : iterable of str, default=None
        Names of features: only their columns are read, as what the names say.
    leave_out : iterable of str, default=()
        Columns of which no text is to make features; others are not affected.
    scoring : bool, default=False
        Whether a model is to be applied: the columns ``target`` and ``weight`` need not
        be there, ``labels`` are its classes, and others count as missing.
    seed : int, default=0
        Of the hash; another seed gives unrelated ids.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns, as they come.
    label_names : list of str or None
        What the codes in ``y`` stand for; None if labels are numbers.
    skipped : int
        Bad rows left out by the last call of ``blocks``.
    crowded : bool
        Whether so many names of a pipe's features are held that ``retain`` should be
        called.
    n_names : float
        About how many different names there have been.

    Notes
    -----
    Names of ``column=value`` are not kept of files: to name features, files are read
    once more, until all names asked for are found. Of a pipe they are kept as long as
    they may be needed: when there are 300,000, whoever learns says by ``retain`` which
    features are candidates still. If nobody does, two million names are kept; another
    feature is called "#" and its id in hexadecimal digits.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("age,city,buys\n31,Bonn,yes\n,\"Oslo, N\",no\n")
    >>> source = CsvSource(path, "buys")
    >>> block = next(source.blocks())
    >>> source.names(block.ids), block.values
    (['age', 'city=Bonn', 'city=Oslo, N'], array([31.,  1.,  1.]))
    >>> block.y, source.label_names
    (array([1., 0.]), ['no', 'yes'])
    """

    may_lack_labels = True
    _met: CellNames | None = None
    features_are = "columns of tables"

    def __init__(
        self,
        paths: Paths,
        target: str | None = None,
        *,
        weight: str | None = None,
        delimiter: str | None = None,
        quote: str | None = QUOTE,
        header: bool | str = AUTO,
        on_error: str = "raise",
        block_bytes: int = BLOCK_BYTES,
        missing: str = "zero",
        text: Iterable[str] = (),
        labels: Iterable[Any] | None = None,
        only: Iterable[str] | None = None,
        leave_out: Iterable[str] = (),
        scoring: bool = False,
        seed: int = 0,
    ):
        check_delimiter(delimiter)
        self.quote = check_quote(quote, delimiter)
        if header not in (True, False, AUTO):
            raise ShortlistError(
                f"header: expected True, False or 'auto', got {header!r}"
            )
        files = find_files(paths)
        self.missing, self.seed = missing, seed
        self.text = tuple(text)
        self._opened: Text | None = (
            None  # of a pipe, whose beginning has been looked at
        )
        knows_all = only is not None and labels is not None
        head = self._look_at(files[0], header_only=knows_all)
        only = None if only is None else list(only)
        known = names_in((target, weight, *self.text), only)
        self._layout = lay_out(
            files[0].name, head, delimiter, header, known, self.quote
        )
        self.header = self._layout.has_header
        self._table = CsvColumns(
            files[0].name,
            self._layout,
            head,
            target=target,
            weight=weight,
            missing=missing,
            text=self.text,
            only=only,
            scoring=scoring,
            seed=seed,
            leave_out=leave_out,
        )
        self._strict = not scoring
        self.columns = self._layout.columns
        self.target, self.weight = self._table.target, self._table.weight
        self._parser = CsvFormat(self._table.parser())
        paths = [file.path for file in files]
        super().__init__(
            paths, self._parser, on_error=on_error, block_bytes=block_bytes
        )
        if not self.reiterable:
            self._met = CellNames(self.name, self.columns, quote=self.quote)
        self._distinct = DistinctNames()
        self._known = NamesById(self.name)
        self.ids(self._table.features.always_there())
        self.label_names = self._find_labels(head, labels, scoring)
        self._settle()

    def _settle(self) -> None:
        """Parse by what is known of the columns by now."""
        labelled = self._table.parser(self.label_names, strict=self._strict)
        self._form = self._parser = CsvFormat(labelled, self._met)

    @property
    def known_labels(self) -> Sequence[str] | None:
        """All labels, if they are text: those of files have been read from end to end."""
        return self.label_names if self.reiterable else None

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is surprising about the columns."""
        return self._table.remarks

    @property
    def leave_out(self) -> tuple[str, ...]:
        """Columns of text that make no features."""
        return self._table.left_out

    @property
    def column_kinds(self) -> dict[str, str]:
        """What the columns hold that make features."""
        return self._table.features.kinds

    def leaving_out(self, names: Iterable[str]) -> CsvSource:
        """Give the same source without the columns of text among these names."""
        other = copy.copy(self)
        other._table = self._table.without(names)
        other._settle()
        return other

    @property
    def target_hint(self) -> str | None:
        """What to say if labels are needed; None if they have a column."""
        if self.target is not None:
            return None
        names = [column for column in self.columns if column]
        return f"target= names their column, one of {listed(names)}{self._layout.hint}"

    def names(self, ids: Ids) -> list[str]:
        """Names of features; of files they are looked up in the text."""
        numbers = ids.tolist()
        if self._met is not None:
            with self._met.lock:
                met = self._met.found
                homes = [self._known if n in self._known else met for n in numbers]
                return [home.get(n) for home, n in zip(homes, numbers, strict=True)]
        unknown = [number for number in numbers if number not in self._known]
        if unknown:
            self._look_up(np.unique(np.array(unknown, np.uint64)))
        return [self._known.get(number) for number in numbers]

    def ids(self, names: Sequence[str]) -> Ids:
        """Ids of features; of ``column=value`` also those not seen yet."""
        for name in names:
            self._table.features.check(name, self._known)
        ids = self._table.features.hashed(names)
        self._known.add(ids.tolist(), names)
        return ids

    def _look_at(self, file: TextFile, *, header_only: bool) -> Head:
        """Read the beginning of the first file, of which nothing is used up."""
        text = open_text(file)
        is_pipe = file.size is None
        try:
            head = read_head(
                file.name,
                text,
                is_pipe=is_pipe,
                header_only=header_only,
                quote=self.quote,
            )
        except BaseException:
            text.close()
            raise
        if is_pipe:
            self._opened = text
        else:
            text.close()
        return head

    def _find_labels(
        self, head: Head, labels: Iterable[Any] | None, scoring: bool
    ) -> list[str] | None:
        """Names of the labels, if they are text."""
        if self.target is None:
            return None
        is_text = self._table.kinds[self.target] == TEXT
        if labels is None:
            return self._labels_in(head) if is_text else None
        given = list(labels)
        if scoring:  # the model knows what labels are
            return given if given and all(isinstance(x, str) for x in given) else None
        return sorted(map(str, given)) if is_text else None

    def _labels_in(self, head: Head) -> list[str]:
        """Collect the labels of all rows, or of the first ones of a pipe."""
        assert self.target is not None
        labels = CellNames(self.name, self.columns, quote=self.quote)
        form = CsvFormat(self._table.parser_of_labels(), labels)
        if self.reiterable:
            for file in self._files:
                for _ in self._reader(file, form, True).blocks():
                    too_many_labels(self.name, self.target, len(labels.found))
        else:
            text = np.frombuffer(head.text[self._layout.n_bytes :], np.uint8)
            form.parse(text, head.is_all, True, form.room_for(len(text)))
        return sorted(name[len(self.target) + 1 :] for name in labels.found)

    def _look_up(self, ids: Ids) -> None:
        """Read the text until the names of all these are known."""
        wanted = CellNames(self.name, self.columns, ids, self.quote)
        form = CsvFormat(self._parser.columns, wanted)
        for file in self._files:
            # bad rows are of no concern here: somebody else reports them
            for _ in self._reader(file, form, True).blocks():
                if wanted.complete:
                    break
            if wanted.complete:
                break
        found = [number for number in ids.tolist() if number in wanted.found]
        self._known.add(found, map(wanted.found.get, found))

    def _reader(self, file: TextFile, form: LineFormat, skip_bad: bool) -> Reader:
        opened = self._opened if file == self._files[0] else None
        reader = CsvReader(file, form, self.block_bytes, skip_bad)
        return reader.laid_out(self._layout, opened)
