"""A source with other labels: each becomes the name of its class, by a map."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import (
    DataError,
    Floats,
    Ids,
    Ints,
    RowBlock,
    RowSource,
    ShortlistError,
    place_of,
)
from shortlist.kernels.csr import row_slice
from shortlist.sources._label_maps import number_in, read_label_map

LabelMap = Mapping[Any, str] | str | os.PathLike[str]


class LabelledSource:
    """Rows of another source, with classes in the place of labels.

    Several labels may have the same class: that groups them.

    Parameters
    ----------
    base : RowSource
        Its labels are the keys of the map: numbers, or names.
    label_map : mapping or path
        From labels to names of classes, or a text file with lines of label, tab, class.
    strict : bool, default=True
        Whether a label that the map does not have is an error, unless the base has
        ``on_error="skip"``: its row is then yielded without a label, which learners
        leave out and count. If False, such labels count as missing.

    Attributes
    ----------
    label_names : list of str
        Names of the classes, in alphabetical order: what the codes in ``y`` stand for.
    base : RowSource
        All other attributes are those of the base.

    Examples
    --------
    >>> from shortlist.sources import ArraySource
    >>> digits = ArraySource([[1.0], [2.0], [3.0]], [7, 8, 9])
    >>> source = LabelledSource(digits, {7: "odd", 8: "even", 9: "odd"})
    >>> next(source.blocks()).y, source.label_names
    (array([1., 0., 1.]), ['even', 'odd'])
    """

    n_features: int | None
    label_names: Sequence[str] | None

    def __init__(self, base: RowSource, label_map: LabelMap, *, strict: bool = True):
        self.base = base
        self._strict = strict
        self._map_name = "the label map"
        if isinstance(label_map, Mapping):
            # keys as they would stand in a file
            self._map = {str(key): str(name) for key, name in label_map.items()}
        else:
            expected = "label_map: expected a mapping or the path of a map file"
            self._map = read_label_map(label_map, expected)
            self._map_name = os.fspath(label_map)
        if not self._map:
            raise ShortlistError(
                f"{self._map_name}: expected a label at least, got none"
            )
        self._classes = sorted(set(self._map.values()))
        self.label_names = self._classes
        self.name, self.reiterable = base.name, base.reiterable
        self.unit, self.size = base.unit, base.size
        self.n_features = base.n_features

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the rows in order."""
        # before rows are asked for: to find its labels, a source may look ahead
        raw, codes = self._known()
        raises = self._strict and getattr(self, "on_error", "raise") == "raise"
        for block in self.base.blocks():
            raw_y = block.y
            y, unknown = _recoded(raw_y, raw, codes)
            block = block._replace(y=y)
            if raises and unknown.any():
                row = int(np.argmax(unknown))
                if row:
                    yield row_slice(block, 0, row)
                place = place_of(self.base, block.first_row + row)
                raise DataError(
                    f"{place}: expected a label that {self._map_name} has, got "
                    f"{self._spelled(raw_y[row])}"
                )
            yield block

    @property
    def known_labels(self) -> list[str] | None:
        """Classes of the labels of the base, if it knows all of them."""
        labels = getattr(self.base, "known_labels", None)
        if labels is None:
            return None
        return sorted({self._map[label] for label in labels if label in self._map})

    def names(self, ids: Ids) -> list[str]:
        """Name the features with these ids."""
        return self.base.names(ids)

    def ids(self, names: Sequence[str]) -> Ids:
        """Ids of the features with these names."""
        return self.base.ids(names)

    @property
    def block_bytes(self) -> int:
        """What the base reads at a time, if it has a say in that."""
        return int(self.base.block_bytes)  # type: ignore[attr-defined]

    @block_bytes.setter
    def block_bytes(self, n: int) -> None:
        self.base.block_bytes = n  # type: ignore[attr-defined]

    def __getattr__(self, attribute: str) -> Any:
        # the base is not there yet while a copy is being made; its labels are others
        if attribute in ("base", "all_labels"):
            raise AttributeError(attribute)
        value = getattr(self.base, attribute)
        # these of the base would have its labels
        own = {
            "part": self._part,
            "apart": self._apart,
            "with_spaces": self._with_spaces,
            "leaving_out": self._leaving_out,
        }
        return value if value is None else own.get(attribute, value)

    def _with_spaces(self, spaces: Sequence[str]) -> LabelledSource:
        other = copy.copy(self)
        other.base = self.base.with_spaces(spaces)  # type: ignore[attr-defined]
        return other

    def _leaving_out(self, names: Iterable[str]) -> LabelledSource:
        other = copy.copy(self)
        other.base = self.base.leaving_out(names)  # type: ignore[attr-defined]
        return other

    def _part(self, *arguments: Any, **options: Any) -> LabelledSource:
        part = self.base.part(*arguments, **options)  # type: ignore[attr-defined]
        other = copy.copy(self)
        other.base, other.size = part, part.size
        return other

    def _apart(self) -> tuple[LabelledSource, Ints] | None:
        found = self.base.apart()  # type: ignore[attr-defined]
        if found is None:
            return None
        other = copy.copy(self)
        other.base, other.size = found[0], found[0].size
        return other, found[1]

    def _spelled(self, label: float) -> str:
        """A label of the base as its user knows it."""
        names = self.base.label_names
        return f"{label:g}" if names is None else repr(names[int(label)])

    def _known(self) -> tuple[Floats, Floats]:
        """Labels of the base as it codes them, increasing, and the codes of classes."""
        code_of = {name: float(code) for code, name in enumerate(self._classes)}
        labels = self.base.label_names
        if labels is None:
            found = self._by_number()
        else:
            named = enumerate(labels)
            found = {float(i): self._map[x] for i, x in named if x in self._map}
        raw = np.array(sorted(found))
        return raw, np.array([code_of[found[number]] for number in raw.tolist()])

    def _by_number(self) -> dict[float, str]:
        """Classes of the labels that are numbers; others do not occur."""
        found: dict[float, str] = {}
        for key, name in self._map.items():
            number = number_in(key)
            if number is not None and found.setdefault(number, name) != name:
                raise DataError(
                    f"{self._map_name}: expected one class for the label {key}, got "
                    f"{found[number]!r} and {name!r}"
                )
        return found


def _recoded(y: Floats, raw: Floats, codes: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Codes of classes, NaN where there is none, and which labels are not known."""
    place = np.searchsorted(raw, y)
    known = np.zeros(len(y), np.bool_)
    inside = place < len(raw)
    known[inside] = raw[place[inside]] == y[inside]
    out = np.full(len(y), np.nan)
    out[known] = codes[place[known]]
    return out, ~known & ~np.isnan(y)
