"""What the parts of the house expect of each other. Read this first.

Data flow, in one direction::

    bytes -> Source -> RowBlock -> Engine -> kernel(state, block) -> Shortlist
          -> estimator | command line | report

Every part below is a protocol (anything of that shape will do) or a plain tuple of
arrays that compiled kernels can take as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ids = NDArray[np.uint64]
Ints = NDArray[np.int64]


class ShortlistError(ValueError):
    """Bad data or a bad request; its text is one line that says what to do next."""


class DataError(ShortlistError):
    """Bad input data: names the place, what was expected and what came."""


class BadRow(DataError):
    """What cannot be learned from, in a row known by its number so far."""

    def __init__(self, row: int, complaint: str) -> None:
        super().__init__(f"row {row}: {complaint}")
        self.row, self.complaint = row, complaint

    def located(self, source: RowSource) -> DataError:
        """Say the same with the place where the row of a source came from."""
        return DataError(f"{place_of(source, self.row)}: {self.complaint}")


class RowBlock(NamedTuple):
    """A run of examples as sparse rows; kernels take it as it is.

    Row ``i`` holds ``ids[indptr[i]:indptr[i + 1]]`` with the matching ``values``. All
    arrays are writeable, C-contiguous and owned by the block.
    """

    indptr: Ints  #: shape (n_rows + 1,), starts at 0
    ids: Ids  #: any 64-bit integers, in any order; repeated ids in a row add up
    values: Floats  #: finite
    y: Floats  #: labels as they came, or codes into ``label_names``; NaN if there are none
    weight: Floats  #: importance of each row, at least 0
    first_row: int  #: number of this block's first row in its source, from 0
    position: int  #: how much of the source (see ``unit``) lies before the block's end

    @property
    def n_rows(self) -> int:
        """Number of examples in the block."""
        return int(self.y.shape[0])


@runtime_checkable
class RowSource(Protocol):
    """Examples in blocks; never holds more than a block of them.

    ``blocks()`` starts again from the first row each time it is called, unless
    ``reiterable`` is False: then a second call raises.

    A source may have ``on_error``, "raise" or "skip": what to do about rows whose labels
    turn out bad; and ``locate(row)``, which says where in the input a row stands.

    A source that can name features only while it reads, because it is a pipe, may have
    ``crowded``: whether it holds so many names that some should go; and
    ``retain(ids, learned)``: forget all names but those of these ids and of blocks that
    have not been learned from, given the ``position`` of the last block that has. So names
    of what may be chosen are known in memory that does not grow.

    A source may have ``may_lack_labels``: whether its format has rows without a label among
    others, which learners then leave out and count.

    A source may have ``known_labels``: all of its ``label_names`` that occur, if it knows
    them before any row is asked for, else None. They are then the classes; else the first
    rows tell.

    A source may have ``remarks``: lines that a reader of a result should know about the
    rows that have been read.

    A source whose features are values of columns may have ``leaving_out(names)``: the same
    source without the columns of text among these names; ``ids`` then knows them.

    A source whose ids are hashes of names may have ``n_names``: about how many different
    ones there have been in the rows read so far, or None.

    A source whose rows have parts in common, as fragments of a sequence that overlap, may
    have ``apart()``: rows drawn anew, and the group of each; rows of two groups have
    nothing in common. None: its rows are apart as they are. Whoever splits rows asks.
    """

    name: str  #: for messages: a path, "stdin", "array"
    reiterable: bool
    unit: str  #: what ``size`` and ``position`` count: "bytes" or "rows"
    size: int | None  #: all there is, in ``unit``; None if unknown
    n_features: int | None  #: ids are below this; None if there is no bound
    label_names: Sequence[str] | None  #: what codes in ``y`` stand for; None: numbers

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the examples in order."""
        ...

    def names(self, ids: Ids) -> list[str]:
        """Name the features with these ids."""
        ...

    def ids(self, names: Sequence[str]) -> Ids:
        """Ids of the features with these names; unknown names raise."""
        ...


def place_of(source: RowSource, row: int) -> str:
    """Say where a row of a source, counted from 0, stands, as exactly as it knows."""
    locate = getattr(source, "locate", None)
    return f"{source.name}: row {row}" if locate is None else str(locate(row))


def rows_apart(source: RowSource) -> tuple[RowSource, Ints | None]:
    """Rows that may be split, and the group of each if those of one must stay together."""
    apart = getattr(source, "apart", None)
    found: tuple[RowSource, Ints] | None = None if apart is None else apart()
    return (source, None) if found is None else found


class ColumnBlock(NamedTuple):
    """Some features of all examples; kernels take the arrays as they are.

    Arrays are writeable, C-contiguous and owned by the block.
    """

    values: Floats  #: shape (n_columns, n_rows), finite: a feature a row
    ids: Ids  #: of the features
    names: Sequence[str]
    position: int  #: how many columns of the source lie before the block's end


