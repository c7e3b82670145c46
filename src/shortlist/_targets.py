"""What is to be predicted: from raw labels to the loss, the classes and the codes.

``loss="auto"`` looks at the labels: two whole numbers or names make a logistic model, up
to twenty a softmax, anything else a regression. Hinges, which know two classes, are summed
over each class against the rest if there are more.

A source that knows the names of all labels has these for classes. Others are judged by
their first rows, of which engines hand over the same number whatever the block size. Only
if these come sorted, each label in one run, do they say little about what follows: what can
be read again is then looked through for more labels before anything is learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import (
    BadRow,
    DataError,
    Floats,
    Ints,
    RowBlock,
    RowSource,
    ShortlistError,
)
from shortlist.kernels.csr import take_rows
from shortlist.losses import Logistic, Softmax, Squared, get_loss, one_vs_rest

MAX_AUTO_CLASSES = 20
#: Looked for where somebody says that labels are classes.
_MOST_CLASSES = 10_000

#: Numbers to predict should be smaller: sketches hold weights in 32 bits.
LARGEST_NUMBER = 1e30

#: Setting of a result whose classes did not all have rows.
EMPTY_CLASSES = "empty_classes"

Label = str | int | float | bool
#: Which rows are left of some; None: all of them.
Kept = NDArray[np.bool_] | None


@dataclass(frozen=True)
class Target:
    """The loss, and how raw labels become what the loss wants."""

    loss: Any
    classes: tuple[Label, ...] | None  #: in the order of their codes; None: regression
    values: Floats  #: raw numbers of the classes, in the same order; empty if none
    note: str | None = None  #: what the user should know about the choice
    labels: Sequence[Label] | None = None  #: what raw numbers stand for, if they do
    n_outputs: int = 1  #: of a regression

    @property
    def n_margins(self) -> int:
        """How many margins a model of this target has."""
        if self.classes is None:
            return self.n_outputs
        return len(self.classes) if self.loss.is_vector else 1

    def knows(self, y: Floats) -> NDArray[np.bool_]:
        """Which raw labels can be learned from, or judged by."""
        if self.classes is not None:
            place = np.searchsorted(self.values, y).clip(max=len(self.values) - 1)
            found: NDArray[np.bool_] = self.values[place] == y
            return found
        known = np.abs(y) < LARGEST_NUMBER  # NaN is not
        return known & (y >= 0) if self.loss.target == "count" else known

    def encode(self, y: Floats, first_row: int = 0) -> Floats:
        """Turn raw labels into real numbers, signs or class codes; bad ones raise."""
        if y.ndim == 2:  # several outputs, checked where they came in
            return y
        known = self.knows(y)
        if not known.all():
            row = int(np.argmin(known))
            raise BadRow(first_row + row, self._complain(float(y[row])))
        if self.classes is None:
            return y
        codes = np.searchsorted(self.values, y)
        if self.loss.target == "sign":
            return np.where(codes == 1, 1.0, -1.0)
        return codes.astype(np.float64)

    def count(self, codes: Floats) -> Ints:
        """How many of the encoded labels are of each class; nothing of numbers."""
        if self.classes is None:
            return np.empty(0, np.int64)
        numbers = codes > 0 if self.loss.target == "sign" else codes
        return np.bincount(numbers.astype(np.int64), minlength=len(self.classes))

    def _complain(self, label: float) -> str:
        if self.classes is not None:
            known = ", ".join(map(str, self.classes))
            wanted = f"one of the labels {known} (classes= names others)"
        else:
            wanted = "a number" if self.loss.target == "real" else "a number >= 0"
            wanted += " as label"
        if LARGEST_NUMBER <= abs(label) < np.inf:
            wanted += f" below {LARGEST_NUMBER:g} in size"
        came = "no label" if np.isnan(label) else f"{label:g}"
        if self.labels is not None and 0 <= label < len(self.labels):
            came = str(self.labels[int(label)])
        return f"expected {wanted}, got {came}"


#: What to say of rows that all have no say.
NO_WEIGHT = "expected rows with an importance above 0, got none: all rows have 0"

#: Which rows are left out instead of raised: none, those without a label, all bad ones.
NO_ROWS, UNLABELLED, BAD_ROWS = "none", "unlabelled", "bad"


def with_codes(target: Target, block: RowBlock, *, skip: str = NO_ROWS) -> RowBlock:
    """Encode the labels of a block; ``skip`` says which rows to leave out."""
    known = kept_rows(target, block, skip)
    if known is None:
        return _encoded(target, block)
    places = np.flatnonzero(known)
    try:
        return _encoded(target, take_rows(block, places))
    except BadRow as error:
        row = int(places[error.row - block.first_row])
        raise BadRow(block.first_row + row, error.complaint) from None


def check_sizes(block: RowBlock, kept: Kept) -> None:
    """Refuse values that single precision cannot hold, in their row.

    ``kept``: which of the rows that were read the block has, if not all.
    """
    values = block.values
    if not len(values) or max(values.max(), -values.min()) < LARGEST_NUMBER:
        return
    place = int(np.argmin(np.abs(values) < LARGEST_NUMBER))
    row = int(np.searchsorted(block.indptr, place, "right")) - 1
    row = row if kept is None else int(np.flatnonzero(kept)[row])
    raise BadRow(
        block.first_row + row,
        f"expected values of features below {LARGEST_NUMBER:g} in size, got "
        f"{values[place]:g}; scale them",
    )


def kept_rows(target: Target, block: RowBlock, skip: str) -> Kept:
    """Which rows of a block are not left out; ``skip`` as for ``with_codes``."""
    if skip == NO_ROWS:
        return None
    known = ~np.isnan(block.y)
    if skip == BAD_ROWS:
        known = target.knows(block.y)
        large = np.flatnonzero(np.abs(block.values) >= LARGEST_NUMBER)
        known[np.searchsorted(block.indptr, large, "right") - 1] = False
    return None if known.all() else known


def _encoded(target: Target, block: RowBlock) -> RowBlock:
    return block._replace(y=target.encode(block.y, block.first_row))


def rows_to_skip(source: RowSource) -> str:
    """Which rows of a source are to be left out: its format, or its user, says so."""
    if getattr(source, "on_error", "raise") == "skip":
        return BAD_ROWS
    return UNLABELLED if getattr(source, "may_lack_labels", False) else NO_ROWS


def notes_on(
    target: Target, n_skipped: int, source: RowSource, counts: Ints
) -> tuple[str, ...]:
    """What a result should say about its labels, and about the source they came from.

    ``counts`` are the rows of each class.
    """
    notes = [] if target.note is None else [target.note]
    for name in empty_classes(target, counts).get(EMPTY_CLASSES, ()):
        notes.append(f"class {name} has no rows to learn from")
    if n_skipped:
        one, many = "a bad label", "bad labels"
        rows = f"row with {one} was" if n_skipped == 1 else f"rows with {many} were"
        unlabelled = rows_to_skip(source) == UNLABELLED
        bad = f"{n_skipped:,} {rows} left out"
        notes.append(unlabelled_note(n_skipped) if unlabelled else bad)
    return (*notes, *getattr(source, "remarks", ()))


def unlabelled_note(n_rows: int) -> str:
    """Say that rows without a label have no part in a result."""
    rows = "row with no label was" if n_rows == 1 else "rows with no label were"
    return f"{n_rows:,} {rows} left out"


def empty_classes(target: Target, counts: Ints) -> dict[str, list[Label]]:
    """Say, for the settings of a result, which classes had no rows; nothing if none."""
    names = target.classes or ()
    empty = [name for name, n in zip(names, counts, strict=True) if n == 0]
    return {EMPTY_CLASSES: empty} if empty else {}


def choose_target(
    loss: Any,
    y: Floats,
    *,
    labels: Sequence[Label] | None = None,
    classes: Sequence[Label] | None = None,
    seen: str | None = None,
) -> Target:
    """Decide on the loss and the classes from labels.

    Parameters
    ----------
    loss : str or loss
        "auto" or what the user asked for.
    y : ndarray of shape (n,)
        Raw labels: numbers, or codes into ``labels``.
    labels : sequence, default=None
        What the codes in y stand for; None if y holds numbers.
    classes : sequence, default=None
        All classes there are, if the user says so.
    seen : str, default=None
        Where labels have been looked for, for messages; None: in as many rows.
    """
    chosen = None if isinstance(loss, str) and loss == "auto" else get_loss(loss)
    if chosen is not None and not chosen.is_classifier:
        if labels is not None:
            raise ShortlistError(
                f"loss {chosen.name!r} needs numbers as labels, got {labels[0]!r}"
            )
        return Target(chosen, None, np.empty(0))
    values = np.unique(y[np.isfinite(y)])
    if classes is not None:
        values = _values_of(classes, labels)
    elif chosen is None and labels is None:
        whole = bool(np.all(values == np.round(values)))
        if not whole or len(values) > MAX_AUTO_CLASSES:
            note = None
            if whole:
                note = (
                    f"{len(values)} different whole numbers as labels: taken as numbers "
                    "to predict (loss='squared'); say loss='softmax' if they are classes"
                )
            return Target(Squared(), None, np.empty(0), note)
    if len(values) < 2:
        came = f"1 class ({_label(values[0], labels)})" if len(values) else "no label"
        raise DataError(
            f"labels: expected at least two classes, got {came} in "
            f"{seen or f'{len(y)} rows'}; "
            "give classes= or loss="
        )
    names = tuple(_label(value, labels) for value in values)
    if len(values) == 2 and (chosen is None or chosen.target == "sign"):
        return Target(chosen or Logistic(), names, values, labels=labels)
    if chosen is None or chosen.name in ("softmax", "logistic"):
        # softmax is the logistic loss of many classes
        return Target(Softmax(), names, values, labels=labels)
    if chosen.is_vector:
        return Target(chosen, names, values, labels=labels)
    if (added := one_vs_rest(chosen)) is not None:
        return Target(added, names, values, labels=labels)
    raise ShortlistError(
        f"loss {chosen.name!r} knows two classes, got {len(values)}; try loss='softmax'"
    )


def _values_of(classes: Sequence[Label], labels: Sequence[Label] | None) -> Floats:
    """Raw numbers of the classes that a user names, increasing."""
    if labels is None:
        try:
            values = np.unique(np.asarray(classes, np.float64))
            if not np.isfinite(values).all():
                raise ValueError
            return values
        except ValueError:
            raise ShortlistError(
                f"classes should be numbers, as the labels are, got {list(classes)}"
            ) from None
    known = {label: code for code, label in enumerate(labels)}
    unknown = [c for c in classes if c not in known]
    if unknown:
        raise ShortlistError(f"class {unknown[0]!r} does not occur among the labels")
    return np.sort(np.array([known[c] for c in classes], np.float64))


def _label(value: float, labels: Sequence[Label] | None) -> Label:
    if labels is not None:
        return labels[int(value)]
    return int(value) if value == int(value) else float(value)


def target_of(source: RowSource, loss: Any, classes: Any, y: Floats) -> Target:
    """Decide for a source from what it knows, or from the labels of its first rows."""
    hint = getattr(source, "target_hint", None)  # tables know which column it may be
    if hint is not None and np.isnan(y).all():
        raise DataError(f"{source.name}: expected labels, got none; {hint}")
    target, n_first, seen = getattr(source, "target", None), len(y), None
    if target is not None and np.isnan(y).all():
        later = _labels_throughout(source, loss) if source.reiterable else y
        if not len(later) or np.isnan(later).all():
            raise DataError(
                f"{source.name}: expected labels in {target!r}, got none in {n_first} "
                "rows: is there such a column or key? (target= names another)"
            )
        y, seen = later, "all rows"
    if classes is None and getattr(source, "all_labels", None) is None:
        known = getattr(source, "known_labels", None)
        if known is not None and len(known) > 1:
            classes = known
        elif source.reiterable and _may_go_on(loss, y):
            y, seen = _labels_throughout(source, loss), "all rows"
    labels = source.label_names
    try:
        return choose_target(loss, y, labels=labels, classes=classes, seen=seen)
    except DataError as error:
        raise DataError(f"{source.name}: {error}") from None


def _may_go_on(loss: Any, y: Floats) -> bool:
    """Whether first labels leave it open what other ones there are."""
    if loss != "auto" and not get_loss(loss).is_classifier:
        return False
    known = y[np.isfinite(y)]
    n_runs = 1 + int(np.count_nonzero(np.diff(known)))
    distinct = _Distinct(loss)
    distinct.add(known)
    return not distinct.enough and bool(n_runs <= max(1, len(distinct.labels)))


def _labels_throughout(source: RowSource, loss: Any) -> Floats:
    """Different labels of a source, read once from end to end for nothing else."""
    distinct = _Distinct(loss)
    try:
        for block in source.blocks():
            distinct.add(block.y[np.isfinite(block.y)])
            if distinct.enough:
                break
    except DataError:  # whoever learns from these rows will say so
        pass
    return np.array(list(distinct.labels))


class _Distinct:
    """Different labels in the order of rows, as many as it takes to decide."""

    def __init__(self, loss: Any) -> None:
        self.labels: dict[float, None] = {}
        self._most = MAX_AUTO_CLASSES if loss == "auto" else _MOST_CLASSES
        self.enough = False  #: more labels, or fractions, would change nothing

    def add(self, y: Floats) -> None:
        """Take in labels; of those after the last that is needed, none."""
        values, first = np.unique(y, return_index=True)
        for label in values[np.argsort(first)].tolist():
            if self.enough:
                return
            self.labels[label] = None
            self.enough = len(self.labels) > self._most or label != round(label)
