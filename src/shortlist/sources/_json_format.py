"""How lines of JSON are read, which labels they have, and what is wrong with them."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Sequence

import numpy as np

from shortlist.kernels.id_table import index_ids
from shortlist.kernels.json_text import (
    BAD_NUMBER,
    CLOSED_NAMES,
    COUNTED,
    IGNORED,
    IS_NULL,
    LABELS,
    LABELS_FULL,
    LEFT_OUT,
    LENIENT,
    MISSING,
    MOST_LEVELS,
    NAME_LENGTH,
    NAMES_CLASH,
    NAMES_FULL,
    NEW_LABEL,
    NO_COLON,
    NO_END,
    NO_KEY,
    NO_OBJECT,
    NO_VALUE,
    NO_WEIGHT,
    NOT_IN_LIST,
    NOT_IN_OBJECT,
    NUMBERS,
    PURPOSE,
    REFUSED,
    TOO_DEEP,
    TWO_LABELS,
    TWO_WEIGHTS,
    UNDECIDED,
    Task,
    parse_lines,
    rows_for,
    task_for,
    with_room,
)
from shortlist.kernels.json_tokens import (
    BAD_CHARACTER,
    BAD_ESCAPE,
    BAD_SURROGATE,
    BAD_UTF8,
)
from shortlist.kernels.line_text import BAD_LABEL, BAD_WEIGHT, Parsed, Rows
from shortlist.kernels.name_hash import hash_bytes
from shortlist.kernels.name_store import NOBODY, open_store
from shortlist.sources._files import Characters
from shortlist.sources._lines import number_expected
from shortlist.sources._name_stores import Names, WantedNames

MISSING_CHOICES = {"zero": LEFT_OUT, "error": REFUSED, "category": COUNTED}

_MOST_LABELS = 1 << 16
_MOST_LABEL_BYTES = 1 << 22
_LABELS_QUOTED = 5
_NUMBER = re.compile(rb"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_EXPECTED = {
    BAD_ESCAPE: r"an escape of JSON, such as \n or \u00e9",
    BAD_SURROGATE: r"surrogates in pairs, such as \ud83d\ude00",
    BAD_UTF8: "UTF-8",
    NO_OBJECT: 'an object, {"name": value, ...}',
    NO_KEY: "a key in double quotes",
    NO_COLON: "':' after a key",
    NO_VALUE: "a value",
    NOT_IN_OBJECT: "',' or '}' after a value",
    NOT_IN_LIST: "',' or ']' after a value",
    NO_END: "the end of the line after the object",
    TOO_DEEP: f"at most {MOST_LEVELS} objects and lists within each other",
    IS_NULL: ("a value (missing='zero' leaves null out, missing='category' counts it)"),
    TWO_LABELS: "one label",
    TWO_WEIGHTS: "one weight",
    LABELS_FULL: f"at most {_MOST_LABELS:,} different labels",
}


class JsonFormat:
    """Lines of JSON, an object each.

    Labels that are numbers are left as they are. Labels that are text become codes: of
    an open format the numbers of new names, as they are met; of a closed one those of
    names that are given, and others are faults. The first label decides which it is.
    """

    token_ends = b" \t\r\n{}[],:"

    def __init__(
        self,
        target: bytes,
        weight: bytes,
        missing: str,
        seed: int,
        scoring: bool = False,
        leave_out: tuple[bytes, ...] = (),
        names: Names | None = None,
    ):
        self.names = names
        self._options = target, weight, missing, seed, scoring, leave_out
        self._label_names: list[str] = []
        self._nameless = open_store(1, 0)
        notes = np.zeros(7, np.int64)
        notes[MISSING], notes[LENIENT] = MISSING_CHOICES[missing], scoring
        barred = hash_bytes(list(leave_out), seed)
        self._task = task_for(
            target, weight, self._nameless, self._nameless, seed, barred, notes
        )

    def looking_for(self, names: Names | None) -> JsonFormat:
        return JsonFormat(*self._options, names)

    def leaving_out(self, paths: Sequence[bytes]) -> JsonFormat:
        """Give the same format for which these paths make no features either."""
        other = copy.copy(self)
        *rest, before = self._options
        other._options = (*rest, (*before, *paths))  # type: ignore[assignment]
        barred = np.concatenate(
            [self._task.barred, hash_bytes(list(paths), self._seed)]
        )
        notes = self._task.notes.copy()
        other._task = self._task._replace(barred=barred, notes=notes)
        return other

    def room_for(self, n: int) -> Rows:
        room: Rows = rows_for(n)
        return room

    def parse(
        self, window: Characters, is_end: bool, skip_bad: bool, room: Rows
    ) -> Parsed:
        # nothing of this is shared: others may read with the same format meanwhile
        task = with_room(self._task, len(window))
        names, notes = self.names, task.notes
        if names is None:
            parsed = Parsed(*parse_lines(window, is_end, skip_bad, room, task))
        else:
            with names.lock:
                parsed = self._parse_for(names, window, is_end, skip_bad, room, task)
        if self.label_case == UNDECIDED:
            self._task.notes[LABELS] = notes[LABELS]
        return parsed

    def _parse_for(
        self,
        names: Names,
        window: Characters,
        is_end: bool,
        skip_bad: bool,
        room: Rows,
        task: Task,
    ) -> Parsed:
        """Parse, and have the names kept; once more from the start if room is short."""
        notes = task.notes
        notes[PURPOSE] = names.purpose
        while True:
            task = task._replace(names=names.store)
            parsed = Parsed(*parse_lines(window, is_end, skip_bad, room, task))
            if parsed.fault == NAMES_FULL:
                if not names.widen(int(notes[NAME_LENGTH])):
                    notes[PURPOSE] = NOBODY
            elif parsed.fault == NAMES_CLASH and isinstance(names, WantedNames):
                name = task.scratch[: notes[NAME_LENGTH]].tobytes()
                raise names.clash(hash_bytes([name], self._seed)[0], name)
            else:
                return parsed

    @property
    def _seed(self) -> int:
        return self._options[3]

    @property
    def label_case(self) -> int:
        """What labels are, as ``kernels.json_text`` tells it."""
        return int(self._task.notes[LABELS])

    def open_labels(self) -> None:
        """Take labels of both kinds, whichever comes first."""
        self._task.notes[LABELS] = UNDECIDED
        store = open_store(_MOST_LABELS, _MOST_LABEL_BYTES)
        self._task = self._task._replace(labels=store)

    def labels_met(self) -> list[str]:
        """Names of the labels met so far, by their codes."""
        store = self._task.labels
        n = int(store.counts[0])
        places = zip(store.starts[:n].tolist(), store.stops[:n].tolist(), strict=True)
        return [store.text[start:stop].tobytes().decode() for start, stop in places]

    def close_labels(self, label_names: Sequence[str] | None) -> None:
        """Take the labels with these names from now on, or numbers only."""
        if label_names is None:
            self._task.notes[LABELS] = NUMBERS
            return
        self._task.notes[LABELS] = CLOSED_NAMES
        self._label_names = list(label_names)
        encoded = [name.encode() for name in label_names]
        index = index_ids(hash_bytes(encoded, self._seed))
        self._task = self._task._replace(labels=self._nameless._replace(index=index))

    def expected(self, fault: int, token: bytes) -> str:
        if fault == BAD_LABEL:
            return self._label_expected(token)
        if fault == BAD_WEIGHT and _is_finite(token):
            return "a weight of 0 or more"
        if fault == BAD_WEIGHT:
            return number_expected(token, "as weight")
        if fault == NO_WEIGHT:
            return f"a weight, {self._options[1].decode()!r}"
        if fault == NEW_LABEL:
            return self.expected_label(self._label_names)
        if fault == BAD_CHARACTER:
            return "an escape for a control character" if token else "'\"' after a text"
        if fault == BAD_NUMBER:
            is_large = _NUMBER.fullmatch(token) is not None
            return "a finite number" if is_large else "a number as JSON has them"
        return _EXPECTED[fault]

    @staticmethod
    def expected_label(label_names: Sequence[str]) -> str:
        """What should have stood in the place of a label that is new."""
        some = ", ".join(map(repr, label_names[:_LABELS_QUOTED]))
        more = ", ..." if len(label_names) > _LABELS_QUOTED else ""
        return f"a label known from the start ({some}{more})"

    def _label_expected(self, token: bytes) -> str:
        if self.label_case in (IGNORED, UNDECIDED):
            return "a number or text as label"
        if self.label_case == NUMBERS:
            return number_expected(token, "as label")
        return "text as label, as in the rows before"


def _is_finite(token: bytes) -> bool:
    """Whether this is a number that only its place makes wrong."""
    return _NUMBER.fullmatch(token) is not None and math.isfinite(float(token))
