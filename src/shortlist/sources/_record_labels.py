"""Labels of sequences: after their file, their own name, or a map from these to labels."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

from shortlist._protocols import ShortlistError
from shortlist.sources._files import TextFile
from shortlist.sources._label_maps import number_in, read_label_map

_PACKED = (".gz", ".bz2", ".zst")

LabelBy = str | os.PathLike[str] | Mapping[str, Any] | None


def stem_of(file: TextFile) -> str:
    """Name of a file without folder and endings.

    Examples
    --------
    >>> stem_of(TextFile("genomes/e_coli.K12.fna.gz", 0))
    'e_coli.K12'
    """
    name = os.path.basename(file.name)
    whole, ending = os.path.splitext(name)
    return os.path.splitext(whole if ending.lower() in _PACKED else name)[0]


class RecordLabels:
    """What the labels of records are.

    Parameters
    ----------
    label : {"file", "record"}, mapping, path or None
        See ``FastaSource``.
    files : sequence of TextFile
    """

    def __init__(self, label: LabelBy, files: Sequence[TextFile]):
        self.by_record = label == "record"
        self._nothing = label is None
        self._map: dict[str, str | float] | None = None
        self.label_names: list[str] | None = None
        if label == "file":
            self.label_names = sorted({stem_of(file) for file in files})
        elif label is not None and not self.by_record:
            self._map = dict(label) if isinstance(label, Mapping) else _read_map(label)
            self._check_map()
        self._codes: dict[str, float] = {}
        self._name_codes(self.label_names or ())

    def _name_codes(self, label_names: Iterable[str]) -> None:
        """Make these, once known, the labels there are."""
        self._codes = {name: float(code) for code, name in enumerate(label_names)}

    def settle(self, records: Iterable[str]) -> None:
        """Take in the names of all records, which are the labels if ``by_record``."""
        self.label_names = sorted(set(records))
        self._name_codes(self.label_names)

    @property
    def by_map(self) -> bool:
        """Whether a map has the labels, which may have more than there are."""
        return self._map is not None

    @property
    def of_file_only(self) -> bool:
        """Whether all records of a file have the same label, or none."""
        return self._map is None and not self.by_record

    def code(self, file: TextFile, record: str = "") -> float | None:
        """Label of a record as a number or code; None if the map does not know it."""
        if self._nothing:
            return math.nan
        if self.by_record:
            return self._codes[record]
        if self._map is None:
            return self._codes[stem_of(file)]
        label = self._map.get(record)
        if label is None:  # reads are many: what their file is called can wait
            of_file = self._map.get(stem_of(file))
            label = self._map.get(os.path.basename(file.name), of_file)
        return self._codes[label] if isinstance(label, str) else label

    def complaint(self, file: TextFile, record: str) -> str:
        """What to say of a record that the map does not know."""
        return (
            f"expected a label for record {record!r} or file {stem_of(file)!r} in the "
            "map, got none"
        )

    def _check_map(self) -> None:
        """Have all labels as finite numbers, or all as text."""
        assert self._map is not None
        if not self._map:
            raise ShortlistError(
                "label: expected a map with a label at least, got none"
            )
        labels = self._map.values()
        if not all(isinstance(label, Real) for label in labels):
            self._map = {key: str(label) for key, label in self._map.items()}
            self.label_names = sorted({str(label) for label in labels})
            return
        numbers = {key: float(label) for key, label in self._map.items()}
        for key, number in numbers.items():
            if not math.isfinite(number):
                raise ShortlistError(
                    f"label: expected a finite number for {key!r}, got {number}"
                )
        self._map = dict(numbers)


def _read_map(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read lines of key, tab and label; labels are numbers if all of them are."""
    expected = "label: expected 'file', 'record', a mapping or the path of a map file"
    labels = read_label_map(path, expected)
    numbers = [number_in(label) for label in labels.values()]
    if None in numbers:
        return dict(labels)
    return dict(zip(labels, numbers, strict=True))
