"""Lines of JSON as a source of rows, with features known by name."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from shortlist._protocols import DataError, RowBlock, ShortlistError
from shortlist.kernels.json_text import NUMBERS, OPEN_NAMES, UNDECIDED
from shortlist.kernels.name_hash import hash_bytes
from shortlist.sources._files import Paths
from shortlist.sources._hashed_lines import HashedLineSource
from shortlist.sources._json_format import MISSING_CHOICES, JsonFormat
from shortlist.sources._labels import check_choice
from shortlist.sources._lines import BLOCK_BYTES, Reader

_HEAD_BYTES = 1 << 20


class JsonlSource(HashedLineSource):
    r"""Rows of JSON lines, an object each: ``{"age": 31, "city": "Bonn", "y": 1}``.

    =====================================  ============================================
    ``{"a": {"b": 2.5}}``                  feature ``a.b`` is 2.5; zeros are left out
    ``{"a": true}``, ``{"a": false}``      ``a`` is 1; left out, as it is 0
    ``{"a": "text"}``                      ``a=text`` is 1
    ``{"a": [7, "x", true]}``              ``a=7``, ``a=x`` and ``a=true`` are 1
    ``{"a": [{"b": 2}, {"b": 3}]}``        ``a.b`` is 2 and 3, and so 5
    ``{"a": null}``                        see ``missing``
    =====================================  ============================================

    So a table has the features that it has as a frame (``FrameSource``). Items of a list
    are categories, numbers too, by the way they are written (``1`` is not ``1.0``). A
    feature's id is a 64-bit hash of its name. Features that occur more than once in a
    row add up, also where a key is repeated in an object. Points and equality signs in
    keys are kept, as are empty keys, so ``{"a.b": 1}`` and ``{"a": {"b": 1}}`` have the
    same feature. Blank lines are passed over.

    Parameters
    ----------
    paths : str, path or iterable of them
        Files, plain or ``.gz``, ``.bz2``, ``.zst``; patterns such as ``data/*.jsonl``;
        "-" is standard input. Files are read in the order given, patterns in
        alphabetical order.
    target : str, default=None
        Path of the labels, ``a.b``. Numbers are kept (true is 1, false 0), text becomes
        codes into ``label_names``; the first label says which of the two all have to be.
        Rows without a label, or with null, have NaN.
    weight : str, default=None
        Path of the importance of each row, a number of 0 or more.
    on_error : {"raise", "skip"}, default="raise"
        A bad line raises, after the rows before it have been yielded, or is left out
        and counted in ``skipped``.
    block_bytes : int, default=2097152
        Text parsed at a time; a longer line is a block of its own. The rows do not
        depend on it.
    missing : {"zero", "error", "category"}, default="zero"
        Whether null is left out, an error, or makes the feature ``a.b=missing``.
    labels : iterable, default=None
        All labels there are. If not given and text, they are collected by reading the
        files once more, or from the beginning of a pipe. Another one is an error.
    leave_out : iterable of str, default=()
        Paths that make no features, nor anything within them.
    scoring : bool, default=False
        Whether a model is to be applied: rows need not have a weight, ``labels`` are
        the model's classes, and others count as missing.
    seed : int, default=0
        Of the hash; another seed gives unrelated ids.

    Attributes
    ----------
    label_names : list of str or None
        What the codes in ``y`` stand for, in alphabetical order; None if labels are
        numbers.
    skipped : int
        Bad lines left out by the last call of ``blocks``.
    crowded : bool
        Whether so many names of a pipe are held that ``retain`` should be called.
    n_names : float
        About how many different names there have been.

    Notes
    -----
    Lines must be strict JSON (RFC 8259) in UTF-8: no NaN, no surrogates outside of pairs,
    and at most 64 objects and lists within each other. Numbers must be finite as doubles.

    If labels are text, files are read once in advance to find all there are. Of a pipe
    the first megabyte is held back for that; a new label after it is an error.

    Names are not kept, so memory does not grow with them: to name features, files are
    read once more, until all names asked for are found. Of a pipe they are kept as long
    as they may be needed: when there are 300,000, or 32 MB of them, whoever learns says by
    ``retain`` which features are candidates still. If nobody does, or if a few blocks
    alone have more, the first 8 million names, or 256 MB of them, are kept; another
    feature is called "#" and its id in hexadecimal digits.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.jsonl"
    >>> _ = path.write_text('{"user": {"age": 31}, "tags": ["a", "b"], "y": "yes"}\n'
    ...                     '{"user": {"age": 47, "new": true}, "y": "no"}\n')
    >>> source = JsonlSource(path, "y")
    >>> block = next(source.blocks())
    >>> block.y, source.label_names, block.values
    (array([1., 0.]), ['no', 'yes'], array([31.,  1.,  1., 47.,  1.]))
    >>> source.names(block.ids)
    ['user.age', 'tags=a', 'tags=b', 'user.age', 'user.new']
    """

    features_are = "columns of tables"
    may_lack_labels = True

    def __init__(
        self,
        paths: Paths,
        target: str | None = None,
        *,
        weight: str | None = None,
        on_error: str = "raise",
        block_bytes: int = BLOCK_BYTES,
        missing: str = "zero",
        labels: Iterable[Any] | None = None,
        leave_out: Iterable[str] = (),
        scoring: bool = False,
        seed: int = 0,
    ):
        check_choice("missing", missing, tuple(MISSING_CHOICES))
        paths_of_row = _path("target", target), _path("weight", weight)
        if target is not None and target == weight:
            raise ShortlistError(
                f"weight: expected another path than that of the target, got {weight!r}"
            )
        self.leave_out = tuple(leave_out)
        out = tuple(_path("leave_out", path) for path in self.leave_out)
        form = JsonFormat(*paths_of_row, missing, seed, scoring, out)
        super().__init__(
            paths,
            form,
            on_error=on_error,
            block_bytes=block_bytes,
            seed=seed,
        )
        self._json = form
        self.target, self.weight, self.missing = target, weight, missing
        self._known[int(hash_bytes([b""], seed)[0])] = ""
        self._label_names: list[str] | None = None
        self._given = None if labels is None else list(labels)
        self._labels_are_known = target is None
        if scoring and self._given is not None and target is not None:
            # the model knows what labels are: nobody has to look at the data for that
            is_text = all(isinstance(label, str) for label in self._given)
            self._settle(self._given if self._given and is_text else None)
        self._passing: Iterator[RowBlock] | None = None  # a pipe that has been begun

    @property
    def target_hint(self) -> str | None:
        """What to say if labels are needed; None if it is known where they are."""
        if self.target is not None:
            return None
        return "target= names their key, or a path of keys such as 'a.b'"

    @property
    def label_names(self) -> Sequence[str] | None:  # type: ignore[override]
        """What the codes in ``y`` stand for; files are read for that, once."""
        self._find_labels()
        return self._label_names

    @property
    def known_labels(self) -> Sequence[str] | None:
        """All labels, if they are text: those of files have been read from end to end."""
        return self.label_names if self.reiterable else None

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the rows in order, in blocks of about ``block_bytes`` of text."""
        self._find_labels()
        passing, self._passing = self._passing, None
        return super().blocks() if passing is None else passing

    def leaving_out(self, names: Iterable[str]) -> JsonlSource:
        """Give the same source in which the paths among these names make no features."""
        other, out = copy.copy(self), tuple(names)
        other.leave_out += out
        paths = [_path("leave_out", path) for path in out]
        other._json = other._form = other._naming = self._json.leaving_out(paths)
        return other

    def _encoded(self, name: str) -> bytes:
        try:
            return name.encode()
        except UnicodeEncodeError:
            raise DataError(
                f"{self.name}: expected a name without lone surrogates, got {name!r}"
            ) from None

    def _find_labels(self) -> None:
        """Settle once and for all what codes stand for, if labels are text."""
        if self._labels_are_known:
            return
        if self.reiterable:
            self._scan_files()
        else:
            self._look_ahead()
        self._settle(self._label_names)

    def _settle(self, label_names: list[str] | None) -> None:
        self._label_names = label_names
        self._json.close_labels(label_names)
        self._labels_are_known = True

    def _is_decided(self, form: JsonFormat) -> bool:
        """Whether labels later on would tell nothing new."""
        is_text = form.label_case == OPEN_NAMES
        return form.label_case == NUMBERS or (is_text and self._given is not None)

    def _name_labels(self, form: JsonFormat, codes: set[int]) -> None:
        """Take labels that are text from what was given, else those of the codes met."""
        if form.label_case == OPEN_NAMES:
            met = form.labels_met()
            names = (met[code] for code in codes)
            given = self._given
            self._label_names = sorted(set(names if given is None else map(str, given)))

    def _scan_files(self) -> None:
        """Look at all labels, or until they turn out to be numbers."""
        form = self._json.looking_for(None)
        form.open_labels()
        codes: set[int] = set()
        before = 0
        for file in self._files:
            # bad lines are of no concern here: somebody else reports them
            reader = Reader(file, form, self.block_bytes, True)
            for block in reader.blocks():
                is_late = before + reader.position > _HEAD_BYTES
                if self._is_decided(form) or (is_late and form.label_case == UNDECIDED):
                    self._name_labels(form, codes)
                    return
                codes |= _codes_in(block)
            before += reader.position
        self._name_labels(form, codes)

    def _look_ahead(self) -> None:
        """Look at the first labels of a pipe, and hold back its rows meanwhile."""
        form = self._json
        form.open_labels()
        blocks = super().blocks()
        head: list[RowBlock] = []
        rest: Iterable[RowBlock] = blocks
        try:
            for block in blocks:
                head.append(block)
                if self._is_decided(form) or block.position > _HEAD_BYTES:
                    break
        except DataError as error:
            rest = _raising(error)
        if form.label_case == OPEN_NAMES:
            self._name_labels(form, set().union(*map(_codes_in, head)))
            for block in head:
                self._recode(block, form.labels_met(), self._label_names or ())
        self._passing = _joined(head, rest)

    def _recode(
        self, block: RowBlock, met: Sequence[str], label_names: Sequence[str]
    ) -> None:
        """Turn numbers of labels as they were met into codes in alphabetical order."""
        code_of = {name: float(code) for code, name in enumerate(label_names)}
        codes = np.array([code_of.get(name, np.nan) for name in met])
        has_label = np.flatnonzero(np.isfinite(block.y))
        numbers = block.y[has_label].astype(np.int64)
        block.y[has_label] = codes[numbers]
        new = np.flatnonzero(np.isnan(codes[numbers]))
        if len(new) and self.on_error == "raise":
            place = self.locate(block.first_row + int(has_label[new[0]]))
            expected = self._json.expected_label(label_names)
            raise DataError(
                f"{place}: expected {expected}, got {met[numbers[new[0]]]!r}"
            )


def _path(parameter: str, path: str | None) -> bytes:
    """Bytes of a path of keys; none if there is no path."""
    if path is None:
        return b""
    try:
        encoded = path.encode()
    except (AttributeError, UnicodeEncodeError):
        encoded = b""
    if not encoded:
        raise ShortlistError(
            f"{parameter}: expected a path of keys such as 'a.b', got {path!r}"
        )
    return encoded


def _codes_in(block: RowBlock) -> set[int]:
    """Different labels of a block, which are codes if they are anything."""
    codes = np.unique(block.y[np.isfinite(block.y)])
    return set(codes.astype(np.int64).tolist())


def _joined(head: list[RowBlock], rest: Iterable[RowBlock]) -> Iterator[RowBlock]:
    while head:
        yield head.pop(0)
    yield from rest


def _raising(error: DataError) -> Iterator[RowBlock]:
    """No blocks, but an error that was met too early."""
    raise error
    yield