@runtime_checkable
class ColumnSource(Protocol):
    """Features in blocks; never holds more than a block of them.

    ``blocks()`` starts again from the first column each time it is called, unless
    ``reiterable`` is False: then a second call raises, and so does ``take``.

    A source may have ``y``: what is to be predicted, if it stands among the columns; and
    ``is_numbered``: whether ids are numbers of columns, not hashes of names.
    """

    name: str  #: for messages: a path, "array"
    reiterable: bool
    n_rows: int | None  #: None if no column has been seen yet
    n_columns: int | None  #: None if unknown

    def blocks(self) -> Iterator[ColumnBlock]:
        """Yield the features in order."""
        ...

    def take(self, columns: Sequence[str | int]) -> ColumnBlock:
        """Return chosen columns, by name or by their number from 0."""
        ...


class Fit(NamedTuple):
    """A point that is zero outside ``support``: what an objective returns and takes."""

    support: Ints  #: coordinates, increasing
    weights: Floats  #: one a coordinate of ``support``
    nuisance: Floats  #: always-in parameters of the objective (intercepts, transitions)
    value: float  #: the objective at this point


@runtime_checkable
class Objective(Protocol):
    """A convex smooth function Q of many coordinates, as greedy methods see it.

    Which parameters are coordinates open to selection and which are nuisance (always
    in) is the objective's own business. A method that selects needs only this.
    """

    n_coordinates: int

    def value(self, fit: Fit) -> float:
        """Q at the point."""
        ...

    def gradient(self, fit: Fit) -> Floats:
        """Partial derivative of Q for every coordinate, at the point."""
        ...

    def refit(self, support: Ints, start: Fit | None = None) -> Fit:
        """Minimise Q over the support (and the nuisance), from ``start`` if given."""
        ...


State = TypeVar("State")
Result_co = TypeVar("Result_co", covariant=True)


#: Metadata of a field of a state that checkpoints leave out; who resumes gets None.
NOT_SAVED = {"saved": False}


class Head(NamedTuple):
    """How data begin: what an algorithm may look at before it starts."""

    labels: Floats  #: of the first thousand rows, or of all that are in memory
    rows: tuple[RowBlock, ...] = ()  #: the first of them, as many as are soon looked at


class Standing(NamedTuple):
    """How a running pass does so far."""

    stage: str  #: "explore", "refit": what this pass is for
    loss: float  #: mean progressive (test-then-train) loss; NaN if nobody knows
    accuracy: float = math.nan  #: share of labels predicted before they were learned


class Algorithm(Protocol[State, Result_co]):
    """What an engine runs: a state, stepped through blocks, pass after pass.

    It may have ``ahead(state, block)``, work on a block that needs nothing that ``step``
    changes. An engine may do it in another thread, while earlier blocks are learned
    from, and hands what comes of it to ``step`` in place of the block.

    It may have ``replay(state)``, asked when a pass after the first begins: what to hand to
    ``step`` in that pass (with ``n_read`` rows up to a ``position``) instead of what
    the source gives, or None.

    It may have ``candidates(state)``: ids of all features that its result could
    have if no other rows came. A source need not know the names of others.

    It may have ``knowing_groups(groups)``, if it sets some rows apart for itself, to decide
    by: the same algorithm, for a source whose rows have these groups (an array of numbers
    from 0, one a row), of which it sets whole ones apart. Whoever runs an algorithm on rows
    whose groups are known asks for it, by the function of that name.
    """

    def start(self, source: RowSource, head: Head) -> State:
        """Fresh state, given how the data begin."""
        ...

    def step(self, state: State, block: Any) -> None:
        """Learn from a block, or from what ``ahead`` made of it, in place."""
        ...

    def next_pass(self, state: State) -> bool:
        """Close a pass over the data; True if another one is wanted."""
        ...

    def standing(self, state: State) -> Standing:
        """What the running pass is for, and how it does."""
        ...

    def result(self, state: State, source: RowSource) -> Result_co:
        """What has been learned so far; the state stays usable."""
        ...


def knowing_groups(algorithm: Any, groups: Ints | None) -> Any:
    """The same algorithm for rows of these groups, if these are known and matter to it."""
    tell = getattr(algorithm, "knowing_groups", None)
    return algorithm if groups is None or tell is None else tell(groups)


class Progress(NamedTuple):
    """What an observer hears after every block."""

    pass_number: int  #: from 1
    stage: str  #: "explore", "refit": what this pass is for
    position: int
    size: int | None
    unit: str
    rows: int  #: examples learned from in this pass
    loss: float  #: mean progressive (test-then-train) loss of this pass
    accuracy: float = math.nan  #: likewise, of predicted classes


Observer = Callable[[Progress], None]


@dataclass(frozen=True)
class Capabilities:
    """What a selector can do; command line, comparison and checks read only this."""

    method: str  #: name on the command line
    room: str  #: "table", "columns", "rows" or "sketch"
    summary: str  #: one line for people
    algorithm: str  #: "module:name" of the algorithm, free of scikit-learn
    estimator: str  #: "module:name" of the estimator
    losses: tuple[str, ...]
    citation: str
    groups: bool = False  #: honours feature_groups
    outputs: bool = False  #: takes several outputs at once
    options: tuple[str, ...] = ()  #: keyword options of its own
    nested: bool = False  #: the best k are the first k of any larger choice
    path: bool = False  #: a choice has those of all smaller budgets in its trace

    def load(self, what: str) -> Any:
        """Import and return the ``algorithm`` or the ``estimator``."""
        from importlib import import_module

        module, _, name = getattr(self, what).partition(":")
        return getattr(import_module(module), name)
